//! What acts on the whole process: timeouts, privileges, files to watch.
use grammar::Text;

use super::{Set, log::LogFiles};
use crate::sources::Loc;

/// Settings of the whole process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Process {
    /// `timeouts`.
    pub timeouts: Timeouts,
    /// `parentretries`: how often a chain of parents is drawn.
    pub parent_retries: Option<Set<u32>>,
    /// `monitor`: files whose change reloads the configuration.
    pub monitors: Vec<Set<Text>>,
    /// `daemon`.
    pub daemon: Option<Loc>,
    /// `pidfile`.
    pub pid_file: Option<Set<Text>>,
    /// `setuid`, in order.
    pub setuid: Vec<Set<Text>>,
    /// `setgid`, in order.
    pub setgid: Vec<Set<Text>>,
    /// `chroot PATH [USER [GROUP]]`, in order.
    pub chroot: Vec<Set<Vec<Text>>>,
    /// `system`, in order: commands that 3proxy runs while it reads the file.
    pub system: Vec<Set<Text>>,
    /// `plugin`, in order.
    pub plugins: Vec<Set<Vec<Text>>>,
    /// `pcre`, `pcre_rewrite`, `pcre_extend`, `pcre_options`, in order.
    pub filters: Vec<Filter>,
    /// `config`: the file that a reload reads.
    pub config: Option<Set<Text>>,
    /// `writable`: the admin service may rewrite the configuration.
    pub writable: Option<Loc>,
    /// `stacksize`: the runtime has no use for it.
    pub stack_size: Option<Set<i32>>,
    /// `filtermaxsize`.
    pub filter_max_size: Option<Set<i32>>,
    /// `maxseg`: maximum segment size of outgoing connections.
    pub max_segment: Option<Set<i32>>,
    /// `service`: runs as a Windows service.
    pub service: Option<Loc>,
    /// Log files.
    pub log_files: LogFiles,
}

/// A line about filters of what passes, as it is written: filters are not modelled.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Filter {
    /// The line.
    pub at: Loc,
    /// Its command.
    pub name: &'static str,
    /// Its arguments.
    pub words: Vec<Text>,
}

impl Process {
    /// How often a chain of parents is drawn before a request fails: 3proxy's default is 2.
    #[must_use]
    pub(crate) fn parent_attempts(&self) -> u32 {
        self.parent_retries.map_or(2, |retries| retries.value)
    }
}

/// `timeouts`, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Timeouts {
    /// The line that set them last.
    pub at: Option<Loc>,
    /// Between two bytes of a short answer.
    pub byte_short: u32,
    /// Between two bytes of a long answer.
    pub byte_long: u32,
    /// For a line, when there is much to do.
    pub string_short: u32,
    /// For a line.
    pub string_long: u32,
    /// Inactivity of a short connection.
    pub connection_short: u32,
    /// Inactivity of a long connection.
    pub connection_long: u32,
    /// For an answer of a name server.
    pub dns: u32,
    /// For the negotiation with a parent.
    pub chain: u32,
    /// For a connection to be made.
    pub connect: u32,
    /// For a server to connect back.
    pub connect_back: u32,
    /// `SO_LINGER`.
    pub linger: u32,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            at: None,
            byte_short: 1,
            byte_long: 5,
            string_short: 30,
            string_long: 60,
            connection_short: 180,
            connection_long: 1800,
            dns: 15,
            chain: 60,
            connect: 15,
            connect_back: 5,
            linger: 5,
        }
    }
}
