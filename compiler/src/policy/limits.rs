//! Limit lists: not the first match, but every one up to the first `no…` line.
use crate::{
    program::{
        acl::Matcher,
        limits::{Direction, Limit, Limits},
    },
    table::{
        Fields, Request, Subject,
        index::{Among, Index, Layout, Passes, Row, Rows},
    },
};

/// A list of limits that apply to all services.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LimitList {
    /// [`Limits::bandwidth_in`].
    BandwidthIn,
    /// [`Limits::bandwidth_out`].
    BandwidthOut,
    /// [`Limits::connections`].
    Connections,
    /// [`Limits::traffic`], those that count towards the client.
    TrafficIn,
    /// [`Limits::traffic`], those that count towards the server.
    TrafficOut,
}

impl LimitList {
    /// Every list.
    pub const ALL: [Self; 5] =
        [Self::BandwidthIn, Self::BandwidthOut, Self::Connections, Self::TrafficIn, Self::TrafficOut];
}

/// At most this many bandwidth limits apply to a connection: 3proxy has no room for more.
const MOST_BANDWIDTH: usize = 10;

/// An index for each list of limits.
#[derive(Debug)]
pub(super) struct LimitTables {
    bandwidth_in: Index,
    bandwidth_out: Index,
    connections: Index,
    traffic: Index,
}

impl LimitTables {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            bandwidth_in: index(limits.bandwidth_in.iter().map(|line| &line.matcher)),
            bandwidth_out: index(limits.bandwidth_out.iter().map(|line| &line.matcher)),
            connections: index(limits.connections.iter().map(|line| &line.matcher)),
            traffic: index(limits.traffic.iter().map(|line| &line.limit.matcher)),
        }
    }

    /// The indexes of the limits that apply.
    pub(super) fn applying(&self, limits: &Limits, list: LimitList, request: &Request<'_>) -> Vec<usize> {
        let subject = Subject::new(request);
        let index = match list {
            LimitList::BandwidthIn => &self.bandwidth_in,
            LimitList::BandwidthOut => &self.bandwidth_out,
            LimitList::Connections => &self.connections,
            LimitList::TrafficIn | LimitList::TrafficOut => &self.traffic,
        };
        let mut applying = Vec::new();
        for at in index.matching(&subject, Fields::ALL, Among::All).map(|at| at as usize) {
            let effect = match list {
                LimitList::BandwidthIn => effect(limits.bandwidth_in.get(at), &subject),
                LimitList::BandwidthOut => effect(limits.bandwidth_out.get(at), &subject),
                LimitList::Connections => effect(limits.connections.get(at), &subject),
                LimitList::TrafficIn => traffic(limits, at, Direction::Out, &subject),
                LimitList::TrafficOut => traffic(limits, at, Direction::In, &subject),
            };
            match effect {
                LineEffect::None => {}
                LineEffect::Applies => applying.push(at),
                LineEffect::Ends => break,
            }
            let full = matches!(list, LimitList::BandwidthIn | LimitList::BandwidthOut);
            if full && applying.len() == MOST_BANDWIDTH {
                break;
            }
        }
        applying
    }

    /// Bytes on the heap, about.
    pub(super) fn bytes(&self) -> usize {
        let Self { bandwidth_in, bandwidth_out, connections, traffic } = self;
        [bandwidth_in, bandwidth_out, connections, traffic].into_iter().map(Index::bytes).sum()
    }
}

/// What a matching line does.
enum LineEffect {
    None,
    Applies,
    Ends,
}

fn effect<T>(line: Option<&Limit<T>>, subject: &Subject<'_>) -> LineEffect {
    match line {
        Some(line) if line.weight == 0 || line.weight >= subject.weight => {
            if line.limit.is_some() {
                LineEffect::Applies
            } else {
                LineEffect::Ends
            }
        }
        _ => LineEffect::None,
    }
}

/// The same of a quota, unless it is of the other direction.
fn traffic(limits: &Limits, at: usize, other: Direction, subject: &Subject<'_>) -> LineEffect {
    effect(limits.traffic.get(at).filter(|line| line.direction != other).map(|line| &line.limit), subject)
}

fn index<'a>(matchers: impl Iterator<Item = &'a Matcher>) -> Index {
    let matchers: Vec<&Matcher> = matchers.collect();
    let row = |at: u32| {
        let matcher = matchers.get(at as usize)?;
        Some(Row { matcher, passes: Passes::Nobody, waits: false })
    };
    let rows = Rows { count: u32::try_from(matchers.len()).unwrap_or(u32::MAX), row: &row };
    Index::new(&rows, Layout::List)
}
