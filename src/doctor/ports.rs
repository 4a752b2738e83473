//! Whether there are local ports for all outgoing connections.
use std::{collections::HashMap, net::Ipv4Addr, net::Ipv6Addr};

use compiler::{
    finding::Level,
    program::{
        acl::{Ace, AclRef, Acls, ListId, ParentHost, ParentKind},
        service::Service,
    },
    sources::Loc,
};

use super::{
    checks::{LOCAL_PORTS, TIME_WAIT},
    examination::{Diagnosis, Examination},
};

/// What may be set at most: below are ports of services.
const WIDEST: (u64, u64) = (10_240, 65_535);

/// Services that go out from the same addresses.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Group {
    v4: Ipv4Addr,
    v6: Ipv6Addr,
    /// The list whose entries set addresses, and how many do.
    list: Option<(ListId, u64)>,
}

pub(super) fn examine(examination: &mut Examination<'_>) {
    let Some(ports) = ports(examination) else { return };
    let acls = &examination.subject.program.acls;
    let lists: Vec<_> = acls
        .lists
        .iter()
        .map(|list| External::of(acls, list.iter().filter_map(|id| acls.ace(*id))))
        .collect();
    let mut groups: HashMap<Group, (u64, Loc)> = HashMap::new();
    for demand in &examination.load.services {
        if let Some(group) = group(acls, &lists, &demand.service) {
            groups.entry(group).or_insert((0, demand.service.at)).0 += demand.connections;
        }
    }
    let worst = groups
        .into_iter()
        .map(|(group, (needed, at))| (1 + group.list.map_or(0, |(_, more)| more), needed, at));
    let Some((addresses, needed, at)) =
        worst.max_by_key(|(addresses, needed, at)| (needed / addresses, std::cmp::Reverse(*at)))
    else {
        return;
    };
    let seen = ports * addresses;
    if needed > seen {
        exhausted(examination, addresses, needed, seen, at);
    }
    // Ports of ended connections are missed when half of all are in use at a time.
    if needed * 2 > seen {
        time_wait(examination, at);
    }
}

fn exhausted(examination: &mut Examination<'_>, addresses: u64, needed: u64, seen: u64, at: Loc) {
    let of = if addresses == 1 {
        "one address, which has".to_owned()
    } else {
        format!("{addresses} addresses, which have")
    };
    let message = format!("{needed} connections go out from {of} {seen} ports");
    let diagnosis = Diagnosis::new(&LOCAL_PORTS, Level::Warn, at, message)
        .label("this service, and those that share its external addresses")
        .values(seen, needed)
        .sysctl("net.ipv4.ip_local_port_range", format!("{} {}", WIDEST.0, WIDEST.1));
    let wide = WIDEST.1 - WIDEST.0 + 1;
    if needed > wide * addresses {
        let more = needed.div_ceil(wide);
        let note = format!(
            "The widest range does not do: these services need {more} external addresses, or a lower `maxconn`."
        );
        return examination.found(diagnosis.note(note));
    }
    examination.found(diagnosis);
}

/// How many ports the kernel takes for outgoing connections.
fn ports(examination: &mut Examination<'_>) -> Option<u64> {
    let [first, last] = examination.sysctl(&LOCAL_PORTS, "net.ipv4.ip_local_port_range")?;
    let reserved = examination.text(&LOCAL_PORTS, "/proc/sys/net/ipv4/ip_local_reserved_ports")?;
    let taken = reserved.trim().split(',').filter_map(|range| {
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        let (from, to): (u64, u64) = (from.parse().ok()?, to.parse().ok()?);
        Some((to.min(last) + 1).saturating_sub(from.max(first)))
    });
    let taken: u64 = taken.sum();
    Some((last + 1).saturating_sub(first).saturating_sub(taken))
}

/// The entries of a list that set the address of outgoing connections: found once for each list, which many services copy parts of.
struct External {
    /// Positions of single addresses.
    single: Vec<usize>,
    /// The first that sets a whole network, or the client's own address.
    any: Option<usize>,
}

impl External {
    fn of<'a>(acls: &'a Acls, entries: impl Iterator<Item = &'a Ace>) -> Self {
        let mut external = Self { single: Vec::new(), any: None };
        for (position, entry) in entries.enumerate() {
            for parent in
                acls.parents(entry).iter().filter(|parent| parent.kind == ParentKind::ExternalAddress)
            {
                match parent.host {
                    ParentHost::Address(address) if !address.is_unspecified() => {
                        external.single.push(position)
                    }
                    _ => external.any = external.any.or(Some(position)),
                }
            }
        }
        external
    }
}

/// `None`: the service has no end of addresses.
fn group(acls: &Acls, lists: &[External], service: &Service) -> Option<Group> {
    let mut group = Group { v4: service.external.v4.value, v6: service.external.v6.value, list: None };
    let Some(AclRef { list, len, last }) = service.acl else { return Some(group) };
    let before = len.saturating_sub(1) as usize;
    let last = External::of(acls, acls.ace(last).into_iter());
    let external = lists.get(list.0 as usize)?;
    if last.any.is_some() || external.any.is_some_and(|position| position < before) {
        return None;
    }
    let count = external.single.partition_point(|position| *position < before) + last.single.len();
    group.list = (count > 0).then_some((list, count as u64));
    Some(group)
}

fn time_wait(examination: &mut Examination<'_>, at: Loc) {
    if let Some([seen]) = examination.sysctl(&TIME_WAIT, "net.ipv4.tcp_tw_reuse")
        && seen != 1
    {
        let message = "ports of ended connections are kept for a minute, and this load needs them sooner";
        let diagnosis = Diagnosis::new(&TIME_WAIT, Level::Warn, at, message).values(seen, 1);
        let diagnosis = if seen == 2 {
            diagnosis.note("2 reuses ports on the loopback interface only.")
        } else {
            diagnosis
        };
        examination.found(diagnosis.sysctl("net.ipv4.tcp_tw_reuse", 1));
    }
    if let Some([seen]) = examination.sysctl(&TIME_WAIT, "net.ipv4.tcp_fin_timeout")
        && seen > 60
    {
        let message = format!("connections that one side has ended keep their port for {seen} seconds");
        let diagnosis = Diagnosis::new(&TIME_WAIT, Level::Warn, at, message).values(seen, "60 at most");
        examination.found(diagnosis.sysctl("net.ipv4.tcp_fin_timeout", 30));
    }
}
