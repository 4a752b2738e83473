//! What can go wrong in a session: who failed, how, and the code that 3proxy gives it.
use compiler::code::Code;

/// Why a request was not served, or a session ended early.
#[derive(Debug, thiserror::Error)]
#[error("{kind} (code {code})")]
pub(crate) struct Failure {
    /// 3proxy's error code, as `%E` logs it.
    pub code: u16,
    /// Who failed and how.
    pub kind: FailureKind,
}

/// Who failed and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FailureKind {
    /// An entry of the access list refused (1), or its end did (3).
    #[error("denied by the access list")]
    Denied,
    /// No user name (4), an unknown user (5), a wrong password (6, 7, 8).
    #[error("not authenticated")]
    NotAuthenticated,
    /// A limit is exceeded (10).
    #[error("limit exceeded")]
    Limited,
    /// The target can't be reached (13), or the outgoing socket can't be set up (11, 12).
    #[error("connection to the target failed")]
    Connect,
    /// The target's name does not resolve (100).
    #[error("the name does not resolve")]
    Resolve,
    /// A parent refused or misbehaved (30 to 99).
    #[error("the parent proxy failed")]
    Parent,
    /// The client sent what its protocol does not allow.
    #[error("malformed request")]
    Malformed,
    /// A peer was silent for too long.
    #[error("timed out")]
    Timeout,
    /// A peer closed or reset the connection.
    #[error("connection lost")]
    Lost,
}

impl Failure {
    /// The target's name has no address.
    pub(crate) const UNRESOLVED: Self = Self::new(Code::UNRESOLVED.number(), FailureKind::Resolve);

    /// A failure with 3proxy's `code` for it.
    #[must_use]
    pub(crate) const fn new(code: u16, kind: FailureKind) -> Self {
        Self { code, kind }
    }
}
