//! The fields of an `authcache` line.

/// A field of the authentication cache's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum CacheField {
    /// Client address.
    Ip,
    /// User name.
    User,
    /// Password.
    Pass,
    /// Not a key: the client address is remembered, and another is refused.
    Limit,
    /// The service's access list.
    Acl,
    /// Not a key: the external address is remembered and restored.
    Ext,
    /// Target address.
    DstAddr,
    /// Target port.
    DstPort,
    /// Target name.
    DstHost,
    /// Operation.
    DstOper,
    /// The service's address.
    SrvAddr,
    /// The service's port.
    SrvPort,
}

/// A set of [`CacheField`]s.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct CacheFields(u16);

impl CacheFields {
    /// What 3proxy takes when it finds no field: user and password.
    pub const DEFAULT: Self = Self(1 << CacheField::User as u8 | 1 << CacheField::Pass as u8);

    /// Of one field.
    #[must_use]
    pub const fn of(field: CacheField) -> Self {
        Self(1 << field as u8)
    }

    /// Fields of either.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether `field` is one of them.
    #[must_use]
    pub const fn has(self, field: CacheField) -> bool {
        self.0 & Self::of(field).0 != 0
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl std::fmt::Debug for CacheFields {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CacheFields({:#b})", self.0)
    }
}
