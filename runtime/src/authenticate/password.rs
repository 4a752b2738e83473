//! Passwords, compared so that the time taken tells nothing.
use compiler::program::auth::Password;
use grammar::Secret;

use crate::{crypt, snapshot::Snapshot};

/// Whether `given` is the password of `user`; otherwise 3proxy's code: 5 no such user or no password given, 6, 7 or 8 a wrong one,
/// by how it is kept.
///
/// A user that does not exist takes as long as a wrong password does that is clear, or, if some users have passwords that take long,
/// as long as one of those. Such are checked on another thread.
pub(super) async fn check(snapshot: &Snapshot, user: &[u8], given: Option<&Secret>) -> Result<(), u16> {
    let given = given.ok_or(5_u16)?;
    let kept = snapshot.policy.user(user);
    let code = kept.map_or(5, Password::wrong);
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
                ("clear", Some("Secret"), Err(6)),
                ("clear", Some("secret\0"), Err(6)),
                ("clear", Some(""), Err(6)),
                ("clear", None, Err(5)),
                ("empty", Some(""), Ok(())),
                ("blake", Some("abc"), Ok(())),
                ("blake", Some("abd"), Err(7)),
                ("nt", Some("abc"), Ok(())),
                ("nt", Some("abd"), Err(8)),
                ("md5", Some("abc"), if users.contains("md5") { Ok(()) } else { Err(5) }),
                ("md5", Some("abd"), Err(if users.contains("md5") { 7 } else { 5 })),
                // Not even with the password that is asked in their place.
                ("nobody", Some("abc"), Err(5)),
                ("nobody", Some(""), Err(5)),
                ("nobody", Some("secret"), Err(5)),
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
