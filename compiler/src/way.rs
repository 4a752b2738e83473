//! The way to a target: which of an entry's parents a request goes through, and the address that it comes from.
//!
//! An entry's parents stand in groups whose weights add up to 1000. One is drawn from each group, and the drawn ones form a chain.
//! The runtime draws by [`Plan::draw`]; [`groups`] says what can be drawn, and how often.
use std::net::IpAddr;

use crate::program::{
    acl::{Parent, ParentHost, ParentKind},
    process::Process,
    service::{External, Family, ServiceKind},
};

/// What was drawn.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Plan<'a> {
    /// The parents to pass, in order.
    pub hops: Vec<&'a Parent>,
    /// The `extip` to come from.
    pub external: Option<&'a ParentHost>,
    /// A PROXY protocol header goes first.
    pub announces: bool,
}

/// Parents of which one is drawn, or nobody.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group<'a> {
    /// The parents, each with its chance in thousandths; 0: an earlier one takes it all.
    pub members: Vec<(&'a Parent, u16)>,
    /// The chance of nobody, in thousandths.
    pub nobody: u16,
}

/// A source address that a request can come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// This one.
    Address(IpAddr),
    /// The client's own.
    Client,
    /// One with these leading bits.
    Prefix(IpAddr, u8),
    /// One of this machine's: the system chooses.
    Any,
}

impl<'a> Plan<'a> {
    /// Draws one parent from each group. `below(n)` gives a fair number below `n`.
    ///
    /// A group's parents are tried in turn against one number: the parent that takes the running sum over what the number leaves
    /// is drawn. So a parent of weight w has the chance w/1000, and one that overfills its group has what is left of it.
    /// `tcp` and `http` end the chain, since behind them nothing can be negotiated.
    pub fn draw(parents: &'a [Parent], mut below: impl FnMut(u32) -> u32) -> Self {
        let mut plan = Self::default();
        let mut number = below(1000);
        let (mut left, mut found) = (1000_i64, false);
        for parent in parents {
            left -= i64::from(parent.weight);
            if !found && left <= i64::from(number) {
                found = true;
                plan.add(parent);
                if ends_chain(parent) {
                    break;
                }
            }
            if left <= 0 {
                left += 1000;
                found = false;
                number = below(1000);
            }
        }
        plan
    }

    fn add(&mut self, parent: &'a Parent) {
        match parent.kind {
            ParentKind::ExternalAddress => self.external = Some(&parent.host),
            ParentKind::ProxyProtocol => self.announces = true,
            // A local redirection to the service's own kind changes nothing; others are refused before anything runs.
            _ if parent.is_local() => {}
            _ => self.hops.push(parent),
        }
    }
}

impl Group<'_> {
    /// Every draw gives a proxy to go through.
    fn always_hops(&self) -> bool {
        self.nobody == 0 && self.members.iter().all(|(parent, chance)| *chance == 0 || is_hop(parent))
    }
}

/// The first parent of a group of which each is `wanted`: one of these is in every draw.
#[must_use]
pub(crate) fn surely<'a>(groups: &[Group<'a>], wanted: impl Fn(&Parent) -> bool) -> Option<&'a Parent> {
    let drawn = |group: &Group<'a>| -> Vec<&'a Parent> {
        group.members.iter().filter(|(_, chance)| *chance > 0).map(|(parent, _)| *parent).collect()
    };
    let mut certain = groups.iter().filter(|group| group.nobody == 0).map(drawn);
    certain.find(|drawn| drawn.iter().all(|parent| wanted(parent)))?.first().copied()
}

/// Whether a parent is a proxy to go through, and not an address, a header or a service of this process.
#[must_use]
pub(crate) fn is_hop(parent: &Parent) -> bool {
    !matches!(parent.kind, ParentKind::ExternalAddress | ParentKind::ProxyProtocol) && !parent.is_local()
}

/// Whether nothing can be negotiated behind a parent.
fn ends_chain(parent: &Parent) -> bool {
    matches!(parent.kind, ParentKind::Tcp | ParentKind::Http) && !parent.is_local()
}

/// What [`Plan::draw`] draws from, group by group. Groups behind one that always ends the chain are left out.
#[must_use]
pub fn groups(parents: &[Parent]) -> Vec<Group<'_>> {
    let mut groups = Vec::new();
    let mut group = Group { members: Vec::new(), nobody: 1000 };
    let mut left = 1000_i64;
    for parent in parents {
        left -= i64::from(parent.weight);
        // Numbers from `left` on draw this parent, but for those that an earlier one of the group took.
        let rest = u16::try_from(left.max(0)).unwrap_or(u16::MAX).min(group.nobody);
        group.members.push((parent, group.nobody - rest));
        group.nobody = rest;
        if left <= 0 {
            left += 1000;
            let ends = group.members.iter().all(|(parent, chance)| *chance == 0 || ends_chain(parent));
            groups.push(std::mem::replace(&mut group, Group { members: Vec::new(), nobody: 1000 }));
            if ends {
                return groups;
            }
        }
    }
    if !group.members.is_empty() {
        groups.push(group);
    }
    groups
}

/// How often a service draws before a request fails: `parentretries` times. The HTTP proxy of 3proxy asks for a way a second time when
/// it got none.
#[must_use]
pub fn attempts(process: &Process, kind: ServiceKind) -> u32 {
    let rounds = if kind == ServiceKind::Proxy { 2 } else { 1 };
    process.parent_attempts().saturating_mul(rounds)
}

/// The chance that no proxy is passed, from 0 to 1.
#[must_use]
pub fn direct_share(groups: &[Group<'_>]) -> f64 {
    let no_hop = |group: &Group<'_>| {
        let hops = group.members.iter().filter(|(parent, _)| is_hop(parent)).map(|(_, chance)| *chance);
        f64::from(1000_u16.saturating_sub(hops.sum())) / 1000.0
    };
    groups.iter().map(no_hop).product()
}

/// The proxies that a request can go through, each once, in order.
pub fn hops<'a>(groups: &[Group<'a>]) -> Vec<&'a Parent> {
    let mut hops: Vec<&Parent> = Vec::new();
    for (parent, chance) in groups.iter().flat_map(|group| &group.members) {
        if *chance > 0 && is_hop(parent) && !hops.contains(parent) {
            hops.push(parent);
        }
    }
    hops
}

/// The source addresses that a request can come from, each once: what an `extip` says, or else the service's own for the family of
/// the first parent, or of `target`. Of an unknown address it is the family that the service asks for first, of a parent's name IPv4.
#[must_use]
pub fn origins(
    groups: &[Group<'_>],
    external: External,
    family: Family,
    target: Option<IpAddr>,
) -> Vec<Origin> {
    let to_v6 = target.map_or(matches!(family, Family::V6 | Family::V6ThenV4), |address| address.is_ipv6());
    let (mut drawn, mut ended): (Vec<Option<&ParentHost>>, Vec<Option<&ParentHost>>) =
        (vec![None], Vec::new());
    for group in groups {
        let mut next = if group.nobody > 0 { drawn.clone() } else { Vec::new() };
        for (parent, _) in group.members.iter().filter(|(_, chance)| *chance > 0) {
            match parent.kind {
                ParentKind::ExternalAddress => next.push(Some(&parent.host)),
                _ if ends_chain(parent) => ended.extend(drawn.iter().copied()),
                _ => next.extend(drawn.iter().copied()),
            }
        }
        // Each once: what several groups can draw would double with every group.
        drawn = each_once(next);
        ended = each_once(ended);
    }
    let mut origins = Vec::new();
    for host in drawn.into_iter().chain(ended) {
        let of_extip = host.map(|host| match host {
            ParentHost::Address(address) | ParentHost::Prefix(address, _) if address.is_unspecified() => {
                Origin::Client
            }
            ParentHost::Prefix(address, length) => Origin::Prefix(*address, *length),
            ParentHost::Address(address) => Origin::Address(address.to_canonical()),
            ParentHost::Name(_) | ParentHost::Unix(_) => Origin::Any,
        });
        let found = of_extip.map_or_else(|| own(groups, external, to_v6), |origin| vec![origin]);
        for origin in found {
            if !origins.contains(&origin) {
                origins.push(origin);
            }
        }
    }
    origins
}

/// The hosts, each once, in order.
fn each_once(hosts: Vec<Option<&ParentHost>>) -> Vec<Option<&ParentHost>> {
    let mut seen = Vec::with_capacity(hosts.len());
    for host in hosts {
        if !seen.contains(&host) {
            seen.push(host);
        }
    }
    seen
}

/// The service's own source addresses, by what it can connect to first.
fn own(groups: &[Group<'_>], external: External, to_v6: bool) -> Vec<Origin> {
    let mut firsts = Vec::new();
    for group in groups {
        let drawn = group.members.iter().filter(|(_, chance)| *chance > 0).map(|(parent, _)| parent);
        firsts.extend(drawn.filter(|parent| is_hop(parent)).map(|parent| match parent.host {
            ParentHost::Address(address) if !address.is_unspecified() => address.is_ipv6(),
            ParentHost::Address(_) => to_v6,
            _ => false,
        }));
        if group.always_hops() {
            break;
        }
    }
    if !groups.iter().any(Group::always_hops) {
        firsts.push(to_v6);
    }
    let of_family = |v6: bool| if v6 { IpAddr::V6(external.v6.value) } else { IpAddr::V4(external.v4.value) };
    let origin = |address: IpAddr| {
        if address.is_unspecified() { Origin::Any } else { Origin::Address(address) }
    };
    firsts.into_iter().map(of_family).map(origin).collect()
}

#[cfg(test)]
mod tests;
