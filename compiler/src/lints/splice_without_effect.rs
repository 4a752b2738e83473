//! `-s` where the program has to see the data.

use super::rule::{Lint, rule};

rule! {
    /// Data is not spliced where the program has to see it: `-s` does nothing there.
    ///
    /// That is so where TLS begins or ends in the program (`ssl_serv`, `ssl_cli`, `ssl_mitm`) and not in the kernel (`ssl_ktls`).
    ///
    /// ```3proxy,fires
    /// ssl_server_cert /etc/3proxy/cert.pem
    /// ssl_server_key /etc/3proxy/key.pem
    /// ssl_serv
    /// tcppm -s3 -i192.168.0.1 8443 192.168.1.1 80
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// ssl_server_cert /etc/3proxy/cert.pem
    /// ssl_server_key /etc/3proxy/key.pem
    /// ssl_ktls
    /// ssl_serv
    /// tcppm -s3 -i192.168.0.1 8443 192.168.1.1 80
    /// ```
    "splice-without-effect",
    level: Warn,
    group: Performance,
    since: "0.1.0",
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    for service in &program.services {
        let Some(at) =
            service.options.splice.filter(|splice| splice.value.mode & 3 != 0).and_then(|splice| splice.at)
        else {
            continue;
        };
        let tls = &service.tls;
        let finding = match (tls.intercept, tls.serve.or(tls.connect), tls.kernel) {
            (Some(intercept), ..) => RULE
                .finding(at, "intercepted connections are not spliced")
                .also(intercept, "TLS is opened here")
                .help("remove `-s`, or `ssl_mitm`"),
            (None, Some(tls), None) => RULE
                .finding(at, "TLS in the program is not spliced")
                .also(tls, "TLS is set up here")
                .help("write `ssl_ktls` above it, which hands TLS to the kernel, or remove `-s`"),
            _ => continue,
        };
        lint.report(finding.label("does nothing here"));
    }
}
