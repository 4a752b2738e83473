//! Parents over TLS, where TLS is not set up for parents.
use std::collections::BTreeSet;

use super::rule::{Lint, rule};
use crate::{
    analysis::lists,
    finding::Finding,
    program::{
        acl::{Ace, Parent},
        service::Service,
    },
};

rule! {
    /// A parent of a type with a trailing `s` needs `ssl_client` with `ssl_client_mode 3` before the service.
    ///
    /// Without `ssl_client`, 3proxy crashes at the first request. In mode 1 it sends everything to the parent in clear text,
    /// credentials too.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow *
    /// parent 1000 socks5s 192.0.2.1 1080
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// ssl_client_mode 3
    /// ssl_client
    /// auth iponly
    /// allow *
    /// parent 1000 socks5s 192.0.2.1 1080
    /// proxy -i127.0.0.1
    /// ```
    "secure-parent-without-mode3",
    level: Deny,
    group: Security,
    since: "0.1.0",
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let secure = |ace: &Ace| program.acls.parents(ace).iter().find(|parent| parent.secure);
    if !program.acls.parents.iter().any(|parent| parent.secure) {
        return;
    }
    let mut told = BTreeSet::new();
    for entry in lists::entries(program, |service| (!service.tls.secures_parents()).then_some(())) {
        if let Some(parent) = secure(entry.ace).filter(|parent| told.insert(parent.at)) {
            lint.report(found(parent, entry.service));
        }
    }
}

fn found(parent: &Parent, service: &Service) -> Finding {
    let (message, at) = match service.tls.connect {
        None => ("TLS is wanted to this parent, but `ssl_client` is not in force", None),
        Some(at) => ("TLS is wanted to this parent, but it is set up for something else", Some(at)),
    };
    let finding = RULE.finding(parent.at, message).also(service.at, "by this service");
    let finding = match at {
        Some(at) => finding.also(at, "set up here"),
        None => finding,
    };
    finding.help("write `ssl_client_mode 3` and `ssl_client` before the service")
}
