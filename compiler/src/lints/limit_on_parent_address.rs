//! A limit for the address of a parent.
use std::{collections::BTreeMap, net::IpAddr};

use grammar::value;

use super::rule::{Lint, rule};
use crate::{
    program::acl::{Matcher, ParentHost, ParentKind},
    sources::Loc,
};

rule! {
    /// The target of a limit is the address of a parent, but no client asks for that address.
    ///
    /// The target of a limit is what the client asks for, also where the request goes through a parent: connections to the parent are
    /// not limited by it.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// parent 1000 http 203.0.113.7 3128
    /// connlim 5 1 * * 203.0.113.7 3128
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// Limit the clients:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// parent 1000 http 203.0.113.7 3128
    /// connlim 5 1 * 10.0.0.0/8
    /// proxy -i10.0.0.1
    /// ```
    "limit-on-parent-address",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    reads: Settings,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let mut parents: BTreeMap<IpAddr, Vec<(u16, Loc)>> = BTreeMap::new();
    for parent in &program.acls.parents {
        if let ParentHost::Address(address) = parent.host
            && !address.is_unspecified()
            && parent.kind != ParentKind::ExternalAddress
        {
            parents.entry(address).or_default().push((parent.port, parent.at));
        }
    }
    if parents.is_empty() {
        return;
    }
    // What a port mapper leads to is what its clients ask for.
    for target in program.services.iter().filter_map(|service| service.target.as_ref()) {
        if let Some(address) = value::address(target.host.as_bytes()) {
            parents.remove(&address);
        }
    }
    let found = program.limits.lines().filter(|line| line.limits).filter_map(|line| {
        let address = only_target(line.matcher)?;
        // A service may listen on another port of that host.
        let ports = line.matcher.ports.as_deref().unwrap_or_default();
        let is_meant = |port: u16| ports.iter().any(|range| (range.first..=range.last).contains(&port));
        let meant = parents.get(&address)?.iter().find(|(port, _)| ports.is_empty() || is_meant(*port));
        meant.map(|(_, parent)| (line.at, address, *parent))
    });
    for (at, address, parent) in found.collect::<Vec<_>>() {
        lint.report(
            RULE.finding(
                at,
                format!("this limit applies to requests to `{address}`, not to requests through it"),
            )
            .label("compares the client's target")
            .also(parent, "the connection to a parent has no target")
            .help("limit the clients, or the targets that they ask for"),
        );
    }
}

/// The one address for which requests are limited.
fn only_target(matcher: &Matcher) -> Option<IpAddr> {
    let targets = matcher.targets.as_deref()?;
    match &*targets.addresses {
        [only] if only.first == only.last && targets.names.is_empty() => Some(only.first),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::findings;

    #[test]
    fn what_a_port_mapper_leads_to_is_let_be() {
        let text = "auth iponly\nallow *\nparent 1000 http 203.0.113.7 3128\nproxy -i127.0.0.1\nflush\nallow *\n\
            connlim 5 1 * * 203.0.113.7\ntcppm -i127.0.0.1 25 203.0.113.7 25\n";
        assert!(findings("limit-on-parent-address", text).is_empty());
    }

    #[test]
    fn each_parent_of_a_host_is_looked_at() {
        let text = "auth iponly\nallow *\nparent 500 http 203.0.113.7 3128\nparent 500 socks5 203.0.113.7 1080\n\
            connlim 5 1 * * 203.0.113.7 1080\nproxy -i127.0.0.1\n";
        assert_eq!(findings("limit-on-parent-address", text).len(), 1);
    }

    #[test]
    fn what_clients_may_ask_for_is_let_be() {
        for (limit, found) in [
            ("connlim 5 1 * * 203.0.113.7 3128", 1),
            ("bandlimin 400000 * * 203.0.113.7", 1),
            ("countin 1 D 100 * * 203.0.113.7 3000-4000", 1),
            ("bandlimin 400000 * * 203.0.113.7 80", 0),
            ("bandlimin 400000 * * 203.0.113.0/24", 0),
            ("bandlimin 400000 * * 203.0.113.7,www.example.net", 0),
            ("nobandlimin * * 203.0.113.7 3128", 0),
            ("connlim 5 1 * * 198.51.100.7", 0),
        ] {
            let text = format!(
                "auth iponly\nallow *\nparent 1000 http 203.0.113.7 3128\ncounter c.3cf\n{limit}\nproxy -i127.0.0.1\n"
            );
            assert_eq!(findings("limit-on-parent-address", &text).len(), found, "{limit}");
        }
    }
}
