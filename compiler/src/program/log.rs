//! Where log records go and how they look.
use grammar::{Secret, Text};

use super::{Set, limits::Rotation};
use crate::sources::Loc;

/// The log settings that a service copied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceLog {
    /// `log`, or the service's `-l`.
    pub target: Set<LogTarget>,
    /// `logformat`, or the service's `-f`; `None`: 3proxy's default format.
    pub format: Option<Set<Text>>,
    /// `logdump`: a record also after this many bytes from the server.
    pub dump_server: Set<u32>,
    /// `logdump`: and from the client.
    pub dump_client: Set<u32>,
}

/// Where records go.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum LogTarget {
    /// Nowhere: no `log` line, or `/dev/null`.
    #[default]
    Nowhere,
    /// Standard output: `log` without a name.
    Stdout,
    /// A file, renamed by time.
    File {
        /// Path, or a pattern with `%`.
        path: Text,
        /// When a new file is begun.
        rotation: Rotation,
    },
    /// `@IDENT`: syslog.
    Syslog(Text),
    /// `&SOURCE[,USER,PASSWORD]`: ODBC.
    Sql(Secret),
    /// RADIUS accounting.
    Radius,
}

/// What concerns log files of the whole process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogFiles {
    /// `rotate`: how many old files are kept.
    pub keep: Set<i32>,
    /// `archiver`: extension, command and arguments.
    pub archiver: Option<Set<Vec<Text>>>,
    /// `delimchar`, as logged in place of the `@` of mail users.
    pub delimiter: Option<Set<u8>>,
    /// `log` lines in order, for rules that reason about their place.
    pub log_lines: Vec<Loc>,
}
