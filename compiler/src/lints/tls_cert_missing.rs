//! TLS without a certificate.
use std::collections::HashSet;

use super::rule::{Lint, rule};
use crate::program::tls::Tls;
use crate::sources::Loc;

rule! {
    /// TLS without certificate and key is not switched on: the service goes on without it.
    ///
    /// `ssl_serv` needs `ssl_server_cert` and `ssl_server_key` before the service; `ssl_client_cert` needs `ssl_client_key`. 3proxy
    /// starts all the same, and speaks in clear text.
    ///
    /// ```3proxy,fires
    /// ssl_server_cert /etc/3proxy/cert.pem
    /// ssl_serv
    /// users "alice:CL:correct horse"
    /// auth strong
    /// allow alice
    /// proxy -i192.168.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// ssl_server_cert /etc/3proxy/cert.pem
    /// ssl_server_key /etc/3proxy/key.pem
    /// ssl_serv
    /// users "alice:CL:correct horse"
    /// auth strong
    /// allow alice
    /// proxy -i192.168.0.1
    /// ```
    "tls-cert-missing",
    level: Deny,
    group: Security,
    since: "0.1.0",
    reads: Order,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let mut told = HashSet::new();
    for service in &program.services {
        for fault in [server(&service.tls), client(&service.tls)].into_iter().flatten() {
            if told.insert((fault.at, fault.missing)) {
                let Fault { at, what, missing } = fault;
                lint.report(
                    RULE.finding(at, format!("{what} is off, because there is no `{missing}`"))
                        .label("has no effect")
                        .also(service.at, "this service runs without it")
                        .help(format!("write `{missing} FILE` above the service")),
                );
            }
        }
    }
}

/// What is missing, and what for.
struct Fault {
    at: Loc,
    what: &'static str,
    missing: &'static str,
}

fn server(tls: &Tls) -> Option<Fault> {
    let at = tls.serve?;
    let missing = match (&tls.server.certificate, &tls.server.key) {
        (None, _) => "ssl_server_cert",
        (_, None) => "ssl_server_key",
        _ => return None,
    };
    Some(Fault { at, what: "TLS towards clients", missing })
}

fn client(tls: &Tls) -> Option<Fault> {
    tls.connect?;
    let at = tls.client.certificate.as_ref()?.at?;
    tls.client.key.is_none().then_some(Fault { at, what: "TLS towards servers", missing: "ssl_client_key" })
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn the_settings_in_force_at_the_service_count() {
        check("tls-cert-missing", "ssl_serv\n#^ there is no `ssl_server_cert`\nproxy\nssl_noserv\nsocks\n");
        check(
            "tls-cert-missing",
            "ssl_serv\n#^ no `ssl_server_cert`\nproxy\nssl_server_cert a\nssl_server_key b\nsocks\n",
        );
        check(
            "tls-cert-missing",
            "ssl_client_cert a\n#               ^ TLS towards servers is off\nssl_cli\nproxy\n",
        );
        check("tls-cert-missing", "ssl_client_cert a\nproxy\nssl_serv\n");
    }
}
