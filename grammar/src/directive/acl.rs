//! Commands that build the access list.
use super::{
    Directive,
    Effect::{Acl, Setting},
    Kind, LONG, Parameter, parameter, row,
};

const USERS: Parameter =
    parameter("userlist", Kind::Users, "user names, exact, case and all; `-` is nobody logged in");
const SOURCES: Parameter =
    parameter("sourcelist", Kind::Sources, "client addresses, networks or ranges; names are refused");
const TARGETS: Parameter =
    parameter("targetlist", Kind::Targets, "addresses, networks, ranges, or names with `*` at either end");
const PORTS: Parameter = parameter("targetportlist", Kind::Ports, "ports or ranges: `80,8000-8999`");
const OPERATIONS: Parameter =
    parameter("operationlist", Kind::Operations, "what is asked for: `CONNECT,HTTP_GET`");
const WEEKDAYS: Parameter =
    parameter("weekdayslist", Kind::Weekdays, "days as digits, 0 or 7 is Sunday: `1-5`");
const PERIODS: Parameter =
    parameter("timeperiodslist", Kind::Periods, "`HH:MM:SS-HH:MM:SS` exactly, local time");
const WEIGHT: Parameter =
    parameter("weight", Kind::Number, "matches while its weight is at least that of the last match");

/// The fields of an entry, behind what the command has before them.
macro_rules! entry {
    ($($first:expr),*) => {
        &[
            $($first,)*
            $crate::directive::acl::FIELDS[0],
            $crate::directive::acl::FIELDS[1],
            $crate::directive::acl::FIELDS[2],
            $crate::directive::acl::FIELDS[3],
            $crate::directive::acl::FIELDS[4],
            $crate::directive::acl::FIELDS[5],
            $crate::directive::acl::FIELDS[6],
            $crate::directive::acl::FIELDS[7],
        ]
    };
}
pub(super) use entry;

/// The fields of an entry. `*` or a missing field matches all; words behind the last are ignored.
pub(super) const FIELDS: [Parameter; 8] =
    [USERS, SOURCES, TARGETS, PORTS, OPERATIONS, WEEKDAYS, PERIODS, WEIGHT];

const REDIRECT_HOST: Parameter = parameter("ip", Kind::Address, "where matching requests go");
const REDIRECT_PORT: Parameter = parameter("port", Kind::Port, "the port there");
const PARENT: &[Parameter] = &[
    parameter("weight", Kind::Number, "1 to 1000: its share in a group that adds up to 1000"),
    parameter(
        "type",
        Kind::Word,
        "how to speak to it: `http`, `connect`, `socks5`, `extip` …, with `s` at the end over TLS",
    ),
    parameter(
        "ip",
        Kind::Host,
        "its address; 0.0.0.0 keeps the requested one; `unix:PATH` names a socket file",
    ),
    parameter("port", Kind::Port, "its port; 0 keeps the requested one"),
    parameter("username", Kind::Word, "the login there; `*` passes the client's own on"),
    parameter("password", Kind::Secret, "the password there"),
];

pub(super) const ROWS: &[Directive] = &[
    row(
        "allow",
        (0, None),
        entry!(),
        Acl,
        LONG,
        "Admits requests that match all its fields. The first entry that matches decides; behind a list that is not empty everything is denied. \
         A `*` in the middle of a name is literal, a mistyped address is read as a name, and a field broken by a space moves all that follow it.",
    ),
    row(
        "deny",
        (0, None),
        entry!(),
        Acl,
        LONG,
        "Refuses requests that match all its fields. The first entry that matches decides. \
         An entry by name does not see requests made by address.",
    ),
    row(
        "redirect",
        (2, None),
        entry!(REDIRECT_HOST, REDIRECT_PORT),
        Acl,
        LONG,
        "Admits matching requests and sends them to one address and port. It is the old form of `allow` with `parent 1000 tcp`.",
    ),
    row(
        "parent",
        (4, None),
        PARENT,
        Acl,
        LONG,
        "Sends requests that the last entry admits through another proxy. Consecutive parents form a group until their weights add up to 1000: \
         one is drawn from each group, and the drawn ones form a chain. What a group lacks to 1000 goes without it, and two parents of 1000 are two hops, not a fallback. \
         It extends the last `allow` or `redirect`, even when services stand between.",
    ),
    row(
        "nolog",
        (0, Some(0)),
        &[],
        Acl,
        LONG,
        "Writes no log record for requests that the last entry decides. It extends that entry even when services stand between.",
    ),
    row(
        "weight",
        (1, Some(1)),
        &[WEIGHT],
        Acl,
        LONG,
        "Sets the weight of the last entry. An entry matches only while its weight is at least that of an earlier match for the same request.",
    ),
    row(
        "flush",
        (0, Some(0)),
        &[],
        Setting,
        LONG,
        "Empties the access list. Without it, the next service's list starts with all entries of the one before.",
    ),
];
