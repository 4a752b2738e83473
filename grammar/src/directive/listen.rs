//! Commands about sockets and connections.
use super::{
    Directive,
    Effect::{Global, Setting},
    Kind, LONG, parameter, row,
};

pub(super) const ROWS: &[Directive] = &[
    row(
        "internal",
        (1, Some(1)),
        &[parameter("ipaddr", Kind::Address, "the address to listen on; `unix:PATH` for a socket file")],
        Setting,
        LONG,
        "Sets the address on which the following services listen. Without it they listen on every address. \
         3proxy ignores an address that it can't read, which leaves the service open on all of them.",
    ),
    row(
        "external",
        (1, Some(1)),
        &[parameter("ipaddr", Kind::Address, "the address to connect from")],
        Setting,
        LONG,
        "Sets the address from which the following services connect. It may stand twice, for IPv4 and for IPv6.",
    )
    .apart(),
    row(
        "maxconn",
        (1, Some(1)),
        &[parameter("number", Kind::Number, "clients at once; 500 by default")],
        Setting,
        LONG,
        "Sets how many clients each of the following services serves at once. Further ones wait in the backlog; 0 is refused. \
         To limit single clients, use `connlim`.",
    )
    .apart(),
    row(
        "backlog",
        (1, Some(1)),
        &[parameter("number", Kind::Number, "connections that may wait")],
        Setting,
        LONG,
        "Sets how many connections may wait to be accepted by the following services. By default 1 + maxconn/8; the kernel caps it at somaxconn.",
    )
    .apart(),
    row(
        "maxseg",
        (1, Some(1)),
        &[parameter("value", Kind::Number, "bytes")],
        Global,
        "0.9.6",
        "Sets the largest TCP segment on outgoing connections. It helps where path MTU discovery does not work.",
    )
    .apart(),
    row(
        "timeouts",
        (1, None),
        &[
            parameter("byte-short", Kind::Number, "one byte within a stream; 1 s"),
            parameter("byte-long", Kind::Number, "the first byte of a frame; 5 s"),
            parameter("string-short", Kind::Number, "a line within a stream; 30 s"),
            parameter("string-long", Kind::Number, "the first line, as a request; 60 s"),
            parameter("connection-short", Kind::Number, "idle short connections, as HTTP; 180 s"),
            parameter("connection-long", Kind::Number, "idle long connections, as SOCKS; 1800 s"),
            parameter("dns", Kind::Number, "an answer of a name server; 15 s"),
            parameter("chain", Kind::Number, "an answer of a parent; 60 s"),
            parameter("connect", Kind::Number, "an outgoing connection; 15 s"),
            parameter("connectback", Kind::Number, "a connection of a `-r` partner; 5 s"),
            parameter("linger", Kind::Number, "the last data after one side closed; 5 s"),
        ],
        Global,
        LONG,
        "Sets the timeouts, in seconds, in a fixed order. Fewer may be given, so a lost number shifts all behind it; each must be 1 to 2000000.",
    )
    .apart(),
    row(
        "parentretries",
        (1, Some(1)),
        &[parameter("number", Kind::Number, "tries; 2 by default")],
        Global,
        LONG,
        "Sets how often parents are drawn and tried for a request. A value below 1 changes nothing.",
    )
    .apart(),
];
