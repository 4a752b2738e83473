//! Passwords, compared so that the time taken tells nothing.
use compiler::{code::Code, program::auth::Password};
use grammar::Secret;

use crate::{crypt, snapshot::Snapshot};

/// Whether `given` is the password of `user`; otherwise 3proxy's code.
///
/// A user that does not exist takes as long as a wrong password does that is clear, or, if some users have passwords that take long,
/// as long as one of those. Such are checked on another thread.
pub(super) async fn check(snapshot: &Snapshot, user: &[u8], given: Option<&Secret>) -> Result<(), Code> {
    let given = given.ok_or(Code::UNKNOWN_USER)?;
    let kept = snapshot.policy.user(user);
    let code = kept.map_or(Code::UNKNOWN_USER, Password::wrong);
    let nobodys = Password::Clear(Secret::from(&b""[..]));
    let asked = kept.or(snapshot.slow_password.as_ref()).unwrap_or(&nobodys);
    let right = if crypt::takes_long(asked) {
        let (asked, given) = (asked.clone(), given.clone());
        tokio::task::spawn_blocking(move || crypt::verify(&asked, &given)).await.unwrap_or(false)
    } else {
        crypt::verify(asked, given)
    };
    if right && kept.is_some() { Ok(()) } else { Err(code) }
}

#[cfg(test)]
mod tests {
    use compiler::code::Code;
    use grammar::Secret;

    use super::check;
    use crate::testing::snapshot;

    #[tokio::test]
    async fn only_the_password_kept_passes() {
        let quick = "clear:CL:secret empty:CL: blake:CR:$3$salt$MpDPDhWgYk3RMsr3Y0EZR1 nt:NT:E0FBA38268D0EC66EF1CB452D5885E53";
        let slow = "md5:CR:$1$salt$Ix0K7gMcCieLMZGthf6yT1";
        for users in [quick.to_owned(), format!("{quick} {slow}")] {
            let snapshot = snapshot(&format!("users {}\nauth strong\nproxy\n", quoted(&users)));
            for (user, given, expected) in [
                ("clear", Some("secret"), Ok(())),
                ("clear", Some("Secret"), Err(Code::WRONG_CLEAR)),
                ("clear", Some("secret\0"), Err(Code::WRONG_CLEAR)),
                ("clear", Some(""), Err(Code::WRONG_CLEAR)),
                ("clear", None, Err(Code::UNKNOWN_USER)),
                ("empty", Some(""), Ok(())),
                ("blake", Some("abc"), Ok(())),
                ("blake", Some("abd"), Err(Code::WRONG_CRYPT)),
                ("nt", Some("abc"), Ok(())),
                ("nt", Some("abd"), Err(Code::WRONG_NT)),
                ("md5", Some("abc"), if users.contains("md5") { Ok(()) } else { Err(Code::UNKNOWN_USER) }),
                (
                    "md5",
                    Some("abd"),
                    Err(if users.contains("md5") { Code::WRONG_CRYPT } else { Code::UNKNOWN_USER }),
                ),
                // Not even with the password that is asked in their place.
                ("nobody", Some("abc"), Err(Code::UNKNOWN_USER)),
                ("nobody", Some(""), Err(Code::UNKNOWN_USER)),
                ("nobody", Some("secret"), Err(Code::UNKNOWN_USER)),
            ] {
                let given = given.map(|text| Secret::from(text.as_bytes()));
                let found = check(&snapshot, user.as_bytes(), given.as_ref()).await;
                assert_eq!(found, expected, "{user} {given:?} of {users}");
            }
        }
    }

    /// Each in quotes: a bare `$` includes a file.
    fn quoted(users: &str) -> String {
        users.split(' ').map(|user| format!("\"{user}\"")).collect::<Vec<_>>().join(" ")
    }
}
