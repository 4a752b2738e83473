//! The specification: the plain first-match walk.
//!
//! Entries are asked in order; the first that matches decides. An empty list allows. The end of any other denies.
//!
//! | field | an entry that lists something matches when | an entry that lists nothing |
//! | --- | --- | --- |
//! | users | one of the names is the user's, byte for byte; nobody is `-` | matches |
//! | sources | one of the ranges has the client's address | matches |
//! | targets | one of its addresses is the target's **or** one of its names is; if there is nothing to compare (see below) it **matches** | matches |
//! | ports | one of the ranges has the port; port 0 (not known) **matches**, but for BIND it is compared | matches |
//! | operations | the operation is one of them | matches |
//! | weekdays | today is one of them | matches |
//! | periods | the second of the day lies in one of them, its end not included | matches |
//! | weight | it is not less than the weight left by an earlier match (0 at first); an entry of weight 0 always matches | – |
//!
//! **Nothing to compare.** Targets are tested if the entry lists addresses and the request has one (a BIND always has, be it zeros),
//! or if it lists names and the request has one. Then either of them may say yes, and if none does the entry does not match. Otherwise
//! the test is skipped: 3proxy does so (for port mappers before they resolve, `admin`, UDP associations), and refusing instead would
//! break working files, so cfgc keeps it and `cfgc check` warns.
//!
//! **Names** are compared in lower case. One dot at the name's end is dropped, however short the name (3proxy keeps it on names of up to
//! five bytes: a way around a `deny`). A suffix pattern needs a longer name: `*.example.com` is not `example.com`.
//!
//! **Addresses.** An IPv4-mapped IPv6 address is the IPv4 address that it carries, in requests and among sources; 3proxy takes them for
//! different families, so that `::ffff:127.0.0.1` passes a `deny` of 127.0.0.0/8. Among targets such a range has nothing to match: there
//! it stands for requests that are written so, and these are judged as what they are. (Where 3proxy has all IPv4 targets in this form,
//! lowering adds the IPv4 range.) A range of IPv6 that merely covers the mapped ones, as `::/0`, has no IPv4 address in it.
//!
//! **UDP associations** are asked for before any destination is known. Then targets and ports are not compared: an entry that lists
//! some might match, so that an `allow` lets the association be, while a `deny` is passed over and leaves no weight. Each datagram is
//! judged by itself later, unless no entry on the way lists any.
//!
//! **Entries with parents** do not decide BIND and ICMP association, nor, once a local redirection was followed, do those whose first
//! parent is a local redirection. They are passed over, but leave their weight behind, as any match does.
use std::{borrow::Cow, net::IpAddr};

use super::{Fields, Preauthorization, Request, Subject, Table, Verdict};
use crate::program::acl::{
    Ace, AceId, AclRef, Acls, Action, AddressRange, Matcher, NamePattern, Operation, Parent, Targets,
};

/// A list, asked by walking it.
#[derive(Clone, Copy, Debug)]
pub struct Walk<'a> {
    /// Where the entries are.
    pub acls: &'a Acls,
    /// The list; `None`: empty.
    pub list: Option<AclRef>,
}

impl Table for Walk<'_> {
    fn decide(&self, request: &Request<'_>) -> Verdict {
        let Some(list) = self.list else {
            return Verdict::EMPTY;
        };
        let mut subject = Subject::new(request);
        for (id, ace) in self.acls.entries(list) {
            if !matches(&ace.matcher, &subject) || outweighed(ace, subject.weight) {
                continue;
            }
            if !passed_over(self.acls, ace, &subject) {
                return Verdict::of(id, ace);
            }
            subject.weight = ace.weight;
        }
        Verdict::END
    }

    fn depends_on(&self, request: &Request<'_>) -> Fields {
        let Some(list) = self.list else { return Fields::NONE };
        let verdict = self.decide(request);
        let mut asked = Vec::new();
        for (id, ace) in self.acls.entries(list) {
            asked.push(ace);
            if Some(id) == verdict.entry {
                break;
            }
        }
        let compared = asked.iter().fold(Fields::NONE, |fields, ace| fields.with(compares(ace)));
        let subject = Subject::new(request);
        let (decided_by, before) = match verdict.entry {
            Some(_) => asked.split_last().map_or((None, &[][..]), |(last, before)| (Some(last), before)),
            None => (None, asked.as_slice()),
        };
        subject.least(compared, |fields| {
            decided_by.is_none_or(|ace| fields.has(compares(ace)))
                && !before.iter().any(|ace| may_decide(self.acls, ace, &subject, fields))
        })
    }

    fn preauthorize(&self, request: &Request<'_>) -> Preauthorization {
        let Some(list) = self.list else {
            return Preauthorization { verdict: Verdict::EMPTY, settled: true };
        };
        let weighty = self.acls.entries(list).any(|(_, ace)| ace.weight != 0);
        let mut association = Association::new(self.acls, Subject::new(request), weighty);
        let verdict = self.acls.entries(list).find_map(|(id, ace)| association.ask(id, ace));
        association.told(verdict)
    }
}

/// A UDP association, of which entries are asked one after the other.
pub(super) struct Association<'a> {
    acls: &'a Acls,
    subject: Subject<'a>,
    /// Some entry of the list has a weight.
    weighty: bool,
    /// No entry so far that could decide has a target or a port to compare.
    settled: bool,
}

impl<'a> Association<'a> {
    pub(super) const fn new(acls: &'a Acls, subject: Subject<'a>, weighty: bool) -> Self {
        Self { acls, subject, weighty, settled: true }
    }

    /// Asks an entry: the verdict, if it decides.
    pub(super) fn ask(&mut self, id: AceId, ace: &Ace) -> Option<Verdict> {
        if !might_match(&ace.matcher, &self.subject) || outweighed(ace, self.subject.weight) {
            return None;
        }
        let passed_over = passed_over(self.acls, ace, &self.subject);
        // Which entries are passed over matters only by the weight that they leave.
        let matters = !passed_over || self.weighty && ace.weight != self.subject.weight;
        self.settled &= !(matters && asks_destination(&ace.matcher));
        if waits(ace) {
            return None;
        }
        if passed_over {
            self.subject.weight = ace.weight;
        }
        (!passed_over).then(|| Verdict::of(id, ace))
    }

    /// Whether entries that wait can still change what is told.
    pub(super) const fn is_settled(&self) -> bool {
        self.settled
    }

    /// What is told of it, after the entries that were asked.
    pub(super) fn told(&self, verdict: Option<Verdict>) -> Preauthorization {
        Preauthorization { verdict: verdict.unwrap_or(Verdict::END), settled: self.settled }
    }
}

/// Whether an entry's fields match, its weight aside.
#[must_use]
pub fn matches(matcher: &Matcher, subject: &Subject<'_>) -> bool {
    // What is quick to compare comes first: all must match, so the order does not matter.
    operation_matches(matcher, subject)
        && port_matches(matcher, subject)
        && time_matches(matcher, subject)
        && user_matches(matcher, subject)
        && source_matches(matcher, subject)
        && target_matches(matcher, subject)
}

/// Whether an entry's fields match for some target and port, its weight aside.
pub(super) fn might_match(matcher: &Matcher, subject: &Subject<'_>) -> bool {
    Fields::ALL.without(Fields::DESTINATION).each().all(|field| field_matches(matcher, field, subject))
}

/// Whether an entry lists targets or ports.
pub(super) const fn asks_destination(matcher: &Matcher) -> bool {
    matcher.targets.is_some() || matcher.ports.is_some()
}

/// Whether an entry has no say before the destination is known.
pub(crate) fn waits(ace: &Ace) -> bool {
    ace.action == Action::Deny && asks_destination(&ace.matcher)
}

/// Whether one field of an entry matches.
pub(crate) fn field_matches(matcher: &Matcher, field: Fields, subject: &Subject<'_>) -> bool {
    match field {
        Fields::USER => user_matches(matcher, subject),
        Fields::SOURCE => source_matches(matcher, subject),
        Fields::HOST | Fields::ADDRESS | Fields::TARGET => target_matches(matcher, subject),
        Fields::PORT => port_matches(matcher, subject),
        Fields::OPERATION => operation_matches(matcher, subject),
        Fields::TIME => time_matches(matcher, subject),
        _ => true,
    }
}

fn user_matches(matcher: &Matcher, subject: &Subject<'_>) -> bool {
    matcher.users.as_ref().is_none_or(|users| users.iter().any(|user| user == subject.user))
}

fn source_matches(matcher: &Matcher, subject: &Subject<'_>) -> bool {
    matcher.sources.as_deref().is_none_or(|sources| has_source(sources, subject.source))
}

fn port_matches(matcher: &Matcher, subject: &Subject<'_>) -> bool {
    match (matcher.ports.as_deref(), subject.port) {
        (None, _) | (_, None) => true,
        (Some(ports), Some(port)) => ports.iter().any(|range| range.contains(port)),
    }
}

fn operation_matches(matcher: &Matcher, subject: &Subject<'_>) -> bool {
    matcher.operations.is_none_or(|operations| operations.has(subject.operation))
}

fn time_matches(matcher: &Matcher, subject: &Subject<'_>) -> bool {
    let (periods, second) = (matcher.periods.as_deref(), subject.time.second);
    matcher.weekdays.is_none_or(|days| days.has(subject.time.day))
        && periods.is_none_or(|periods| periods.iter().any(|period| period.contains(second)))
}

fn target_matches(matcher: &Matcher, subject: &Subject<'_>) -> bool {
    matcher.targets.as_deref().is_none_or(|targets| one_matches(targets, subject))
}

fn one_matches(targets: &Targets, subject: &Subject<'_>) -> bool {
    let address = subject.address.filter(|_| !targets.addresses.is_empty());
    let host = subject.host.as_deref().filter(|_| !targets.names.is_empty());
    if address.is_none() && host.is_none() {
        return true;
    }
    address.is_some_and(|address| targets.addresses.iter().any(|range| range.contains(address)))
        || host.is_some_and(|host| targets.names.iter().any(|pattern| name_matches(pattern, host)))
}

/// Whether one of `sources` has `address`, where IPv4-mapped ranges are IPv4 ranges.
fn has_source(sources: &[AddressRange], address: IpAddr) -> bool {
    sources.iter().any(|range| canonical(*range).contains(address))
}

/// A range of IPv4-mapped addresses as the IPv4 range that it is; any other range as it is.
pub(crate) fn canonical(range: AddressRange) -> AddressRange {
    let (first, last) = (range.first.to_canonical(), range.last.to_canonical());
    if first.is_ipv4() && last.is_ipv4() { AddressRange { first, last } } else { range }
}

/// The ranges that the address of a target may lie in: no IPv4-mapped ones.
pub(crate) fn target_ranges(targets: &Targets) -> impl DoubleEndedIterator<Item = AddressRange> {
    targets.addresses.iter().copied().filter(|range| canonical(*range) == *range)
}

/// Whether a name, in lower case, is one that `pattern` means.
pub(crate) fn name_matches(pattern: NamePattern<'_>, host: &[u8]) -> bool {
    match pattern {
        NamePattern::Exact(name) => name == host,
        NamePattern::Prefix(prefix) => host.starts_with(prefix),
        NamePattern::Suffix(suffix) => host.len() > suffix.len() && host.ends_with(suffix),
        NamePattern::Contains(part) => {
            part.is_empty() || host.windows(part.len()).any(|window| window == part)
        }
    }
}

/// Whether an entry is passed over although it matches.
pub(crate) fn passed_over(acls: &Acls, ace: &Ace, subject: &Subject<'_>) -> bool {
    ace.redirects()
        && (!subject.operation.can_be_redirected()
            || subject.redirected && acls.parents(ace).first().is_some_and(Parent::is_local))
}

/// Whether an earlier match has set a weight that this entry does not reach.
pub(crate) const fn outweighed(ace: &Ace, weight: i32) -> bool {
    ace.weight != 0 && ace.weight < weight
}

/// Whether an entry may decide a request of which only `fields` are known.
pub(super) fn may_decide(acls: &Acls, ace: &Ace, subject: &Subject<'_>, fields: Fields) -> bool {
    let known =
        if fields.has(compares(ace).and(Fields::TARGET)) { fields } else { fields.without(Fields::TARGET) };
    let subject = if known.has(Fields::OPERATION) {
        Cow::Borrowed(subject)
    } else {
        Cow::Owned(Subject { operation: Operation::Connect, ..subject.clone() })
    };
    known.each().all(|field| field_matches(&ace.matcher, field, &subject))
        && !passed_over(acls, ace, &subject)
}

/// The fields that an entry compares.
#[must_use]
pub fn compares(ace: &Ace) -> Fields {
    let matcher = &ace.matcher;
    let targets = matcher.targets.as_deref();
    let compared = [
        (matcher.users.is_some(), Fields::USER),
        (matcher.sources.is_some(), Fields::SOURCE),
        (targets.is_some_and(|targets| !targets.names.is_empty()), Fields::HOST),
        (targets.is_some_and(|targets| !targets.addresses.is_empty()), Fields::ADDRESS),
        (matcher.ports.is_some(), Fields::PORT),
        (matcher.operations.is_some() || ace.redirects(), Fields::OPERATION),
        (matcher.weekdays.is_some() || matcher.periods.is_some(), Fields::TIME),
        (ace.weight != 0, Fields::WEIGHT),
    ];
    compared.into_iter().filter(|(does, _)| *does).fold(Fields::NONE, |fields, (_, field)| fields.with(field))
}
