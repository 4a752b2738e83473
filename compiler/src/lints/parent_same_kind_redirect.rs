//! `parent-same-kind-redirect`
use std::collections::BTreeMap;

use super::rule::{Lint, rule};
use crate::{
    analysis::lists,
    finding::Finding,
    program::{
        acl::Parent,
        service::{Service, ServiceKind},
    },
    sources::Loc,
};

rule! {
    /// A local redirection leads nowhere: to the kind of service that the request is in already, or out of one that follows none.
    ///
    /// `0.0.0.0 0` hands a request on to another kind of service in the same process, as `http` does with what `socks` got. In a `proxy`
    /// the same entry is a plain `allow`, and a mail proxy or `ftppr` follows no redirection at all.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8 * 80
    /// parent 1000 http 0.0.0.0 0
    /// proxy
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8 * 80
    /// proxy
    /// ```
    ///
    /// A list that another service walks, too, may have it:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8 * 80
    /// parent 1000 http 0.0.0.0 0
    /// allow * 10.0.0.0/8
    /// socks
    /// proxy
    /// ```
    "parent-same-kind-redirect",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    check: check,
}

/// A local redirection, and the first service in which it leads nowhere.
struct Redirect<'a> {
    parent: &'a Parent,
    service: &'a Service,
    /// A service follows it.
    followed: bool,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    if !program.acls.parents.iter().any(Parent::is_local) {
        return;
    }
    let mut redirects: BTreeMap<Loc, Redirect<'_>> = BTreeMap::new();
    for entry in lists::entries(program, |service| Some(service.kind)) {
        let service = entry.service;
        for parent in program.acls.parents(entry.ace) {
            let Some(to) = parent.redirects_to() else { continue };
            redirects.entry(parent.at).or_insert(Redirect { parent, service, followed: false }).followed |=
                follows(service.kind) && to != service.kind;
        }
    }
    for redirect in redirects.into_values().filter(|redirect| !redirect.followed) {
        lint.report(finding(&redirect));
    }
}

/// Whether a kind of service hands requests on within the process.
const fn follows(kind: ServiceKind) -> bool {
    matches!(
        kind,
        ServiceKind::Proxy | ServiceKind::Socks | ServiceKind::Auto | ServiceKind::Tcppm | ServiceKind::Tlspr
    )
}

fn finding(Redirect { parent, service, .. }: &Redirect<'_>) -> Finding {
    let name = service.kind.name();
    let message = if follows(service.kind) {
        format!("this redirects requests of `{name}` to `{name}` itself")
    } else {
        format!("`{name}` redirects no request within the process")
    };
    RULE.finding(parent.at, message)
        .label("does nothing")
        .also(service.at, "by this service")
        .help("remove the line, or name the parent that is meant by its address")
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn one_finding_for_a_line() {
        check(
            "parent-same-kind-redirect",
            r"
allow *
parent 1000 http 0.0.0.0 0
#^ this redirects requests of
proxy
proxy -p3129
flush
allow *
parent 1000 ftp 0.0.0.0 0
#^ `pop3p` redirects no request
pop3p
flush
allow * * * 80
parent 1000 http 0.0.0.0 0
allow *
parent 1000 tls 0.0.0.0 0
tcppm 443 192.0.2.1 443
",
        );
    }
}
