//! `parent-user-read-as-star`
use super::rule::{Lint, rule};

rule! {
    /// A parent's user name begins with `*`, which 3proxy reads as the client's own.
    ///
    /// It looks at the first byte only. So the parent is sent the client's name and password.
    ///
    /// ```3proxy,fires
    /// auth strong
    /// users alice:CL:wonderland
    /// allow alice
    /// parent 1000 connect+ 192.0.2.10 3128 *office secret
    /// proxy
    /// ```
    ///
    /// ```3proxy,clean
    /// auth strong
    /// users alice:CL:wonderland
    /// allow alice
    /// parent 500 connect+ 192.0.2.10 3128 office secret
    /// parent 500 connect+ 192.0.2.11 3128 * *
    /// proxy
    /// ```
    "parent-user-read-as-star",
    level: Deny,
    group: Security,
    since: "0.1.0",
    reads: Line,
    of_3proxy: true,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    for parent in &lint.program.acls.parents {
        let Some(user) = parent.user.as_ref() else { continue };
        if user.as_bytes().starts_with(b"*") && !parent.wants_client_credentials() {
            lint.report(
                RULE.finding(
                    parent.at,
                    format!("`{user}` is read as `*`, so the parent is sent the client's own password"),
                )
                .help("use another name at the parent, or write `*` if that is meant"),
            );
        }
    }
}
