//! Credentials that a parent can't be told.
use super::rule::{Lint, rule};
use crate::program::{acl::ParentKind, auth::LONGEST_CREDENTIAL};

rule! {
    /// SOCKS5 has room for 255 bytes of user name and password: 3proxy sends the low byte of their length.
    ///
    /// So the parent reads something else than is written.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow *
    /// parent 1000 socks5 192.0.2.1 1080 {REP:u:258} secret
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow *
    /// parent 1000 socks5 192.0.2.1 1080 alice secret
    /// proxy -i127.0.0.1
    /// ```
    "parent-credentials-too-long",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    for parent in &lint.program.acls.parents {
        let user = parent.user.as_ref().map_or(0, |user| user.as_bytes().len());
        let password = parent.password.as_ref().map_or(0, |password| password.expose().len());
        let socks5 =
            matches!(parent.kind, ParentKind::Socks5 | ParentKind::Socks5Name | ParentKind::Socks5Short);
        if socks5 && user.max(password) > LONGEST_CREDENTIAL {
            lint.report(
                RULE.finding(parent.at, "this user name or password is too long for SOCKS5")
                    .help("shorten it to 255 bytes"),
            );
        }
    }
}
