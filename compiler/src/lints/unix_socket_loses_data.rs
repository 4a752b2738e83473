//! A Unix socket where 3proxy loses data.

use super::rule::{Lint, rule};
use crate::program::{acl::ParentHost, service::ListenAddress};

rule! {
    /// 3proxy 1.0 loses data that it relays to or from a Unix socket.
    ///
    /// Answers are cut after their head, and tunnels fail: it sends with an address, which the kernel refuses on a connected Unix socket.
    /// cfgc does not.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow *
    /// tcppm -i127.0.0.1 8080 unix:/run/app.sock 80
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow *
    /// tcppm -i127.0.0.1 8080 127.0.0.1 8081
    /// ```
    "unix-socket-loses-data",
    level: Warn,
    group: Portability,
    since: "0.1.0",
    reads: Line,
    of_3proxy: true,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let mut places = Vec::new();
    for service in &program.services {
        if matches!(service.listen.address.value, ListenAddress::Unix(_)) {
            places.push(service.listen.address.at.unwrap_or(service.at));
        }
        places.extend(
            service
                .target
                .as_ref()
                .filter(|target| target.host.as_bytes().starts_with(b"unix:"))
                .map(|target| target.at),
        );
    }
    let parents = program.acls.parents.iter().filter(|parent| matches!(parent.host, ParentHost::Unix(_)));
    places.extend(parents.map(|parent| parent.at));
    places.sort_unstable();
    places.dedup();
    for at in places {
        lint.report(
            RULE.finding(at, "3proxy 1.0 loses data that it relays over a Unix socket")
                .help("use a port on 127.0.0.1, or `cfgc run`"),
        );
    }
}
