//! The words of a `users` line.
use super::{Reading, shape};
use crate::{Secret, Span, Text};

/// What a word of a `users` line makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserEntry {
    /// The name: what stands before the first colon.
    pub name: Text,
    /// What the password is.
    pub kind: PasswordKind,
    /// The password or its hash.
    pub password: Secret,
}

/// What stands for a user's password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PasswordKind {
    /// `CL`, or no type: the password.
    Clear,
    /// `CR`: its hash, `$1$…` (MD5) or `$3$…` (BLAKE2b).
    Crypt,
    /// `NT`: its NT hash in hexadecimal.
    Nt,
}

/// Where a word of a `users` line is not what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UserTrap {
    /// No colon: the word is skipped.
    NoColon,
    /// The two characters between colons are no type: the user is skipped.
    UnknownType,
    /// The name is empty.
    EmptyName,
    /// No password. With `CR` 3proxy lets any password in.
    EmptyPassword,
    /// A hash of 64 bytes or more: 3proxy skips the user.
    HashTooLong,
    /// What looks like a type is none, since it has not two characters: 3proxy takes it for the beginning of the password.
    TypeInPassword,
    /// A hash that stands where 3proxy takes it for the password itself.
    HashAsPassword,
    /// A hash in a form that 3proxy does not know, or of another length: no password fits it.
    HashUnknown,
}

/// 3proxy's room for a password record, its kind included.
const RECORD: usize = 64;

/// One word of a `users` line; `None`: 3proxy skips it.
#[must_use]
pub fn user(word: &[u8]) -> Reading<Option<UserEntry>, UserTrap> {
    let whole = Span::new(0, word.len() as u32);
    let Some(shape) = shape::user(word) else {
        return Reading { value: None, traps: vec![(whole, UserTrap::NoColon)] };
    };
    let password = shape.password.of(word);
    let kind = match shape.kind.map(|kind| kind.of(word)) {
        None | Some(b"CL") => PasswordKind::Clear,
        Some(b"CR") => PasswordKind::Crypt,
        Some(b"NT") => PasswordKind::Nt,
        Some(_) => {
            return Reading {
                value: None,
                traps: vec![(shape.kind.unwrap_or(whole), UserTrap::UnknownType)],
            };
        }
    };
    let mut traps = Vec::new();
    if shape.name.is_empty() {
        traps.push((whole, UserTrap::EmptyName));
    }
    if shape.kind.is_none() && starts_like_type(password) {
        traps.push((shape.name, UserTrap::TypeInPassword));
    } else if let Some(trap) = password_trap(kind, password) {
        // Never the password's own place: a renderer might show it.
        traps.push((shape.kind.unwrap_or(shape.name), trap));
    }
    if kind != PasswordKind::Clear && password.len() >= RECORD {
        return Reading { value: None, traps };
    }
    let entry = UserEntry { name: Text::from(shape.name.of(word)), kind, password: Secret::from(password) };
    Reading { value: Some(entry), traps }
}

fn password_trap(kind: PasswordKind, password: &[u8]) -> Option<UserTrap> {
    if password.is_empty() {
        return Some(UserTrap::EmptyPassword);
    }
    if kind != PasswordKind::Clear && password.len() >= RECORD {
        return Some(UserTrap::HashTooLong);
    }
    let known = match kind {
        PasswordKind::Clear => return looks_hashed(password).then_some(UserTrap::HashAsPassword),
        PasswordKind::Crypt => is_crypt_hash(password),
        PasswordKind::Nt => is_nt_hash(password),
    };
    (!known).then_some(UserTrap::HashUnknown)
}

/// Whether a password can have this hash by crypt: `$1$SALT$HASH` or `$3$SALT$HASH`. What is cut fits no password.
#[must_use]
pub fn is_crypt_hash(text: &[u8]) -> bool {
    /// Of 128 bits, six in a character.
    const HASH: usize = 22;
    let rest = text.strip_prefix(b"$1$").or_else(|| text.strip_prefix(b"$3$"));
    let hash = rest.and_then(|rest| rest.splitn(2, |byte| *byte == b'$').nth(1));
    hash.is_some_and(|hash| hash.len() == HASH)
}

/// Whether a password can have this NT hash. Small letters are not compared.
#[must_use]
pub fn is_nt_hash(text: &[u8]) -> bool {
    text.len() == 32 && text.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'A'..=b'F'))
}

/// `MD5:…`, `crypt:…`, `SHA-256:…`: a kind of password as other programs write it, or so many capitals.
fn starts_like_type(password: &[u8]) -> bool {
    const KINDS: [&str; 9] = ["c", "clear", "plain", "text", "crypt", "md5", "ntlm", "sha1", "sha256"];
    let mut parts = password.splitn(2, |byte| *byte == b':');
    let (Some(kind), Some(_)) = (parts.next(), parts.next()) else { return false };
    let capitals = (3..=8).contains(&kind.len())
        && kind.first().is_some_and(u8::is_ascii_uppercase)
        && kind.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'-');
    capitals || KINDS.iter().any(|known| kind.eq_ignore_ascii_case(known.as_bytes()))
}

/// `$ID$…` as crypt writes it.
fn looks_hashed(password: &[u8]) -> bool {
    let mut parts = password.split(|byte| *byte == b'$');
    let named = |id: &[u8]| {
        !id.is_empty() && id.len() <= 8 && id.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
    };
    parts.next() == Some(b"") && parts.next().is_some_and(named) && parts.count() >= 2
}

#[cfg(test)]
mod tests {
    use super::{
        PasswordKind::{self, Clear, Crypt, Nt},
        UserTrap::{
            self, EmptyName, EmptyPassword, HashAsPassword, HashTooLong, HashUnknown, NoColon,
            TypeInPassword, UnknownType,
        },
        user,
    };

    #[test]
    fn words_are_read_as_3proxy_reads_them() {
        let long = format!("a:CR:$1${}", "x".repeat(61));
        let whole_hash = "$1$salt$xxxxxxxxxxxxxxxxxxxxxx";
        let whole = format!("bob:CR:{whole_hash}");
        let (hash, lower) = ("0F".repeat(16), "0f".repeat(16));
        let (nt, small) = (format!("a:NT:{hash}"), format!("a:NT:{lower}"));
        let cases: [(&str, Option<(&str, PasswordKind, &str)>, &[UserTrap]); 27] = [
            ("bob:CL:secret", Some(("bob", Clear, "secret")), &[]),
            ("bob:secret", Some(("bob", Clear, "secret")), &[]),
            ("bob:CL:a:b", Some(("bob", Clear, "a:b")), &[]),
            ("bob:MD5:x", Some(("bob", Clear, "MD5:x")), &[TypeInPassword]),
            ("bob:clear:x", Some(("bob", Clear, "clear:x")), &[TypeInPassword]),
            ("bob:SHA-256:x", Some(("bob", Clear, "SHA-256:x")), &[TypeInPassword]),
            ("bob:Pass1:x", Some(("bob", Clear, "Pass1:x")), &[]),
            ("bob:CL:MD5:x", Some(("bob", Clear, "MD5:x")), &[]),
            ("bob::x", Some(("bob", Clear, ":x")), &[]),
            (&whole, Some(("bob", Crypt, whole_hash)), &[]),
            ("bob:CR:$1$salt$hash", Some(("bob", Crypt, "$1$salt$hash")), &[HashUnknown]),
            ("bob:CR:$3$salt$hash", Some(("bob", Crypt, "$3$salt$hash")), &[HashUnknown]),
            ("bob:CR:$3$salt", Some(("bob", Crypt, "$3$salt")), &[HashUnknown]),
            (&nt, Some(("a", Nt, hash.as_str())), &[]),
            ("bob", None, &[NoColon]),
            ("", None, &[NoColon]),
            ("bob:cl:secret", None, &[UnknownType]),
            ("bob:ab:cdef", None, &[UnknownType]),
            ("bob:a::x", None, &[UnknownType]),
            ("user1:", Some(("user1", Clear, "")), &[EmptyPassword]),
            ("user1:CL:", Some(("user1", Clear, "")), &[EmptyPassword]),
            ("user1:CL", Some(("user1", Clear, "CL")), &[]),
            ("bob:CR:", Some(("bob", Crypt, "")), &[EmptyPassword]),
            (":CL:x", Some(("", Clear, "x")), &[EmptyName]),
            ("bob:CL:$1$salt$hash", Some(("bob", Clear, "$1$salt$hash")), &[HashAsPassword]),
            (&long, None, &[HashTooLong]),
            (&small, Some(("a", Nt, lower.as_str())), &[HashUnknown]),
        ];
        for (word, entry, traps) in cases {
            let reading = user(word.as_bytes());
            let read = reading.value.as_ref().map(|entry| {
                (
                    entry.name.to_str().unwrap(),
                    entry.kind,
                    std::str::from_utf8(entry.password.expose()).unwrap(),
                )
            });
            assert_eq!(read, entry, "{word}");
            assert_eq!(reading.traps.iter().map(|(_, trap)| *trap).collect::<Vec<_>>(), traps, "{word}");
        }
    }
}
