//! `cache-shared-between-services`
use std::collections::{BTreeSet, HashMap};

use super::rule::{Lint, rule};
use crate::{
    analysis::{
        cached::{Cached, services},
        witness::{Space, Target, Witness},
    },
    finding::{Finding, Level},
    policy::Policy,
    program::{
        acl::AceId,
        auth::{AuthType, CacheField, CacheFields},
    },
    sources::Loc,
};

rule! {
    /// A service uses another's cached answer, although it would have decided differently.
    ///
    /// The whole process shares one authentication cache, and its key has only the named fields. So a client that one service admits
    /// is found by every other service with the same fields: as a user whose password nobody checked, or, with `cacheacl`, with
    /// the verdict of the other's access list. `acl`, `srvaddr` or `srvport` in the key keep services apart.
    ///
    /// ```3proxy,fires
    /// users alice:CL:wonderland
    /// authcache user 600
    /// auth cache useronly
    /// socks -i127.0.0.1
    /// auth cache strong
    /// allow alice
    /// proxy
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,clean
    /// users alice:CL:wonderland
    /// authcache user,acl 600
    /// auth cache useronly
    /// socks -i127.0.0.1
    /// auth cache strong
    /// allow alice
    /// proxy
    /// ```
    ///
    /// Services that find out in the same way who the client is, and that ask their lists each time, may share:
    ///
    /// ```3proxy,clean
    /// users alice:CL:wonderland
    /// authcache user,pass 600
    /// auth cache strong
    /// allow alice * * 80,443
    /// proxy
    /// flush
    /// allow alice
    /// socks
    /// ```
    "cache-shared-between-services",
    level: Deny,
    group: Security,
    since: "0.1.0",
    reads: Everything,
    of_3proxy: true,
    check: check,
}

/// At most this many requests are tried for each entry; at most this many entries of each list for a pair of services, and of all lists together.
const TRIED: usize = 12;
const ENTRIES: usize = 1_000;
const BUDGET: usize = 50_000;

/// The number of [`Deceit::Verdict`].
const VERDICT: u8 = 2;

/// How one service is deceived by what another remembered.
enum Deceit {
    /// A name that `.0` took without a password passes for a checked one.
    Unchecked(AuthType),
    /// A name that `.0` vouched for passes, whom the service itself never asks.
    Stranger(AuthType),
    /// A request passes that its list refuses.
    Verdict(Witness),
}

fn check(lint: &mut Lint<'_>) {
    let Some(policy) = lint.caching_policy() else { return };
    let mut findings = Vec::new();
    let mut told: BTreeSet<(Loc, u8)> = BTreeSet::new();
    let mut budget = BUDGET;
    for sharing in groups(policy) {
        for (at, consumer) in sharing.iter().enumerate() {
            let Some(place) = consumer.settings.at.or(consumer.step.at) else { continue };
            for origin in others(&sharing, at).filter(|origin| keys_meet(origin, consumer)) {
                let name = name(origin, consumer).filter(|deceit| !told.contains(&(place, deceit.number())));
                let verdict = (!told.contains(&(place, VERDICT)))
                    .then(|| refused(policy, origin, consumer, &mut budget).map(Deceit::Verdict));
                for deceit in name.into_iter().chain(verdict.flatten()) {
                    told.insert((place, deceit.number()));
                    findings.push(finding(place, origin, consumer, &deceit));
                }
            }
        }
    }
    for finding in findings {
        lint.report(finding);
    }
}

/// Services that share entries: with the same fields, of which none tells services apart.
fn groups(policy: &Policy) -> Vec<Vec<Cached<'_>>> {
    let apart = [CacheField::Acl, CacheField::SrvAddr, CacheField::SrvPort];
    let mut groups: HashMap<CacheFields, Vec<Cached<'_>>> = HashMap::new();
    for cached in services(policy.program()) {
        if !apart.iter().any(|field| cached.settings.fields.has(*field)) {
            groups.entry(cached.settings.fields).or_default().push(cached);
        }
    }
    let mut groups: Vec<_> = groups.into_values().collect();
    groups.sort_by_key(|group| group.first().map(|cached| cached.index));
    groups
}

/// The services that one is compared with: of many, the nearest and the outermost.
fn others<'a, 'p>(sharing: &'a [Cached<'p>], at: usize) -> impl Iterator<Item = &'a Cached<'p>> {
    let places = BTreeSet::from([0, at.saturating_sub(1), at + 1, sharing.len() - 1]);
    places.into_iter().filter(move |place| *place != at).filter_map(|place| sharing.get(place))
}

/// Whether requests to both services may have one key.
fn keys_meet(origin: &Cached<'_>, consumer: &Cached<'_>) -> bool {
    let fields = consumer.settings.fields;
    let operations = consumer.service.kind.operations();
    let done = origin.service.kind.operations().iter().any(|operation| operations.contains(operation));
    let targets = [CacheField::DstAddr, CacheField::DstHost, CacheField::DstPort];
    let (one, other) = (&origin.service.target, &consumer.service.target);
    let apart =
        targets.iter().any(|field| fields.has(*field)) && (one.is_some() || other.is_some()) && one != other;
    !apart && (done || !fields.has(CacheField::DstOper))
}

/// How the consumer is deceived by a name that the origin remembered.
fn name(origin: &Cached<'_>, consumer: &Cached<'_>) -> Option<Deceit> {
    let unchecked = |kind: &AuthType| matches!(kind, AuthType::IpOnly | AuthType::UserOnly);
    // Who may be anyone anyhow is deceived by no name.
    if consumer.real().any(|own| unchecked(&own)) {
        return None;
    }
    let foreign = origin.real().filter(|kind| !consumer.real().any(|own| own == *kind));
    let kind = foreign.max_by_key(unchecked)?;
    Some(if unchecked(&kind) { Deceit::Unchecked(kind) } else { Deceit::Stranger(kind) })
}

/// A request that passes at the origin and that the consumer's list refuses, if the consumer repeats verdicts.
fn refused(
    policy: &Policy,
    origin: &Cached<'_>,
    consumer: &Cached<'_>,
    budget: &mut usize,
) -> Option<Witness> {
    if consumer.step.kind != AuthType::CacheAcl || consumer.service.acl == origin.service.acl {
        return None;
    }
    let own = consumer.service.kind.operations();
    let at_consumer = |witness: &Witness| {
        let mut other = witness.clone();
        if let Some(operation) = own.first().filter(|_| !own.contains(&other.operation)) {
            other.operation = *operation;
        }
        if let Some((target, port)) = Target::fixed(consumer.service) {
            (other.target, other.port) = (target, port);
        }
        other
    };
    let harmful = |witness: &Witness| {
        policy.decide(origin.index, &witness.request()).passes()
            && !policy.decide(consumer.index, &at_consumer(witness).request()).passes()
    };
    candidates(policy, origin, consumer).find_map(|id| {
        *budget = budget.checked_sub(1)?;
        let ace = policy.program().acls.ace(id)?;
        origin.real().find_map(|step| {
            let space = Space::accepted(&ace.matcher, origin.service, step, policy);
            space.requests(TRIED).find(|witness| harmful(witness))
        })
    })
}

/// Entries that may make the difference: of copies of one list those that only one has, of two lists all.
fn candidates<'a>(
    policy: &'a Policy,
    origin: &Cached<'a>,
    consumer: &Cached<'a>,
) -> impl Iterator<Item = AceId> + use<'a> {
    let program = policy.program();
    let common = match (origin.service.acl, consumer.service.acl) {
        (Some(one), Some(other)) if one.list == other.list => one.len.min(other.len).saturating_sub(1),
        _ => 0,
    };
    let of = |cached: &Cached<'a>| {
        let entries = cached.service.acl.map(|acl| program.acls.entries_from(acl, common));
        entries.into_iter().flatten().map(|(id, _)| id).take(ENTRIES)
    };
    of(origin).chain(of(consumer))
}

impl Deceit {
    const fn number(&self) -> u8 {
        match self {
            Self::Unchecked(_) => 0,
            Self::Stranger(_) => 1,
            Self::Verdict(_) => VERDICT,
        }
    }
}

fn finding(at: Loc, origin: &Cached<'_>, consumer: &Cached<'_>, deceit: &Deceit) -> Finding {
    let step = consumer.step.kind.name();
    let message = match deceit {
        Deceit::Unchecked(kind) => {
            format!(
                "a name that `{}` accepted without a password counts as a known user at another service",
                kind.name()
            )
        }
        Deceit::Stranger(kind) => {
            format!("a user that `{}` admitted at one service is also admitted at another", kind.name())
        }
        Deceit::Verdict(_) => {
            "a request allowed by one service is then allowed by another whose list denies it".to_owned()
        }
    };
    let mut finding = RULE
        .finding(at, message)
        .label("nothing in the key tells services apart")
        .also(origin.service.at, "the cache remembers clients that this service admits")
        .also(consumer.service.at, format!("`{step}` of this service then finds them in the cache"));
    finding = match deceit {
        Deceit::Unchecked(_) => finding.note(
            "For example, a client gives any user name, and any password if that is in the key, to the first service, and then uses the second as that user.",
        ),
        Deceit::Stranger(_) => {
            finding.level = Level::Warn;
            finding
        }
        Deceit::Verdict(witness) => finding
            .note(format!("For example, {witness} is allowed by the first service, and after that by the second, too.")),
    };
    finding.help("add `acl` to the fields of `authcache`: then each service has its own entries")
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn a_verdict_is_not_for_another_list() {
        check(
            "cache-shared-between-services",
            r"
users alice:CL:x
authcache user,pass
#         ^ is then allowed by another
auth cacheacl strong
allow alice
socks
flush
deny *
socks -p1081
",
        );
    }

    #[test]
    fn lists_that_say_the_same_may_share_verdicts() {
        let rest = "auth cacheacl strong\nallow alice\nproxy\nflush\nallow alice\nsocks\n";
        check("cache-shared-between-services", &format!("users alice:CL:x\nauthcache user,pass\n{rest}"));
    }

    #[test]
    fn another_source_of_names_is_a_warning() {
        check(
            "cache-shared-between-services",
            r"
users alice:CL:x
radius secret 192.0.2.5
authcache user,pass
#         ^ a user that `strong` admitted
auth cache radius
allow alice
proxy
auth cache strong
socks
",
        );
    }
}
