//! Limits that apply to all services: how many connections, how fast, how much.
//!
//! Which entries apply to a request is the [`Policy`]'s answer; here is what each of them has counted. An entry's state outlives a
//! reload as long as its line means the same (that of a quota with a number: as long as there is one with that number), so that nobody
//! gets rid of a limit by a reload, and no line forgets what it has given away.
//!
//! Reading order: [`connections`] (`connlim`), [`bandwidth`] (`bandlim…`), [`traffic`] (`count…`) and its [`period`]s, [`charges`] (what the
//! bytes of a request are charged to, and how they wait), [`keeper`] and [`counter_file`] (`counter`).
mod bandwidth;
mod charges;
mod connections;
mod counter_file;
mod keeper;
mod period;
mod traffic;

use std::{collections::HashMap, ffi::OsStr, hash::Hash, os::unix::ffi::OsStrExt, path::PathBuf, sync::Arc};

use compiler::{
    policy::{LimitList, Policy},
    program::{
        Program,
        acl::Matcher,
        limits::{self, Bandwidth, ConnectionRate, CounterFile, Limit},
    },
    sources::Loc,
    table::Request,
};
use grammar::Text;
use jiff::Timestamp;

use crate::{
    error::{Failure, FailureKind},
    event::{Event, Events},
};
use bandwidth::Channel;
use charges::Way;
use connections::{Connections, Place};
use keeper::{Keeper, Line, Store};
use traffic::{Counter, Quota};

pub(crate) use charges::{Charges, Direction, Gate, Unwritten, write_all};
pub(crate) use counter_file::MOST_RECORDS;
pub(crate) use keeper::{SAVE_EVERY, Unusable};

/// 3proxy's code for a limit that is reached.
pub(crate) const LIMITED: u16 = 10;

/// What the limits of a configuration have counted: for each line of [`compiler::program::limits::Limits`] its state, or `None` for a
/// `no…` line.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    connections: Vec<Option<Arc<Connections>>>,
    bandwidth_in: Vec<Option<Arc<Channel>>>,
    bandwidth_out: Vec<Option<Arc<Channel>>>,
    traffic: Vec<Option<Arc<Quota>>>,
    keeper: Option<Keeper>,
}

/// What a session has of the limits that apply to it. It gives back what is to be given back when it is dropped.
#[derive(Debug, Default)]
pub(crate) struct Held {
    /// Of every request of the connection: it is one connection, however many requests it has.
    places: Vec<Place>,
    /// Of the last request.
    charges: Option<Charges>,
}

impl Held {
    /// What the bytes of the last request are charged to.
    pub(crate) fn charges(&self) -> Option<&Charges> {
        self.charges.as_ref()
    }
}

impl Limits {
    /// The limits of `program`; those that `before` has too go on. Reads the counter file.
    ///
    /// # Errors
    /// The counter file can't be used; with the line that names it.
    pub(crate) fn prepare(
        program: &Program,
        before: Option<(&Program, &Self)>,
    ) -> Result<Self, (Loc, Unusable)> {
        let lines = &program.limits;
        let (old, known) = before.map(|(program, limits)| (&program.limits, limits)).unzip();
        let channel = |bandwidth: &Bandwidth| Channel::new(*bandwidth);
        let connections = |rate: &ConnectionRate| Connections::new(*rate);
        let (traffic, keeper) = quotas(lines, old.zip(known))?;
        let (old, known) = (old.unwrap_or(&NO_LINES), known.unwrap_or(&NO_LIMITS));
        Ok(Self {
            connections: carried(&lines.connections, (&old.connections, &known.connections), connections),
            bandwidth_in: carried(&lines.bandwidth_in, (&old.bandwidth_in, &known.bandwidth_in), channel),
            bandwidth_out: carried(&lines.bandwidth_out, (&old.bandwidth_out, &known.bandwidth_out), channel),
            traffic,
            keeper,
        })
    }

    /// Whether there is none, so that nobody need be asked.
    #[must_use]
    pub(crate) fn is_empty(&self) -> bool {
        let Self { connections, bandwidth_in, bandwidth_out, traffic, keeper: _ } = self;
        connections.is_empty() && bandwidth_in.is_empty() && bandwidth_out.is_empty() && traffic.is_empty()
    }

    /// Counts a request that may pass, and notes in `held` what it takes. `request` is what the limits are compared with:
    /// see [`Policy::limits`].
    ///
    /// # Errors
    /// A limit is reached. Nothing is counted then, by no limit.
    pub(crate) fn admit(
        &self,
        policy: &Policy,
        request: &Request<'_>,
        held: &mut Option<Box<Held>>,
    ) -> Result<(), Failure> {
        let connections = applying(policy, LimitList::Connections, request, &self.connections);
        let places = held.as_ref().map_or(&[][..], |held| &held.places);
        let taken =
            connections::take(connections, places).ok_or(Failure::new(LIMITED, FailureKind::Limited))?;
        let charges = Charges {
            inwards: Way {
                channels: applying(policy, LimitList::BandwidthIn, request, &self.bandwidth_in).into(),
                quotas: applying(policy, LimitList::TrafficIn, request, &self.traffic).into(),
            },
            outwards: Way {
                channels: applying(policy, LimitList::BandwidthOut, request, &self.bandwidth_out).into(),
                quotas: applying(policy, LimitList::TrafficOut, request, &self.traffic).into(),
            },
        };
        let charges = Some(charges).filter(|charges| !charges.is_empty());
        if held.is_some() || charges.is_some() || !taken.is_empty() {
            let held = held.get_or_insert_default();
            held.places.extend(taken);
            held.charges = charges;
        }
        Ok(())
    }

    /// Whether what is counted is kept in a file.
    pub(crate) fn is_kept(&self) -> bool {
        self.keeper.is_some()
    }

    /// Writes what was counted to the counter file. Says once if that fails. May take a while.
    pub(crate) fn save(&self, events: &Events) {
        let Some(keeper) = &self.keeper else { return };
        let saved = keeper.save(Timestamp::now().as_second());
        let said = keeper.says(saved.is_err());
        if let Err((path, error)) = saved
            && !said
        {
            events.tell(&Event::CountersFailed { path, error });
        }
    }
}

/// The states of those entries of a list that apply to a request.
fn applying<S>(
    policy: &Policy,
    list: LimitList,
    request: &Request<'_>,
    states: &[Option<Arc<S>>],
) -> Vec<Arc<S>> {
    if states.is_empty() {
        return Vec::new();
    }
    policy.limits(list, request).into_iter().filter_map(|at| states.get(at)?.clone()).collect()
}

/// Those of the configuration before the first.
static NO_LINES: limits::Limits = limits::Limits {
    bandwidth_in: Vec::new(),
    bandwidth_out: Vec::new(),
    connections: Vec::new(),
    traffic: Vec::new(),
    counter_file: None,
};
static NO_LIMITS: Limits = Limits {
    connections: Vec::new(),
    bandwidth_in: Vec::new(),
    bandwidth_out: Vec::new(),
    traffic: Vec::new(),
    keeper: None,
};

/// States of the configuration before, each to be taken once: of several equal lines each has its own.
struct Known<K, S>(HashMap<K, Vec<Arc<S>>>);

impl<K: Eq + Hash, S> Known<K, S> {
    fn new(lines: impl DoubleEndedIterator<Item = (Option<K>, Option<Arc<S>>)>) -> Self {
        let mut known: HashMap<K, Vec<Arc<S>>> = HashMap::new();
        // The last of them is taken first.
        for (meaning, state) in lines.rev() {
            if let (Some(meaning), Some(state)) = (meaning, state) {
                known.entry(meaning).or_default().push(state);
            }
        }
        Self(known)
    }

    fn take(&mut self, meaning: &K) -> Option<Arc<S>> {
        self.0.get_mut(meaning)?.pop()
    }
}

/// What a line means besides its place.
fn meaning<T>(line: &Limit<T>) -> Option<(&T, &Matcher, i32)> {
    Some((line.limit.as_ref()?, &line.matcher, line.weight))
}

/// The state of each of `lines`: that of an equal line of the configuration before, or a new one.
fn carried<T: Eq + Hash, S>(
    lines: &[Limit<T>],
    (old, states): (&[Limit<T>], &[Option<Arc<S>>]),
    new: impl Fn(&T) -> S,
) -> Vec<Option<Arc<S>>> {
    let mut known = Known::new(old.iter().map(meaning).zip(states.iter().cloned()));
    let state = |line| {
        let meaning = meaning(line)?;
        Some(known.take(&meaning).unwrap_or_else(|| Arc::new(new(meaning.0))))
    };
    lines.iter().map(state).collect()
}

/// The state of each quota, and the file that they are kept in.
fn quotas(
    lines: &limits::Limits,
    before: Option<(&limits::Limits, &Limits)>,
) -> Result<(Vec<Option<Arc<Quota>>>, Option<Keeper>), (Loc, Unusable)> {
    let (old, known) = before.unwrap_or((&NO_LINES, &NO_LIMITS));
    let old = old.traffic.iter().zip(&known.traffic);
    let old = old.map(|(line, quota)| (key(line), quota.as_ref().map(|quota| Arc::clone(&quota.counter))));
    let mut counters = Known::new(old);
    let store = lines
        .counter_file
        .as_ref()
        .map(|file| store(file, known.keeper.as_ref()).map_err(|error| (file.at, error)));
    let store = store.transpose()?;
    let (mut states, mut kept) = (Vec::new(), Vec::new());
    for line in &lines.traffic {
        let (Some(key), Some(limit)) = (key(line), &line.limit.limit) else {
            states.push(None);
            continue;
        };
        let live = counters.take(&key);
        let counter = match &store {
            // What is counted is newer than what stands in its own file.
            Some((store, is_same)) if limit.number > 0 && !(*is_same && live.is_some()) => {
                let stored = read(store, limit.number).map_err(|error| (line.limit.at, error))?;
                stored.map(Arc::new).or(live)
            }
            _ => live,
        };
        let now = Timestamp::now().as_second();
        let counter = counter.unwrap_or_else(|| Arc::new(Counter::new(0, now, 0)));
        let quota = Arc::new(Quota { counter, bytes: limit.bytes, rotation: limit.rotation });
        kept.push(Line { number: limit.number, comment: limit.comment.clone(), quota: Arc::clone(&quota) });
        states.push(Some(quota));
    }
    let report = lines.counter_file.as_ref().and_then(|file| file.report.as_ref());
    let report = report.map(|(rotation, path)| (*rotation, path_of(path)));
    Ok((states, store.map(|(store, _)| Keeper { store, lines: kept, report })))
}

/// By what a count is found again: its number, or else what its line means.
#[derive(PartialEq, Eq, Hash)]
enum Key<'a> {
    Number(u32),
    Line(limits::Direction, u64, limits::Rotation, &'a Matcher, i32),
}

fn key(line: &limits::Traffic) -> Option<Key<'_>> {
    let (quota, matcher, weight) = meaning(&line.limit)?;
    Some(match quota.number {
        0 => Key::Line(line.direction, quota.bytes, quota.rotation, matcher, weight),
        number => Key::Number(number),
    })
}

/// The counter file, and whether the configuration before had it already: then what is counted is newer than what stands in it.
fn store(file: &CounterFile, before: Option<&Keeper>) -> Result<(Arc<Store>, bool), Unusable> {
    let path = path_of(&file.path);
    match before.filter(|before| before.store.path() == path) {
        Some(before) => Ok((Arc::clone(&before.store), true)),
        None => Ok((Arc::new(Store::open(path)?), false)),
    }
}

/// The count that a file has of a number.
fn read(store: &Store, number: u32) -> Result<Option<Counter>, Unusable> {
    let record = store.record(number)?;
    Ok(record.map(|record| {
        // 3proxy begins to count before it notes when.
        let began = if record.began == 0 { record.updated } else { record.began };
        Counter::new(record.used, began, record.updated)
    }))
}

fn path_of(path: &Text) -> PathBuf {
    OsStr::from_bytes(path.as_bytes()).into()
}

#[cfg(test)]
mod tests;
