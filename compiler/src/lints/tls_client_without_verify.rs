//! `tls-client-without-verify`
use std::collections::BTreeSet;

use super::{
    certificates::verify_above,
    rule::{Lint, rule},
};

rule! {
    /// TLS to servers or parents accepts any certificate.
    ///
    /// So it protects against eavesdropping, but not against an attacker that answers in place of the server
    /// and so gets the credentials for a parent.
    ///
    /// ```3proxy,fires
    /// ssl_client
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// tcppm 143 mail.example.com 993
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,fixed
    /// ssl_client_verify
    /// ssl_client
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// tcppm 143 mail.example.com 993
    /// ```
    ///
    /// ```3proxy,clean
    /// ssl_client
    /// ssl_client_ca_file /etc/ssl/certs/ca-certificates.crt
    /// ssl_client_verify
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// tcppm 143 mail.example.com 993
    /// ```
    "tls-client-without-verify",
    level: Warn,
    group: Security,
    since: "0.1.0",
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let mut told = BTreeSet::new();
    for service in &lint.program.services {
        let verified = service.tls.client.verify.is_some();
        let Some(at) = service.tls.connect.filter(|_| !verified && told.insert(service.tls.connect)) else {
            continue;
        };
        lint.report(
            RULE.finding(at, "TLS to the server accepts any certificate")
                .label("does not verify the server's certificate")
                .also(service.at, "by this service")
                .help("write `ssl_client_verify` above it, and `ssl_client_ca_file` if the CA is your own")
                .fix(verify_above(lint.sources, at)),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn one_finding_for_a_line() {
        check(
            "tls-client-without-verify",
            "ssl_cli\n#^ any certificate\nproxy\nsocks\nssl_nocli\nproxy -p2\nssl_client_verify\nssl_cli\nproxy -p3\n",
        );
        check("tls-client-without-verify", "ssl_serv\nproxy\nssl_client\n");
    }
}
