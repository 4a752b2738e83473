//! TLS for parents that are asked without.
use std::collections::HashMap;

use super::rule::{Lint, rule};
use crate::{
    analysis::lists::Having,
    program::{acl::Ace, service::Service},
    sources::Loc,
};

rule! {
    /// With `ssl_client_mode 3`, TLS is spoken to those parents only whose type ends in `s`, and there is none.
    ///
    /// Everything goes out as without `ssl_client`.
    ///
    /// ```3proxy,fires
    /// ssl_client_mode 3
    /// ssl_client
    /// auth iponly
    /// allow *
    /// parent 1000 socks5 192.0.2.1 1080
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
    "tls-mode3-without-secure-parent",
    level: Warn,
    group: Security,
    since: "0.1.0",
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    // The services of each `ssl_client_mode` line, of which one with such a parent is enough.
    let mut modes: HashMap<Loc, Option<&Service>> = HashMap::new();
    let secure = |ace: &Ace| program.acls.parents(ace).iter().any(|parent| parent.secure);
    let mut secured = Having::new(&program.acls, secure);
    for service in &program.services {
        let Some(at) = service.tls.client_mode.at.filter(|_| service.tls.secures_parents()) else { continue };
        let secure = service.asked_list().is_some_and(|acl| secured.holds(acl));
        let open = modes.entry(at).or_insert(Some(service));
        if secure {
            *open = None;
        }
    }
    let mut found: Vec<_> = modes.into_iter().filter_map(|(at, service)| Some((at, service?.at))).collect();
    found.sort_unstable();
    for (at, service) in found {
        lint.report(
            RULE.finding(
                at,
                "no parent is reached by TLS, because no parent in the list has a type that ends in `s`",
            )
            .label("TLS to such parents only")
            .also(service, "this service connects as if `ssl_client` were not set")
            .help("write an `s` after the parent's type (`socks5s`, `connects`), or remove `ssl_client`"),
        );
    }
}
