//! The fields of an `authcache` line.
use super::Reading;
use crate::Span;

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

impl CacheField {
    /// Every field, in 3proxy's order.
    pub const ALL: [Self; 12] = [
        Self::Ip,
        Self::User,
        Self::Pass,
        Self::Limit,
        Self::Acl,
        Self::Ext,
        Self::DstAddr,
        Self::DstPort,
        Self::DstHost,
        Self::DstOper,
        Self::SrvAddr,
        Self::SrvPort,
    ];

    /// As it is written.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ip => "ip",
            Self::User => "user",
            Self::Pass => "pass",
            Self::Limit => "limit",
            Self::Acl => "acl",
            Self::Ext => "ext",
            Self::DstAddr => "dstaddr",
            Self::DstPort => "dstport",
            Self::DstHost => "dsthost",
            Self::DstOper => "dstoper",
            Self::SrvAddr => "srvaddr",
            Self::SrvPort => "srvport",
        }
    }
}

/// Where the field list of an `authcache` line is not what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CacheTrap {
    /// Not a field, but 3proxy finds these inside it.
    Misread(CacheFields),
    /// Not a field: ignored.
    Unknown,
}

/// The field list of an `authcache` line. 3proxy looks for each field's name anywhere in the word.
#[must_use]
pub fn cache_fields(word: &[u8]) -> Reading<CacheFields, CacheTrap> {
    let found = inside(word);
    let mut traps = Vec::new();
    for (at, item) in pieces(word) {
        let read = inside(item);
        // `password` is as good as `pass`.
        if read.iter().count() == 1 && read.iter().all(|field| item.starts_with(field.name().as_bytes())) {
            continue;
        }
        traps.push((at, if read.is_empty() { CacheTrap::Unknown } else { CacheTrap::Misread(read) }));
    }
    Reading { value: if found.is_empty() { CacheFields::DEFAULT } else { found }, traps }
}

/// The field names of a list. Whatever stands between them: 3proxy does not look at it.
fn pieces(word: &[u8]) -> impl Iterator<Item = (Span, &[u8])> {
    let mut start = 0_u32;
    let pieces = word.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
    pieces.filter_map(move |piece| {
        let at = Span::new(start, start + piece.len() as u32);
        start = at.end + 1;
        (!piece.is_empty()).then_some((at, piece))
    })
}

fn inside(text: &[u8]) -> CacheFields {
    let holds =
        |field: &CacheField| text.windows(field.name().len()).any(|part| part == field.name().as_bytes());
    CacheField::ALL
        .into_iter()
        .filter(holds)
        .map(CacheFields::of)
        .fold(CacheFields::default(), CacheFields::with)
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

    /// The fields, in 3proxy's order.
    pub fn iter(self) -> impl Iterator<Item = CacheField> {
        CacheField::ALL.into_iter().filter(move |field| self.has(*field))
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl std::fmt::Debug for CacheFields {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::{CacheField, CacheFields, CacheTrap, cache_fields};

    fn set(fields: &[CacheField]) -> CacheFields {
        fields.iter().fold(CacheFields::default(), |set, field| set.with(CacheFields::of(*field)))
    }

    #[test]
    fn fields_are_found_anywhere_in_the_word() {
        use CacheField::{Acl, Ip, Limit, Pass, User};
        let cases: [(&str, CacheFields, &[(u32, CacheTrap)]); 10] = [
            ("user,pass", set(&[User, Pass]), &[]),
            ("ip,limit,acl", set(&[Ip, Limit, Acl]), &[]),
            ("dstip", set(&[Ip]), &[(0, CacheTrap::Misread(set(&[Ip])))]),
            ("nouser", set(&[User]), &[(0, CacheTrap::Misread(set(&[User])))]),
            ("user;pass", set(&[User, Pass]), &[]),
            ("user,password", set(&[User, Pass]), &[]),
            ("userip", set(&[User, Ip]), &[(0, CacheTrap::Misread(set(&[Ip, User])))]),
            ("ip,port", set(&[Ip]), &[(3, CacheTrap::Unknown)]),
            ("USER", CacheFields::DEFAULT, &[(0, CacheTrap::Unknown)]),
            ("", CacheFields::DEFAULT, &[]),
        ];
        for (word, fields, traps) in cases {
            let reading = cache_fields(word.as_bytes());
            assert_eq!(reading.value, fields, "{word}");
            let found: Vec<_> = reading.traps.iter().map(|(at, trap)| (at.start, *trap)).collect();
            assert_eq!(found, traps, "{word}");
        }
        for field in CacheField::ALL {
            assert_eq!(cache_fields(field.name().as_bytes()).value, CacheFields::of(field));
        }
    }
}
