//! 3proxy's result codes of a request, as far as the authentication chain and the access list give them.
use std::fmt;

use crate::table::Decision;

/// A result code, as `%E` writes it into the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(u16);

impl Code {
    /// The request passes.
    pub const PASSED: Self = Self(0);
    /// An entry refuses it.
    pub const DENIED: Self = Self(1);
    /// No entry matches, or the client's address has no host name.
    pub const NOTHING_FOUND: Self = Self(3);
    /// The client gave no user name.
    pub const NO_USER: Self = Self(4);
    /// There is no such user, or the client gave no password.
    pub const UNKNOWN_USER: Self = Self(5);
    /// Another password than the clear one that is kept.
    pub const WRONG_CLEAR: Self = Self(6);
    /// A password that does not fit the hash.
    pub const WRONG_CRYPT: Self = Self(7);
    /// A password that does not fit the NT hash.
    pub const WRONG_NT: Self = Self(8);
    /// The cache remembers the user at another address.
    pub const OTHER_ADDRESS: Self = Self(10);
    /// The target's name does not resolve, or parents were to be used and there is no target.
    pub const UNRESOLVED: Self = Self(100);

    /// The code of what an access list says.
    #[must_use]
    pub const fn of(decision: Decision) -> Self {
        match decision {
            Decision::Allow | Decision::Redirect => Self::PASSED,
            Decision::Deny => Self::DENIED,
            Decision::End => Self::NOTHING_FOUND,
        }
    }

    /// The number.
    #[must_use]
    pub const fn number(self) -> u16 {
        self.0
    }

    /// Whether the request passes.
    #[must_use]
    pub const fn passes(self) -> bool {
        self.0 == 0
    }

    /// Whether no further type of the chain is asked after it: one above 9 is no failure to authenticate.
    #[must_use]
    pub const fn is_final(self) -> bool {
        self.passes() || self.0 > 9
    }

    /// Whether there is the user, and the password is another.
    #[must_use]
    pub const fn is_wrong_password(self) -> bool {
        matches!(self, Self::WRONG_CLEAR | Self::WRONG_CRYPT | Self::WRONG_NT)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
