//! Limits of bandwidth, connections and traffic.
use grammar::{
    Text,
    value::{self, NumberTrap, Rotation, rotation},
};

use super::{
    Handlers, Lowering,
    command::{Arg, Command},
};
use crate::{
    lints,
    program::{
        limits::{Bandwidth, ConnectionRate, CounterFile, Direction, Limit, Quota, Traffic},
        trap::Trap,
    },
};

pub(super) const HANDLERS: Handlers = &[
    ("bandlimin", |lowering, command| {
        let limit = lowering.bandlim(command);
        lowering.program.limits.bandwidth_in.extend(limit);
    }),
    ("bandlimout", |lowering, command| {
        let limit = lowering.bandlim(command);
        lowering.program.limits.bandwidth_out.extend(limit);
    }),
    ("nobandlimin", |lowering, command| {
        let limit = lowering.limit(command, None, 0);
        lowering.program.limits.bandwidth_in.extend(limit);
    }),
    ("nobandlimout", |lowering, command| {
        let limit = lowering.limit(command, None, 0);
        lowering.program.limits.bandwidth_out.extend(limit);
    }),
    ("connlim", |lowering, command| lowering.connlim(command)),
    ("noconnlim", |lowering, command| {
        let limit = lowering.limit(command, None, 0);
        lowering.program.limits.connections.extend(limit);
    }),
    ("countin", |lowering, command| lowering.count(command, Direction::In)),
    ("countout", |lowering, command| lowering.count(command, Direction::Out)),
    ("countall", |lowering, command| lowering.count(command, Direction::All)),
    ("nocountin", |lowering, command| lowering.nocount(command, Direction::In)),
    ("nocountout", |lowering, command| lowering.nocount(command, Direction::Out)),
    ("nocountall", |lowering, command| lowering.nocount(command, Direction::All)),
    ("counter", |lowering, command| lowering.counter(command)),
];

/// The lowest rate that 3proxy takes, in bits per second.
const LOWEST_RATE: u32 = 300;
/// Quotas are written in megabytes.
const MEGABYTE: u64 = 1024 * 1024;

impl Lowering<'_> {
    /// An entry of a limit list whose fields start at `from`.
    fn limit<T>(&mut self, command: &Command<'_>, limit: Option<T>, from: usize) -> Option<Limit<T>> {
        let (matcher, weight) = self.matcher(command, from)?;
        Some(Limit { at: command.at, limit, matcher, weight })
    }

    fn bandlim(&mut self, command: &Command<'_>) -> Option<Limit<Bandwidth>> {
        let rate = command.argument(0)?;
        let bits_per_second = self.unsigned(rate);
        let limit = self.limit(command, Some(Bandwidth { bits_per_second }), 1);
        if bits_per_second < LOWEST_RATE {
            self.report(lints::bandlim_too_low::finding(rate, bits_per_second));
            return None;
        }
        limit
    }

    fn connlim(&mut self, command: &Command<'_>) {
        let (Some(rate), Some(period)) = (command.argument(0), command.argument(1)) else { return };
        let rate = ConnectionRate { connections: self.unsigned(rate), seconds: self.unsigned(period) };
        let limit = self.limit(command, Some(rate), 2);
        self.program.limits.connections.extend(limit);
    }

    fn count(&mut self, command: &Command<'_>, direction: Direction) {
        let [number, period, limit, ..] = command.arguments.as_slice() else { return };
        let digits = number.value.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, comment) = number.value.split_at_checked(digits).unwrap_or_default();
        let read = value::unsigned_long(&limit.value);
        if read.traps.iter().any(|(_, trap)| *trap == NumberTrap::NotANumber) {
            self.report(lints::count_limit_unread::finding(command, limit));
            return;
        }
        let megabytes = self.keep(limit, 0, read, Trap::Number);
        let quota = Quota {
            // Text without a number is a comment: the quota is kept in no file.
            number: value::unsigned(digits).value,
            comment: Text::from(comment.strip_prefix(b"/").unwrap_or(comment)),
            rotation: self.quota_period(period),
            bytes: megabytes.wrapping_mul(MEGABYTE),
        };
        let zero = quota.bytes == 0;
        let entry = self.limit(command, Some(quota), 3);
        if zero {
            self.report(lints::count_limit_zero::finding(command, limit));
        } else {
            self.program.limits.traffic.extend(entry.map(|limit| Traffic { direction, limit }));
        }
    }

    fn nocount(&mut self, command: &Command<'_>, direction: Direction) {
        let limit = self.limit(command, None, 0);
        self.program.limits.traffic.extend(limit.map(|limit| Traffic { direction, limit }));
    }

    fn counter(&mut self, command: &Command<'_>) {
        let Some(path) = command.argument(0) else { return };
        let report = command.argument(1).zip(command.argument(2));
        self.program.limits.counter_file = Some(CounterFile {
            at: command.at,
            path: path.text(),
            report: report.map(|(kind, path)| (self.quota_period(kind), path.text())),
        });
    }

    /// After which time a quota starts anew, or a report is written. `N` is how the manual's readers write never.
    fn quota_period(&mut self, letter: &Arg<'_>) -> Rotation {
        let period = rotation(&letter.value);
        if period == Rotation::Never && !letter.value.starts_with(b"N") && !letter.value.starts_with(b"n") {
            self.trap_word(letter, Trap::QuotaPeriod);
        }
        period
    }
}
