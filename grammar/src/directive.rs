//! A row for every command of the language: name, arguments, where it may stand, documentation.
//!
//! Arity errors, suggestions, what is hidden in reports and what a service copies follow from the row; so will hover, completion
//! and a reference page.
//! To add a command, add its row to the family's file in `directive/`.
use std::{collections::HashMap, sync::LazyLock};

use foldhash::fast::FixedState;

mod acl;
mod auth;
mod dns;
mod filter;
mod limits;
mod listen;
mod log;
mod process;
mod services;
mod similar;
mod tls;

use similar::elsewhere;
pub use similar::{closest, did_you_mean, one_slip, only_closest};

/// One command of the language.
#[derive(Debug)]
pub struct Directive {
    /// As it is written, case and all.
    pub name: &'static str,
    /// How many arguments 3proxy takes: outside this range it rejects the file.
    pub arguments: Arity,
    /// What the arguments are, in order; the last may repeat.
    pub parameters: &'static [Parameter],
    /// Who sees what it sets.
    pub effect: Effect,
    /// What may hang on what it sets. If nothing does, a template may leave the arguments open: a rule that is about it labels its line.
    pub bearing: Bearing,
    /// The first release of 3proxy that knows it; [`LONG`] if that was before 0.7.
    pub since: &'static str,
    /// What it does, in Markdown: the first sentence is a summary.
    pub docs: &'static str,
}

/// [`Directive::since`] of what 3proxy has known for longer than its change log goes back.
pub const LONG: &str = "0.6";

/// [`Directive::since`] of what is in 3proxy's newer documentation, but not in 1.0.0.
pub const NEXT: &str = "1.0.1";

/// What hangs on what a command sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bearing {
    /// Whom a service lets in, or what they may do.
    Decisions,
    /// How much and how fast: no access list depends on it.
    Limits,
    /// Nothing that decides about requests.
    Nothing,
}

/// The least and the most arguments, the command itself not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arity {
    /// At least so many.
    pub least: u16,
    /// At most so many; `None`: as many as fit in a line.
    pub most: Option<u16>,
}

/// One argument of a command.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// As the manual calls it.
    pub name: &'static str,
    /// What may stand there.
    pub kind: Kind,
    /// What it is for, in a few words.
    pub docs: &'static str,
}

/// What may stand in an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any word.
    Word,
    /// A file or folder.
    Path,
    /// One address.
    Address,
    /// A name or address.
    Host,
    /// A whole number.
    Number,
    /// A port number.
    Port,
    /// A password or shared secret: never shown.
    Secret,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A service's options, as in [`crate::option`].
    Options,
    /// Users, at commas.
    Users,
    /// Client addresses, networks and ranges, at commas.
    Sources,
    /// Target addresses, networks, ranges and name patterns, at commas.
    Targets,
    /// Target ports and ranges, at commas.
    Ports,
    /// Operations, at commas.
    Operations,
    /// Days of the week, as digits.
    Weekdays,
    /// Times of the day.
    Periods,
}

/// Who sees what a command sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Starts a service with a copy of the settings as they stand.
    Service,
    /// Changes the settings that later services copy.
    Setting,
    /// Adds to the access list that later services copy, or extends its last entry.
    Acl,
    /// Changes what all services share, wherever it stands.
    Global,
    /// Acts on the process or on the reading of the file, when it is reached.
    Process,
}

impl Arity {
    /// Whether 3proxy takes this many arguments.
    #[must_use]
    pub fn takes(self, arguments: usize) -> bool {
        arguments >= usize::from(self.least) && self.most.is_none_or(|most| arguments <= usize::from(most))
    }
}

impl Directive {
    /// The first sentence of the documentation, without its period.
    #[must_use]
    pub fn summary(&self) -> &'static str {
        self.docs.split_once(". ").map_or(self.docs, |(first, _)| first).trim_end_matches('.')
    }

    /// What stands in the argument at `index`, from 0: where the row has fewer parameters, the last one repeats.
    /// In a service the options, of which there may be any number, come first: there it is `None`.
    #[must_use]
    pub fn parameter(&self, index: usize) -> Option<&'static Parameter> {
        if self.effect == Effect::Service {
            return None;
        }
        self.parameters.get(index).or(self.parameters.last())
    }
}

const FAMILIES: [&[Directive]; 10] = [
    services::ROWS,
    acl::ROWS,
    auth::ROWS,
    limits::ROWS,
    listen::ROWS,
    dns::ROWS,
    log::ROWS,
    process::ROWS,
    tls::ROWS,
    filter::ROWS,
];

/// Every command of the language, family by family.
pub fn all() -> impl Iterator<Item = &'static Directive> {
    FAMILIES.iter().flat_map(|rows| rows.iter())
}

/// The command of this name. Case counts.
#[must_use]
pub fn find(name: &[u8]) -> Option<&'static Directive> {
    static BY_NAME: LazyLock<HashMap<&[u8], &Directive, FixedState>> = LazyLock::new(|| {
        let mut rows = HashMap::with_capacity_and_hasher(all().count(), FixedState::default());
        rows.extend(all().map(|row| (row.name.as_bytes(), row)));
        rows
    });
    BY_NAME.get(name).copied()
}

/// The command that was probably meant by `name`, which is none.
#[must_use]
pub fn similar(name: &[u8]) -> Option<&'static str> {
    elsewhere(name).or_else(|| closest(name, all().map(|row| row.name)))
}

/// The command that is certainly meant by `name`, which is none, with this many arguments.
#[must_use]
pub fn meant(name: &[u8], arguments: usize) -> Option<&'static Directive> {
    let meant = elsewhere(name).or_else(|| only_closest(name, all().map(|row| row.name)));
    let row = meant.and_then(|name| find(name.as_bytes()))?;
    row.arguments.takes(arguments).then_some(row)
}

/// A row; the arity is that of the arguments alone.
const fn row(
    name: &'static str,
    (least, most): (u16, Option<u16>),
    parameters: &'static [Parameter],
    effect: Effect,
    since: &'static str,
    docs: &'static str,
) -> Directive {
    Directive {
        name,
        arguments: Arity { least, most },
        parameters,
        effect,
        bearing: Bearing::Decisions,
        since,
        docs,
    }
}

impl Directive {
    /// The row of a command on which no decision about a request depends.
    const fn apart(self) -> Self {
        Self { bearing: Bearing::Nothing, ..self }
    }

    /// The row of a command for limits.
    const fn limit(self) -> Self {
        Self { bearing: Bearing::Limits, ..self }
    }
}

/// A parameter of a row.
const fn parameter(name: &'static str, kind: Kind, docs: &'static str) -> Parameter {
    Parameter { name, kind, docs }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{Effect, LONG, all, find, meant, similar};

    #[test]
    fn rows_hold_together() {
        let mut names = HashSet::new();
        for row in all() {
            let name = row.name;
            assert!(names.insert(name), "{name} has two rows");
            assert!(row.summary().len() > 15 && row.docs.ends_with('.'), "{name}: {}", row.docs);
            assert!(row.since.starts_with("0.") || row.since.starts_with("1."), "{name}");
            assert!(row.parameters.iter().all(|parameter| !parameter.docs.is_empty()), "{name}");
            let (least, most) = (usize::from(row.arguments.least), row.arguments.most.map(usize::from));
            assert!(most.is_none_or(|most| least <= most && row.parameters.len() == most), "{name}");
            assert!(
                row.parameters.len() >= least && (most.is_some() || !row.parameters.is_empty()),
                "{name}"
            );
            assert!(std::ptr::eq(find(name.as_bytes()).unwrap(), row));
        }
    }

    #[test]
    fn names_are_exact() {
        assert!(find(b"Allow").is_none() && find(b"").is_none() && find(b"allow ").is_none());
        assert_eq!(find(b"allow").map(|row| (row.effect, row.since)), Some((Effect::Acl, LONG)));
    }

    #[test]
    fn arity_is_3proxys_less_the_command() {
        for (name, takes, refuses) in [
            ("flush", vec![0], vec![1]),
            ("parent", vec![4, 5, 6, 9], vec![0, 3]),
            ("allow", vec![0, 7, 20], vec![]),
            ("redirect", vec![2, 9], vec![1]),
            ("authcache", vec![1, 3], vec![0, 4]),
            ("tcppm", vec![3, 9], vec![2]),
            ("logdump", vec![1, 2], vec![0, 3]),
            ("ssl_client_alpn", vec![0, 5], vec![]),
        ] {
            let arity = find(name.as_bytes()).unwrap().arguments;
            assert!(takes.iter().all(|count| arity.takes(*count)), "{name}");
            assert!(!refuses.iter().any(|count| arity.takes(*count)), "{name}");
        }
    }

    #[test]
    fn a_misspelt_name_finds_its_row() {
        for (written, meant) in [
            ("Allow", Some("allow")),
            ("allwo", Some("allow")),
            ("alow", Some("allow")),
            ("ssl_server_certs", Some("ssl_server_cert")),
            ("usrs", Some("users")),
            ("HTTP", None),
            ("x", None),
            ("", None),
            ("completely-else", None),
        ] {
            assert_eq!(similar(written.as_bytes()), meant, "{written}");
        }
        assert_eq!(similar(&[b'a'; 100_000]), None);
        let meant = |name: &str, arguments| meant(name.as_bytes(), arguments).map(|row| row.name);
        assert_eq!(meant("parnet", 4), Some("parent"));
        assert_eq!((meant("parnet", 3), meant("HTTP", 0)), (None, None));
    }
}
