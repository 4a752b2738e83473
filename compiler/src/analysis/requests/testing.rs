//! Random entries, and small universes of requests to try them on.
use proptest::{prelude::*, sample::subsequence, test_runner::TestCaseError};

use crate::{
    program::acl::Operation,
    table::{Request, WeekTime},
};

/// A word of a field: `*`, or some of `items`.
fn word(items: &'static [&'static str]) -> impl Strategy<Value = String> {
    let some = subsequence(items, 1..=3.min(items.len())).prop_map(|items| items.join(","));
    prop_oneof![2 => Just("*".to_owned()), 1 => some]
}

const SOURCES: &[&str] =
    &["10.0.0.0/8", "10.0.0.1", "10.0.1.0-11.0.0.0", "::/0", "2001:db8::/32", "0.0.0.0/0"];
const TARGETS: &[&str] = &[
    "10.0.0.0/8",
    "10.0.0.1",
    "0.0.0.0/0",
    "::/0",
    "::ffff:10.0.0.0/104",
    "a.test",
    "*.test",
    "*test",
    "a.*",
    "*a*",
    "*bad*",
    "*.a.test",
    "b*",
    "10.*",
];

/// An entry, or something that changes the one before it.
pub(crate) fn line() -> impl Strategy<Value = String> {
    let fields = (
        word(&["bob", "alice", "-"]),
        word(SOURCES),
        word(TARGETS),
        word(&["25", "20-30", "443", "0"]),
        word(&["CONNECT", "BIND", "UDPASSOC"]),
        word(&["1", "1-5", "0"]),
        word(&["09:00:00-18:00:00", "12:00:00-13:00:00"]),
        prop_oneof![12 => Just(""), 1 => Just(" 2"), 1 => Just(" 5")],
    );
    let behind = prop_oneof![
        6 => Just(""),
        1 => Just("parent 1000 socks5 192.0.2.1 1080\n"),
        1 => Just("parent 1000 extip 192.0.2.9 0\n"),
        1 => Just("nolog\n"),
    ];
    let allow = (any::<bool>(), behind).prop_map(|(allow, behind)| match (allow, behind) {
        (true, behind) => ("allow", behind),
        (false, "nolog\n") => ("deny", "nolog\n"),
        (false, _) => ("deny", ""),
    });
    (allow, fields).prop_map(
        |((action, behind), (users, sources, targets, ports, operations, days, hours, weight))| {
            format!(
                "{action} {users} {sources} {targets} {ports} {operations} {days} {hours}{weight}\n{behind}"
            )
        },
    )
}

/// Values of each field; every combination is asked.
#[derive(Debug)]
pub(crate) struct Universe {
    users: Vec<Option<&'static str>>,
    sources: Vec<&'static str>,
    hosts: Vec<&'static str>,
    addresses: Vec<&'static str>,
    ports: Vec<u16>,
    times: Vec<WeekTime>,
}

pub(crate) fn universe() -> impl Strategy<Value = Universe> {
    let time = |day, hour: u32| WeekTime { day, second: hour * 3600 };
    (
        subsequence(vec![None, Some("bob"), Some("alice"), Some("zed")], 3),
        subsequence(vec!["10.0.0.1", "10.0.1.1", "11.0.0.1", "2001:db8::1", "::ffff:10.0.0.1"], 3),
        subsequence(vec!["A.test", "b.a.test.", "test", "bad.test", "a.testing", "x.y", "10.0.0.1"], 4),
        subsequence(vec!["10.0.0.1", "10.9.9.9", "2001:db8::9", "8.8.8.8", "0.0.0.0"], 3),
        subsequence(vec![0, 24, 25, 443, 30], 3),
        subsequence(vec![time(1, 10), time(1, 12), time(0, 12), time(6, 3)], 2),
    )
        .prop_map(|(users, sources, hosts, addresses, ports, times)| Universe {
            users,
            sources,
            hosts,
            addresses,
            ports,
            times,
        })
}

impl Universe {
    /// Every request that a client can make: only UDP associations name no target yet, and BIND compares what is not there.
    pub(crate) fn each(
        &self,
        mut judge: impl FnMut(Request<'_>) -> Result<(), TestCaseError>,
    ) -> Result<(), TestCaseError> {
        for user in &self.users {
            for source in &self.sources {
                for host in &self.hosts {
                    for address in &self.addresses {
                        for port in &self.ports {
                            for time in &self.times {
                                for operation in
                                    [Operation::Connect, Operation::Bind, Operation::UdpAssociate]
                                {
                                    if operation == Operation::Connect
                                        && (*port == 0 || *address == "0.0.0.0")
                                    {
                                        continue;
                                    }
                                    judge(Request {
                                        user: user.map(str::as_bytes),
                                        source: source.parse().unwrap(),
                                        host: Some(host.as_bytes()),
                                        address: Some(address.parse().unwrap()),
                                        port: *port,
                                        operation,
                                        time: *time,
                                        weight: 0,
                                        redirected: false,
                                    })?;
                                }
                            }
                        }
                    }
                }
            }
        }
        Ok(())
    }
}
