//! Values as they stand in the document.
use std::net::IpAddr;

use compiler::{
    cite::shown,
    program::{
        acl::{AddressRange, Matcher, Operation, Period, PortRange, Targets},
        limits::Rotation,
    },
    query::operation_name,
    sources::Loc,
};
use grammar::Text;
use serde::Serialize;
use serde_json::Value;

use super::Places;

/// The fields of an entry or a limit line; `None`: it accepts anything.
#[derive(Serialize)]
pub(super) struct Fields {
    users: Option<Vec<String>>,
    sources: Option<Vec<String>>,
    targets: Option<TargetForm>,
    ports: Option<Vec<String>>,
    operations: Option<Vec<&'static str>>,
    /// 0 is Sunday.
    weekdays: Option<Vec<u8>>,
    periods: Option<Vec<String>>,
}

#[derive(Serialize)]
struct TargetForm {
    addresses: Vec<String>,
    names: Vec<String>,
}

impl Fields {
    /// What the entry or limit line at `at` compares.
    pub(super) fn of(places: Places<'_>, at: Loc, matcher: &Matcher) -> Self {
        let Matcher { users, sources, targets, ports, operations, weekdays, periods } = matcher;
        Self {
            users: users.as_ref().map(|users| {
                users.iter().map(|user| places.shown(at, &String::from_utf8_lossy(user))).collect()
            }),
            sources: sources.as_deref().map(ranges),
            targets: targets.as_deref().map(|Targets { addresses, names }| TargetForm {
                addresses: ranges(addresses),
                names: names.iter().map(|pattern| places.shown(at, &pattern.to_string())).collect(),
            }),
            ports: ports.as_deref().map(|ports| ports.iter().map(port_range).collect()),
            operations: operations.map(|set| {
                let listed = Operation::ALL.into_iter().filter(|operation| set.has(*operation));
                listed.map(operation_name).collect()
            }),
            weekdays: weekdays.map(|days| (0..7).filter(|day| days.has(*day)).collect()),
            periods: periods.as_deref().map(|periods| periods.iter().map(period).collect()),
        }
    }
}

fn ranges(ranges: &[AddressRange]) -> Vec<String> {
    let text = |AddressRange { first, last }: &AddressRange| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    ranges.iter().map(text).collect()
}

fn port_range(PortRange { first, last }: &PortRange) -> String {
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}

/// The end is the second behind the last.
fn period(Period { from, to }: &Period) -> String {
    let clock = |second: u32| format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
    format!("{}-{}", clock(*from), clock(*to))
}

/// Text that need not be UTF-8, without what looks like a password.
pub(super) fn text(text: &Text) -> Value {
    shown(text.to_string().as_bytes()).into()
}

pub(super) fn texts(texts: &[Text]) -> Value {
    texts.iter().map(text).collect()
}

pub(super) fn address(address: &IpAddr) -> Value {
    address.to_string().into()
}

pub(super) fn number<T: Copy + Into<Value>>(number: &T) -> Value {
    (*number).into()
}

/// The letter of a rotation.
pub(super) const fn rotation(rotation: Rotation) -> Option<&'static str> {
    match rotation {
        Rotation::None => None,
        Rotation::Never => Some("never"),
        Rotation::Minutely => Some("C"),
        Rotation::Hourly => Some("H"),
        Rotation::Daily => Some("D"),
        Rotation::Weekly => Some("W"),
        Rotation::Monthly => Some("M"),
        Rotation::Annually => Some("Y"),
    }
}
