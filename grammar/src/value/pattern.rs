//! Target lists: addresses, and name patterns for whatever is no address.

/// A pattern for host names. Compared without regard to ASCII case; kept in lower case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NamePattern {
    /// `name`.
    Exact(Box<[u8]>),
    /// `name*`.
    Prefix(Box<[u8]>),
    /// `*name`: the host must be longer than the suffix.
    Suffix(Box<[u8]>),
    /// `*name*`.
    Contains(Box<[u8]>),
}
