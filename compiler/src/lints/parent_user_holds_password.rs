//! A parent's user and password in one word.
use super::rule::{Lint, rule};
use crate::program::acl::{Parent, ParentKind};

rule! {
    /// A parent's user name has a colon in it, and there is no password.
    ///
    /// User and password are two words here. An HTTP proxy splits what it is sent at the first colon, and what 3proxy sends has one
    /// more at its end: so the password is wrong in every request, and the parent refuses all of them. A SOCKS 5 parent is sent the
    /// whole word as the user, without a password.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// parent 1000 connect+ 192.0.2.10 3128 office:secret
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// Write two words:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// parent 1000 connect+ 192.0.2.10 3128 office secret
    /// proxy -i10.0.0.1
    /// ```
    "parent-user-holds-password",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    for parent in lint.program.acls.parents.iter().filter(|parent| is_one_word(parent)) {
        lint.report(
            RULE.finding(
                parent.at,
                "the parent refuses every request: the user and the password are one word",
            )
            .label("the user and the password are separated by a space")
            .help("write a space in place of the colon"),
        );
    }
}

fn is_one_word(parent: &Parent) -> bool {
    let asks = matches!(
        parent.kind,
        ParentKind::Http
            | ParentKind::Connect
            | ParentKind::ConnectName
            | ParentKind::Socks5
            | ParentKind::Socks5Name
    );
    let has_colon = |user: &grammar::Text| user.as_bytes().contains(&b':');
    asks && parent.password.is_none() && parent.user.as_ref().is_some_and(has_colon)
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::findings;

    #[test]
    fn parents_that_ask_for_a_password_are_told() {
        for (parent, found) in [
            ("connect 192.0.2.1 3128 bob:secret", 1),
            ("http 192.0.2.1 3128 bob:secret", 1),
            ("connect 192.0.2.1 3128 bob secret", 0),
            ("connect 192.0.2.1 3128 realm:bob secret", 0),
            ("socks5 192.0.2.1 1080 bob:secret", 1),
            ("socks5+ 192.0.2.1 1080 bob:secret", 1),
            ("socks5 192.0.2.1 1080 bob secret", 0),
            ("socks4 192.0.2.1 1080 bob:secret", 0),
            ("http 192.0.2.1 3128", 0),
        ] {
            let text = format!("allow *\nparent 1000 {parent}\nproxy\n");
            let findings = findings("parent-user-holds-password", &text);
            assert_eq!(findings.len(), found, "{parent}");
            assert!(!format!("{findings:?}").contains("secret"), "{parent}");
        }
    }
}
