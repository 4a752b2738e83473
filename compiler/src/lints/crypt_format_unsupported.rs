//! `crypt-format-unsupported`
use grammar::value::{PasswordKind, UserTrap, user};

use super::rule::{Misread, rule};
use crate::{finding::Finding, program::trap::Trap};

rule! {
    /// A hash is of a form that 3proxy does not know, so no password fits it.
    ///
    /// `CR` takes `$1$` (MD5) and `$3$` (BLAKE2b), and neither what htpasswd writes (`$apr1$`, `$2y$`) nor what Linux has
    /// (`$6$`, `$y$`). `NT` takes 32 hexadecimal digits in capitals.
    ///
    /// ```3proxy,fires
    /// users "alice:CR:$apr1$abcdefgh$0123456789012345678901"
    /// auth strong
    /// allow alice
    /// proxy
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// users "alice:CR:$1$abcdefgh$0123456789012345678901"
    /// users bob:NT:0123456789ABCDEF0123456789ABCDEF
    /// auth strong
    /// allow alice,bob
    /// proxy
    /// ```
    "crypt-format-unsupported",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    trap: Trap::User(UserTrap::HashUnknown) => finding,
}

fn finding(part: Misread<'_>) -> Finding {
    let word = part.unquoted();
    let name =
        String::from_utf8_lossy(word.split(|byte| *byte == b':').next().unwrap_or_default()).into_owned();
    let is_nt = user(&word).value.is_some_and(|user| user.kind == PasswordKind::Nt);
    // Of the whole word: where a template brings the hash, nothing is known of it.
    let finding = RULE.finding(part.whole, format!("no password matches the hash of user `{name}`"));
    if is_nt {
        finding
            .label("`NT` is 32 hexadecimal digits, in capitals")
            .help("write the hash in capitals, or make a new one with `cfgc crypt`")
    } else {
        finding
            .label("`CR` is a hash of the form `$1$SALT$…` or `$3$SALT$…`")
            .help("make a supported hash with `cfgc crypt`")
    }
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn each_form_that_fits_nothing_is_found() {
        check(
            "crypt-format-unsupported",
            r#"
users "a:CR:$2y$10$abcdefghijklmnopqrstuu" "b:CR:$6$salt$hash" c:CR:plain
#^ of user `a`
#^ of user `b`
#^ of user `c`
users d:NT:0123456789abcdef0123456789abcdef
#     ^ of user `d`
users "e:CR:$3$salt$hash"
#^ of user `e`
users "g:CR:$3$salt$MpDPDhWgYk3RMsr3Y0EZR1" f:CR: h:CL:0123456789abcdef0123456789abcdef
"#,
        );
    }
}
