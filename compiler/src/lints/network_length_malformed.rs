//! Networks whose length is not what is written.
use grammar::value::{AddressTrap, TargetTrap};

use super::rule::{Misread, rule};
use crate::{finding::Finding, program::trap::Trap};

rule! {
    /// A prefix length that is not a plain number is read differently from what is written.
    ///
    /// `10.0.0.0/` and `10.0.0.0/abc` are `/0` to 3proxy: every address. Text after a number is ignored, and so is text
    /// after a range.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// proxy -i127.0.0.1
    /// ```
    "network-length-malformed",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    trap: Trap::Source(fault) | Trap::Target(TargetTrap::Address(fault)) => |part| finding(part, fault),
}

fn finding(part: Misread<'_>, fault: AddressTrap) -> Option<Finding> {
    let cited = part.cited();
    let (message, label) = match fault {
        AddressTrap::LengthMissing => {
            (format!("`{cited}` is not a length: 3proxy reads `/0`"), "every address matches")
        }
        AddressTrap::LengthJunk => (format!("`{cited}` after the length is not read"), "not read"),
        AddressTrap::LengthWraps => {
            (format!("`{cited}` is too long a prefix length"), "read as another length")
        }
        AddressTrap::BehindRange => (format!("`{cited}` after a range is not read"), "not read"),
        AddressTrap::HostBits => return None,
    };
    let finding = RULE.finding(part.at, message).label(label);
    Some(finding.help("write a length from 0 to 32, or to 128 for IPv6"))
}
