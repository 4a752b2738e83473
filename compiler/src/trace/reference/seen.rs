//! A request as 3proxy sees it, and an access list that is asked so.
use std::net::IpAddr;

use super::Reason;
use crate::{
    policy::Policy,
    program::{
        acl::{Ace, AclRef, Acls, Operation, Targets},
        service::{Arriving, Family, Service},
    },
    query::Query,
    table::{
        Fields, Request, Subject, Verdict,
        oracle::{field_matches, name_matches, outweighed, passed_over, waits},
    },
    target::TargetName,
};

/// What 3proxy compares of a request, where that is something else than what cfgc compares.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// The client's address.
    client: Option<IpAddr>,
    /// The target's address.
    target: Option<IpAddr>,
    /// The target's name, in lower case.
    host: Option<Vec<u8>>,
    /// Entries leave their weights to the authentication types behind.
    keeps_weight: bool,
    /// Entries with weekdays or periods never match.
    times_void: bool,
}

/// The address that an IPv4 client has on an IPv6 listener.
pub(super) fn client(service: &Service, from: Option<IpAddr>) -> Option<IpAddr> {
    let mapped = matches!(service.listen.address.value.arriving(), Arriving::Mapped | Arriving::Both);
    match from {
        Some(IpAddr::V4(address)) if mapped => Some(address.to_ipv6_mapped().into()),
        _ => None,
    }
}

/// The address that an IPv4 target has if the client asks for it in IPv6 form, or SOCKS is spoken with `-6`.
pub(super) fn target(service: &Service, query: &Query) -> Option<IpAddr> {
    let Some(TargetName::Address(IpAddr::V4(address))) = query.target else { return None };
    let asked = query.written.as_ref().is_some_and(|written| written.contains(':'));
    let over_socks = service.kind.speaks_socks()
        && matches!(query.operation, Operation::Connect | Operation::Bind | Operation::UdpAssociate);
    let all = over_socks && service.family() == Family::V6;
    (asked || all).then(|| address.to_ipv6_mapped().into())
}

/// A service's list, asked as 3proxy asks it.
pub(super) struct List<'a> {
    acls: &'a Acls,
    list: Option<AclRef>,
    seen: Seen,
    is_preliminary: bool,
    /// What an earlier walk left.
    weight: i32,
}

impl<'a> List<'a> {
    /// The list of the query's service.
    pub(super) fn new(policy: &'a Policy, query: &Query, reasons: &[Reason]) -> Self {
        let program = policy.program();
        let mut seen =
            Seen { client: None, target: None, host: None, keeps_weight: false, times_void: false };
        for reason in reasons {
            match reason {
                Reason::ClientInV6Form(address) => seen.client = Some(*address),
                Reason::TargetInV6Form(address) => {
                    seen.target = Some(*address);
                    seen.host = Some(address.to_string().into_bytes());
                }
                Reason::DotKept => {
                    seen.host = query.written.as_ref().map(|name| name.to_ascii_lowercase().into_bytes());
                }
                Reason::WeightKept => seen.keeps_weight = true,
                Reason::TimesVoid => seen.times_void = true,
                _ => {}
            }
        }
        Self {
            acls: &program.acls,
            list: program.services.get(query.service).and_then(|service| service.acl),
            seen,
            is_preliminary: query.is_preliminary(),
            weight: 0,
        }
    }

    /// The plain walk.
    pub(super) fn decide(&mut self, request: &Request<'_>) -> Verdict {
        let Some(list) = self.list else { return Verdict::EMPTY };
        let mut subject = Subject::new(request);
        subject.weight = if self.seen.keeps_weight { self.weight } else { request.weight };
        for (id, ace) in self.acls.entries(list) {
            if self.is_preliminary && waits(ace) || !self.matches(ace, &subject) {
                continue;
            }
            subject.weight = ace.weight;
            self.weight = ace.weight;
            if !passed_over(self.acls, ace, &subject) {
                return Verdict::of(id, ace);
            }
        }
        Verdict::END
    }

    fn matches(&mut self, ace: &Ace, subject: &Subject<'_>) -> bool {
        let matcher = &ace.matcher;
        let dated = matcher.weekdays.is_some() || matcher.periods.is_some();
        let plain = [Fields::USER, Fields::OPERATION, Fields::TIME];
        let sources = match (matcher.sources.as_deref(), self.seen.client) {
            (Some(sources), Some(client)) => sources.iter().any(|range| range.contains(client)),
            _ => field_matches(matcher, Fields::SOURCE, subject),
        };
        // Names are looked at, and their dots cut, only if the source matches.
        let destination = |list: &mut Self| {
            list.is_preliminary
                || matcher.targets.as_deref().is_none_or(|targets| list.seen.is_in(targets, subject))
                    && field_matches(matcher, Fields::PORT, subject)
        };
        sources
            && destination(self)
            && !(dated && self.seen.times_void)
            && plain.into_iter().all(|field| field_matches(matcher, field, subject))
            && !outweighed(ace, subject.weight)
    }
}

impl Seen {
    /// Whether the target is one of these.
    fn is_in(&mut self, targets: &Targets, subject: &Subject<'_>) -> bool {
        let address = self.target.or(subject.address).filter(|_| !targets.addresses.is_empty());
        let named = !targets.names.is_empty() && (self.host.is_some() || subject.host.is_some());
        if address.is_none() && !named {
            return true;
        }
        let listed = match self.target {
            Some(target) => address.is_some() && targets.addresses.iter().any(|range| range.contains(target)),
            None => address.is_some_and(|address| contain(targets, address)),
        };
        if listed || !named {
            return listed;
        }
        if let Some(host) = &mut self.host
            && host.len() > SHORT
            && host.ends_with(b".")
        {
            host.pop();
        }
        let host = self.host.as_deref().or(subject.host.as_deref()).unwrap_or_default();
        targets.names.iter().any(|pattern| name_matches(pattern, host))
    }
}

/// Names of so many bytes keep the dot at their end.
const SHORT: usize = 5;

fn contain(targets: &Targets, address: IpAddr) -> bool {
    targets.addresses.iter().any(|range| range.contains(address))
}
