//! A port of `authnserver`.
use grammar::value::endpoint;

use super::rule::{Lint, rule};

rule! {
    /// The port of `authnserver` is read and not used: 3proxy asks port 53.
    ///
    /// ```3proxy,fires
    /// authnserver 192.0.2.53:5353
    /// auth dnsname
    /// allow pc1.example.com
    /// proxy -i192.168.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// authnserver 192.0.2.53
    /// auth dnsname
    /// allow pc1.example.com
    /// proxy -i192.168.0.1
    /// ```
    "authnserver-port-ignored",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let Some(at) = lint.program.resolver.auth_server.and_then(|server| server.at) else { return };
    let values = lint.sources.values(at);
    let Some((_, server)) = values.iter().find(|(word, _)| *word == at) else { return };
    let port = endpoint(server)
        .ok()
        .filter(|reading| reading.traps.is_empty())
        .and_then(|reading| reading.value.port);
    if let Some(port) = port.filter(|port| *port != 53) {
        lint.report(
            RULE.finding(at, format!("3proxy asks port 53 here, not {port}"))
                .help("run that name server on port 53, on a separate address if necessary"),
        );
    }
}
