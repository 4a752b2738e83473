//! Settings of services and of the whole process, compared by what they mean: where a line stands does not matter.
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    hash::Hash,
    net::IpAddr,
};

use grammar::Text;

use super::{SettingChange, UserChange, pairs::pairs};
use crate::{
    program::{
        Program, Set,
        acl::Matcher,
        auth::{AuthCache, Chain, Password, Radius, User},
        limits::{Bandwidth, ConnectionRate, CounterFile, Direction, Limit, Limits, Rotation, Traffic},
        resolve::{Resolver, StaticRecord},
        service::{MappedTarget, Service},
        settings::{Setting, Value},
    },
    sources::Loc,
};

/// What differs between two versions of a service, its list and its place aside.
pub(super) fn service(old: &Service, new: &Service) -> Vec<SettingChange> {
    let mut found = differing(&old.settings(), &new.settings());
    let kinds = |Set { value, at }: &Chain| (value.iter().map(|step| step.kind).collect::<Vec<_>>(), *at);
    let cache = |AuthCache { fields, seconds, at }: AuthCache| ((fields, seconds), at);
    let target = |MappedTarget { host, port, at }: &MappedTarget| ((host.clone(), *port), Some(*at));
    found.extend(one("auth", Some(kinds(&old.chain)), Some(kinds(&new.chain))));
    found.extend(one("authcache", old.auth_cache.map(cache), new.auth_cache.map(cache)));
    found.extend(one(new.kind.name(), old.target.as_ref().map(target), new.target.as_ref().map(target)));
    found
}

/// What differs in what acts on the whole process.
pub(super) fn process(old: &Program, new: &Program) -> Vec<SettingChange> {
    let size = |Set { value, at }: Set<u32>| Some((value, at));
    let radius = |Radius { at, secret, servers }: &Radius| ((secret.clone(), servers.clone()), Some(*at));
    let mut found = differing(&old.resolver.settings(), &new.resolver.settings());
    found.extend(sequence(&records(&old.resolver), &records(&new.resolver)));
    found.extend(one("radius", old.radius.as_ref().map(radius), new.radius.as_ref().map(radius)));
    found.extend(one("authcache", size(old.auth_cache_size), size(new.auth_cache_size)));
    found.extend(differing(&old.process.settings(), &new.process.settings()));
    found.extend(limits(&old.limits, &new.limits));
    found
}

/// What differs of settings, in their order: first of those of the old configuration.
fn differing(old: &[Setting<'_>], new: &[Setting<'_>]) -> Vec<SettingChange> {
    let same = |(old, new): (&Setting<'_>, &Setting<'_>)| (old.label, old.value) == (new.label, new.value);
    if old.len() == new.len() && old.iter().zip(new).all(same) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    for Setting { name, label, adds_up, .. } in old.iter().chain(new) {
        if !seen.insert((*name, *label)) {
            continue;
        }
        let (old, new) = (of(old, (name, label)), of(new, (name, label)));
        if *adds_up {
            found.extend(sequence(&old, &new));
        } else {
            found.extend(one(name, old.first().map(Line::value), new.first().map(Line::value)));
        }
    }
    found
}
fn of<'a>(settings: &[Setting<'a>], (name, label): (&'static str, &'static str)) -> Vec<Line<Value<'a>>> {
    let these = settings.iter().filter(|setting| (setting.name, setting.label) == (name, label));
    these.map(|setting| Line { name, key: setting.value, at: setting.at }).collect()
}

fn limits(old: &Limits, new: &Limits) -> Vec<SettingChange> {
    let Limits { bandwidth_in, bandwidth_out, connections, traffic, counter_file } = old;
    let bandwidth = |limit: &Bandwidth| limit.bits_per_second;
    let rate = |limit: &ConnectionRate| (limit.connections, limit.seconds);
    let bandlimin = |lines| limit_lines(lines, ("bandlimin", "nobandlimin"), bandwidth);
    let bandlimout = |lines| limit_lines(lines, ("bandlimout", "nobandlimout"), bandwidth);
    let connlim = |lines| limit_lines(lines, ("connlim", "noconnlim"), rate);
    let file = |CounterFile { path, report, at }: &CounterFile| ((path.clone(), report.clone()), Some(*at));
    let mut found = sequence(&bandlimin(bandwidth_in), &bandlimin(&new.bandwidth_in));
    found.extend(sequence(&bandlimout(bandwidth_out), &bandlimout(&new.bandwidth_out)));
    found.extend(sequence(&connlim(connections), &connlim(&new.connections)));
    found.extend(sequence(&quotas(traffic), &quotas(&new.traffic)));
    found.extend(one("counter", counter_file.as_ref().map(file), new.counter_file.as_ref().map(file)));
    found
}

/// What a line of a limit list means: its limit, for whom it is, its weight.
type LimitKey<K> = (Option<K>, Matcher, i32);

/// The lines of a limit list; `names` of those that limit, and of those that end the list.
fn limit_lines<T, K>(
    lines: &[Limit<T>],
    names: (&'static str, &'static str),
    limit: impl Fn(&T) -> K,
) -> Vec<Line<LimitKey<K>>> {
    let line = |line: &Limit<T>| Line {
        name: if line.limit.is_some() { names.0 } else { names.1 },
        key: (line.limit.as_ref().map(&limit), line.matcher.clone(), line.weight),
        at: Some(line.at),
    };
    lines.iter().map(line).collect()
}

/// Lines of all directions: they are one list.
fn quotas(lines: &[Traffic]) -> Vec<Line<(Direction, LimitKey<(u32, Rotation, u64)>)>> {
    let line = |Traffic { direction, limit: Limit { at, limit, matcher, weight } }: &Traffic| {
        let names = match direction {
            Direction::In => ("countin", "nocountin"),
            Direction::Out => ("countout", "nocountout"),
            Direction::All => ("countall", "nocountall"),
        };
        let quota = limit.as_ref().map(|quota| (quota.number, quota.rotation, quota.bytes));
        Line {
            name: if limit.is_some() { names.0 } else { names.1 },
            key: (*direction, (quota, matcher.clone(), *weight)),
            at: Some(*at),
        }
    };
    lines.iter().map(line).collect()
}

fn records<'a>(resolver: &'a Resolver) -> Vec<Line<(&'a Text, IpAddr, bool)>> {
    let line = |StaticRecord { at, name, address, before_cache }: &'a StaticRecord| Line {
        name: "nsrecord",
        key: (name, *address, *before_cache),
        at: Some(*at),
    };
    resolver.records.iter().map(line).collect()
}
/// Users that were added, removed, or got another password; of entries with one name the last counts.
pub(super) fn users(old: &Program, new: &Program) -> Vec<UserChange> {
    let table = |program: &Program| {
        let last = |User { name, at, password }: &User| (name.clone(), (*at, password.clone()));
        program.users.iter().map(last).collect::<BTreeMap<_, (Loc, Password)>>()
    };
    let (old, new) = (table(old), table(new));
    let change = |name: &grammar::Text, old: Option<Loc>, new: Option<Loc>| UserChange {
        name: name.to_string(),
        old,
        new,
    };
    let gone = old.iter().filter_map(|(name, (at, password))| match new.get(name) {
        None => Some(change(name, Some(*at), None)),
        Some((new_at, new)) => (new != password).then(|| change(name, Some(*at), Some(*new_at))),
    });
    let added = new.iter().filter(|(name, _)| !old.contains_key(*name));
    gone.chain(added.map(|(name, (at, _))| change(name, None, Some(*at)))).collect()
}

/// What there is one of: its value, and what set it.
fn one<T: PartialEq>(
    name: &'static str,
    old: Option<(T, Option<Loc>)>,
    new: Option<(T, Option<Loc>)>,
) -> Option<SettingChange> {
    let at = |set: &Option<(T, Option<Loc>)>| set.as_ref().and_then(|(_, at)| *at);
    let change = SettingChange { name, old: at(&old), new: at(&new) };
    (old.map(|(value, _)| value) != new.map(|(value, _)| value)).then_some(change)
}

/// A line of a list in which order matters.
struct Line<K> {
    name: &'static str,
    /// What it means.
    key: K,
    at: Option<Loc>,
}

impl<K: Copy> Line<K> {
    fn value(&self) -> (K, Option<Loc>) {
        (self.key, self.at)
    }
}

/// What left such a list, and what came in.
fn sequence<K: Hash + Eq>(old: &[Line<K>], new: &[Line<K>]) -> Vec<SettingChange> {
    let mut numbers: HashMap<(&'static str, &K), u32> = HashMap::new();
    let mut all = Vec::with_capacity(old.len() + new.len());
    for line in old.iter().chain(new) {
        let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        all.push(*numbers.entry((line.name, &line.key)).or_insert(next));
    }
    let (old_numbers, new_numbers) = all.split_at(old.len());
    let partners = pairs(old_numbers, new_numbers);
    let kept: HashSet<usize> = partners.iter().flatten().copied().collect();
    let gone = old.iter().zip(&partners).filter(|(_, partner)| partner.is_none());
    let came = new.iter().enumerate().filter(|(at, _)| !kept.contains(at));
    gone.map(|(Line { name, at, .. }, _)| SettingChange { name, old: *at, new: None })
        .chain(came.map(|(_, Line { name, at, .. })| SettingChange { name, old: None, new: *at }))
        .collect()
}
