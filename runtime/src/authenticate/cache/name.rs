//! A user name that is kept beside what is known of the user: most fit, so that a hit follows no further pointer.
use std::{fmt, ops::Deref, sync::Arc};

/// How many bytes fit.
const SHORT: usize = 22;

/// A user name. Cloning allocates nothing.
#[derive(Clone)]
pub struct Name(Kept);

#[derive(Clone)]
enum Kept {
    Short(u8, [u8; SHORT]),
    Long(Arc<[u8]>),
}

impl From<&[u8]> for Name {
    fn from(name: &[u8]) -> Self {
        let mut bytes = [0; SHORT];
        let kept = match (bytes.get_mut(..name.len()), u8::try_from(name.len())) {
            (Some(place), Ok(length)) => {
                place.copy_from_slice(name);
                Kept::Short(length, bytes)
            }
            _ => Kept::Long(name.into()),
        };
        Self(kept)
    }
}

impl Deref for Name {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Kept::Short(length, bytes) => bytes.get(..usize::from(*length)).unwrap_or_default(),
            Kept::Long(name) => name,
        }
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Name {}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&String::from_utf8_lossy(self), f)
    }
}

#[cfg(test)]
mod tests {
    use super::Name;

    #[test]
    fn a_name_of_any_length_is_what_it_was_made_of() {
        assert_eq!(size_of::<Name>(), 24);
        for length in [0, 1, 21, 22, 23, 255, 300] {
            let name = vec![b'n'; length];
            assert_eq!(*Name::from(&name[..]).clone(), name);
        }
        assert_ne!(Name::from(&b"bob"[..]), Name::from(&b"bob\0"[..]));
    }
}
