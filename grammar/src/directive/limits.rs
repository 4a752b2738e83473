//! Commands that limit traffic and connections: they apply to all services.
use super::{Directive, Effect::Global, Kind, LONG, Parameter, acl::entry, parameter, row};

const BITS: Parameter = parameter("rate", Kind::Number, "bits per second, 300 at least");
const CONNECTIONS: Parameter = parameter("rate", Kind::Number, "connections");
const PERIOD: Parameter = parameter("period", Kind::Number, "seconds; 0 limits those open at once");
const NUMBER: Parameter = parameter("number", Kind::Number, "its record in the counter file; 0 is not kept");
const TYPE: Parameter = parameter("type", Kind::OneOf(&["H", "D", "W", "M"]), "when it starts anew");
const MEGABYTES: Parameter = parameter("limit", Kind::Number, "megabytes");

const COUNTS: &str = "An exception to the quotas behind it: a match here ends the walk.";

pub(super) const ROWS: &[Directive] = &[
    row(
        "bandlimin",
        (1, None),
        entry!(BITS),
        Global,
        LONG,
        "Limits how fast matching clients receive. Every matching entry up to the first `nobandlimin` applies, ten at most. \
         An entry is one channel: all that match it share its rate.",
    ).limit(),
    row(
        "nobandlimin",
        (0, None),
        entry!(),
        Global,
        LONG,
        "An exception to the `bandlimin` entries behind it. A match here ends the walk.",
    ).limit(),
    row(
        "bandlimout",
        (1, None),
        entry!(BITS),
        Global,
        LONG,
        "Limits how fast matching clients send. Every matching entry up to the first `nobandlimout` applies, ten at most. \
         An entry is one channel: all that match it share its rate.",
    ).limit(),
    row(
        "nobandlimout",
        (0, None),
        entry!(),
        Global,
        LONG,
        "An exception to the `bandlimout` entries behind it. A match here ends the walk.",
    ).limit(),
    row(
        "connlim",
        (3, None),
        entry!(CONNECTIONS, PERIOD),
        Global,
        "0.9.0",
        "Limits new connections in a period, or with period 0 those open at once. All clients that match an entry share its limit.",
    ).limit(),
    row(
        "noconnlim",
        (0, None),
        entry!(),
        Global,
        "0.9.0",
        "An exception to the `connlim` entries behind it. A match here ends the walk.",
    ).limit(),
    row(
        "countin",
        (3, None),
        entry!(NUMBER, TYPE, MEGABYTES),
        Global,
        LONG,
        "Ends matching sessions when so many megabytes were received in an hour, day, week or month. Keeping it over a restart needs `counter`.",
    ).limit(),
    row("nocountin", (0, None), entry!(), Global, LONG, COUNTS).limit(),
    row(
        "countout",
        (3, None),
        entry!(NUMBER, TYPE, MEGABYTES),
        Global,
        LONG,
        "Ends matching sessions when so many megabytes were sent in an hour, day, week or month. Keeping it over a restart needs `counter`.",
    ).limit(),
    row("nocountout", (0, None), entry!(), Global, LONG, COUNTS).limit(),
    row(
        "countall",
        (3, None),
        entry!(NUMBER, TYPE, MEGABYTES),
        Global,
        LONG,
        "Ends matching sessions when so many megabytes went either way in an hour, day, week or month. Keeping it over a restart needs `counter`.",
    ).limit(),
    row("nocountall", (0, None), entry!(), Global, LONG, COUNTS).limit(),
    row(
        "counter",
        (1, Some(3)),
        &[
            parameter("filename", Kind::Path, "the file that keeps the counters"),
            parameter("reporttype", Kind::OneOf(&["H", "D", "W", "M"]), "how often a report is written"),
            parameter("reportname", Kind::Path, "the report's name, as a log name"),
        ],
        Global,
        LONG,
        "Keeps the traffic counters in a binary file, and may write reports of them. A file that is not a counter file stops the load.",
    )
    .apart(),
];
