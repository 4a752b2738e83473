//! Entries of access lists that decide nothing, since earlier ones decide all that they match.
//!
//! They are found by counterexample. Of what an entry accepts, one request is put to the list: mostly the entry itself decides it, and
//! that is that. Otherwise what the deciding entry accepts is taken out ([`requests`](crate::analysis::requests)), and a request of what is left
//! is put to the list, until it decides one or nothing is left. So an entry costs as many questions as there are entries that
//! shadow it, however long the list is; and where that would be too many, nothing is said of it.
//!
//! **Which requests.** Those that clients of the services with this list can ask for. Of an entry that lists nothing (`deny *` at the
//! end) all requests that there are, since it is there for what nobody thought of. A BIND passes over entries with parents, and is looked
//! at by itself. A local redirection does not shadow: the list is walked again behind it. Nor does an entry with a weight shadow while
//! another has a greater one, which may be left from a walk before.
use std::collections::HashMap;

use super::{lists::AskedList, witness::Witness};
use crate::{
    analysis::requests::{
        askable::Askable,
        cell::{Cell, Work},
        example,
        space::{Half, Space},
    },
    policy::Policy,
    program::{
        Program,
        acl::{Ace, AceId, Action, ListId, Matcher, Operation, Operations, Parent},
    },
    table::{Request, Table, Verdict, oracle::Walk},
};

mod sample;
#[cfg(test)]
mod tests;

use sample::Sampler;

/// An entry that decides nothing.
#[derive(Clone, Debug)]
pub(crate) struct Shadowed {
    /// Its list.
    pub(crate) list: ListId,
    /// Its place there.
    pub(crate) place: u32,
    /// The entry.
    pub(crate) entry: AceId,
    /// Those that decide what it matches, in the order of the list.
    pub(crate) by: Vec<Shadow>,
    /// A BIND may reach it.
    pub(crate) but_bind: bool,
    /// Each of those does the same as it would.
    pub(crate) alike: bool,
}

/// One that decides before it.
#[derive(Clone, Debug)]
pub(crate) struct Shadow {
    pub(crate) place: u32,
    pub(crate) entry: AceId,
    /// A request that it decides and that the shadowed entry matches.
    pub(crate) witness: Witness,
}

/// At most this many entries may shadow one together, and at most this many parts may be left at a time.
const MOST: usize = 64;
/// How much work is put into all lists together.
const WORK: u64 = 60_000_000;
/// At most this many entries that would do the same as those before them are told.
pub(crate) const MOST_ALIKE: usize = 1000;
/// Longer lists are asked by their index.
const WALKED: usize = 24;

/// All of them, by list and place.
pub(crate) fn find<'p>(
    program: &Program,
    lists: &[AskedList],
    policy: impl Fn() -> &'p Policy,
) -> Vec<Shadowed> {
    let mut work = Work(WORK);
    let mut found = Vec::new();
    let mut alike = 0;
    for list in lists {
        let (acl, Some((service, _))) = (list.acl, list.copies.first().copied()) else { continue };
        let entries: Vec<AceId> = program.acls.entries(acl).map(|(id, _)| id).collect();
        if entries.len() < 2 {
            continue;
        }
        let asked = Askable::of(list.services(program).map(|service| (program, service)));
        let walk = Walk { acls: &program.acls, list: Some(acl) };
        let plain = |request: &Request<'_>| walk.decide(request);
        let indexed = |request: &Request<'_>| policy().decide(service, request);
        let decide: Decide<'_> = if entries.len() <= WALKED { &plain } else { &indexed };
        let search = Search::new(program, acl.list, &entries, asked, decide);
        search.run(&mut found, &mut alike, &mut work);
    }
    found
}

/// What the list says.
type Decide<'a> = &'a dyn Fn(&Request<'_>) -> Verdict;

/// The search in one list.
struct Search<'a> {
    program: &'a Program,
    list: ListId,
    entries: &'a [AceId],
    views: [Askable; 2],
    decide: Decide<'a>,
    /// The greatest weight of its entries, or 0.
    heaviest: i32,
}

/// What clients of the services can ask for, or everything.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum View {
    Clients,
    Everything,
}

/// What likely requests say of an entry.
enum Sampled {
    /// It decides one itself, or clients can make none that it matches.
    Itself,
    /// An earlier entry decides one.
    Earlier(Shadow),
    /// They were no good.
    Unclear,
}

/// What calculating says of an entry.
enum Calculated {
    /// It decides something, or is too much work.
    Silent,
    /// It matches nothing of what can be asked.
    Void,
    /// These decide all.
    Shadowed(Vec<Shadow>),
}

impl<'a> Search<'a> {
    fn new(
        program: &'a Program,
        list: ListId,
        entries: &'a [AceId],
        mut asked: Askable,
        decide: Decide<'a>,
    ) -> Self {
        // An entry that is shadowed for every target is so for a service that knows none.
        asked.no_target = false;
        let local = |ace: &Ace| program.acls.parents(ace).iter().any(Parent::is_local);
        // A redirected request comes as the other service's.
        if entries.iter().filter_map(|id| program.acls.ace(*id)).any(local) {
            asked.operations = Askable::everything().operations;
        }
        let weights = entries.iter().filter_map(|id| program.acls.ace(*id)).map(|ace| ace.weight);
        let heaviest = weights.max().unwrap_or_default().max(0);
        Self { program, list, entries, views: [asked, Askable::everything()], decide, heaviest }
    }

    /// Whether an entry decides whatever it matches: none leaves a greater weight, in this walk or an earlier one.
    fn is_steady(&self, ace: &Ace) -> bool {
        ace.weight == 0 || ace.weight == self.heaviest
    }

    fn asked(&self, view: View) -> &Askable {
        let [clients, everything] = &self.views;
        if view == View::Clients { clients } else { everything }
    }

    fn run(&self, found: &mut Vec<Shadowed>, alike: &mut usize, work: &mut Work) {
        let sampler = Sampler::new(self.program, self.aces(), self.asked(View::Clients));
        let defined: Vec<&[u8]> = self.program.users.iter().map(|user| user.name.as_bytes()).collect();
        let mut exact: Option<Exact<'_>> = None;
        for (place, (id, ace)) in self.entries.iter().zip(self.aces()).enumerate().skip(1) {
            let view = if ace.matcher.lists_nothing() { View::Everything } else { View::Clients };
            let covering = match self.sampled(&sampler, view, place, ace) {
                Sampled::Itself => continue,
                Sampled::Earlier(shadow) => Some(shadow).filter(|shadow| self.covers(shadow, ace)),
                Sampled::Unclear => None,
            };
            let exactly = |half| {
                let exact = exact.get_or_insert_with(|| Exact::new(self, &defined));
                exact.shadows(view, half, place, work)
            };
            let Some((by, but_bind)) = self.shadows(ace, view, covering, exactly) else { continue };
            let same = by.iter().all(|shadow| self.ace(shadow).is_some_and(|other| self.alike(ace, other)));
            *alike += usize::from(same);
            if !same || *alike <= MOST_ALIKE {
                let (list, place, entry) = (self.list, place as u32, *id);
                found.push(Shadowed { list, place, entry, by, but_bind, alike: same });
            }
        }
    }

    /// Those that decide all that an entry matches, and whether a BIND may reach it all the same. `covering`: one that does so, as was
    /// seen without calculating. `None`: it decides something, or matches nothing, or it is not known.
    fn shadows(
        &self,
        ace: &Ace,
        view: View,
        covering: Option<Shadow>,
        mut exactly: impl FnMut(Half) -> Calculated,
    ) -> Option<(Vec<Shadow>, bool)> {
        let covers_binds =
            covering.as_ref().and_then(|shadow| self.ace(shadow)).is_some_and(|other| !other.redirects());
        let binds = self.takes_binds(ace, view);
        match covering.map_or_else(|| exactly(Half::Others), |shadow| Calculated::Shadowed(vec![shadow])) {
            // What is not there is compared for a BIND only, and entries with parents pass it over.
            Calculated::Shadowed(by) => {
                let but_bind = binds && !covers_binds && matches!(exactly(Half::Binds), Calculated::Silent);
                Some((by, but_bind))
            }
            Calculated::Void if binds => match exactly(Half::Binds) {
                Calculated::Shadowed(by) => Some((by, false)),
                Calculated::Silent | Calculated::Void => None,
            },
            Calculated::Silent | Calculated::Void => None,
        }
    }

    /// Whether an entry may decide BINDs.
    fn takes_binds(&self, ace: &Ace, view: View) -> bool {
        let lists_it = |listed: Operations| listed.has(Operation::Bind);
        !ace.redirects()
            && ace.matcher.operations.is_none_or(lists_it)
            && self.asked(view).operations.contains(&Operation::Bind)
    }

    /// Which entry decides likely requests of the one at `place`.
    fn sampled(&self, sampler: &Sampler<'_>, view: View, place: usize, ace: &Ace) -> Sampled {
        let mut found = Sampled::Unclear;
        for again in [false, true] {
            let Some(witness) = sampler.witness(&ace.matcher, self.asked(view), again) else {
                return Sampled::Itself;
            };
            match self.first(witness, place) {
                First::Itself => return Sampled::Itself,
                First::Earlier(shadow) if self.covers(&shadow, ace) => return Sampled::Earlier(shadow),
                First::Earlier(shadow) => found = Sampled::Earlier(shadow),
                First::Later => {}
            }
        }
        found
    }

    /// The entries of the list, in order.
    fn aces(&self) -> impl Iterator<Item = &'a Ace> + Clone {
        let program = self.program;
        self.entries.iter().filter_map(|id| program.acls.ace(*id))
    }

    fn at(&self, place: usize) -> Option<&'a Ace> {
        self.program.acls.ace(*self.entries.get(place)?)
    }

    fn ace(&self, shadow: &Shadow) -> Option<&'a Ace> {
        self.at(shadow.place as usize)
    }

    /// Which entry decides, where the one at `place` matches.
    fn first(&self, witness: Witness, place: usize) -> First {
        // What a local redirection decides is walked again, and passes over it then.
        let own = self.at(place).is_some_and(|ace| self.is_local(ace));
        let verdict = (self.decide)(&Request { redirected: !own, ..witness.request() });
        let decider = verdict.entry.and_then(|id| {
            let at = self.entries.binary_search(&id).ok()?;
            Some((at, id))
        });
        match decider {
            Some((at, entry)) if at < place => First::Earlier(Shadow { place: at as u32, entry, witness }),
            Some((at, _)) if at == place => First::Itself,
            _ => First::Later,
        }
    }

    fn is_local(&self, ace: &Ace) -> bool {
        self.program.acls.parents(ace).first().is_some_and(Parent::is_local)
    }

    /// Whether one entry matches all that another does, as is seen without calculating.
    fn covers(&self, shadow: &Shadow, ace: &Ace) -> bool {
        let plain = Matcher::default();
        let all = |other: &Ace| other.matcher == plain || other.matcher == ace.matcher;
        self.ace(shadow).is_some_and(|other| all(other) && self.is_steady(other))
    }

    /// Whether two entries do the same with a request.
    fn alike(&self, one: &Ace, other: &Ace) -> bool {
        let (own, others) = (self.program.acls.parents(one), self.program.acls.parents(other));
        let same = |(one, other): (&Parent, &Parent)| Parent { at: other.at, ..one.clone() } == *other;
        one.action == other.action
            && one.nolog == other.nolog
            && own.len() == others.len()
            && own.iter().zip(others).all(same)
    }
}

/// Which entry decides a request.
enum First {
    Itself,
    Earlier(Shadow),
    Later,
}

/// The calculation with sets of requests, for the entries of one list.
struct Exact<'s> {
    search: &'s Search<'s>,
    space: Space<'s>,
    requests: HashMap<(View, Half), Vec<Cell<'s>>>,
}

impl<'s> Exact<'s> {
    fn new(search: &'s Search<'s>, defined: &'s [&'s [u8]]) -> Self {
        let matchers = search.aces().map(|ace| &ace.matcher);
        Self { search, space: Space::new(matchers, defined), requests: HashMap::new() }
    }

    /// Those that decide all that the entry at `place` matches, of a half of the requests.
    fn shadows(&mut self, view: View, half: Half, place: usize, work: &mut Work) -> Calculated {
        let (search, space) = (self.search, &self.space);
        let Some(ace) = search.at(place) else { return Calculated::Silent };
        let requests =
            self.requests.entry((view, half)).or_insert_with(|| space.requests(search.asked(view), half));
        let shapes = space.shapes(&ace.matcher, half);
        let mut open: Vec<Cell<'_>> =
            requests.iter().flat_map(|cell| shapes.iter().filter_map(|shape| cell.and(shape))).collect();
        if open.is_empty() {
            return Calculated::Void;
        }
        let mut by: Vec<Shadow> = Vec::new();
        while let Some(cell) = open.last() {
            let shadow = match search.first(example::witness(space, cell), place) {
                First::Earlier(shadow) => shadow,
                First::Itself | First::Later => return Calculated::Silent,
            };
            let steady = search.ace(&shadow).filter(|ace| search.is_steady(ace));
            let Some(earlier) = steady else { return Calculated::Silent };
            // If it comes again, it did not take what it decides.
            let again = by.iter().any(|other| other.place == shadow.place);
            let taken = space.shapes(&earlier.matcher, half);
            let size: usize = open.iter().map(Cell::len).sum();
            if again || by.len() == MOST || open.len() > MOST || !work.spend(64 + size * (1 + taken.len())) {
                return Calculated::Silent;
            }
            for shape in &taken {
                open = open.into_iter().flat_map(|cell| cell.except(shape)).collect();
            }
            by.push(shadow);
        }
        by.sort_by_key(|shadow| shadow.place);
        Calculated::Shadowed(by)
    }
}

impl Shadowed {
    /// Of a `deny`: one that lets requests pass that it names.
    pub(crate) fn passing(&self, program: &Program) -> Option<&Shadow> {
        let ace = |id: AceId| program.acls.ace(id);
        let denies = ace(self.entry).is_some_and(|own| own.action == Action::Deny);
        let passes = |shadow: &&Shadow| ace(shadow.entry).is_some_and(|other| other.action == Action::Allow);
        self.by.iter().find(passes).filter(|_| denies)
    }
}
