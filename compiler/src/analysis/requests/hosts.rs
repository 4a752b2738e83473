//! Sets of host names, as what some patterns mean and others do not.
//!
//! **Exact.** Whether a name exists that all of some patterns mean and none of others does is decided by one name: the longest beginning,
//! the parts, and the longest end that are asked for, with a [filler] between them that stands in no pattern. A pattern can
//! then only find itself inside one of the pieces, and if it does so it means every name that has the pieces.
use std::{
    cell::{Cell, OnceCell},
    rc::Rc,
};

use smallvec::{SmallVec, smallvec};

use crate::{
    program::acl::NamePattern,
    table::{intervals::Lists, names::Names, oracle::name_matches},
};

/// Bytes of host names that hardly any pattern has; the last one no pattern can have, since lists are split there, and no
/// client's host either.
const FILLERS: [u8; 7] = *b"~+=$&!,";
/// At most this many patterns are tried one by one.
const FEW: usize = 16;
/// With this many terms, patterns that have nothing to do with any of them are left out.
const FEW_TERMS: usize = 4;

/// What is looked for in a host name.
pub(crate) type Patterns<'a> = Rc<[NamePattern<'a>]>;

/// A set of host names; a request may also have none.
#[derive(Clone, Debug)]
pub(crate) struct Hosts<'a> {
    /// Requests without a name are in it.
    pub(crate) none: bool,
    /// Names that one of these means.
    pub(crate) terms: Rc<[Term<'a>]>,
    /// And that none of these does.
    pub(crate) except: Rc<Except<'a>>,
    /// Stands in no pattern.
    filler: u8,
}

/// Names that all of its patterns mean. Without any: every name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Term<'a>(pub(crate) SmallVec<[NamePattern<'a>; 2]>);

/// Patterns that must not mean a name.
#[derive(Debug, Default)]
pub(crate) struct Except<'a> {
    pub(crate) patterns: Vec<NamePattern<'a>>,
    /// Made when the patterns are many and were gone through a few times.
    index: OnceCell<Names>,
    gone_through: Cell<usize>,
}

/// What an entry asks of a name.
#[derive(Clone, Debug)]
pub(crate) enum Named<'a> {
    /// Nothing.
    Any,
    /// That there is none.
    Nothing,
    /// That one of these means it, or (if `none`) that there is none.
    In { patterns: Patterns<'a>, none: bool },
    /// That none of these means it.
    NotIn(Patterns<'a>),
}

/// A byte that stands in none of `patterns`.
pub(crate) fn filler<'a>(patterns: impl Iterator<Item = NamePattern<'a>>) -> u8 {
    let mut left = FILLERS.to_vec();
    for pattern in patterns {
        left.retain(|byte| !pattern.text().contains(byte) || *byte == b',');
    }
    left.first().copied().unwrap_or(b',')
}

impl<'a> Hosts<'a> {
    /// Every name. The [filler] is that of all patterns that are yet to come.
    pub(crate) fn every(filler: u8) -> Self {
        Self { none: false, terms: Rc::new([Term::default()]), except: Rc::default(), filler }
    }

    /// The names that one pattern means.
    pub(crate) fn of(pattern: NamePattern<'a>, filler: u8) -> Self {
        Self { terms: Rc::new([Term::of(pattern)]), ..Self::every(filler) }
    }

    /// Only requests without a name.
    pub(crate) fn nothing(filler: u8) -> Self {
        Self { none: true, terms: Rc::new([]), ..Self::every(filler) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        !self.none && self.terms.is_empty()
    }

    /// How much work it is to go through it.
    pub(crate) fn len(&self) -> usize {
        1 + self.terms.len()
    }

    pub(crate) fn contains(&self, host: Option<&[u8]>) -> bool {
        host.map_or(self.none, |host| {
            self.terms.iter().any(|term| term.means(host)) && !self.except.means(host)
        })
    }

    fn none_of_it(&self) -> Self {
        Self { none: false, terms: Rc::new([]), except: Rc::default(), filler: self.filler }
    }

    /// Those that an entry accepts.
    pub(crate) fn and(&self, named: &Named<'a>) -> Self {
        match named {
            Named::Any => self.clone(),
            Named::Nothing => Self { none: self.none, ..self.none_of_it() },
            Named::NotIn(patterns) => Self { none: self.none, ..self.without(patterns) },
            Named::In { patterns, none } => {
                let met = met(&self.terms, patterns, self.filler);
                let terms =
                    met.into_iter().filter(|term| !self.except.means(&term.name(self.filler))).collect();
                Self { none: self.none && *none, terms, except: Rc::clone(&self.except), filler: self.filler }
            }
        }
    }

    /// Those that an entry does not accept.
    pub(crate) fn minus(&self, named: &Named<'a>) -> Self {
        match named {
            Named::Any => self.none_of_it(),
            Named::Nothing => Self { none: false, ..self.clone() },
            Named::In { patterns, none } => Self { none: self.none && !none, ..self.without(patterns) },
            Named::NotIn(patterns) => self.and(&Named::In { patterns: Rc::clone(patterns), none: false }),
        }
    }

    /// Those that none of `patterns` means.
    fn without(&self, patterns: &[NamePattern<'a>]) -> Self {
        if self.terms.is_empty() {
            return self.clone();
        }
        // The name of a term is none that was excepted before.
        let meets = |pattern: &NamePattern<'a>| self.terms.iter().any(|term| term.and(*pattern).is_some());
        let met: Vec<NamePattern<'a>> = if self.terms.len() <= FEW_TERMS {
            patterns.iter().copied().filter(meets).collect()
        } else {
            patterns.to_vec()
        };
        let added = Except::new(met.clone());
        let left: Vec<_> =
            self.terms.iter().filter(|term| !added.means(&term.name(self.filler))).cloned().collect();
        let except = if left.is_empty() {
            Except::default()
        } else {
            Except::new(self.except.patterns.iter().copied().chain(met).collect())
        };
        Self { none: self.none, terms: left.into(), except: Rc::new(except), filler: self.filler }
    }

    /// A name of it, of those that look like one if there is one among `likely`.
    pub(crate) fn example(&self, likely: &[&[u8]]) -> Option<Vec<u8>> {
        let whole = likely.iter().map(|name| name.to_vec());
        let built = self
            .terms
            .iter()
            .take(FEW)
            .flat_map(|term| [&b"www"[..], b"www.", b"example"].map(|filler| term.filled(filler)));
        let strict = self.terms.first().map(|term| term.name(self.filler));
        whole.chain(built).chain(strict).find(|name| self.contains(Some(name)))
    }
}

/// What both one of `terms` and one of `patterns` mean.
fn met<'a>(terms: &[Term<'a>], patterns: &[NamePattern<'a>], filler: u8) -> Vec<Term<'a>> {
    if let [Term(all)] = terms
        && all.is_empty()
    {
        return patterns.iter().map(|pattern| Term::of(*pattern)).collect();
    }
    // What is in both stays as it is; the rest has to be compared by pairs.
    let known: Option<std::collections::HashSet<NamePattern<'a>>> =
        (terms.len() > FEW).then(|| patterns.iter().copied().collect());
    let listed = |pattern: &NamePattern<'a>| {
        known.as_ref().map_or_else(|| patterns.contains(pattern), |known| known.contains(pattern))
    };
    let index = Except::new(patterns.to_vec());
    let mut found = Vec::new();
    for term in terms {
        let exact = term.0.iter().any(|pattern| matches!(pattern, NamePattern::Exact(_)));
        if term.0.iter().any(&listed) || exact && index.means(&term.name(filler)) {
            found.push(term.clone());
        } else if !exact {
            found.extend(patterns.iter().filter_map(|pattern| term.and(*pattern)));
        }
    }
    found
}

impl<'a> Except<'a> {
    fn new(patterns: Vec<NamePattern<'a>>) -> Self {
        Self { patterns, ..Self::default() }
    }

    /// Whether one of them means `host`.
    pub(crate) fn means(&self, host: &[u8]) -> bool {
        if self.patterns.len() <= FEW || self.gone_through.replace(self.gone_through.get() + 1) < FEW {
            return self.patterns.iter().any(|pattern| name_matches(*pattern, host));
        }
        let index = || Names::new(|| self.patterns.iter().map(|pattern| (*pattern, 0)));
        let mut lists = Lists::new();
        self.index.get_or_init(index).find(host, &mut lists);
        !lists.is_empty()
    }
}

impl<'a> Term<'a> {
    /// What one pattern means.
    fn of(pattern: NamePattern<'a>) -> Self {
        Self(smallvec![pattern])
    }

    pub(crate) fn means(&self, host: &[u8]) -> bool {
        self.0.iter().all(|pattern| name_matches(*pattern, host))
    }

    /// Those of its names that `pattern` means too.
    pub(crate) fn and(&self, pattern: NamePattern<'a>) -> Option<Self> {
        use NamePattern::{Contains, Exact, Prefix, Suffix};
        if let Some(Exact(name)) = self.0.first() {
            return name_matches(pattern, name).then(|| self.clone());
        }
        let mut term = self.clone();
        let same_end = |other: &NamePattern<'a>| {
            matches!((*other, pattern), (Prefix(_), Prefix(_)) | (Suffix(_), Suffix(_)))
        };
        match pattern {
            Exact(name) => return self.means(name).then(|| Self::of(pattern)),
            Prefix(text) | Suffix(text) => {
                let inside = |outer: &[u8], inner: &[u8]| match pattern {
                    Prefix(_) => outer.starts_with(inner),
                    _ => outer.ends_with(inner),
                };
                match term.0.iter().position(same_end) {
                    None => term.0.push(pattern),
                    Some(at) => {
                        let other = term.0.get(at).map_or(&[][..], |other| other.text());
                        if inside(text, other) {
                            term.0.remove(at);
                            term.0.push(pattern);
                        } else if !inside(other, text) {
                            return None;
                        }
                    }
                }
            }
            Contains(_) if term.0.contains(&pattern) => {}
            Contains(_) => term.0.push(pattern),
        }
        Some(term)
    }

    /// A name of it, if it has any, that no pattern means but those that mean all of it.
    fn name(&self, filler: u8) -> Vec<u8> {
        self.filled(&[filler])
    }

    /// Its pieces with `filler` around them.
    fn filled(&self, filler: &[u8]) -> Vec<u8> {
        use NamePattern::{Contains, Exact, Prefix, Suffix};
        if let Some(Exact(name)) = self.0.first() {
            return name.to_vec();
        }
        let piece = |wanted: &dyn Fn(&NamePattern<'_>) -> bool| {
            self.0.iter().find(|pattern| wanted(pattern)).map_or(&[][..], |pattern| pattern.text())
        };
        let mut name = piece(&|pattern| matches!(pattern, Prefix(_))).to_vec();
        name.extend(filler);
        for part in self.0.iter().filter(|pattern| matches!(pattern, Contains(_))) {
            name.extend(part.text());
            name.extend(filler);
        }
        name.extend(piece(&|pattern| matches!(pattern, Suffix(_))));
        name
    }
}
