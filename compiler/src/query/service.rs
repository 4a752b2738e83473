//! Which service a query is about.
use grammar::directive::{closest, did_you_mean};

use super::{Part, QueryError};
use crate::{
    program::{
        Program,
        service::{ListenAddress, Service, ServiceKind},
    },
    sources::Sources,
};

/// Names one service, or several: `socks`, `1080`, `socks:1080`, `socks:192.0.2.1:1080`, `socks:/run/socket`, each with `@LINE`
/// behind it if there are several on one address, or `@LINE` alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceSelector<'a> {
    kind: Option<ServiceKind>,
    address: Option<&'a str>,
    port: Option<u16>,
    line: Option<u32>,
}

impl<'a> ServiceSelector<'a> {
    /// Reads a selector.
    ///
    /// # Errors
    /// It is none: what stands there is no kind of service, no port or no line.
    pub fn parse(text: &'a str) -> Result<Self, QueryError> {
        let (place, line) = match text.rsplit_once('@') {
            Some((place, line)) if !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit()) => {
                (place, Some(line.parse().map_err(|_| no_number(line, "line"))?))
            }
            _ => (text, None),
        };
        let mut selector = Self { line, ..Self::default() };
        let is_port = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let (kind, rest) = match place.split_once(':') {
            Some((kind, rest)) => (kind, Some(rest)),
            None if is_port(place) => ("", Some(place)),
            None => (place, None),
        };
        if !kind.is_empty() {
            selector.kind = Some(known_kind(kind)?);
        }
        match rest {
            Some(port) if is_port(port) => selector.port = Some(read_port(port)?),
            Some(rest) => {
                let (address, port) = match rest.rsplit_once(':') {
                    Some((address, port)) if is_port(port) && !rest.starts_with(['/', '@']) => {
                        (address, Some(port))
                    }
                    _ => (rest, None),
                };
                selector.address = Some(address.trim_start_matches('[').trim_end_matches(']'));
                selector.port = port.map(read_port).transpose()?;
            }
            None => {}
        }
        if selector == Self::default() || selector.address == Some("") {
            let message = format!("`{text}` names no service");
            return Err(QueryError::new(Part::Service, message).help(FORM.to_owned()));
        }
        Ok(selector)
    }

    /// The services that it names, as indexes into [`Program::services`].
    #[must_use]
    pub fn matching(&self, sources: &Sources, program: &Program) -> Vec<usize> {
        let services = program.services.iter().enumerate();
        services.filter(|(_, service)| self.matches(sources, service)).map(|(at, _)| at).collect()
    }

    fn matches(&self, sources: &Sources, service: &Service) -> bool {
        self.kind.is_none_or(|kind| kind == service.kind)
            && self.port.is_none_or(|port| port == service.listen.port.value)
            && self.address.is_none_or(|address| listens_at(&service.listen.address.value, address))
            && self.line.is_none_or(|line| sources.line_column(service.at).line == line)
    }
}

/// What to write for a service.
const FORM: &str = "write `KIND`, `PORT`, `KIND:PORT`, `KIND:ADDRESS:PORT` or `@LINE`, as `socks:1080`";

fn listens_at(address: &ListenAddress, text: &str) -> bool {
    match address {
        ListenAddress::Ip(address) => text.parse() == Ok(*address),
        ListenAddress::Unix(path) => path.as_bytes() == text.as_bytes(),
    }
}

fn known_kind(name: &str) -> Result<ServiceKind, QueryError> {
    let names = || ServiceKind::ALL.into_iter().map(ServiceKind::name);
    ServiceKind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
        let meant = closest(name.as_bytes(), names());
        let help = meant.map_or_else(|| FORM.to_owned(), did_you_mean);
        QueryError::new(Part::Service, format!("there is no kind of service `{name}`")).help(help)
    })
}

fn read_port(text: &str) -> Result<u16, QueryError> {
    text.parse().map_err(|_| no_number(text, "port"))
}

fn no_number(text: &str, what: &str) -> QueryError {
    QueryError::new(Part::Service, format!("`{text}` is no {what}"))
}

/// The selector that names a service and, where it can be, no other: `socks:1080`.
#[must_use]
pub fn describe(sources: &Sources, program: &Program, at: usize) -> String {
    let Some(service) = program.services.get(at) else { return String::new() };
    let (kind, port) = (service.kind.name(), service.listen.port.value);
    let text = match &service.listen.address.value {
        ListenAddress::Ip(address) if address.is_unspecified() => format!("{kind}:{port}"),
        ListenAddress::Ip(address) if address.is_ipv6() => format!("{kind}:[{address}]:{port}"),
        ListenAddress::Ip(address) => format!("{kind}:{address}:{port}"),
        ListenAddress::Unix(path) => format!("{kind}:{path}"),
    };
    let is_alone = ServiceSelector::parse(&text)
        .is_ok_and(|selector| selector.matching(sources, program).as_slice() == [at]);
    if is_alone { text } else { format!("{text}@{}", sources.line_column(service.at).line) }
}

/// The one service that `text` names; without it, the only one that there is.
pub(super) fn find(sources: &Sources, program: &Program, text: Option<&str>) -> Result<usize, QueryError> {
    let all = || (0..program.services.len()).collect::<Vec<_>>();
    let found = match text {
        Some(text) => ServiceSelector::parse(text)?.matching(sources, program),
        None => all(),
    };
    let (message, services) = match (found.as_slice(), text) {
        ([one], _) => return Ok(*one),
        _ if program.services.is_empty() => ("the configuration has no service".to_owned(), found),
        ([], text) => (format!("there is no service `{}`", text.unwrap_or_default()), all()),
        (_, None) => ("the configuration has several services".to_owned(), found),
        (_, Some(text)) => (format!("`{text}` names several services"), found),
    };
    let names: Vec<_> = services.iter().take(SHOWN).map(|at| describe(sources, program, *at)).collect();
    let more = services.len().saturating_sub(SHOWN);
    let and = if more > 0 { format!(" and {more} more") } else { String::new() };
    let help = (!names.is_empty()).then(|| format!("write one of `{}`{and}", names.join("`, `")));
    Err(QueryError { services, ..QueryError::new(Part::Service, message).help(help) })
}

/// At most this many services are listed in a message.
const SHOWN: usize = 8;
