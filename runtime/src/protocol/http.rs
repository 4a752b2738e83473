//! HTTP/1 as a proxy sees it, without I/O.
//!
//! The way of a request: [`head::Scanner`] finds where its head ends, [`head::tidy`] and [`head::split`] make fields of it,
//! [`target`] reads what is asked for, [`body`] how its body is delimited, [`credentials`] who asks; [`forward`] writes the head
//! that goes on, and [`chunked`] carries a body of unknown length. [`page`] is what the proxy says itself.
//!
//! **One reading.** Whatever can be read in two ways is either refused or *rewritten to what was understood*: folded lines are
//! joined, a blank before a colon is dropped, control characters become blanks, lengths and chunk sizes are written anew. So no
//! server behind the proxy can frame a message otherwise than the access list saw it. 3proxy forwards most of this as it came,
//! which is how requests are smuggled past its list.
//!
//! Why not httparse: it refuses what 3proxy's clients get away with (folded lines, `Name : value`, a line without a colon, a
//! blank in an URL), and after `tidy` there is little left for it to do.
pub(crate) mod body;
pub(crate) mod chunked;
pub(crate) mod credentials;
pub(crate) mod fields;
pub(crate) mod forward;
pub(crate) mod head;
pub(crate) mod page;
pub(crate) mod target;

/// Why a message is not HTTP, or is not safe to forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Malformed {
    /// No method, target and version.
    #[error("malformed first line")]
    Line,
    /// A scheme that the proxy does not speak, or none.
    #[error("unknown scheme or form of the target")]
    Scheme,
    /// The target of a CONNECT.
    #[error("malformed CONNECT target")]
    Authority,
    /// An URL without a host, or with a host or port that can't be one.
    #[error("malformed host or port")]
    Host,
    /// A line or the head is too long.
    #[error("head too large")]
    TooLarge,
    /// A header field.
    #[error("malformed header field")]
    Field,
    /// Fields that leave open where the body ends.
    #[error("ambiguous length of the body")]
    Framing,
    /// A chunk size, its line end, or a trailer.
    #[error("malformed chunk")]
    Chunk,
}

impl Malformed {
    /// 3proxy's error code, where it has one for the same fault; 516 ("header too large or otherwise unfit") for the rest.
    #[must_use]
    pub(crate) const fn code(self) -> u16 {
        match self {
            Self::Line => 512,
            Self::Scheme => 513,
            Self::Authority => 514,
            Self::Host => 515,
            Self::TooLarge | Self::Field | Self::Framing => 516,
            Self::Chunk => 537,
        }
    }
}
