//! Commands about logging.
use super::{
    Directive,
    Effect::{Global, Setting},
    Kind, LONG, parameter, row,
};

pub(super) const ROWS: &[Directive] = &[
    row(
        "log",
        (0, None),
        &[
            parameter(
                "logfile",
                Kind::Path,
                "a file name, which may hold `%` as `logformat`; `@IDENT` is syslog, `&SOURCE` ODBC, `radius` RADIUS accounting; nothing is standard output",
            ),
            parameter(
                "logtype",
                Kind::OneOf(&["C", "H", "D", "W", "M", "Y"]),
                "a new file each minute, hour, day, week, month or year",
            ),
        ],
        Setting,
        LONG,
        "Sets where the following services log. Services before the first `log` line log nowhere. A file that can't be opened stops the load.",
    )
    .apart(),
    row(
        "logformat",
        (1, Some(1)),
        &[parameter("format", Kind::Word, "the record, quoted")],
        Setting,
        LONG,
        "Sets what a log record holds. It begins with `L` (local time) or `G` (Greenwich), before which `-XX+R` may replace the characters XX by R: \
         any other first character is eaten. With ODBC it is an SQL statement, and characters that end its strings must be in XX.",
    )
    .apart(),
    row(
        "logdump",
        (1, Some(2)),
        &[parameter("in", Kind::Number, "bytes received"), parameter("out", Kind::Number, "bytes sent")],
        Setting,
        LONG,
        "Writes a log record each time a session of the following services has moved so many bytes. Without it a record is written when the session ends.",
    )
    .apart(),
    row(
        "rotate",
        (1, Some(1)),
        &[parameter("number", Kind::Number, "files")],
        Global,
        LONG,
        "Sets how many old log files are kept. It works only with a rotation letter in `log`.",
    )
    .apart(),
    row(
        "archiver",
        (2, None),
        &[
            parameter("ext", Kind::Word, "the ending that the archiver gives"),
            parameter(
                "command",
                Kind::Word,
                "the program and its arguments; `%F` is the file, `%A` the archive",
            ),
        ],
        Global,
        LONG,
        "Sets the program that packs old log files. Without `%F` the file is its last argument.",
    )
    .apart(),
];
