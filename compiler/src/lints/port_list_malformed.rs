//! Lists of ports that 3proxy reads otherwise than they are written.
use grammar::value::{PortTrap, port, ports};

use super::{
    columns,
    rule::{Misread, rule},
};
use crate::{finding::Finding, fix::Safety, program::trap::Trap};

rule! {
    /// 3proxy reads part of a port list differently from what is written.
    ///
    /// Text after a port or a range of ports is silently ignored: `80;443` is port 80, `80-` is port 80, and `80-90-100` is the ports
    /// 80 to 90.
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
    /// A range that ends before it begins holds no port:
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// deny * * * 443-80
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// The lower port comes first:
    ///
    /// ```3proxy,fixed
    /// auth iponly
    /// deny * * * 80-443
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Of a number above 65535 or below 0 the low 16 bits are kept: 70000 is port 4464, and `1-65536` is the range from 1 to 0.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// deny * * * 1-65536
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// deny * * * 80,443,8000-8999,1024-65535
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "port-list-malformed",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    parts: ["port-out-of-range", "port-range-reversed"],
    trap: Trap::Ports(fault) => |part| finding(part, fault),
}

fn finding(part: Misread<'_>, fault: PortTrap) -> Option<Finding> {
    match fault {
        // An address here is in the wrong column, and that is what to say.
        PortTrap::Junk if columns::holds_address(&part.unquoted()) => None,
        PortTrap::Junk => Some(dropped(part)),
        PortTrap::Wraps => Some(out_of_range(part)),
        // Where only what is read of it ends before it begins, the number that is out of range is what to say.
        PortTrap::Reversed => is_reversed(&part.cited()).then(|| reversed(part)),
    }
}

/// Whether a range ends before it begins as it is written.
fn is_reversed(range: &str) -> bool {
    let ends = range.split_once('-').map(|(first, last)| (first.parse::<u64>(), last.parse::<u64>()));
    !matches!(ends, Some((Ok(first), Ok(last))) if first <= last)
}

fn out_of_range(number: Misread<'_>) -> Finding {
    let read = port(number.text).value;
    RULE.finding(number.at, format!("port `{}` is out of range, and read as {read}", number.cited()))
        .part("port-out-of-range")
        .label("a port is 0 to 65535")
        .note("3proxy keeps the low 16 bits of the number.")
        .help("write the port that is meant; the highest is 65535")
}

fn reversed(range: Misread<'_>) -> Finding {
    let cited = range.cited();
    let turned = cited.split_once('-').map(|(first, last)| format!("{last}-{first}"));
    RULE.finding(range.at, format!("the range `{cited}` holds no port"))
        .part("port-range-reversed")
        .label("ends before it begins")
        .help("write the lower port first")
        .fix(turned.and_then(|turned| range.replaced("turn the range round", Safety::Safe, turned)))
}

/// `junk` stands behind a port or a range.
fn dropped(junk: Misread<'_>) -> Finding {
    let cited = junk.cited();
    let finding = RULE
        .finding(junk.at, format!("`{cited}` after a port is not read"))
        .label("3proxy ignores this")
        .note("A list of ports consists of numbers and ranges, separated by commas: `80,443,8000-8999`.");
    if junk.text == b"-" {
        return finding.help("write the last port too, as in `1024-65535`");
    }
    if let Some(range) = as_range(junk) {
        let fix = junk.replaced("write the range with a dash", Safety::Unsafe, range);
        return finding.help("if a range is meant, write it with a dash: `1024-65535`").fix(fix);
    }
    let Some((list, safety)) = with_commas(junk.text) else {
        let goes_on = junk.text.iter().any(u8::is_ascii_digit);
        return finding.help(if goes_on {
            "separate ports with commas, or write `-` in a range"
        } else {
            "remove it"
        });
    };
    finding.help("separate ports with commas").fix(junk.replaced("separate ports with commas", safety, list))
}

/// The junk as the end of a range: what stands before it is one port, and it is a higher one behind `:` or dots, as other programs
/// write a range.
fn as_range(junk: Misread<'_>) -> Option<String> {
    let last = [&b":"[..], b"...", b".."].into_iter().find_map(|sign| junk.text.strip_prefix(sign))?;
    let before = junk.at.span.start.checked_sub(junk.whole.span.start)?;
    let first = junk.word.get(..before as usize)?.rsplit(|byte| *byte == b',').next()?;
    let port = |text: &[u8]| str::from_utf8(text).ok()?.parse::<u16>().ok();
    let (first, last) = (port(first)?, port(last)?);
    (first < last).then(|| format!("-{last}"))
}

/// The junk as the rest of a list, if it is ports behind one other separator. Only a `;` is beyond doubt.
fn with_commas(junk: &[u8]) -> Option<(String, Safety)> {
    let separator = *junk.first().filter(|byte| b";|/+".contains(byte))?;
    let list: Vec<u8> = junk.iter().map(|byte| if *byte == separator { b',' } else { *byte }).collect();
    let understood = ports(list.strip_prefix(b",")?).is_ok_and(|reading| reading.traps.is_empty());
    let safety = if separator == b';' { Safety::Safe } else { Safety::Unsafe };
    understood.then(|| Some((String::from_utf8(list).ok()?, safety)))?
}

#[cfg(test)]
mod tests {
    use crate::{
        fix::Safety,
        lints::tests::{check, findings},
    };

    #[test]
    fn only_what_is_beyond_doubt_is_mended_unasked() {
        let (safe, asked) = (Some(Safety::Safe), Some(Safety::Unsafe));
        for (written, meant, safety) in [
            ("80;443", "80,443", safe),
            ("80;443;8000-8999", "80,443,8000-8999", safe),
            ("80|443", "80,443", asked),
            ("1024:65535", "1024-65535", asked),
            ("22,8080..8090", "22,8080-8090", asked),
            ("65535:1024", "65535:1024", None),
            ("80:443:8080", "80:443:8080", None),
            ("1-2:3", "1-2:3", None),
            ("80;443|8080", "80;443|8080", None),
            ("80.443", "80.443", None),
            ("80/tcp", "80/tcp", None),
        ] {
            let text = format!("deny * * * {written}\n");
            let found = findings("port-list-malformed", &text);
            let [finding] = found.as_slice() else { panic!("{written}: {found:#?}") };
            let fix = finding.fix.as_ref();
            assert_eq!(fix.map(|fix| fix.safety), safety, "{written}");
            let fixed = fix
                .map_or_else(|| text.clone().into_bytes(), |fix| fix.apply(finding.at.file, text.as_bytes()));
            assert_eq!(String::from_utf8(fixed).unwrap(), format!("deny * * * {meant}\n"), "{written}");
        }
    }

    #[test]
    fn whatever_is_dropped_is_named() {
        check(
            "port-list-malformed",
            r"
allow * * * 80;443
#             ^ `;443` after a port is not read
allow * * * 1024-
#               ^ `-` after a port
allow * * * 22,8080abc
#                  ^ `abc` after a port
bandlimin 64000 * * * 80;443
#                       ^ `;443`
allow * * 10.0.0.0/8 192.168.0.0/16
allow * * * 10.1.2.3
allow * * * 80-90,100
",
        );
    }
}
