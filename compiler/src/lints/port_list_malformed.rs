//! Text behind a port that 3proxy does not look at.
use grammar::value::{PortTrap, ports};

use super::rule::{Lint, Part, rule};
use crate::{finding::Finding, fix::Safety, program::trap::Trap};

rule! {
    /// Text behind a port or a range of ports is dropped without a word.
    ///
    /// 3proxy reads `80;443` as port 80, `80-` as port 80, and `80-90-100` as the ports 80 to 90.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// deny * * * 80;443
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Lists are written with commas:
    ///
    /// ```3proxy,fixed
    /// auth iponly
    /// deny * * * 80,443
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// deny * * * 80,443,8000-8999,60000-65535
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "port-list-malformed",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    for (junk, trap) in lint.traps() {
        if trap == Trap::Ports(PortTrap::Junk) {
            lint.report(found(junk));
        }
    }
}

/// `junk` stands behind a port or a range.
fn found(junk: Part<'_>) -> Finding {
    let cited = junk.cited();
    let finding = RULE
        .finding(junk.at, format!("`{cited}` behind a port is not read"))
        .label("3proxy drops this")
        .note("A list of ports is numbers and ranges at commas: `80,443,8000-8999`.");
    if junk.text == b"-" {
        return finding.help("write the last port too, as in `1024-65535`");
    }
    let repaired = with_commas(junk.text);
    let help = if repaired.is_some() { "separate ports with commas" } else { "remove it" };
    finding
        .help(help)
        .fix(repaired.and_then(|text| junk.replaced("separate ports with commas", Safety::Safe, text)))
}

/// The junk as the rest of a list, if it is ports behind another separator.
fn with_commas(junk: &[u8]) -> Option<String> {
    let separator = |byte: &u8| matches!(byte, b';' | b'|' | b'/' | b':' | b'.' | b'+');
    let separated = junk.first().is_some_and(separator);
    let list: Vec<u8> = junk.iter().map(|byte| if separator(byte) { b',' } else { *byte }).collect();
    let understood = ports(list.strip_prefix(b",")?).is_ok_and(|reading| reading.traps.is_empty());
    (separated && understood).then(|| String::from_utf8(list).ok())?
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn whatever_is_dropped_is_named() {
        check(
            "port-list-malformed",
            r"
allow * * * 80;443
#             ^ `;443` behind a port is not read
allow * * * 1024-
#               ^ `-` behind a port
allow * * * 22,8080abc
#                  ^ `abc` behind a port
bandlimin 64000 * * * 80;443
#                       ^ `;443`
allow * * * 80-90,100
",
        );
    }
}
