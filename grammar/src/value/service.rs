//! Values of service options and log settings.
use crate::Text;

/// When a log file or a quota starts anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rotation {
    /// No letter: not by time.
    #[default]
    None,
    /// A letter that 3proxy does not know.
    Never,
    /// `C`.
    Minutely,
    /// `H`.
    Hourly,
    /// `D`.
    Daily,
    /// `W`.
    Weekly,
    /// `M`.
    Monthly,
    /// `Y`.
    Annually,
}

/// `-gTRAFF,NUM,DELAY`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grace {
    /// Reads of so many bytes or less are small.
    pub bytes: i32,
    /// So many small reads in a row start the wait.
    pub reads: i32,
    /// How long it waits, in milliseconds.
    pub delay_ms: i32,
}

/// `-s[N]:MIN,STREAK,SMALL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Splice {
    /// 1 down, 2 up, 3 both; 5, 6, 7 the same only where it pays; 0 off.
    pub mode: u8,
    /// Spliced after reads of so many bytes.
    pub min: u32,
    /// So many of them in a row.
    pub streak: u32,
    /// Copied again after splices smaller than this.
    pub small: u32,
}

/// A list of socket options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SocketOptions(pub Vec<SocketOption>);

/// One socket option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SocketOption {
    /// Its system name: `TCP_NODELAY`.
    pub name: Text,
    /// `=VALUE`; 1 when there is none.
    pub value: i32,
}
