//! The indexed table says what the plain walk says, on random lists and requests; and what the plain walk says of the manual's rules.
use std::net::IpAddr;

use proptest::prelude::*;

use super::{
    Fields, Request, Table, WeekTime,
    list::{Copied, ListTable},
    oracle::Walk,
};
use crate::{
    program::acl::{
        Ace, AceId, AclRef, Acls, Action, AddressRange, ListId, Matcher, Operation, Operations, Parent,
        ParentHost, ParentKind, Period, PortRange, Targets, Weekdays,
    },
    sources::Loc,
};

const ADDRESSES: [&str; 10] = [
    "10.0.0.1",
    "10.0.0.2",
    "10.1.0.1",
    "127.0.0.1",
    "255.255.255.255",
    "::1",
    "2001:db8::1",
    "::ffff:10.0.0.1",
    "::ffff:0.0.0.0",
    "0.0.0.0",
];
const RANGES: [(&str, &str); 10] = [
    ("10.0.0.0", "10.0.0.255"),
    ("10.0.0.1", "10.0.0.1"),
    ("10.0.0.2", "10.1.0.1"),
    ("0.0.0.0", "255.255.255.255"),
    ("127.0.0.0", "127.255.255.255"),
    ("::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("2001:db8::", "2001:db8::ffff"),
    ("::ffff:10.0.0.0", "::ffff:10.0.0.255"),
    ("::1", "::1"),
    ("255.255.255.255", "255.255.255.255"),
];
const USERS: [&str; 4] = ["bob", "alice", "Bob", "-"];
const HOSTS: [&str; 8] = ["a.test", "A.Test.", "test", "b.a.test", "x", "", ".", "a.testing"];

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// Nothing listed, or some of `items`.
fn some<T: std::fmt::Debug + Clone + 'static>(
    items: impl Strategy<Value = T> + 'static,
) -> BoxedStrategy<Option<Box<[T]>>> {
    prop_oneof![
        2 => Just(None),
        1 => prop::collection::vec(items, 1..4).prop_map(|items| Some(items.into())),
    ]
    .boxed()
}

fn range() -> impl Strategy<Value = AddressRange> + Clone {
    prop::sample::select(&RANGES[..])
        .prop_map(|(first, last)| AddressRange { first: address(first), last: address(last) })
}

fn pattern() -> impl Strategy<Value = String> + Clone {
    let texts = prop::sample::select(&["a.test", "test", "a", "", ".test", "b."][..]);
    let stars = prop::sample::select(&["", "*"][..]);
    let items = (stars.clone(), texts, stars).prop_map(|(start, text, end)| [start, text, end].concat());
    items.prop_filter("an empty item is none", |item| !item.is_empty())
}

fn targets() -> impl Strategy<Value = Option<Box<Targets>>> {
    let lists = (prop::collection::vec(range(), 0..3), prop::collection::vec(pattern(), 0..3));
    let targets = lists.prop_map(|(addresses, names)| {
        Some(Box::new(Targets {
            addresses: addresses.into(),
            names: names.iter().map(String::as_bytes).collect(),
        }))
    });
    prop_oneof![2 => Just(None), 2 => targets]
}

fn matcher() -> impl Strategy<Value = Matcher> {
    let port = (0_u16..4, 0_u16..4).prop_map(|(first, last)| PortRange { first, last });
    let operations = prop::collection::vec(prop::sample::select(&Operation::ALL[..]), 1..9);
    let operations = operations.prop_map(|all| {
        all.into_iter().fold(Operations::default(), |set, one| set.with(Operations::of(one)))
    });
    let period = (0_u32..100_000, 0_u32..100_000).prop_map(|(from, to)| Period { from, to });
    (
        some(prop::sample::select(&USERS[..])),
        some(range()),
        targets(),
        some(port),
        prop::option::weighted(0.2, operations),
        prop::option::weighted(0.2, (0_u8..=0x7f).prop_map(Weekdays)),
        some(period),
    )
        .prop_map(|(users, sources, targets, ports, operations, weekdays, periods)| Matcher {
            users: users.map(|users: Box<[&str]>| users.iter().map(|user| user.as_bytes()).collect()),
            sources,
            targets,
            ports,
            operations,
            weekdays,
            periods,
        })
}

/// An entry as a matcher, its action, its first parent (none, remote, local) and its weight.
type Entry = (Matcher, Action, u8, i32);

fn entry(weights: BoxedStrategy<i32>) -> impl Strategy<Value = Entry> {
    let action = prop_oneof![Just(Action::Allow), Just(Action::Deny)];
    (matcher(), action, prop_oneof![3 => Just(0_u8), 1 => Just(1), 1 => Just(2)], weights)
}

fn parent(local: bool) -> Parent {
    Parent {
        at: Loc::default(),
        weight: 1000,
        kind: ParentKind::Socks5,
        secure: false,
        host: ParentHost::Address(address(if local { "0.0.0.0" } else { "10.9.9.9" })),
        port: if local { 0 } else { 1080 },
        user: None,
        password: None,
    }
}

/// A list of `entries`, and, as the last entry of any prefix, another version of it.
pub(crate) fn acls(entries: &[Entry]) -> Acls {
    let mut acls = Acls { parents: vec![parent(false), parent(true)], ..Acls::default() };
    for (matcher, action, parents, weight) in entries {
        let parents = match (action, parents) {
            (Action::Deny, _) | (_, 0) => (0, 0),
            (_, 1) => (0, 1),
            _ => (1, 2),
        };
        acls.aces.push(Ace {
            at: Loc::default(),
            action: *action,
            matcher: matcher.clone(),
            parents,
            nolog: false,
            weight: *weight,
        });
    }
    let ids = |range: std::ops::Range<usize>| range.map(|at| AceId(at as u32)).collect::<Vec<_>>();
    acls.lists.push(ids(0..entries.len() - 1));
    acls
}

#[derive(Clone, Debug)]
struct Ask {
    user: Option<&'static str>,
    source: IpAddr,
    host: Option<&'static str>,
    address: Option<IpAddr>,
    port: u16,
    operation: Operation,
    time: WeekTime,
    weight: i32,
    redirected: bool,
}

impl Ask {
    fn request(&self) -> Request<'static> {
        Request {
            user: self.user.map(str::as_bytes),
            source: self.source,
            host: self.host.map(str::as_bytes),
            address: self.address,
            port: self.port,
            operation: self.operation,
            time: self.time,
            weight: self.weight,
            redirected: self.redirected,
        }
    }
}

fn ask() -> impl Strategy<Value = Ask> {
    let time = (0_u8..7, prop_oneof![0_u32..86_400, Just(86_399)]);
    (
        prop::option::of(prop::sample::select(&USERS[..])),
        prop::sample::select(&ADDRESSES[..]).prop_map(address),
        prop::option::of(prop::sample::select(&HOSTS[..])),
        prop::option::of(prop::sample::select(&ADDRESSES[..]).prop_map(address)),
        0_u16..4,
        prop::sample::select(&Operation::ALL[..]),
        time.prop_map(|(day, second)| WeekTime { day, second }),
        prop_oneof![3 => Just(0), 1 => -1..3],
        prop::bool::weighted(0.3),
    )
        .prop_map(|(user, source, host, address, port, operation, time, weight, redirected)| Ask {
            user,
            source,
            host,
            address,
            port,
            operation,
            time,
            weight,
            redirected,
        })
}

/// Lists of entries, without weights and with some.
fn entries(most: usize) -> impl Strategy<Value = Vec<Entry>> {
    let plain = prop::collection::vec(entry(Just(0).boxed()), 1..most);
    let weighty = prop::collection::vec(entry(prop_oneof![3 => Just(0), 2 => -1..3].boxed()), 1..most);
    prop_oneof![2 => plain, 1 => weighty]
}

/// Copies of the list that services may hold, of each length or, of a long list, some: with the list's own last entry, and with
/// another version.
fn copies(acls: &Acls) -> Vec<AclRef> {
    let list = &acls.lists[0];
    let other = AceId(acls.aces.len() as u32 - 1);
    let copy = |len: usize, last| AclRef { list: ListId(0), len: len as u32, last };
    let step = 1 + list.len() / 8;
    let own = list.iter().enumerate().rev().step_by(step).map(|(at, id)| copy(at + 1, *id));
    own.chain((1..=list.len() + 1).step_by(step).map(|len| copy(len, other))).collect()
}

#[test]
fn an_entry_passed_over_takes_the_weight_back_for_a_later_version() {
    let redirects = (Matcher::default(), Action::Allow, 1, 0);
    let weighs = (Matcher::default(), Action::Allow, 0, 1);
    let acls = acls(&[redirects, weighs]);
    let table = ListTable::indexed(&acls, &acls.lists[0]);
    let list = AclRef { list: ListId(0), len: 2, last: AceId(1) };
    let ask = Ask {
        user: None,
        source: address("10.0.0.1"),
        host: None,
        address: None,
        port: 0,
        operation: Operation::Bind,
        time: WeekTime::default(),
        weight: 2,
        redirected: false,
    };
    let indexed = Copied { table: &table, acls: &acls, list }.decide(&ask.request());
    assert_eq!(indexed, Walk { acls: &acls, list: Some(list) }.decide(&ask.request()));
    assert_eq!(indexed.entry, Some(AceId(1)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_index_decides_as_the_walk_does(
        entries in prop_oneof![entries(8), entries(90)],
        asks in prop::collection::vec(ask(), 1..20),
    ) {
        let acls = acls(&entries);
        let table = ListTable::indexed(&acls, &acls.lists[0]);
        for list in copies(&acls) {
            let indexed = Copied { table: &table, acls: &acls, list };
            let walk = Walk { acls: &acls, list: Some(list) };
            for ask in &asks {
                let request = ask.request();
                prop_assert_eq!(indexed.decide(&request), walk.decide(&request), "{:?}", ask);
                let provisional = indexed.preauthorize(&request);
                prop_assert_eq!(provisional, walk.preauthorize(&request), "{:?}", ask);
            }
        }
    }

    #[test]
    fn what_a_verdict_depends_on_fixes_it(
        entries in entries(10),
        asks in prop::collection::vec(ask(), 2..12),
    ) {
        let acls = acls(&entries);
        let table = ListTable::indexed(&acls, &acls.lists[0]);
        for list in copies(&acls) {
            let walk = Walk { acls: &acls, list: Some(list) };
            let indexed = Copied { table: &table, acls: &acls, list };
            for ask in &asks {
                let fields = walk.depends_on(&ask.request());
                prop_assert_eq!(indexed.depends_on(&ask.request()), fields, "{:?}", ask);
                for other in &asks {
                    let mixed = mix(ask, other, fields);
                    let (one, two) = (walk.decide(&ask.request()), walk.decide(&mixed.request()));
                    prop_assert_eq!(one, two, "{:?} fixes {:?} but not {:?}", fields, ask, mixed);
                }
            }
        }
    }

    #[test]
    fn a_settled_association_is_what_each_datagram_would_be_told(
        entries in entries(10),
        asks in prop::collection::vec(ask(), 2..12),
    ) {
        let acls = acls(&entries);
        for list in copies(&acls) {
            let walk = Walk { acls: &acls, list: Some(list) };
            for (ask, other) in asks.iter().flat_map(|ask| asks.iter().map(move |other| (ask, other))) {
                let provisional = walk.preauthorize(&ask.request());
                let datagram = Ask { redirected: ask.redirected, ..mix(other, ask, Fields::DESTINATION) };
                let datagram = walk.decide(&datagram.request());
                if provisional.settled {
                    prop_assert_eq!(datagram, provisional.verdict, "{:?} then {:?}", ask, other);
                }
                // Weights aside: an entry with parents that only might match takes them back.
                if !provisional.verdict.passes() && entries.iter().all(|(.., weight)| *weight == 0) {
                    prop_assert!(!datagram.passes(), "{:?} then {:?}", ask, other);
                }
            }
        }
    }
}

/// `ask` in `fields`, `other` in the rest.
fn mix(ask: &Ask, other: &Ask, fields: Fields) -> Ask {
    let of = |field| if fields.has(field) { ask } else { other };
    Ask {
        user: of(Fields::USER).user,
        source: of(Fields::SOURCE).source,
        host: of(Fields::HOST).host,
        address: of(Fields::ADDRESS).address,
        port: of(Fields::PORT).port,
        operation: of(Fields::OPERATION).operation,
        time: of(Fields::TIME).time,
        weight: of(Fields::WEIGHT).weight,
        redirected: ask.redirected,
    }
}
