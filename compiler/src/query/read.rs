//! Queries as users write them.
use std::net::IpAddr;

use grammar::{
    Text,
    directive::{closest, did_you_mean},
    value::{OPERATION_WORDS, Operation},
};

use super::{Part, Query, QueryError, Resolution, service};
use crate::{
    program::{
        Program,
        resolve::DNS_PORT,
        service::{Family, Service, ServiceKind},
    },
    sources::Sources,
    table::WeekTime,
    target::TargetName,
};

/// The words of a query; what is `None` was not given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Words<'a> {
    /// A [`ServiceSelector`](super::ServiceSelector). Without it: the only service.
    pub service: Option<&'a str>,
    /// A user name. Without it, or `-`: nobody logs in.
    pub user: Option<&'a str>,
    /// An address.
    pub from: Option<&'a str>,
    /// `HOST:PORT`; an IPv6 address stands in brackets.
    pub to: Option<&'a str>,
    /// An operation as an entry lists it. Without it: what the kind of service does most.
    pub op: Option<&'a str>,
    /// `DAY HH:MM` or `DAY HH:MM:SS`, local time.
    pub at: Option<&'a str>,
    /// An address, or `none`: the name does not resolve.
    pub resolve: Option<&'a str>,
}

impl Query {
    /// Makes a query of words.
    ///
    /// # Errors
    /// The first word, in the order of [`Words`], that is wrong or missing.
    pub fn read(sources: &Sources, program: &Program, words: &Words<'_>) -> Result<Self, QueryError> {
        let at = service::find(sources, program, words.service)?;
        let Some(service) = program.services.get(at) else {
            return Err(QueryError::new(Part::Service, "the configuration has no service"));
        };
        let user = words.user.filter(|user| *user != "-");
        if user.is_some() && !service.kind.learns_names() {
            let message = format!("clients of `{}` have no user name", service.kind.name());
            return Err(QueryError::new(Part::User, message).help("leave it out".to_owned()));
        }
        let from = words.from.map(|text| address(Part::From, text)).transpose()?;
        let Destination { target, port, written } = match service.target.as_ref() {
            Some(target) => mapped(service, &target.host.to_string(), target.port, words.to)?,
            None => wanted(service, words)?,
        };
        let resolved = match words.resolve {
            None => Resolution::Unknown,
            Some("none") => Resolution::Nothing,
            Some(text) => Resolution::Address(address(Part::Resolve, text)?),
        };
        let needless = match &target {
            _ if service.kind == ServiceKind::Dnspr => Some("the list is not told an address of the name"),
            Some(TargetName::Name(_)) => None,
            _ => Some("the target is no name, so there is nothing to resolve"),
        };
        if let Some(message) = needless.filter(|_| resolved != Resolution::Unknown) {
            return Err(QueryError::new(Part::Resolve, message).help("leave it out".to_owned()));
        }
        let operation = match words.op {
            Some(word) => operation(service.kind, word)?,
            None => usual(service.kind, port),
        };
        let when = words.at.map(moment).transpose()?;
        Ok(Self {
            service: at,
            user: user.map(Text::from),
            password: None,
            from,
            target,
            written,
            port,
            operation,
            at: when,
            resolved,
        })
    }
}

/// An address, in brackets or not.
fn address(part: Part, text: &str) -> Result<IpAddr, QueryError> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    bare.parse::<IpAddr>().map(|address| address.to_canonical()).map_err(|_| {
        let what = if part == Part::Resolve { "an address, or `none`" } else { "an address, as `192.0.2.7`" };
        QueryError::new(part, format!("`{text}` is not an address")).help(format!("write {what}"))
    })
}

/// Where a client wants to.
#[derive(Clone, Debug, Default)]
struct Destination {
    target: Option<TargetName>,
    port: u16,
    /// [`Query::written`]
    written: Option<Box<str>>,
}

/// The target of a port mapper, which its client can't choose.
fn mapped(service: &Service, host: &str, port: u16, to: Option<&str>) -> Result<Destination, QueryError> {
    let target = TargetName::parse(host.as_bytes(), service.family());
    let given = to.map(|text| endpoint(service, text, None)).transpose()?;
    if given.is_some_and(|given| (&given.target, given.port) != (&target, port)) {
        let message = format!("this service leads to `{host}:{port}` and nowhere else");
        return Err(QueryError::new(Part::To, message).help("leave it out".to_owned()));
    }
    Ok(Destination { target, port, written: None })
}

/// The target that the client asks for.
fn wanted(service: &Service, words: &Words<'_>) -> Result<Destination, QueryError> {
    let has_none = service.kind == ServiceKind::Admin;
    match words.to {
        to if service.kind == ServiceKind::Dnspr => asked_name(to),
        Some(_) if has_none => {
            let message = format!("the access list of `{}` is told no target", service.kind.name());
            Err(QueryError::new(Part::To, message).help("leave it out".to_owned()))
        }
        None if has_none => Ok(Destination::default()),
        Some(text) => endpoint(service, text, words.op),
        // The client says where from, and that mostly as zeros.
        None if words.op.is_some_and(|word| word.eq_ignore_ascii_case("UDPASSOC")) => {
            let target = TargetName::parse(b"0.0.0.0", service.family());
            Ok(Destination { target, ..Destination::default() })
        }
        None => {
            let help = "write `HOST:PORT`, as `example.com:443`".to_owned();
            Err(QueryError::new(Part::To, "the target is missing").help(help))
        }
    }
}

/// The name that a client of `dnspr` asks for.
fn asked_name(text: Option<&str>) -> Result<Destination, QueryError> {
    let wrong = |message: String| {
        let help = "write the name that is asked for, as `www.example.com`".to_owned();
        QueryError::new(Part::To, message).help(help)
    };
    let text = text.ok_or_else(|| wrong("the name is missing".to_owned()))?;
    match TargetName::parse(text.as_bytes(), Family::Default) {
        Some(target @ TargetName::Name(_)) => {
            Ok(Destination { target: Some(target), port: DNS_PORT, written: None })
        }
        _ => Err(wrong(format!("`{text}` is no name, and `dnspr` is asked for names"))),
    }
}

/// `HOST:PORT`.
fn endpoint(service: &Service, text: &str, op: Option<&str>) -> Result<Destination, QueryError> {
    let wrong = |message: String, help: &str| QueryError::new(Part::To, message).help(help.to_owned());
    let form = "write `HOST:PORT`, as `example.com:443` or `[2001:db8::1]:443`";
    let no_port = || wrong(format!("`{text}` has no port"), form);
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => rest.split_once("]:").ok_or_else(no_port)?,
        None => text.rsplit_once(':').ok_or_else(no_port)?,
    };
    if host.contains(':') && !text.starts_with('[') {
        return Err(wrong(format!("`{text}` can be read in two ways"), form));
    }
    let port = port.parse().map_err(|_| wrong(format!("`{port}` is not a port"), form))?;
    if let Some(target) = target(service, host, op) {
        let written = (target.to_string() != host).then(|| host.into());
        return Ok(Destination { target: Some(target), port, written });
    }
    Err(match host.parse::<IpAddr>() {
        Ok(IpAddr::V6(_)) => wrong(
            format!("this service does not use IPv6, so it refuses `{host}`"),
            "give the service `-46`, or ask for an IPv4 address",
        ),
        Ok(IpAddr::V4(_)) => wrong(
            format!("this service does not use IPv4, so it refuses `{host}`"),
            "give the service `-64`, or ask for an IPv6 address",
        ),
        Err(_) => wrong(format!("`{host}` is neither a host name nor an address"), form),
    })
}

/// A target as clients of a service can name it. Over SOCKS an address has a form of its own, which only `-4` limits.
fn target(service: &Service, host: &str, op: Option<&str>) -> Option<TargetName> {
    let is_socks = match service.kind {
        ServiceKind::Socks => true,
        ServiceKind::Auto => op.is_some_and(|op| {
            ["CONNECT", "BIND", "UDPASSOC"].iter().any(|socks| socks.eq_ignore_ascii_case(op))
        }),
        _ => false,
    };
    match host.parse::<IpAddr>() {
        Ok(address) if is_socks && (address.is_ipv4() || service.family() != Family::V4) => {
            Some(TargetName::Address(address.to_canonical()))
        }
        _ => TargetName::parse(host.as_bytes(), service.family()),
    }
}

/// The one operation that a word means, if the service can be asked for it.
fn operation(kind: ServiceKind, word: &str) -> Result<Operation, QueryError> {
    let possible = || kind.operations().iter().map(|operation| operation_name(*operation));
    let list = |names: Vec<&str>| format!("write one of `{}`", names.join("`, `"));
    let found = OPERATION_WORDS.iter().find(|(name, _)| name.eq_ignore_ascii_case(word));
    match found {
        Some((_, [one])) if kind.operations().contains(one) => Ok(*one),
        Some((name, [_])) => {
            let message = format!("clients of `{}` can't ask for `{name}`", kind.name());
            Err(QueryError::new(Part::Op, message).help(list(possible().collect())))
        }
        Some((name, several)) => {
            let names = several.iter().map(|operation| operation_name(*operation)).collect();
            Err(QueryError::new(Part::Op, format!("`{name}` is several operations")).help(list(names)))
        }
        None => {
            let meant = closest(word.as_bytes(), OPERATION_WORDS.iter().map(|(name, _)| *name));
            let help = meant.map_or_else(|| list(possible().collect()), did_you_mean);
            Err(QueryError::new(Part::Op, format!("`{word}` is not an operation")).help(help))
        }
    }
}

/// An operation as an entry lists it.
#[must_use]
pub fn operation_name(operation: Operation) -> &'static str {
    let single = |(_, meant): &&(&str, &[Operation])| **meant == [operation];
    OPERATION_WORDS.iter().find(single).map_or("", |(name, _)| name)
}

/// What clients of a service mostly ask for.
fn usual(kind: ServiceKind, port: u16) -> Operation {
    match kind.operations() {
        [Operation::HttpConnect, ..] if port == 80 => Operation::HttpGet,
        [first, ..] => *first,
        [] => Operation::Connect,
    }
}

/// The days as they are written, Sunday first; three letters of one are enough.
const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// A moment: `Mon 09:30`, `monday 09:30:15`.
///
/// # Errors
/// It is none.
pub fn moment(text: &str) -> Result<WeekTime, QueryError> {
    let wrong = || {
        let help = "write a day and a time, as `Mon 09:30` or `Sun 23:59:59`".to_owned();
        QueryError::new(Part::At, format!("`{text}` is no time of the week")).help(help)
    };
    let (day, time) = text.trim().split_once(' ').ok_or_else(wrong)?;
    let is_it = |name: &&str| {
        name.eq_ignore_ascii_case(day) || name.get(..3).is_some_and(|short| short.eq_ignore_ascii_case(day))
    };
    let day = DAYS.iter().zip(0..).find(|(name, _)| is_it(name)).ok_or_else(wrong)?.1;
    let number = |text: &str, below: u32| {
        let is_short = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<u32>().ok().filter(|number| is_short && *number < below)
    };
    let mut parts = time.trim().split(':');
    let hour = parts.next().and_then(|text| number(text, 24)).ok_or_else(wrong)?;
    let minute = parts.next().and_then(|text| number(text, 60)).ok_or_else(wrong)?;
    let second = parts.next().map_or(Some(0), |text| number(text, 60)).ok_or_else(wrong)?;
    if parts.next().is_some() {
        return Err(wrong());
    }
    Ok(WeekTime { day, second: hour * 3600 + minute * 60 + second })
}

/// A moment as it is written.
#[must_use]
pub fn moment_name(time: WeekTime) -> String {
    let day = DAYS.get(usize::from(time.day % 7)).and_then(|name| name.get(..3)).unwrap_or_default();
    let (hour, minute, second) = (time.second / 3600, time.second / 60 % 60, time.second % 60);
    if second == 0 {
        format!("{day} {hour:02}:{minute:02}")
    } else {
        format!("{day} {hour:02}:{minute:02}:{second:02}")
    }
}
