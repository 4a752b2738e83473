//! `parent-resolved-once`
use super::rule::{Lint, rule};
use crate::program::acl::ParentHost;

rule! {
    /// A parent is given by name, which 3proxy resolves when it reads the file, and never again.
    ///
    /// When the address changes, the parent is lost until the next reload; and while the name does not resolve, 3proxy does not start.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// parent 1000 socks5 parent.example.com 1080
    /// proxy
    /// ```
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// parent 1000 socks5 192.0.2.10 1080
    /// proxy
    /// ```
    "parent-resolved-once",
    level: Allow,
    group: Portability,
    since: "0.1.0",
    reads: Line,
    of_3proxy: true,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    for parent in &lint.program.acls.parents {
        let ParentHost::Name(name) = &parent.host else { continue };
        if !name.as_bytes().eq_ignore_ascii_case(b"localhost") {
            lint.report(
                RULE.finding(parent.at, format!("3proxy resolves `{name}` once, when it reads the file"))
                    .help("write the address, or reload when it changes"),
            );
        }
    }
}
