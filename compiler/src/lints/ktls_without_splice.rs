//! TLS in the kernel, but no splicing.

use super::rule::{Lint, rule};

rule! {
    /// TLS in the kernel is useful only with splicing: without it, it costs more than TLS in the program.
    ///
    /// ```3proxy,fires
    /// ssl_server_cert /etc/3proxy/cert.pem
    /// ssl_server_key /etc/3proxy/key.pem
    /// ssl_ktls
    /// ssl_serv
    /// tcppm -s0 -i192.168.0.1 8443 192.168.1.1 80
    /// ```
    ///
    /// Right (splicing is the default of a 3proxy that has `ssl_ktls`):
    ///
    /// ```3proxy,clean
    /// ssl_server_cert /etc/3proxy/cert.pem
    /// ssl_server_key /etc/3proxy/key.pem
    /// ssl_ktls
    /// ssl_serv
    /// tcppm -i192.168.0.1 8443 192.168.1.1 80
    /// ```
    "ktls-without-splice",
    level: Warn,
    group: Performance,
    since: "0.1.0",
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    for service in &program.services {
        let off =
            service.options.splice.filter(|splice| splice.value.mode & 3 == 0).and_then(|splice| splice.at);
        let tls = &service.tls;
        let Some(kernel) = tls.kernel.filter(|_| tls.serve.or(tls.connect).is_some()) else { continue };
        if let Some(at) = off {
            lint.report(
                RULE.finding(at, "without splicing, TLS in the kernel costs more than it saves")
                    .label("splicing is switched off here")
                    .also(kernel, "TLS in the kernel is switched on here")
                    .help("remove this option, or write `ssl_noktls` above the service"),
            );
        }
    }
}
