//! The fields of an index: which entries accept a request's value.
use super::{Passes, Row, Rows, matching::Accepting};
use crate::{
    program::acl::Operation,
    table::{
        Fields, Subject,
        bits::Bits,
        intervals::{Intervals, Lists, Point},
        names::Names,
        networks::Networks,
        oracle::canonical,
        schedule,
        segments::Segments,
        texts::{Builder, Texts},
    },
};

/// The rows, by place.
pub(super) struct Placed<'p, 'a> {
    pub(super) rows: &'p Rows<'a>,
    /// The entry at each place.
    pub(super) entries: &'p [u32],
}

impl<'a> Placed<'_, 'a> {
    /// None: nobody is there.
    fn row(&self, place: u32) -> Option<Row<'a>> {
        (self.rows.row)(*self.entries.get(place as usize)?)
    }

    /// How many places there are.
    fn len(&self) -> u32 {
        u32::try_from(self.entries.len()).unwrap_or(u32::MAX)
    }
}

/// The rows with their places.
fn placed<'a>(rows: &Placed<'_, 'a>) -> impl Iterator<Item = (Row<'a>, u32)> {
    (0..rows.len()).filter_map(|place| Some((rows.row(place)?, place)))
}

/// The places of rows of which `has` says yes.
pub(super) fn those(rows: &Placed<'_, '_>, has: impl Fn(&Row<'_>) -> bool) -> Bits {
    Bits::new(rows.len(), |place| rows.row(place).is_some_and(|row| has(&row)))
}

/// Whether `has` says yes to any row.
fn some(rows: &Placed<'_, '_>, has: impl Fn(&Row<'_>) -> bool) -> bool {
    rows.rows.iter().any(|row| has(&row))
}

/// Users.
#[derive(Debug)]
pub(super) struct Users {
    any: Bits,
    texts: Texts,
}

impl Users {
    pub(super) fn new(rows: &Placed<'_, '_>) -> Option<Self> {
        let mut texts = Builder::default();
        for (row, entry) in placed(rows) {
            row.matcher.users.iter().flatten().for_each(|user| texts.add(user, entry));
        }
        let any = those(rows, |row| row.matcher.users.is_none());
        some(rows, |row| row.matcher.users.is_some()).then(|| Self { any, texts: texts.finish() })
    }

    pub(super) fn accepting(&self, subject: &Subject<'_>) -> Accepting<'_> {
        let mut named = Lists::new();
        self.texts.find(subject.user, &mut named);
        Accepting::new(&self.any, named)
    }

    pub(super) fn bytes(&self) -> usize {
        self.any.bytes() + self.texts.bytes()
    }
}

/// Client addresses.
#[derive(Debug)]
pub(super) struct Sources {
    any: Bits,
    networks: Networks,
}

impl Sources {
    pub(super) fn new(rows: &Placed<'_, '_>) -> Option<Self> {
        let ranges = placed(rows).flat_map(|(row, entry)| {
            row.matcher.sources.iter().flatten().map(move |range| (canonical(*range), entry))
        });
        some(rows, |row| row.matcher.sources.is_some()).then(|| Self {
            any: those(rows, |row| row.matcher.sources.is_none()),
            networks: Networks::new(ranges),
        })
    }

    pub(super) fn accepting(&self, subject: &Subject<'_>) -> Accepting<'_> {
        let mut named = Lists::new();
        self.networks.find(subject.source, &mut named);
        Accepting::new(&self.any, named)
    }

    pub(super) fn bytes(&self) -> usize {
        self.any.bytes() + self.networks.bytes()
    }
}

/// Targets: names and addresses are alternatives, and which entries accept any depends on what there is to compare.
#[derive(Debug)]
pub(super) struct TargetField {
    /// Entries that accept any target, by what of it is known.
    any: [Bits; 5],
    names: Names,
    networks: Networks,
}

/// What of a target is known, and what of it there is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    /// Name and address, and there are both.
    Both,
    /// Name and address; there is a name only.
    HostOnly,
    /// Name and address; there is an address only.
    AddressOnly,
    /// The name, and there is one; the address may be any.
    Host,
    /// The address, and there is one; the name may be any.
    Address,
}

impl TargetField {
    pub(super) fn new(rows: &Placed<'_, '_>) -> Option<Self> {
        let names =
            |row: &Row<'_>| row.matcher.targets.as_ref().is_some_and(|targets| !targets.names.is_empty());
        let addresses =
            |row: &Row<'_>| row.matcher.targets.as_ref().is_some_and(|targets| !targets.addresses.is_empty());
        let any = |known: Known| {
            those(rows, |row| match known {
                Known::Both => !names(row) && !addresses(row),
                Known::HostOnly => !names(row),
                Known::AddressOnly => !addresses(row),
                Known::Host => !names(row) || addresses(row),
                Known::Address => names(row) || !addresses(row),
            })
        };
        let targets =
            || placed(rows).filter_map(|(row, entry)| Some((row.matcher.targets.as_deref()?, entry)));
        some(rows, |row| names(row) || addresses(row)).then(|| Self {
            any: [Known::Both, Known::HostOnly, Known::AddressOnly, Known::Host, Known::Address].map(any),
            names: Names::new(|| {
                targets().flat_map(|(targets, entry)| targets.names.iter().map(move |name| (name, entry)))
            }),
            networks: Networks::new(
                targets()
                    .flat_map(|(targets, entry)| targets.addresses.iter().map(move |range| (*range, entry))),
            ),
        })
    }

    /// `None`: there is nothing to compare, and all accept.
    pub(super) fn accepting(&self, subject: &Subject<'_>, fields: Fields) -> Option<Accepting<'_>> {
        let host = subject.host.as_deref().filter(|_| fields.has(Fields::HOST));
        let address = subject.address.filter(|_| fields.has(Fields::ADDRESS));
        let known = match (host, address, fields.has(Fields::TARGET)) {
            (None, None, _) => return None,
            (Some(_), Some(_), _) => Known::Both,
            (Some(_), None, true) => Known::HostOnly,
            (None, Some(_), true) => Known::AddressOnly,
            (Some(_), None, false) => Known::Host,
            (None, Some(_), false) => Known::Address,
        };
        let [both, host_only, address_only, by_host, by_address] = &self.any;
        let any = match known {
            Known::Both => both,
            Known::HostOnly => host_only,
            Known::AddressOnly => address_only,
            Known::Host => by_host,
            Known::Address => by_address,
        };
        let mut named = Lists::new();
        if let Some(host) = host {
            self.names.find(host, &mut named);
        }
        if let Some(address) = address {
            self.networks.find(address, &mut named);
        }
        Some(Accepting::new(any, named).any_may_list(known != Known::Both))
    }

    pub(super) fn bytes(&self) -> usize {
        self.any.iter().map(Bits::bytes).sum::<usize>() + self.names.bytes() + self.networks.bytes()
    }
}

/// Values of which each entry accepts ranges, or any: ports, times.
#[derive(Debug)]
enum RangeIndex<K> {
    /// There are few different ones.
    Few(Segments<K>),
    /// There are many.
    Many { any: Bits, ranges: Intervals<K> },
}

impl<K: Point> RangeIndex<K> {
    /// Of ranges (first, last, place), with the places ascending.
    fn new(rows: &Placed<'_, '_>, any: Bits, ranges: &[(K, K, u32)]) -> Self {
        let len = rows.len();
        match Segments::new(len, &any, ranges) {
            Some(segments) => Self::Few(segments),
            None => Self::Many { any, ranges: Intervals::new(ranges) },
        }
    }

    fn accepting(&self, value: K) -> Option<Accepting<'_>> {
        match self {
            Self::Few(segments) => segments.find(value).map(Accepting::only),
            Self::Many { any, ranges } => {
                let mut named = Lists::new();
                ranges.find(value, &mut named);
                Some(Accepting::new(any, named))
            }
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Few(segments) => segments.bytes(),
            Self::Many { any, ranges } => any.bytes() + ranges.bytes(),
        }
    }
}

/// Ports.
#[derive(Debug)]
pub(super) struct Ports(RangeIndex<u16>);

impl Ports {
    pub(super) fn new(rows: &Placed<'_, '_>) -> Option<Self> {
        let ranges = placed(rows).flat_map(|(row, entry)| {
            row.matcher.ports.iter().flatten().map(move |range| (range.first, range.last, entry))
        });
        let any = || those(rows, |row| row.matcher.ports.is_none());
        some(rows, |row| row.matcher.ports.is_some())
            .then(|| Self(RangeIndex::new(rows, any(), &ranges.collect::<Vec<_>>())))
    }

    /// `None`: the port is not known, and all accept.
    pub(super) fn accepting(&self, subject: &Subject<'_>) -> Option<Accepting<'_>> {
        self.0.accepting(subject.port?)
    }

    pub(super) fn bytes(&self) -> usize {
        self.0.bytes()
    }
}

/// Operations: there are so few that each has its set. An entry with parents does not accept those that can't be redirected.
#[derive(Debug)]
pub(super) struct Operations {
    sets: Box<[Bits]>,
    none: Bits,
}

impl Operations {
    pub(super) fn new(rows: &Placed<'_, '_>) -> Option<Self> {
        let decides = |row: &Row<'_>, operation: Operation| {
            row.matcher.operations.is_none_or(|operations| operations.has(operation))
                && (row.passes == Passes::Nobody || operation.can_be_redirected())
        };
        let limits = |row: &Row<'_>| row.matcher.operations.is_some() || row.passes != Passes::Nobody;
        let set = |operation: &Operation| those(rows, |row| decides(row, *operation));
        some(rows, limits)
            .then(|| Self { sets: Operation::ALL.iter().map(set).collect(), none: Bits::default() })
    }

    pub(super) fn accepting(&self, subject: &Subject<'_>) -> &Bits {
        self.sets.get(subject.operation as usize).unwrap_or(&self.none)
    }

    pub(super) fn bytes(&self) -> usize {
        self.sets.iter().map(Bits::bytes).sum()
    }
}

/// Weekdays and times of the day.
#[derive(Debug)]
pub(super) struct Times(RangeIndex<u32>);

impl Times {
    pub(super) fn new(rows: &Placed<'_, '_>) -> Option<Self> {
        let limits = |row: &Row<'_>| row.matcher.weekdays.is_some() || row.matcher.periods.is_some();
        let mut ranges = Vec::new();
        for (row, entry) in placed(rows).filter(|(row, _)| limits(row)) {
            schedule::add(row.matcher, entry, &mut ranges);
        }
        some(rows, limits).then(|| Self(RangeIndex::new(rows, those(rows, |row| !limits(row)), &ranges)))
    }

    pub(super) fn accepting(&self, subject: &Subject<'_>) -> Option<Accepting<'_>> {
        self.0.accepting(schedule::second(subject.time))
    }

    pub(super) fn bytes(&self) -> usize {
        self.0.bytes()
    }
}
