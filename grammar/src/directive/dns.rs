//! Commands about the resolution of names.
use super::{Directive, Effect::Global, Kind, LONG, parameter, row};

pub(super) const ROWS: &[Directive] = &[
    row(
        "nserver",
        (1, Some(1)),
        &[parameter("server", Kind::Word, "`ADDRESS[:PORT][/tcp]`; IPv6 in brackets")],
        Global,
        LONG,
        "Adds a name server to ask instead of the system's resolver. A bare IPv6 address is cut at its first colon: write it in brackets. \
         Servers beyond the built-in number are ignored.",
    )
    .apart(),
    row(
        "nscache",
        (1, Some(1)),
        &[parameter("cachesize", Kind::Number, "names, 256 at least")],
        Global,
        LONG,
        "Caches IPv4 addresses of names. 65536 is a good size; less than 256 is refused.",
    )
    .apart(),
    row(
        "nscache6",
        (1, Some(1)),
        &[parameter("cachesize", Kind::Number, "names, 256 at least")],
        Global,
        "0.8.0",
        "Caches IPv6 addresses of names. Less than 256 is refused.",
    )
    .apart(),
    row(
        "nsrecord",
        (2, Some(2)),
        &[
            parameter("hostname", Kind::Host, "the name"),
            parameter("hostaddr", Kind::Address, "its address; 0.0.0.0 makes it never resolve"),
        ],
        Global,
        LONG,
        "Puts a fixed record into the name cache. `nscache` must stand before it.",
    )
    .apart(),
    row(
        "fakeresolve",
        (0, Some(0)),
        &[],
        Global,
        LONG,
        "Resolves every name to 127.0.0.2. It is for parents that get the name itself (`http`, `connect+`, `socks4+`, `socks5+`): \
         without such a parent every request by name goes to 127.0.0.2.",
    ),
    row(
        "dialer",
        (1, Some(1)),
        &[parameter("progname", Kind::Path, "the program")],
        Global,
        LONG,
        "Runs a program when a name can't be resolved. Names that are in the cache do not start it.",
    )
    .apart(),
];
