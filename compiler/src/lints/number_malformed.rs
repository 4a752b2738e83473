//! Numbers that are read otherwise than they are written.
use grammar::value::NumberTrap;

use super::rule::{Misread, rule};
use crate::{finding::Finding, program::trap::Trap};

rule! {
    /// A word that is not a plain number is read differently from what is written.
    ///
    /// 3proxy takes the digits at the beginning of the word, and 0 if there is none. It knows no units: `100k` is 100.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow *
    /// maxconn 100k
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow *
    /// maxconn 100000
    /// proxy -i127.0.0.1
    /// ```
    "number-malformed",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    trap: Trap::Number(fault) => |part| finding(part, fault),
}

fn finding(part: Misread<'_>, fault: NumberTrap) -> Finding {
    let cited = part.cited();
    let message = match fault {
        NumberTrap::NotANumber => format!("`{cited}` is not a number: 3proxy reads 0"),
        NumberTrap::Junk => format!("`{cited}` after the number is not read"),
        NumberTrap::Wraps => format!("`{cited}` is out of range: 3proxy reads another number"),
    };
    let groups = cited.strip_prefix(',').map(|rest| rest.split(','));
    RULE.finding(part.at, message).help(match groups {
        // As in `1,000`.
        Some(groups) if groups.clone().all(|group| group.len() == 3) => "write digits only, without a comma",
        Some(_) => "separate numbers with spaces",
        None => "write digits only, without a unit",
    })
}
