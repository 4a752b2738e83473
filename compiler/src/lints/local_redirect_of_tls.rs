//! `local-redirect-of-tls`
use std::collections::BTreeSet;

use super::rule::{Lint, rule};
use crate::{
    analysis::lists,
    finding::Finding,
    program::{
        acl::{Ace, Action, Parent},
        service::{Service, ServiceKind},
    },
};

rule! {
    /// Connections to a TLS port are handed to a service that expects a plain protocol.
    ///
    /// `parent 1000 http 0.0.0.0 0` has the process read what a SOCKS client sends as HTTP. A client that connects to port 443 sends TLS, of
    /// which the HTTP proxy understands nothing: the connection hangs. Only `tls` reads it.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8 * 443
    /// parent 1000 http 0.0.0.0 0
    /// allow * 10.0.0.0/8
    /// socks -i10.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8 * 80
    /// parent 1000 http 0.0.0.0 0
    /// allow * 10.0.0.0/8 * 443
    /// parent 1000 tls 0.0.0.0 0
    /// allow * 10.0.0.0/8
    /// socks -i10.0.0.1
    /// ```
    "local-redirect-of-tls",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    check: check,
}

/// Where TLS is spoken from the first byte: HTTPS, and mail, news, directory and file transfer over TLS.
const TLS_PORTS: [u16; 9] = [443, 465, 563, 636, 989, 990, 993, 995, 8443];

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    if !program.acls.parents.iter().any(Parent::is_local) {
        return;
    }
    let (mut told, mut found) = (BTreeSet::new(), Vec::new());
    for entry in lists::entries(program, |service| hands_on(service).then_some(service.kind)) {
        let Some(port) = tls_port(entry.ace).filter(|_| entry.ace.action == Action::Allow) else { continue };
        let Some(parent) = program.acls.parents(entry.ace).first() else { continue };
        let Some(to) = parent.redirects_to().filter(|to| is_plain(*to) && *to != entry.service.kind) else {
            continue;
        };
        if told.insert(parent.at) {
            found.push(finding(parent, to, port, entry.ace, entry.service));
        }
    }
    for finding in found {
        lint.report(finding);
    }
}

/// Whether a service hands on what its clients send as they send it: `ssl_mitm` would have taken the TLS off.
fn hands_on(service: &Service) -> bool {
    matches!(service.kind, ServiceKind::Socks | ServiceKind::Auto) && service.tls.intercept.is_none()
}

/// Whether a kind of service can't read TLS.
const fn is_plain(kind: ServiceKind) -> bool {
    matches!(
        kind,
        ServiceKind::Proxy
            | ServiceKind::Ftppr
            | ServiceKind::Pop3p
            | ServiceKind::Imapp
            | ServiceKind::Smtpp
    )
}

/// The first port of TLS that an entry lists by itself.
fn tls_port(ace: &Ace) -> Option<u16> {
    let ranges = ace.matcher.ports.as_deref().unwrap_or_default();
    let listed = |port: &u16| ranges.iter().any(|range| range.first == *port && range.last == *port);
    TLS_PORTS.into_iter().find(listed)
}

fn finding(parent: &Parent, to: ServiceKind, port: u16, ace: &Ace, service: &Service) -> Finding {
    let finding = RULE
        .finding(
            parent.at,
            format!("connections to port {port} speak TLS, which `{}` does not understand", to.name()),
        )
        .label("reads the data as a plain-text protocol")
        .also(ace.at, "for what this entry matches")
        .also(service.at, "of this service's clients");
    if port == 443 {
        finding.help("write `tls` for the type, or leave the port out of the entry")
    } else {
        finding.help(format!("leave port {port} out of the entry"))
    }
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::findings;

    #[test]
    fn ports_of_tls_and_plain_services_are_told_apart() {
        for (entry, kind, service, found) in [
            ("* * * 443", "http", "socks", 1),
            ("* * * 80,443", "http", "auto", 1),
            ("* * * 995", "pop3", "socks", 1),
            ("* * * 443", "tls", "socks", 0),
            ("* * * 80", "http", "socks", 0),
            ("* * * 1-65535", "http", "socks", 0),
            ("*", "http", "socks", 0),
            // There it leads nowhere, which is another fault.
            ("* * * 443", "http", "proxy", 0),
        ] {
            let text = format!(
                "auth iponly\nallow {entry}\nparent 1000 {kind} 0.0.0.0 0\nallow *\n{service} -i127.0.0.1\n"
            );
            assert_eq!(findings("local-redirect-of-tls", &text).len(), found, "{text}");
        }
    }
}
