//! `mitm-without-verify`
use std::collections::BTreeSet;

use super::{
    certificates::verify_above,
    rule::{Lint, rule},
};

rule! {
    /// TLS is intercepted, and the servers' certificates are not verified.
    ///
    /// Clients see a certificate that 3proxy has made, so they can't verify the server themselves. Without `ssl_client_verify` it does not
    /// look either: whoever is on the way to a server can pass for it, and no browser warns.
    ///
    /// ```3proxy,fires
    /// ssl_server_ca_file /etc/3proxy/ca.pem
    /// ssl_server_ca_key /etc/3proxy/ca.key
    /// ssl_mitm
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// proxy
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,fixed
    /// ssl_server_ca_file /etc/3proxy/ca.pem
    /// ssl_server_ca_key /etc/3proxy/ca.key
    /// ssl_client_verify
    /// ssl_mitm
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// proxy
    /// ```
    ///
    /// ```3proxy,clean
    /// ssl_client_verify
    /// ssl_mitm
    /// ssl_nomitm
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// proxy
    /// ```
    "mitm-without-verify",
    level: Deny,
    group: Security,
    since: "0.1.0",
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let mut told = BTreeSet::new();
    for service in &lint.program.services {
        let Some(at) = service.tls.intercept.filter(|_| service.tls.client.verify.is_none()) else {
            continue;
        };
        if told.insert(at) {
            lint.report(
                RULE.finding(at, "TLS is intercepted without checking the servers' certificates")
                    .label("clients can't check them, and 3proxy does not")
                    .also(service.at, "by this service")
                    .help("write `ssl_client_verify` above it")
                    .fix(verify_above(lint.sources, at)),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn what_is_in_force_at_the_service_counts() {
        check(
            "mitm-without-verify",
            "ssl_mitm\n#^ without checking\nproxy\nproxy -p2\nssl_client_verify\nproxy -p3\nssl_client_no_verify\nproxy -p4\n",
        );
        check("mitm-without-verify", "ssl_mitm\nssl_client_verify\nproxy\n");
    }
}
