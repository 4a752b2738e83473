//! Where a word says one thing and 3proxy reads another: what lint rules look for.
use grammar::value::{
    AddressTrap, CacheTrap, EndpointTrap, LogFormatTrap, NumberTrap, PeriodTrap, PortTrap, SocketTrap,
    TargetTrap, UserTrap, WeekdayTrap,
};

use crate::sources::Loc;

/// One trap, in the order in which 3proxy meets them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trapped {
    /// The part that is read otherwise. Never a password.
    pub at: Loc,
    /// The word it is in.
    pub word: Loc,
    /// What happens to it.
    pub trap: Trap,
}

/// What happens to a part of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trap {
    /// In a source list.
    Source(AddressTrap),
    /// In a target list.
    Target(TargetTrap),
    /// In a port list.
    Ports(PortTrap),
    /// In a weekday field.
    Weekdays(WeekdayTrap),
    /// In a period field.
    Periods(PeriodTrap),
    /// The word lists nothing, so that the field restricts nothing.
    EmptyList,
    /// Words behind an entry's last field, which are not looked at: this one and those after it.
    ExtraWords,
    /// In a list of cache fields.
    Cache(CacheTrap),
    /// In a word of a `users` line.
    User(UserTrap),
    /// In a number.
    Number(NumberTrap),
    /// In a single port: an option's, a parent's.
    Port(NumberTrap),
    /// In a log format.
    LogFormat(LogFormatTrap),
    /// In a list of socket options.
    Socket(SocketTrap),
    /// In an address with a port.
    Endpoint(EndpointTrap),
    /// An address to listen on that is none: 3proxy keeps the one before, or listens on every interface.
    ListenAddress,
    /// The same, but it looks like one of the other family: 3proxy forgets the one before, and listens on every interface.
    ListenForgotten,
    /// A name in place of an address to listen on: 3proxy looks it up when it starts, and if it finds none does as with the above.
    ListenName,
    /// A name in place of an address to connect from: 3proxy looks it up when it starts, and if it finds none refuses the file.
    ExternalName,
    /// An address as clients or servers see it (`-N…`) that is none: ignored.
    NatAddress,
    /// A letter that stands for no rotation: the log file gets no name.
    Rotation,
    /// A letter that stands for no period: a quota that never starts anew, a report that is never written.
    QuotaPeriod,
    /// `-4`, `-6` followed by something else than `46` or `64`.
    Family,
    /// A RADIUS server with a port, which 3proxy 1.0.0 takes for a part of the name.
    RadiusPort,
    /// A RADIUS secret that is cut to 63 bytes.
    SecretCut,
    /// `-g` without its three numbers.
    Grace(NumberTrap),
    /// An option that does nothing on this kind of service.
    OtherService,
    /// A TLS version that 3proxy does not know: no limit.
    TlsVersion,
}
