//! Passwords, compared so that the time taken tells nothing.
use compiler::program::auth::Password;
use grammar::Secret;
use openssl::{memcmp, sha::sha256};

/// Whether `given` is the password kept; otherwise 3proxy's code: 5 no such user or no password given, 6, 7 or 8 a wrong one,
/// by how it is kept.
///
/// A user that does not exist takes as long as a wrong password does.
pub(super) fn check(kept: Option<&Password>, given: Option<&Secret>) -> Result<(), u16> {
    let given = given.ok_or(5_u16)?;
    let (kept, code) = match kept {
        Some(Password::Clear(secret)) => (Some(secret), 6),
        // `cfgc run` refuses hashed passwords so far; should one get here, it matches nothing.
        Some(Password::Crypt(_)) => (None, 7),
        Some(Password::Nt(_)) => (None, 8),
        None => (None, 5),
    };
    let expected = sha256(kept.map_or(&[], Secret::expose));
    let matches = memcmp::eq(&expected, &sha256(given.expose()));
    if matches && kept.is_some() { Ok(()) } else { Err(code) }
}

#[cfg(test)]
mod tests {
    use compiler::program::auth::Password;
    use grammar::Secret;

    use super::check;

    #[test]
    fn only_the_password_kept_passes() {
        let secret = |text: &str| Secret::from(text.as_bytes());
        let clear = Password::Clear(secret("secret"));
        for (kept, given, expected) in [
            (Some(&clear), Some("secret"), Ok(())),
            (Some(&clear), Some("Secret"), Err(6)),
            (Some(&clear), Some("secret\0"), Err(6)),
            (Some(&clear), Some(""), Err(6)),
            (Some(&clear), None, Err(5)),
            (Some(&Password::Clear(secret(""))), Some(""), Ok(())),
            (Some(&Password::Crypt(secret("x"))), Some("x"), Err(7)),
            (Some(&Password::Crypt(secret(""))), Some(""), Err(7)),
            (Some(&Password::Nt(secret("x"))), Some("x"), Err(8)),
            (None, Some(""), Err(5)),
            (None, Some("secret"), Err(5)),
        ] {
            assert_eq!(check(kept, given.map(secret).as_ref()), expected, "{kept:?} {given:?}");
        }
    }
}
