//! What is said of a step, an entry, a way and a limit: one text for people and for programs.
use compiler::{
    chain::Identity,
    code::Code,
    policy::{LimitList, Policy},
    program::{
        acl::{Ace, Action},
        auth::{AuthType, CacheField},
        limits::{Direction, Rotation},
    },
    query::{Query, Resolution, Step, moment_name, operation_name},
    sources::Loc,
    table::{Decision, Fields},
    trace::{Applying, CacheKey, Why, key::Miss},
    way::Origin,
};

/// `CONNECT example.com:443 by `bob` from 10.0.0.7`, and what is known besides.
pub(super) fn request(query: &Query) -> String {
    let mut text = operation_name(query.operation).to_owned();
    if let Some(host) = query.host() {
        let is_v6 = host.contains(':');
        text += &if is_v6 { format!(" [{host}]:{}", query.port) } else { format!(" {host}:{}", query.port) };
    }
    if let Some(user) = &query.user {
        text += &format!(" by `{user}`");
    }
    if let Some(from) = query.from {
        text += &format!(" from {from}");
    }
    text + &circumstances(query)
}

/// What a case knows.
fn circumstances(query: &Query) -> String {
    let resolved = match query.resolved {
        Resolution::Unknown => String::new(),
        Resolution::Address(address) => format!(", resolved to {address}"),
        Resolution::Nothing => ", which does not resolve".to_owned(),
    };
    let at = query.at.map(|at| format!(" on {}", moment_name(at))).unwrap_or_default();
    format!("{resolved}{at}")
}

/// What a case takes for known that was not asked: `the name resolves to 10.0.0.1 and it is Mon 10:00`.
pub(super) fn assumed(asked: &Query, case: &Query) -> Option<String> {
    let resolved = match case.resolved {
        Resolution::Address(address) if asked.resolved != case.resolved => {
            Some(format!("`{}` resolves to {address}", case.host().unwrap_or_default()))
        }
        _ => None,
    };
    let at = case.at.filter(|_| asked.at.is_none()).map(|at| format!("it is {}", moment_name(at)));
    let both: Vec<_> = resolved.into_iter().chain(at).collect();
    (!both.is_empty()).then(|| both.join(" and "))
}

/// What a step of the chain found out, and what came of it.
pub(super) fn step(step: &Step, query: &Query, cache: Option<&CacheKey>) -> String {
    let found = match &step.found {
        Ok(identity) => identified(step.kind, identity, query),
        Err(code) => not_identified(step.kind, *code, query, cache),
    };
    let decided = match step.verdict.map(|verdict| verdict.decision) {
        _ if step.kind == AuthType::None => "",
        None => "",
        Some(Decision::Allow | Decision::Redirect) if step.code.passes() => "; the list allows it",
        Some(Decision::Redirect) if !query.operation.has_target() => {
            "; the list allows it, but without a target there is no way through a parent"
        }
        Some(Decision::Allow | Decision::Redirect) => {
            "; a parent wants the client's own name, so a type that knows it is tried"
        }
        Some(Decision::Deny) => "; an entry refuses",
        Some(Decision::End) => "; no entry matches",
    };
    let code = if step.code.passes() { String::new() } else { format!(" (code {})", step.code) };
    format!("{found}{decided}{code}")
}

fn identified(kind: AuthType, identity: &Identity, query: &Query) -> String {
    let name = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    match identity {
        Identity::Unchecked => "nothing is checked, and the list is not asked".to_owned(),
        Identity::Hidden => "the list alone decides, without a user name".to_owned(),
        Identity::User { name: user, .. } => {
            let user = name(user);
            match kind {
                AuthType::Strong if query.password.is_some() => format!("`{user}` with the password given"),
                AuthType::Strong => format!("`{user}` is known; the password is assumed to be right"),
                AuthType::Radius => format!("`{user}`, if the RADIUS server says yes"),
                AuthType::DnsName => format!("`{user}`, if that is the client's host name"),
                _ => format!("`{user}`, as the client says"),
            }
        }
    }
}

fn not_identified(kind: AuthType, code: Code, query: &Query, cache: Option<&CacheKey>) -> String {
    let user = query.user.as_ref().map(ToString::to_string).unwrap_or_default();
    match (kind, code) {
        (AuthType::Cache | AuthType::CacheAcl, _) => match cache.and_then(|cache| cache.misses) {
            Some(miss) => missed(miss).to_owned(),
            None => "nobody is remembered yet".to_owned(),
        },
        (AuthType::DnsName, _) => "no host name is given".to_owned(),
        (_, Code::NO_USER) => "no user name is given".to_owned(),
        (_, Code::UNKNOWN_USER) => format!("there is no user `{user}`"),
        (_, code) if code.is_wrong_password() => format!("this is not the password of `{user}`"),
        _ => "it fails".to_owned(),
    }
}

/// Why a cache finds nothing.
pub(super) const fn missed(miss: Miss) -> &'static str {
    match miss {
        Miss::NoCache => "no `authcache` stands before the service, so nothing is remembered",
        Miss::NothingRemembered => "no type behind it finds out who the client is, so nothing is remembered",
        Miss::NoClient => "the key says nothing of the client, so nothing is remembered",
        Miss::NoUser => "no user name is given, so there is no key",
    }
}

/// A name for a miss, for programs.
pub(super) const fn miss_name(miss: Miss) -> &'static str {
    match miss {
        Miss::NoCache => "no-authcache",
        Miss::NothingRemembered => "nothing-remembered",
        Miss::NoClient => "no-client-in-key",
        Miss::NoUser => "no-user",
    }
}

/// The key that a cache looks for.
pub(super) fn key(cache: &CacheKey) -> Option<String> {
    if cache.misses.is_some() {
        return None;
    }
    let part = |(field, value): &(CacheField, String)| format!("{}={value}", field.name());
    let parts: Vec<_> = cache.parts.iter().map(part).collect();
    let bound = if cache.is_bound { ", and refuses another address than the one remembered" } else { "" };
    let key = if parts.is_empty() { "one entry for all".to_owned() } else { parts.join(" ") };
    Some(format!(
        "The cache looks for {key}{bound}; a hit skips the types behind it, and the list is asked as that user. A success is remembered for {} s.",
        cache.seconds
    ))
}

/// What an entry does.
pub(super) fn action(ace: &Ace) -> &'static str {
    match ace.action {
        Action::Deny => "refuses",
        Action::Allow if ace.redirects() => "lets pass, through parents",
        Action::Allow => "lets pass",
    }
}

/// Why an entry does not decide.
pub(super) fn why_not(why: Why) -> String {
    match why {
        Why::Differs(fields) => format!("not this one: other {}", fields_text(fields)),
        Why::Outweighed(weight) => {
            format!("not this one: it matches, but an entry above set the weight {weight}")
        }
        Why::Unredirectable => "not this one: it matches, but this can't go through its parents".to_owned(),
    }
}

/// Fields in words, the two ways to name a target as one.
pub(super) fn fields_text(fields: Fields) -> String {
    let mut names: Vec<&str> = fields.names().collect();
    if fields.has(Fields::TARGET) {
        names.retain(|name| *name != "address");
    }
    let names = names.into_iter().map(|name| match name {
        "host" if fields.has(Fields::TARGET) => "target",
        "host" => "target name",
        "address" => "target address",
        "port" => "target port",
        name => name,
    });
    names.collect::<Vec<_>>().join(", ")
}

/// A chance, of 1.
pub(super) fn percent(chance: f64) -> String {
    let percent = (chance * 1e6).round() / 1e4;
    format!("{percent} %")
}

/// A source address.
pub(super) fn origin(origin: Origin) -> String {
    match origin {
        Origin::Address(address) => address.to_string(),
        Origin::Client => "the client's own address".to_owned(),
        Origin::Prefix(address, length) => format!("a random address of {address}/{length}"),
        Origin::Any => "an address that the system chooses".to_owned(),
    }
}

/// The line of a limit, and what it says.
pub(super) fn limit(policy: &Policy, limit: Applying) -> Option<(Loc, String)> {
    let limits = &policy.program().limits;
    let bandwidth =
        |towards: &str, bits: u32| format!("{bits} bit/s towards the {towards}, shared by all that match");
    match limit.list {
        LimitList::BandwidthIn => {
            let line = limits.bandwidth_in.get(limit.at)?;
            Some((line.at, bandwidth("client", line.limit?.bits_per_second)))
        }
        LimitList::BandwidthOut => {
            let line = limits.bandwidth_out.get(limit.at)?;
            Some((line.at, bandwidth("server", line.limit?.bits_per_second)))
        }
        LimitList::Connections => {
            let line = limits.connections.get(limit.at)?;
            let rate = line.limit?;
            let text = match rate.seconds {
                0 => format!("{} connections at a time", rate.connections),
                seconds => format!("{} connections in {seconds} s", rate.connections),
            };
            Some((line.at, text + " of all that match"))
        }
        LimitList::TrafficIn | LimitList::TrafficOut => {
            let line = limits.traffic.get(limit.at)?;
            let quota = line.limit.limit.as_ref()?;
            let way = match line.direction {
                Direction::In => "from the server",
                Direction::Out => "to the server",
                Direction::All => "both ways",
            };
            let text = format!("{} bytes {way} {}", quota.bytes, rotation(quota.rotation));
            Some((line.limit.at, text))
        }
    }
}

const fn rotation(rotation: Rotation) -> &'static str {
    match rotation {
        Rotation::None | Rotation::Never => "in all",
        Rotation::Minutely => "a minute",
        Rotation::Hourly => "an hour",
        Rotation::Daily => "a day",
        Rotation::Weekly => "a week",
        Rotation::Monthly => "a month",
        Rotation::Annually => "a year",
    }
}
