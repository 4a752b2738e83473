//! Days of the week and times of the day.

/// A set of days; bit 0 is Sunday.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Weekdays(pub u8);

impl Weekdays {
    /// Whether `day` (0 is Sunday) is one of them.
    #[must_use]
    pub const fn has(self, day: u8) -> bool {
        day < 7 && self.0 & (1 << day) != 0
    }
}

/// From a second of the day up to, not including, another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Period {
    /// First second since midnight.
    pub from: u32,
    /// Second behind the last.
    pub to: u32,
}

impl Period {
    /// Whether `second` lies in it.
    #[must_use]
    pub const fn contains(self, second: u32) -> bool {
        self.from <= second && second < self.to
    }
}
