//! `parent-password-in-clear`
use std::net::IpAddr;

use super::rule::{Lint, rule};
use crate::program::acl::{Parent, ParentHost};

rule! {
    /// A password is sent to a parent without TLS.
    ///
    /// Whoever is on the way there reads it: SOCKS5 and HTTP send it as it is. The types with a trailing `s` ask for TLS, which
    /// needs `ssl_client` and `ssl_client_mode 3`.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// parent 1000 connect+ 203.0.113.10 3128 office secret
    /// proxy
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,clean
    /// ssl_client_verify
    /// ssl_client_mode 3
    /// ssl_client
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// parent 1000 connect+s 203.0.113.10 3128 office secret
    /// proxy
    /// ```
    ///
    /// A parent on this machine, or in the same private network, is not reported:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// parent 1000 connect+ 192.168.0.10 3128 office secret
    /// proxy
    /// ```
    "parent-password-in-clear",
    level: Allow,
    group: Security,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    for parent in &lint.program.acls.parents {
        let credentials = parent.password.is_some() || parent.wants_client_credentials();
        if credentials && !parent.secure && is_far(parent) {
            let whose = if parent.wants_client_credentials() {
                "the clients' passwords are"
            } else {
                "the password is"
            };
            lint.report(
                RULE.finding(parent.at, format!("{whose} sent to `{}` without TLS", parent.host))
                    .help(format!("write `{}s` as the type, with `ssl_client` and `ssl_client_mode 3` above the service", parent.kind.name())),
            );
        }
    }
}

/// Whether a parent is beyond this machine and its private network.
fn is_far(parent: &Parent) -> bool {
    match &parent.host {
        ParentHost::Address(IpAddr::V4(address)) => {
            !address.is_loopback()
                && !address.is_private()
                && !address.is_link_local()
                && !address.is_unspecified()
        }
        ParentHost::Address(IpAddr::V6(address)) => {
            !address.is_loopback() && !address.is_unique_local() && !address.is_unspecified()
        }
        ParentHost::Name(name) => !name.as_bytes().eq_ignore_ascii_case(b"localhost"),
        ParentHost::Prefix(..) | ParentHost::Unix(_) => false,
    }
}
