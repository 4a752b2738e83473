//! What is reported is what changes: every request of small universes is in a class exactly when the two policies do otherwise by it.
use std::path::Path;

use proptest::prelude::*;

use super::{Changes, Class, Requests, Values, compare};
use crate::{
    Compiled,
    analysis::requests::testing::{line, universe},
    compile,
    policy::Policy,
    program::acl::{AddressRange, NamePattern, Operation},
    sources::MemoryFiles,
    table::{Request, Verdict, WeekTime, oracle::name_matches},
};

fn compiled(text: &str) -> Compiled {
    let mut files = MemoryFiles::default();
    files.insert("3proxy.cfg", text);
    compile(Path::new("3proxy.cfg"), &files)
}

/// Two versions of a list: some lines kept, some replaced, some in another order.
fn versions(service: &'static str) -> impl Strategy<Value = (String, String)> {
    let edit = prop::collection::vec((0_u8..8, line()), 1..7);
    (edit, prop::collection::vec(line(), 0..2)).prop_map(move |(lines, more)| {
        let (mut old, mut new) = (Vec::new(), more);
        for (what, line) in lines {
            match what {
                0 => old.push(line),
                1 => new.push(line),
                2 => {
                    old.push(line.clone());
                    new.insert(0, line);
                }
                _ => {
                    old.push(line.clone());
                    new.push(line);
                }
            }
        }
        let whole =
            |lines: Vec<String>| format!("auth iponly useronly\n{}{service} -p1080\n", lines.concat());
        (whole(old), whole(new))
    })
}

/// Whether what is said of a field is true of a value.
fn says(values: &Values, is_unknown: bool, means: impl Fn(&str) -> bool) -> bool {
    assert_eq!((values.omitted, values.but_omitted), (0, 0));
    if let (true, Some(unknown)) = (is_unknown, values.unknown) {
        return unknown;
    }
    values.items.as_ref().is_none_or(|items| items.iter().any(|item| means(item)))
        && !values.but.iter().any(|item| means(item))
}

fn address_in(text: &str, address: std::net::IpAddr) -> bool {
    let range = match (text.parse::<ipnet::IpNet>(), text.split_once('-')) {
        (Ok(network), _) => AddressRange::from(network),
        (_, Some((first, last))) => {
            AddressRange { first: first.parse().unwrap(), last: last.parse().unwrap() }
        }
        _ => AddressRange::single(text.parse().unwrap()),
    };
    range.contains(address.to_canonical())
}

fn time_in(text: &str, time: WeekTime) -> bool {
    let (days, hours) = text.split_once(' ').unwrap_or((text, "00:00:00-24:00:00"));
    let (first, last) = days.split_once('-').unwrap_or((days, days));
    let day = |name: &str| {
        ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"].iter().position(|day| *day == name).unwrap()
    };
    let clock = |text: &str| text.split(':').fold(0, |sum, part| sum * 60 + part.parse::<u32>().unwrap());
    let (from, to) = hours.split_once('-').unwrap();
    (day(first)..=day(last)).contains(&time.day.into()) && (clock(from)..clock(to)).contains(&time.second)
}

fn holds(requests: &Requests, request: &Request<'_>) -> bool {
    let bind = request.operation == Operation::Bind;
    let host = request.host.unwrap().to_ascii_lowercase();
    let host = host.strip_suffix(b".").unwrap_or(&host);
    let address = request.address.unwrap_or(std::net::Ipv4Addr::UNSPECIFIED.into());
    let meant =
        |text: &str| text.split(" and ").all(|item| name_matches(NamePattern::new(item.as_bytes()), host));
    requests.operations.contains(&request.operation)
        && says(&requests.users, false, |name| name.as_bytes() == request.user.unwrap_or(b"-"))
        && says(&requests.sources, false, |range| address_in(range, request.source))
        && says(&requests.hosts, false, meant)
        && says(&requests.addresses, !bind && address.is_unspecified(), |range| address_in(range, address))
        && says(&requests.ports, !bind && request.port == 0, |range| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            (first.parse().unwrap()..=last.parse().unwrap()).contains(&request.port)
        })
        && says(&requests.times, false, |text| time_in(text, request.time))
}

/// What is done with a request: the decision, the way out, and whether it is logged.
fn done(policy: &Policy, verdict: Verdict) -> String {
    let nolog = verdict.entry.and_then(|id| policy.program().acls.ace(id)).is_some_and(|ace| ace.nolog);
    let hosts: Vec<_> = policy.parents(verdict).iter().map(|parent| (parent.kind, &parent.host)).collect();
    format!("{:?} {hosts:?} {nolog}", verdict.decision)
}

fn classes(changes: &Changes) -> &[Class] {
    changes.lists.first().map_or(&[], |change| &change.classes)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Of a query for a name both questions matter, the second only if the first passes.
    #[test]
    fn a_query_for_a_name_is_in_a_class_if_it_is_decided_otherwise((old, new) in versions("dnspr"), universe in universe()) {
        let (old, new) = (compiled(&old), compiled(&new));
        let changes = compare(&old, &new);
        let policies = [Policy::compile(&old.program), Policy::compile(&new.program)];
        let both = |request: &Request<'_>| policies.each_ref().map(|policy| policy.decide(0, request));
        let differs = |verdicts: [Verdict; 2]| done(&policies[0], verdicts[0]) != done(&policies[1], verdicts[1]);
        for class in classes(&changes) {
            prop_assert!(differs(both(&class.witness.request())), "{:?}", class);
        }
        universe.each(|request| {
            let first = Request { host: None, address: None, port: 0, operation: Operation::DnsResolve, ..request };
            let named = crate::chain::for_name(&first, request.host.unwrap());
            let asked = both(&first);
            let again = asked.iter().all(|verdict| verdict.decision.passes());
            let matters = differs(asked) || again && differs(both(&named));
            let told = classes(&changes).iter().flat_map(|class| &class.requests).any(|requests| holds(requests, &named));
            let exact = classes(&changes).iter().all(|class| class.complete);
            prop_assert!(told || !matters, "{:?} is not told\n{:?}", named, changes.lists);
            prop_assert!(matters || !told || !exact, "{:?} is told\n{:?}", named, changes.lists);
            Ok(())
        })?;
    }

    #[test]
    fn a_request_is_in_a_class_exactly_if_it_is_decided_otherwise((old, new) in versions("socks -46"), universe in universe()) {
        let (old, new) = (compiled(&old), compiled(&new));
        let changes = compare(&old, &new);
        let (before, after) = (Policy::compile(&old.program), Policy::compile(&new.program));
        let exact = changes.lists.iter().all(|change| {
            !change.more && !change.weights && change.undecided == 0 && change.classes.iter().all(|class| class.complete)
        });
        for class in classes(&changes) {
            let witness = class.witness.request();
            prop_assert_eq!(before.decide(0, &witness).entry, class.old.0);
            prop_assert_eq!(after.decide(0, &witness).entry, class.new.0);
            prop_assert!(class.requests.iter().any(|requests| holds(requests, &witness)), "{:?}", class);
        }
        universe.each(|request| {
            let (one, other) = (before.decide(0, &request), after.decide(0, &request));
            let mut told = classes(&changes).iter().flat_map(|class| {
                class.requests.iter().filter(|requests| holds(requests, &request)).map(move |_| class)
            });
            match told.next() {
                Some(class) if exact => {
                    prop_assert!(told.next().is_none(), "{:?} is told twice", request);
                    prop_assert_eq!((class.old.0, class.new.0), (one.entry, other.entry), "{:?}", request);
                }
                Some(_) => {}
                None => {
                    let same = done(&before, one) == done(&after, other);
                    let unseen = changes.lists.iter().any(|change| change.weights || change.more || change.undecided > 0);
                    prop_assert!(same || unseen, "{:?} is not told\n{:?}", request, changes.lists);
                }
            }
            Ok(())
        })?;
    }
}
