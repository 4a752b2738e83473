//! Interception without a CA.
use std::collections::HashSet;

use super::rule::{Lint, rule};

rule! {
    /// `ssl_mitm` without a CA that signs its certificates is not switched on.
    ///
    /// It needs `ssl_server_ca_file` and `ssl_server_ca_key`, or both in the folder of `ssl_certcache`, as `3proxy.pem` and `3proxy.key`.
    /// 3proxy starts all the same, and lets TLS pass unseen, past all filters.
    ///
    /// ```3proxy,fires
    /// ssl_server_ca_file /etc/3proxy/ca.pem
    /// ssl_mitm
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// proxy -i192.168.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// ssl_server_ca_file /etc/3proxy/ca.pem
    /// ssl_server_ca_key /etc/3proxy/ca.key
    /// ssl_client_verify
    /// ssl_mitm
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// proxy -i192.168.0.1
    /// ```
    "mitm-without-ca",
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
        let tls = &service.tls;
        let Some(at) = tls.intercept.filter(|_| tls.certificate_cache.is_none()) else { continue };
        let missing = match (&tls.server.ca_file, &tls.server.ca_key) {
            (None, _) => "ssl_server_ca_file",
            (_, None) => "ssl_server_ca_key",
            _ => continue,
        };
        if told.insert((at, missing)) {
            lint.report(
                RULE.finding(at, format!("nothing is intercepted: there is no `{missing}`"))
                    .label("has no effect")
                    .also(service.at, "this service passes TLS through")
                    .help(format!("write `{missing} FILE` above the service")),
            );
        }
    }
}
