//! Classes of requests: products of one set per field, what is left of one when entries took theirs, and a request of one.
use super::{
    hosts::{Hosts, Named},
    ranges::Ranges,
};

/// The fields that are numbers, in the order of [`Cell::numbers`].
pub(crate) const FIELDS: usize = 6;
/// Users, as [`Space`](super::space::Space) numbers them.
pub(crate) const USER: usize = 0;
/// Client addresses.
pub(crate) const SOURCE: usize = 1;
/// Target addresses.
pub(crate) const ADDRESS: usize = 2;
/// Target ports.
pub(crate) const PORT: usize = 3;
/// Operations.
pub(crate) const OPERATION: usize = 4;
/// Seconds of the week.
pub(crate) const TIME: usize = 5;

/// Requests: each field holds some of these values. Never empty.
#[derive(Clone, Debug)]
pub(crate) struct Cell<'a> {
    pub(crate) numbers: [Ranges; FIELDS],
    pub(crate) hosts: Hosts<'a>,
}

/// Requests that an entry, or a part of it, accepts. `None`: it does not look at the field.
#[derive(Clone, Debug)]
pub(crate) struct Shape<'a> {
    pub(crate) numbers: [Option<Ranges>; FIELDS],
    pub(crate) hosts: Named<'a>,
}

/// What may still be spent, in steps of about a nanosecond to ten, so that entangled lists end in a message and not in a hang.
#[derive(Debug)]
pub(crate) struct Work(pub(crate) u64);

impl Work {
    /// Takes `steps` steps; false: there is nothing left.
    pub(crate) fn spend(&mut self, steps: usize) -> bool {
        self.0 = self.0.saturating_sub(steps as u64);
        self.0 > 0
    }
}

/// What is left of some requests when others were taken out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Left<'a> {
    /// Disjoint.
    pub(crate) cells: Vec<Cell<'a>>,
    /// There may be more than these.
    pub(crate) more: bool,
}

/// At most this many cells of one class are told apart.
pub(crate) const MOST_CELLS: usize = 32;

impl<'a> Cell<'a> {
    /// How much work it is to go through it.
    pub(crate) fn len(&self) -> usize {
        self.numbers.iter().map(|set| set.as_slice().len()).sum::<usize>() + self.hosts.len()
    }

    /// What `shape` accepts of it.
    pub(crate) fn and(&self, shape: &Shape<'a>) -> Option<Self> {
        if !self.numbers_meet(shape) {
            return None;
        }
        let hosts = self.hosts.and(&shape.hosts);
        if hosts.is_empty() {
            return None;
        }
        let mut met = Self { numbers: self.numbers.clone(), hosts };
        for (set, accepted) in met.numbers.iter_mut().zip(&shape.numbers) {
            if let Some(accepted) = accepted {
                *set = set.and(accepted);
            }
        }
        Some(met)
    }

    /// Whether `shape` accepts anything of it.
    pub(crate) fn meets(&self, shape: &Shape<'a>) -> bool {
        self.numbers_meet(shape)
            && (matches!(shape.hosts, Named::Any) || !self.hosts.and(&shape.hosts).is_empty())
    }

    fn numbers_meet(&self, shape: &Shape<'a>) -> bool {
        let both = self.numbers.iter().zip(&shape.numbers);
        both.into_iter().all(|(set, accepted)| accepted.as_ref().is_none_or(|accepted| set.meets(accepted)))
    }

    /// What `shape` does not accept of it, as disjoint cells. It accepts something.
    pub(crate) fn minus(&self, shape: &Shape<'a>) -> Vec<Self> {
        let mut rest = self.clone();
        let mut left = Vec::new();
        let outside = rest.hosts.minus(&shape.hosts);
        if !outside.is_empty() {
            left.push(Self { hosts: outside, ..rest.clone() });
            rest.hosts = rest.hosts.and(&shape.hosts);
        }
        for (at, accepted) in shape.numbers.iter().enumerate() {
            let (Some(accepted), Some(set)) = (accepted, rest.numbers.get(at)) else { continue };
            let (outside, inside) = (set.minus(accepted), set.and(accepted));
            if !outside.is_empty() {
                left.push(rest.with(at, outside));
                rest = rest.with(at, inside);
            }
        }
        left
    }

    /// What `shape` does not accept of it, whether it accepts something or not.
    pub(crate) fn except(self, shape: &Shape<'a>) -> Vec<Self> {
        if self.meets(shape) { self.minus(shape) } else { vec![self] }
    }

    /// The same with another set in the field `at`.
    pub(crate) fn with(&self, at: usize, set: Ranges) -> Self {
        let mut other = self.clone();
        if let Some(place) = other.numbers.get_mut(at) {
            *place = set;
        }
        other
    }

    /// The fields in which `shape` does not accept all of it: which, if it is one, or how many.
    fn limited(&self, shape: &Shape<'a>) -> Limited {
        let mut limited = Limited::Nowhere;
        for (at, (set, accepted)) in self.numbers.iter().zip(&shape.numbers).enumerate() {
            if accepted.as_ref().is_some_and(|accepted| !set.within(accepted)) {
                limited = limited.and(Limited::Number(at));
            }
        }
        match &shape.hosts {
            Named::Any => limited,
            // Whether it accepts all would cost as much as to take it out.
            Named::In { .. } => limited.and(Limited::Hosts),
            Named::Nothing | Named::NotIn(_) => Limited::Several,
        }
    }

    /// Without what the shapes accept that leave all fields but one alone: these are taken out at once, however many.
    /// The others that accept something are put into `several`.
    fn cut<'s>(
        mut self,
        shapes: impl Iterator<Item = &'s Shape<'a>>,
        several: &mut Vec<&'s Shape<'a>>,
        work: &mut Work,
    ) -> Option<Self>
    where
        'a: 's,
    {
        let mut numbers: [Vec<(u128, u128)>; FIELDS] = Default::default();
        let (mut patterns, mut none) = (Vec::new(), false);
        for shape in shapes {
            work.spend(4);
            if !self.numbers_meet(shape) {
                continue;
            }
            match (self.limited(shape), &shape.hosts) {
                (Limited::Nowhere, _) => return None,
                (Limited::Number(at), _) => {
                    let ranges = shape.numbers.get(at).and_then(Option::as_ref).map(Ranges::as_slice);
                    if let Some(all) = numbers.get_mut(at) {
                        all.extend(ranges.unwrap_or_default());
                    }
                }
                (Limited::Hosts, Named::In { patterns: more, none: also }) => {
                    patterns.extend(more.iter().copied());
                    none |= also;
                }
                _ => several.push(shape),
            }
        }
        for (set, taken) in self.numbers.iter_mut().zip(numbers) {
            work.spend(taken.len());
            *set = if taken.is_empty() { set.clone() } else { set.minus(&Ranges::new(taken)) };
        }
        work.spend(patterns.len() + self.hosts.len());
        if none || !patterns.is_empty() {
            self.hosts = self.hosts.minus(&Named::In { patterns: patterns.into(), none });
        }
        let empty = self.hosts.is_empty() || self.numbers.iter().any(Ranges::is_empty);
        (!empty).then_some(self)
    }

    /// What the shapes leave of it.
    pub(crate) fn without<'s>(
        self,
        shapes: impl Iterator<Item = &'s Shape<'a>>,
        left: &mut Left<'a>,
        work: &mut Work,
    ) where
        'a: 's,
    {
        let mut several = Vec::new();
        let mut open: Vec<(Self, usize)> =
            self.cut(shapes, &mut several, work).map(|cell| (cell, 0)).into_iter().collect();
        while let Some((cell, from)) = open.pop() {
            let rest = several.get(from..).unwrap_or_default();
            let met = rest.iter().position(|shape| cell.meets(shape));
            let asked = met.map_or(rest.len(), |at| at + 1);
            if left.cells.len() == MOST_CELLS || !work.spend(asked * 2 + cell.len()) {
                left.more = true;
                return;
            }
            match met.and_then(|at| Some((at, rest.get(at)?))) {
                None => left.cells.push(cell),
                Some((at, shape)) => {
                    open.extend(cell.minus(shape).into_iter().map(|part| (part, from + at + 1)));
                }
            }
        }
    }
}

/// In which fields a shape does not accept all of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limited {
    Nowhere,
    Number(usize),
    Hosts,
    Several,
}

impl Limited {
    fn and(self, other: Self) -> Self {
        if self == Self::Nowhere { other } else { Self::Several }
    }
}

/// Joins cells that differ in one field only, so that fewer say the same.
pub(crate) fn join(cells: &mut Vec<Cell<'_>>) {
    let mut at = 0;
    while at < cells.len() {
        let mut rest = cells.split_off(at + 1);
        let Some(one) = cells.last_mut() else { return };
        let before = rest.len();
        rest.retain(|other| !one.absorb(other));
        let joined = rest.len() < before;
        cells.append(&mut rest);
        // What it has become may now join with one before it.
        at = if joined { 0 } else { at + 1 };
    }
}

impl Cell<'_> {
    /// Takes `other` in, if together they are one cell.
    fn absorb(&mut self, other: &Self) -> bool {
        let same_hosts = self.hosts.none == other.hosts.none
            && self.hosts.terms == other.hosts.terms
            && self.hosts.except.patterns == other.hosts.except.patterns;
        let mut differing = self.numbers.iter_mut().zip(&other.numbers).filter(|(set, other)| set != other);
        match (differing.next(), differing.next()) {
            (Some((set, other)), None) if same_hosts => {
                *set = set.or(other);
                true
            }
            _ => false,
        }
    }
}
