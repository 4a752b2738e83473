//! Values of service options and log settings.
use super::{Reading, number::NumberTrap, shape};
use crate::Span;

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

/// The rotation that a word stands for: only its first letter counts.
#[must_use]
pub fn rotation(word: &[u8]) -> Rotation {
    match word.first().map(u8::to_ascii_uppercase) {
        Some(b'C') => Rotation::Minutely,
        Some(b'H') => Rotation::Hourly,
        Some(b'D') => Rotation::Daily,
        Some(b'W') => Rotation::Weekly,
        Some(b'M') => Rotation::Monthly,
        Some(b'Y') => Rotation::Annually,
        _ => Rotation::Never,
    }
}

/// `-gTRAFF,NUM,DELAY`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Grace {
    /// Reads of this many bytes or less are small.
    pub bytes: i32,
    /// How many small reads in a row start the wait.
    pub reads: i32,
    /// How long it waits, in milliseconds.
    pub delay_ms: i32,
}

/// The value of `-g`; numbers that are missing are 0.
#[must_use]
pub fn grace(word: &[u8]) -> Reading<Grace, NumberTrap> {
    let whole = Span::new(0, word.len() as u32);
    let Some(shape) = shape::grace(word) else { return Reading::plain(Grace::default()) };
    let mut numbers = shape.read.iter().map(|number| {
        let magnitude = i64::try_from(number.magnitude).unwrap_or(i64::MAX);
        (if number.negative { -magnitude } else { magnitude }) as i32
    });
    let mut next = || numbers.next().unwrap_or_default();
    let value = Grace { bytes: next(), reads: next(), delay_ms: next() };
    let mut traps = Vec::new();
    if shape.read.len() < 3 {
        traps.push((whole, NumberTrap::NotANumber));
    } else if !shape.rest.is_empty() {
        traps.push((shape.rest, NumberTrap::Junk));
    }
    Reading { value, traps }
}

/// `-s[N]:MIN,STREAK,SMALL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Splice {
    /// 1 down, 2 up, 3 both; 5, 6, 7 the same only where it pays; 0 off.
    pub mode: u8,
    /// Spliced after reads of this many bytes.
    pub min: u32,
    /// How many of them in a row.
    pub streak: u32,
    /// Copied again after splices smaller than this.
    pub small: u32,
}

impl Default for Splice {
    /// What `-s` alone means.
    fn default() -> Self {
        Self { mode: 7, min: 16_384, streak: 2, small: 4096 }
    }
}

/// The value of `-s` of a TCP service.
#[must_use]
pub fn splice(word: &[u8]) -> Reading<Splice, NumberTrap> {
    let mut value = Splice::default();
    let Some(shape) = shape::splice(word) else { return Reading::plain(value) };
    let mut traps = Vec::new();
    let place = |end: u32| Span::new(0, end);
    if let Some(mode) = shape.mode {
        value.mode = (mode & 7) as u8;
        if mode > 7 || mode == 4 {
            traps.push((place(shape.rest.start), NumberTrap::Wraps));
        }
    }
    if let Some([min, streak, small]) = shape.tuning {
        let narrow = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        (value.min, value.streak, value.small) = (narrow(min), narrow(streak), narrow(small));
    }
    if !shape.rest.is_empty() {
        traps.push((shape.rest, NumberTrap::Junk));
    }
    Reading { value, traps }
}

/// A list of socket options.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SocketOptions(pub Vec<SocketOption>);

/// A socket option that 3proxy sets, to 1, except for `TCP_MAXSEG`, whose value is that of `maxseg`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SocketOption {
    /// `TCP_NODELAY`.
    NoDelay,
    /// `TCP_CORK`.
    Cork,
    /// `TCP_DEFER_ACCEPT`.
    DeferAccept,
    /// `TCP_QUICKACK`.
    QuickAck,
    /// `SO_REUSEADDR`.
    ReuseAddress,
    /// `SO_REUSEPORT`.
    ReusePort,
    /// `SO_KEEPALIVE`.
    KeepAlive,
    /// `SO_DONTROUTE`.
    DontRoute,
    /// `IP_TRANSPARENT`.
    Transparent,
    /// `TCP_FASTOPEN`.
    FastOpen,
    /// `TCP_FASTOPEN_CONNECT`.
    FastOpenConnect,
    /// `TCP_MAXSEG`.
    MaxSegment,
}

impl SocketOption {
    /// Every option that 3proxy knows on Linux, in its order.
    pub const ALL: [Self; 12] = [
        Self::NoDelay,
        Self::Cork,
        Self::DeferAccept,
        Self::QuickAck,
        Self::ReuseAddress,
        Self::ReusePort,
        Self::KeepAlive,
        Self::DontRoute,
        Self::Transparent,
        Self::FastOpen,
        Self::FastOpenConnect,
        Self::MaxSegment,
    ];

    /// Its system name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoDelay => "TCP_NODELAY",
            Self::Cork => "TCP_CORK",
            Self::DeferAccept => "TCP_DEFER_ACCEPT",
            Self::QuickAck => "TCP_QUICKACK",
            Self::ReuseAddress => "SO_REUSEADDR",
            Self::ReusePort => "SO_REUSEPORT",
            Self::KeepAlive => "SO_KEEPALIVE",
            Self::DontRoute => "SO_DONTROUTE",
            Self::Transparent => "IP_TRANSPARENT",
            Self::FastOpen => "TCP_FASTOPEN",
            Self::FastOpenConnect => "TCP_FASTOPEN_CONNECT",
            Self::MaxSegment => "TCP_MAXSEG",
        }
    }
}

/// Where a list of socket options is not what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SocketTrap {
    /// No option that 3proxy knows: ignored.
    Unknown,
}

/// The value of `-oc`, `-os`, `-ol`, `-or`, `-oR`. 3proxy looks for each option's name anywhere in the word;
/// so `TCP_FASTOPEN_CONNECT` sets `TCP_FASTOPEN` too.
#[must_use]
pub fn socket_options(word: &[u8]) -> Reading<SocketOptions, SocketTrap> {
    let holds = |name: &str| word.windows(name.len()).any(|part| part == name.as_bytes());
    let value = SocketOption::ALL.into_iter().filter(|option| holds(option.name())).collect();
    let mut traps = Vec::new();
    let mut start = 0;
    for item in word.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_') {
        let at = Span::new(start, start + item.len() as u32);
        start = at.end + 1;
        if !item.is_empty() && !SocketOption::ALL.iter().any(|option| option.name().as_bytes() == item) {
            traps.push((at, SocketTrap::Unknown));
        }
    }
    Reading { value: SocketOptions(value), traps }
}

#[cfg(test)]
mod tests {
    use super::{
        Grace, NumberTrap, Rotation,
        SocketOption::{FastOpen, FastOpenConnect, NoDelay},
        Splice, grace, rotation, socket_options, splice,
    };

    #[test]
    fn grace_takes_three_numbers() {
        assert_eq!(grace(b"8000,3,10").value, Grace { bytes: 8000, reads: 3, delay_ms: 10 });
        assert!(grace(b"8000,3,10").traps.is_empty());
        for (word, bytes, trap) in [("", 0, NumberTrap::NotANumber), ("8000", 8000, NumberTrap::NotANumber)] {
            let reading = grace(word.as_bytes());
            assert_eq!(
                (reading.value.bytes, reading.traps.first().map(|(_, trap)| *trap)),
                (bytes, Some(trap))
            );
        }
        assert_eq!(grace(b"1,2,3x").traps.len(), 1);
    }

    #[test]
    fn splice_has_a_mode_and_numbers() {
        let with = |mode, min, streak, small| Splice { mode, min, streak, small };
        assert_eq!(splice(b"").value, Splice::default());
        assert_eq!(splice(b"0").value.mode, 0);
        assert_eq!(splice(b":1,2,3").value, with(7, 1, 2, 3));
        assert_eq!(splice(b"6:65536,3,8192").value, with(6, 65_536, 3, 8192));
        assert!(splice(b"6:65536,3,8192").traps.is_empty());
        for wrong in ["x", "3:1,2", "9", "4", "1:1,2,3,4"] {
            assert_eq!(splice(wrong.as_bytes()).traps.len(), 1, "{wrong}");
        }
    }

    #[test]
    fn socket_options_are_found_anywhere_in_the_word() {
        assert_eq!(socket_options(b"TCP_NODELAY").value.0, [NoDelay]);
        assert_eq!(socket_options(b"TCP_FASTOPEN_CONNECT").value.0, [FastOpen, FastOpenConnect]);
        let reading = socket_options(b"TCP_NODELAY,TCP_NOSUCH");
        assert_eq!(
            (reading.value.0, reading.traps.first().map(|(at, _)| at.start)),
            (vec![NoDelay], Some(12))
        );
    }

    #[test]
    fn only_the_first_letter_of_a_rotation_counts() {
        assert_eq!(
            [rotation(b"D"), rotation(b"daily"), rotation(b"x"), rotation(b"")],
            [Rotation::Daily, Rotation::Daily, Rotation::Never, Rotation::Never]
        );
    }
}
