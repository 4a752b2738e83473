//! `-g` without its three numbers.
use grammar::value::NumberTrap;

use super::rule::{Misread, rule};
use crate::{finding::Finding, program::trap::Trap};

rule! {
    /// `-g` takes three numbers: without them it is read as zeros, and waits for nothing.
    ///
    /// They are `-gTRAFF,NUM,DELAY`: after NUM reads in a row of TRAFF bytes or less on average, wait DELAY milliseconds.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// proxy -i192.168.0.1 -g8000,2
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// proxy -i192.168.0.1 -g8000,2,2
    /// ```
    "grace-without-numbers",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    trap: Trap::Grace(fault) => |word| finding(word, fault),
}

fn finding(word: Misread<'_>, fault: NumberTrap) -> Finding {
    let message = match fault {
        NumberTrap::NotANumber => {
            "the grace delay lacks numbers, and the missing ones are read as 0".to_owned()
        }
        NumberTrap::Junk | NumberTrap::Wraps => {
            format!("`{}` in the grace delay is not read", word.cited())
        }
    };
    RULE.finding(word.at, message)
        .label("TRAFF,NUM,DELAY")
        .help("write three numbers: `-g8000,2,2` waits 2 ms after two small reads")
}
