//! A request that an entry is likely to decide itself, made from what it lists and, for what it does not, from what hardly any lists.
use std::{collections::HashSet, net::IpAddr};

use crate::{
    analysis::{
        requests::askable::{Askable, ClientNames},
        witness::{
            Target, Witness,
            values::{
                self, ELSEWHERE, ELSEWHERE_V6, NAMES, NIGHT, OFFICE_HOURS, RARE_PORT, STRANGERS, USERS,
            },
        },
    },
    program::{
        Program,
        acl::{Ace, AddressRange, Matcher, Operation},
    },
    table::oracle::{name_matches, target_ranges},
};

/// Whom hardly any entry lists.
const USER: &[u8] = USERS[1].as_bytes();

/// Makes them for the entries of one list.
pub(super) struct Sampler<'a> {
    /// Those who have a password, where nobody else is let to the list.
    defined: HashSet<&'a [u8]>,
    /// One whom no entry lists, if there is one.
    stranger: &'a [u8],
}

impl<'a> Sampler<'a> {
    pub(super) fn new(program: &'a Program, entries: impl Iterator<Item = &'a Ace>, asked: &Askable) -> Self {
        if asked.names != ClientNames::Defined {
            return Self { defined: HashSet::new(), stranger: USER };
        }
        let users = || program.users.iter().map(|user| user.name.as_bytes());
        let listed: HashSet<&[u8]> = entries.flat_map(|ace| ace.matcher.users.iter().flatten()).collect();
        let stranger = users().find(|name| !listed.contains(name)).or_else(|| users().next());
        Self { defined: users().collect(), stranger: stranger.unwrap_or(USER) }
    }

    /// One that an entry with these fields matches, or `again` another one. `None`: clients can't make such a request.
    pub(super) fn witness(&self, matcher: &Matcher, asked: &Askable, again: bool) -> Option<Witness> {
        let can = |operation: &&Operation| matcher.operations.is_none_or(|listed| listed.has(**operation));
        let operations = || asked.operations.iter().filter(can);
        let others = || operations().filter(|one| **one != Operation::Bind);
        let operation =
            if again { others().next_back() } else { others().next() }.or_else(|| operations().next())?;
        let (target, port) = if asked.fixed.is_empty() {
            target(matcher, asked).zip(port(matcher))
        } else {
            fixed(matcher, asked)
        }?;
        Some(Witness {
            user: self.client(matcher, asked)?.name(),
            source: matcher
                .sources
                .as_deref()
                .map_or_else(|| Some(if again { STRANGERS[1] } else { STRANGERS[0] }), amid)?,
            target,
            port,
            operation: *operation,
            time: values::time(matcher, if again { NIGHT } else { OFFICE_HOURS })?,
        })
    }

    /// A client that the entry lists. `None`: no such client can come.
    fn client(&self, matcher: &Matcher, asked: &Askable) -> Option<Client> {
        let user = |name: &[u8]| Client::User(name.to_vec());
        let Some(listed) = matcher.users.as_ref() else {
            return Some(match asked.names {
                ClientNames::Hidden => Client::Nobody,
                ClientNames::Any => user(USER),
                ClientNames::Defined => user(self.stranger),
            });
        };
        let exists = |name: &&[u8]| {
            *name != b"-"
                && match asked.names {
                    ClientNames::Hidden => false,
                    ClientNames::Any => true,
                    ClientNames::Defined => self.defined.contains(name),
                }
        };
        let nobody = || (asked.nobody && listed.iter().any(|name| name == b"-")).then_some(Client::Nobody);
        listed.iter().find(exists).map(user).or_else(nobody)
    }
}

/// As whom a client comes.
enum Client {
    Nobody,
    User(Vec<u8>),
}

impl Client {
    fn name(self) -> Option<Vec<u8>> {
        match self {
            Self::Nobody => None,
            Self::User(name) => Some(name),
        }
    }
}

fn port(matcher: &Matcher) -> Option<u16> {
    let Some(ports) = matcher.ports.as_deref() else { return Some(RARE_PORT) };
    let range = ports.iter().find(|range| range.first <= range.last && range.last > 0)?;
    Some(u16::try_from(values::within(range.first.max(1).into(), range.last.into())).unwrap_or(range.last))
}

/// The target and port of a port mapper that the entry accepts.
fn fixed(matcher: &Matcher, asked: &Askable) -> Option<(Target, u16)> {
    let targets = matcher.targets.as_deref();
    asked.fixed.iter().find_map(|(name, literal, port)| {
        let ports = matcher.ports.as_deref();
        if !ports.is_none_or(|ports| ports.iter().any(|range| (range.first..=range.last).contains(port))) {
            return None;
        }
        let named = targets
            .is_none_or(|targets| targets.names.iter().any(|pattern| name_matches(pattern, name.as_bytes())));
        let mut ranges = targets.into_iter().flat_map(target_ranges);
        let address = match literal {
            Some(address) if named || ranges.any(|range| range.contains(*address)) => Some(*address),
            Some(_) => None,
            None if named => Some(elsewhere(asked)),
            None => values::amid(ranges.next_back()?),
        };
        Some((Target { host: Some(name.as_bytes().to_vec()), address: Some(address?) }, *port))
    })
}

fn elsewhere(asked: &Askable) -> IpAddr {
    if asked.v4 { ELSEWHERE } else { ELSEWHERE_V6 }
}

fn target(matcher: &Matcher, asked: &Askable) -> Option<Target> {
    let elsewhere = elsewhere(asked);
    let Some(targets) = matcher.targets.as_deref() else {
        return Some(Target { host: Some(NAMES[0].as_bytes().to_vec()), address: Some(elsewhere) });
    };
    match targets.names.iter().last() {
        Some(pattern) => Some(Target { host: Some(values::name(pattern, b"x")), address: Some(elsewhere) }),
        None => values::amid(target_ranges(targets).next_back()?).map(Target::literal),
    }
}

/// An address within the last of `ranges`, where a narrower entry is not likely to have taken it.
fn amid(ranges: &[AddressRange]) -> Option<IpAddr> {
    values::amid(*ranges.last()?)
}
