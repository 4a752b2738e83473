//! Values as they stand in the document.
use std::net::IpAddr;

use compiler::{
    program::{
        acl::{AddressRange, Matcher, Operation, Period, PortRange, Targets},
        limits::Rotation,
        log::LogTarget,
        process::Timeouts,
        resolve::NameServer,
        service::{Family, Grace, SocketOptions, Splice},
        settings,
    },
    query::operation_name,
    sources::Loc,
};
use serde::Serialize;
use serde_json::{Value, json};

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
        let redactor = places.redactor(at);
        let shown = |word: &str| redactor.shown(word);
        Self {
            users: users
                .as_ref()
                .map(|users| users.iter().map(|user| shown(&String::from_utf8_lossy(user))).collect()),
            sources: sources.as_deref().map(ranges),
            targets: targets.as_deref().map(|Targets { addresses, names }| TargetForm {
                addresses: ranges(addresses),
                names: names.iter().map(|pattern| shown(&pattern.to_string())).collect(),
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

/// The value of a setting, which was set at a place; `None`: it is the default.
pub(super) fn of(places: Places<'_>, at: Option<Loc>, value: settings::Value<'_>) -> Value {
    use settings::Value as Told;
    match value {
        Told::Switch(is_on) => is_on.into(),
        Told::Number(number) => number.into(),
        Told::Byte(byte) => char::from(byte).to_string().into(),
        Told::Text(text) => places.text(at, text),
        Told::Texts(texts) => texts.iter().map(|text| places.text(at, text)).collect(),
        Told::Address(address) => self::address(&address),
        Told::Family(family) => family_name(family).into(),
        Told::Grace(Grace { bytes, reads, delay_ms }) => {
            json!({ "bytes": bytes, "reads": reads, "delay_ms": delay_ms })
        }
        Told::Splice(Splice { mode, min, streak, small }) => {
            json!({ "mode": mode, "min": min, "streak": streak, "small": small })
        }
        Told::SocketOptions(SocketOptions(options)) => options.iter().map(|option| option.name()).collect(),
        Told::Log(target) => log_target(places, at, target),
        Told::NameServer(NameServer { address, tcp }) => {
            json!({ "address": address.to_string(), "tcp": tcp })
        }
        Told::Timeouts(timeouts) => self::timeouts(&timeouts),
        // They are not modelled: that there is one is told.
        Told::Filter(_) => true.into(),
    }
}

const fn family_name(family: Family) -> &'static str {
    match family {
        Family::Default => "default",
        Family::V4 => "4",
        Family::V6 => "6",
        Family::V4ThenV6 => "46",
        Family::V6ThenV4 => "64",
    }
}

fn log_target(places: Places<'_>, at: Option<Loc>, target: &LogTarget) -> Value {
    let text = |text| places.text(at, text);
    match target {
        LogTarget::Nowhere => Value::Null,
        LogTarget::Stdout => json!({ "to": "stdout" }),
        LogTarget::File { path, rotation } => {
            json!({ "to": "file", "path": text(path), "rotation": self::rotation(*rotation) })
        }
        LogTarget::Syslog(ident) => json!({ "to": "syslog", "ident": text(ident) }),
        LogTarget::Sql(_) => json!({ "to": "odbc", "source": "***" }),
        LogTarget::Radius => json!({ "to": "radius" }),
    }
}

fn timeouts(timeouts: &Timeouts) -> Value {
    let Timeouts {
        at: _,
        byte_short,
        byte_long,
        string_short,
        string_long,
        connection_short,
        connection_long,
        dns,
        chain,
        connect,
        connect_back,
        linger,
    } = timeouts;
    json!({
        "byte_short": byte_short,
        "byte_long": byte_long,
        "string_short": string_short,
        "string_long": string_long,
        "connection_short": connection_short,
        "connection_long": connection_long,
        "dns": dns,
        "chain": chain,
        "connect": connect,
        "connect_back": connect_back,
        "linger": linger,
    })
}

pub(super) fn address(address: &IpAddr) -> Value {
    address.to_string().into()
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
