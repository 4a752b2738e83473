//! Commands that act on the process, or on the reading of the file.
use super::{
    Directive,
    Effect::{Global, Process, Setting},
    Kind, LONG, parameter, row,
};

pub(super) const ROWS: &[Directive] = &[
    row(
        "include",
        (1, Some(1)),
        &[parameter("path", Kind::Path, "the file, relative to the working directory")],
        Process,
        LONG,
        "Executes another file's lines as if they stood here. `end` there ends that file alone.",
    ),
    row(
        "end",
        (0, Some(0)),
        &[],
        Process,
        LONG,
        "Ends the configuration: what follows is not read. With an argument it is an unknown command.",
    ),
    row(
        "config",
        (1, Some(1)),
        &[parameter("path", Kind::Path, "the file")],
        Process,
        LONG,
        "Names the file that a reload reads, and that the web page saves. By default it is the one that was started with.",
    )
    .apart(),
    row(
        "writable",
        (0, Some(0)),
        &[],
        Process,
        LONG,
        "Opens the configuration for writing and reads it again from its start, so that the web page can change it. With an argument it is an unknown command.",
    ),
    row(
        "daemon",
        (0, Some(0)),
        &[],
        Process,
        LONG,
        "Leaves the terminal and goes on in the background. It belongs before all services and logs.",
    )
    .apart(),
    row(
        "service",
        (0, Some(0)),
        &[],
        Process,
        LONG,
        "Runs as a service of Windows 9x and NT. It does nothing on other systems.",
    ),
    row(
        "pidfile",
        (1, Some(1)),
        &[parameter("filename", Kind::Path, "the file")],
        Process,
        LONG,
        "Writes the number of the process to a file. A file that can't be written stops the load.",
    )
    .apart(),
    row(
        "monitor",
        (1, Some(1)),
        &[parameter("filename", Kind::Path, "the file")],
        Global,
        LONG,
        "Reloads the configuration when a file changes. A file that does not exist yet is not watched; a half-written one is read as it is.",
    )
    .apart(),
    row(
        "system",
        (1, Some(1)),
        &[parameter("command", Kind::Word, "the command, quoted")],
        Process,
        LONG,
        "Runs a shell command when this line is reached, at each load. What it returns does not matter.",
    )
    .apart(),
    row(
        "setuid",
        (1, Some(1)),
        &[parameter("uid", Kind::Word, "a number or a name; not root")],
        Process,
        LONG,
        "Gives up the user that the program was started as. Ports below 1024, logs and `setgid` belong before it.",
    )
    .apart(),
    row(
        "setgid",
        (1, Some(1)),
        &[parameter("gid", Kind::Word, "a number or a name; not root")],
        Process,
        LONG,
        "Gives up the group that the program was started as. It must stand before `setuid`, which takes the right to do it.",
    )
    .apart(),
    row(
        "chroot",
        (1, Some(3)),
        &[
            parameter("path", Kind::Path, "the new root"),
            parameter("uid", Kind::Word, "then this user"),
            parameter("gid", Kind::Word, "and this group"),
        ],
        Process,
        LONG,
        "Makes a directory the root of all paths from here on, and may set user and group. A reload reads files inside it.",
    )
    .apart(),
    row(
        "stacksize",
        (1, Some(1)),
        &[parameter("value", Kind::Number, "bytes, added to the default")],
        Setting,
        "0.8.4",
        "Changes the stack of 3proxy's client threads. It has no effect on programs that do not serve each client by a thread.",
    ),
    row(
        "delimchar",
        (1, Some(1)),
        &[parameter("char", Kind::Word, "one character")],
        Global,
        LONG,
        "Sets the character between user and server in mail and FTP logins, instead of `@`. Only the first byte counts.",
    )
    .apart(),
    row(
        "plugin",
        (2, None),
        &[
            parameter("library", Kind::Path, "the shared library"),
            parameter("function", Kind::Word, "its function to call, and what it is given"),
        ],
        Process,
        LONG,
        "Loads a shared library into 3proxy. For the SSL and PCRE plugins, which are built in since 0.9.7, the line does nothing.",
    ),
];
