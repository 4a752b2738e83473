//! A request brought to the one form in which entries compare it.
use std::{borrow::Cow, net::IpAddr};

use super::{Fields, Request, WeekTime};
use crate::program::acl::Operation;

/// A request as entries compare it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject<'a> {
    /// User name; nobody is `-`.
    pub user: &'a [u8],
    /// Client address, IPv4 where it is IPv4-mapped.
    pub source: IpAddr,
    /// Target name in lower case, without the dot at its end.
    pub host: Option<Cow<'a, [u8]>>,
    /// Target address that address lists are compared with; `None`: there is nothing to compare them with, and no entry's
    /// address list says no.
    pub address: Option<IpAddr>,
    /// Target port that port lists are compared with; `None`: no entry's port list says no.
    pub port: Option<u16>,
    /// Operation.
    pub operation: Operation,
    /// When; a leap second counts as the one before it.
    pub time: WeekTime,
    /// Weight left by an earlier match.
    pub weight: i32,
    /// Local redirections are not followed again.
    pub redirected: bool,
}

impl<'a> Subject<'a> {
    /// The form in which entries compare `request`.
    #[must_use]
    pub fn new(request: &Request<'a>) -> Self {
        // BIND compares what is there, even if that is nothing: an address of zeros, port 0.
        let bind = request.operation == Operation::Bind;
        let address = request.address.map(|address| address.to_canonical());
        let unknown = bind.then_some(IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED));
        Self {
            user: request.user.unwrap_or(b"-"),
            source: request.source.to_canonical(),
            host: request.host.map(name),
            address: if bind {
                address.or(unknown)
            } else {
                address.filter(|address| !address.is_unspecified())
            },
            port: (bind || request.port != 0).then_some(request.port),
            operation: request.operation,
            time: WeekTime { day: request.time.day % 7, second: request.time.second.min(24 * 60 * 60 - 1) },
            weight: request.weight,
            redirected: request.redirected,
        }
    }

    /// The fewest of the fields `compared` that fix the outcome, where `fixed` says whether a set does.
    pub(super) fn least(&self, compared: Fields, fixed: impl Fn(Fields) -> bool) -> Fields {
        let mut needed = compared;
        // An entry with a weight may change what a later one does: then all count.
        for field in compared.each().filter(|_| !compared.has(Fields::WEIGHT)) {
            if fixed(needed.without(field)) {
                needed = needed.without(field);
            }
        }
        // What is not there is compared for a BIND only.
        let absent = |at: Option<IpAddr>| at.is_none_or(|address| address.is_unspecified());
        let by_operation = needed.has(Fields::PORT) && self.port.is_none_or(|port| port == 0)
            || needed.has(Fields::ADDRESS) && absent(self.address);
        if by_operation { needed.with(Fields::OPERATION) } else { needed }
    }
}

/// A host name in lower case, without the dot at its end.
fn name(written: &[u8]) -> Cow<'_, [u8]> {
    let name = written.strip_suffix(b".").unwrap_or(written);
    if name.iter().any(u8::is_ascii_uppercase) {
        Cow::Owned(name.to_ascii_lowercase())
    } else {
        Cow::Borrowed(name)
    }
}
