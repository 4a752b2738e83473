//! Hashed passwords, as `users` lines keep them: `$1$` (MD5-crypt), `$3$` (3proxy's own, BLAKE2b) and NT (MD4).
//!
//! All three are quick to guess at: `$1$` takes a thousand rounds, the others one. What protects a password is its length, and
//! the permissions of the file.
use std::io;

use blake2::{Blake2b, digest::consts::U16};
use compiler::program::auth::{Password, can_be_given};
use grammar::Secret;
use md4::Md4;
use md5::{Digest, Md5};
use openssl::memcmp;

use crate::random;

/// The digits of crypt's base 64, in order.
const DIGITS: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// How a password is hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// `$3$`: BLAKE2b of the password and a salt.
    Blake2,
    /// `$1$`: a thousand rounds of MD5 over the password and a salt.
    Md5,
    /// MD4 without a salt.
    Nt,
}

impl Scheme {
    /// The type before it in a `users` line.
    #[must_use]
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Blake2 | Self::Md5 => "CR",
            Self::Nt => "NT",
        }
    }

    /// The salted scheme of a `CR` hash, and its salt, if 3proxy knows it.
    fn of(kept: &[u8]) -> Option<(Self, &[u8])> {
        let (scheme, rest) = match kept.split_at_checked(3)? {
            (b"$3$", rest) => (Self::Blake2, rest),
            (b"$1$", rest) => (Self::Md5, rest),
            _ => return None,
        };
        let end = rest.iter().position(|byte| *byte == b'$')?;
        Some((scheme, rest.get(..end)?))
    }
}

/// The hash of a password, with a fresh salt where the scheme has one.
///
/// # Errors
/// The system has no randomness to give.
pub fn hash(scheme: Scheme, password: &Secret) -> io::Result<String> {
    let length = match scheme {
        Scheme::Blake2 => 16,
        // More is not portable.
        Scheme::Md5 => 8,
        Scheme::Nt => 0,
    };
    let random = random::secret::<16>()?;
    let salt: Vec<u8> = random.iter().take(length).map(|byte| digit(u32::from(*byte))).collect();
    Ok(String::from_utf8_lossy(&hashed(scheme, &salt, password.expose())).into_owned())
}

/// Whether `given` is the password kept. The time taken tells of its length at most.
///
/// What 3proxy would cut is compared whole, so that nothing matches by its beginning: one that no client can give is wrong. A hash in
/// a form that 3proxy does not know, or an empty one, is matched by nothing.
#[must_use]
pub fn verify(kept: &Password, given: &Secret) -> bool {
    let given = given.expose();
    if !can_be_given(given) {
        return false;
    }
    let (kept, made) = match kept {
        Password::Clear(kept) => {
            return equal(&openssl::sha::sha256(kept.expose()), &openssl::sha::sha256(given));
        }
        Password::Crypt(kept) => match Scheme::of(kept.expose()) {
            Some((scheme, salt)) => (kept, hashed(scheme, salt, given)),
            None => return false,
        },
        Password::Nt(kept) => (kept, hashed(Scheme::Nt, b"", given)),
    };
    equal(kept.expose(), &made)
}

/// Whether [`verify`] takes so long (about a millisecond for a long password) that connections should not wait for its thread.
#[must_use]
pub(crate) fn takes_long(kept: &Password) -> bool {
    matches!(kept, Password::Crypt(kept) if matches!(Scheme::of(kept.expose()), Some((Scheme::Md5, _))))
}

fn equal(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && memcmp::eq(a, b)
}

/// As it stands in a `users` line.
fn hashed(scheme: Scheme, salt: &[u8], password: &[u8]) -> Vec<u8> {
    match scheme {
        Scheme::Blake2 => [b"$3$", salt, b"$", &encoded(blake2(password, salt))].concat(),
        Scheme::Md5 => [b"$1$", salt, b"$", &encoded(md5(password, salt))].concat(),
        Scheme::Nt => nt(password),
    }
}

fn blake2(password: &[u8], salt: &[u8]) -> [u8; 16] {
    // The password as a C string, with its end.
    Blake2b::<U16>::new_with_prefix(password).chain_update([0]).chain_update(salt).finalize().into()
}

/// MD5-crypt, as Poul-Henning Kamp wrote it for FreeBSD.
fn md5(password: &[u8], salt: &[u8]) -> [u8; 16] {
    let of = |parts: &[&[u8]]| -> [u8; 16] {
        parts.iter().fold(Md5::new(), |digest, part| digest.chain_update(part)).finalize().into()
    };
    let inner = of(&[password, salt, password]);
    let mut outer = Md5::new().chain_update(password).chain_update("$1$").chain_update(salt);
    let mut left = password.len();
    while left > 0 {
        outer.update(inner.get(..left.min(16)).unwrap_or_default());
        left = left.saturating_sub(16);
    }
    let mut bits = password.len();
    while bits > 0 {
        outer.update(if bits & 1 == 1 { &[0] } else { password.get(..1).unwrap_or_default() });
        bits >>= 1;
    }
    let mut last: [u8; 16] = outer.finalize().into();
    for round in 0..1000 {
        let (first, second): (&[u8], &[u8]) =
            if round % 2 == 1 { (password, &last) } else { (&last, password) };
        let salt = if round % 3 == 0 { b"" } else { salt };
        let middle = if round % 7 == 0 { b"" } else { password };
        last = of(&[first, salt, middle, second]);
    }
    last
}

/// Each byte is taken for a character of UTF-16, as 3proxy does, which is right for ASCII only.
fn nt(password: &[u8]) -> Vec<u8> {
    let wide: Vec<u8> = password.iter().flat_map(|byte| [*byte, 0]).collect();
    Md4::digest(wide).iter().flat_map(|byte| format!("{byte:02X}").into_bytes()).collect()
}

/// A digest in crypt's base 64, in crypt's order.
fn encoded(digest: [u8; 16]) -> Vec<u8> {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = digest;
    let groups = [(a, g, m), (b, h, n), (c, i, o), (d, j, p), (e, k, f)];
    let mut text = Vec::with_capacity(22);
    let mut put = |mut bits: u32, digits: u32| {
        for _ in 0..digits {
            text.push(digit(bits));
            bits >>= 6;
        }
    };
    for (high, middle, low) in groups {
        put(u32::from_be_bytes([0, high, middle, low]), 4);
    }
    put(u32::from(l), 2);
    text
}

/// The digit of the lowest six bits.
fn digit(bits: u32) -> u8 {
    DIGITS.get((bits & 63) as usize).copied().unwrap_or(b'.')
}

#[cfg(test)]
mod tests {
    use compiler::program::auth::Password;
    use grammar::Secret;
    use proptest::prelude::*;

    use super::{Scheme, hash, hashed, verify};

    fn secret(text: impl AsRef<[u8]>) -> Secret {
        Secret::from(text.as_ref())
    }

    #[test]
    fn hashes_are_those_of_3proxy_crypt_and_of_openssl_passwd() {
        let long = "x".repeat(40);
        for (scheme, salt, password, expected) in [
            (Scheme::Blake2, "salt", "abc", "$3$salt$MpDPDhWgYk3RMsr3Y0EZR1"),
            (Scheme::Blake2, "", "a", "$3$$9gPCMRbNuP6MtZzt2a5Pl1"),
            (
                Scheme::Blake2,
                "0123456789abcdef",
                "correct horse battery staple",
                "$3$0123456789abcdef$vCjJriczMQELsIB43swc3/",
            ),
            (Scheme::Blake2, "aB./", "é\x07~ $1$", "$3$aB./$RFuC6.rMbKxg/9/W2twwy1"),
            (Scheme::Blake2, "s", &long, "$3$s$a8qWwuVzXZg4mze.bW.W31"),
            (Scheme::Md5, "salt", "abc", "$1$salt$Ix0K7gMcCieLMZGthf6yT1"),
            (Scheme::Md5, "12345678", "correct horse battery staple", "$1$12345678$6Y1hlBBgoOi.BbdQMriqZ1"),
            (Scheme::Md5, "a", "é\x07~ $1$", "$1$a$U1LrBRDOzM1TsmuvVEZWe/"),
            (Scheme::Md5, "saltsalt", &long, "$1$saltsalt$lTT80f5GEB.8cfLv43D0D1"),
            (Scheme::Md5, "saltsalt", "", "$1$saltsalt$5Jhcit4zN9UlGiA0txPkO0"),
            (Scheme::Nt, "", "abc", "E0FBA38268D0EC66EF1CB452D5885E53"),
            (Scheme::Nt, "", "correct horse battery staple", "1B9D5EFFD34AC283C8EFE2EACAEA8BBC"),
            (Scheme::Nt, "", "é\x07~ $1$", "6B059E2288F086AF94D383AEEB6118C3"),
            (Scheme::Nt, "", &long, "2F1DB8F7C89331D3D152A3823396E5CF"),
        ] {
            let made = String::from_utf8(hashed(scheme, salt.as_bytes(), password.as_bytes())).unwrap();
            assert_eq!(made, expected, "{password}");
        }
    }

    #[test]
    fn what_is_no_hash_matches_nothing() {
        let kept = |text: &str| [Password::Crypt(secret(text)), Password::Nt(secret(text))];
        for text in [
            "",
            "$1$",
            "$1$salt",
            "$3$",
            "$2y$10$abc",
            "x",
            "abc",
            "$1$$",
            "$3$salt$",
            "e0fba38268d0ec66ef1cb452d5885e53",
        ] {
            for kept in kept(text) {
                for given in ["", "x", "abc", text] {
                    assert!(!verify(&kept, &secret(given)), "{text} {given}");
                }
            }
        }
    }

    #[test]
    fn nothing_matches_by_its_beginning() {
        for scheme in [Scheme::Blake2, Scheme::Md5, Scheme::Nt] {
            let whole = "p".repeat(255);
            let kept = kept(scheme, &hash(scheme, &secret(&whole)).unwrap());
            assert!(verify(&kept, &secret(&whole)), "{scheme:?}");
            assert!(!verify(&kept, &secret(whole.clone() + "p")), "{scheme:?}");
            assert!(!verify(&kept, &secret(whole.clone() + "\0")), "{scheme:?}");
            assert!(!verify(&kept, &secret(&whole.as_bytes()[1..])), "{scheme:?}");
        }
    }

    fn kept(scheme: Scheme, hash: &str) -> Password {
        match scheme {
            Scheme::Nt => Password::Nt(secret(hash)),
            Scheme::Blake2 | Scheme::Md5 => Password::Crypt(secret(hash)),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn only_the_password_itself_matches_its_hash(
            password in proptest::collection::vec(1_u8.., 0..40),
            other in proptest::collection::vec(any::<u8>(), 0..40),
        ) {
            for scheme in [Scheme::Blake2, Scheme::Md5, Scheme::Nt] {
                let made = hash(scheme, &secret(&password)).unwrap();
                // 3proxy has room for 63 bytes.
                prop_assert!(made.len() < 64);
                let kept = kept(scheme, &made);
                prop_assert!(verify(&kept, &secret(&password)));
                prop_assert_eq!(verify(&kept, &secret(&other)), other == password);
            }
        }
    }

    #[test]
    fn a_salt_is_used_once() {
        let password = secret("same");
        for scheme in [Scheme::Blake2, Scheme::Md5] {
            assert_ne!(hash(scheme, &password).unwrap(), hash(scheme, &password).unwrap());
        }
    }
}
