//! Ports, operations, addresses and hours in a column of another kind.
use grammar::Span;

use super::RULE;
use crate::{
    fix::{Edit, Fix, Safety},
    lints::{
        Lint, clock,
        columns::{
            OPERATIONS, PORTS, TARGETS, all_items, columns, holds_address, holds_clock, is_address,
            is_operation, is_port, names_no_host,
        },
        rule::Misread,
    },
    program::{acl::Matcher, trap::Trap},
    sources::{Loc, Sources},
};

pub(super) const COLUMNS: &str =
    "The columns are: users, sources, targets, target ports, operations, weekdays, periods.";

/// Reports a port list of addresses, and weekdays that are hours: each once, whatever 3proxy makes of their parts.
pub(super) fn check(lint: &mut Lint<'_>) {
    let mut told = None;
    for (part, trap) in lint.traps() {
        let word = part.unquoted();
        let found = match trap {
            Trap::Ports(_) if holds_address(&word) => address_as_port,
            Trap::Weekdays(_) if holds_clock(&word) => hours_as_days,
            _ => continue,
        };
        if told.replace(part.whole) != Some(part.whole) {
            found(lint, part);
        }
    }
}

/// Whether the targets are ports.
pub(super) fn has_ports(matcher: &Matcher) -> bool {
    let mut names = matcher.targets.iter().flat_map(|targets| targets.names.iter());
    matcher.targets.as_ref().is_some_and(|targets| names_no_host(targets))
        && names.all(|name| is_port(name.text()))
}

/// Reports ports or operations in the target column. Names are compared whatever their case, but only capitals make an operation.
pub(super) fn target(lint: &mut Lint<'_>, at: Loc, matcher: &Matcher) {
    if !matcher.targets.as_ref().is_some_and(|targets| names_no_host(targets)) {
        return;
    }
    let columns = columns(lint.sources, at);
    let Some(place) = columns.get(TARGETS).copied() else { return };
    let written = lint.sources.text(place);
    let text: Vec<u8> = written.iter().copied().filter(|byte| *byte != b'"').collect();
    let text = text.as_slice();
    let (meant, column, example) = if all_items(text, is_port) {
        (PORTS, "ports", "`* PORTS` (any target)")
    } else if all_items(text, is_operation) {
        (OPERATIONS, "operations", "`* * OPERATIONS` (any target, any port)")
    } else {
        return;
    };
    let cited = String::from_utf8_lossy(text);
    let finding = RULE
        .finding(place, format!("`{cited}` is in the target column, so it is compared with host names"))
        .label("no host has this name")
        .note(COLUMNS)
        .help(format!("for {column}, write {example}"))
        .fix(
            str::from_utf8(written).ok().and_then(|text| moved(lint.sources, &columns, TARGETS, meant, text)),
        );
    lint.report(finding);
}

/// Takes the column at `place` out, and puts `text` in the column `meant`, which is behind it. `None`: something stands there or between,
/// or behind.
pub(super) fn moved(
    sources: &Sources,
    columns: &[Loc],
    place: usize,
    meant: usize,
    text: &str,
) -> Option<Fix> {
    let from = columns.get(place)?;
    let behind = columns.get(place + 1..)?;
    if behind.iter().any(|word| sources.text(*word) != b"*") {
        return None;
    }
    let mut written = vec!["*"; columns.len().max(meant + 1) - place];
    *written.get_mut(meant - place)? = text;
    let to = behind.last().unwrap_or(from);
    let at = Loc { file: from.file, span: Span::new(from.span.start, to.span.end) };
    Some(Fix::replace("move it to its column", Safety::Unsafe, at, written.join(" ")))
}

fn address_as_port(lint: &mut Lint<'_>, part: Misread<'_>) {
    let cited = String::from_utf8_lossy(part.word);
    let mut finding = RULE
        .finding(
            part.whole,
            format!("`{cited}` is in the port column, where 3proxy reads its first number as a port"),
        )
        .label("an address is not a port")
        .note(COLUMNS);
    let columns = columns(lint.sources, part.whole);
    let targets = columns.get(TARGETS).filter(|_| columns.get(PORTS) == Some(&part.whole));
    let list = targets.map(|targets| lint.sources.text(*targets)).unwrap_or_default();
    finding = match list {
        b"*" => finding.help("write the address in the target column, before the ports: `* * ADDRESS`"),
        _ => finding.help("write all targets as one list, separated by commas, without spaces"),
    };
    if let Some(targets) = targets.filter(|_| all_items(part.word, is_address)) {
        finding = finding.fix(joined(*targets, list, part));
    }
    lint.report(finding);
}

/// Puts addresses from the port column to the targets, if these are addresses, too, or any.
fn joined(targets: Loc, list: &[u8], part: Misread<'_>) -> Option<Fix> {
    if list == b"*" {
        let text = str::from_utf8(part.word).ok()?.to_owned();
        let edits = vec![Edit { at: targets, text }, Edit { at: part.whole, text: "*".to_owned() }];
        return Some(Fix { title: "move it to the targets".into(), safety: Safety::Unsafe, edits });
    }
    let gap = Loc { file: targets.file, span: Span::new(targets.span.end, part.whole.span.start) };
    let fix = || Fix::replace("join it to the targets", Safety::Unsafe, gap, ",");
    all_items(list, is_address).then(fix)
}

fn hours_as_days(lint: &mut Lint<'_>, part: Misread<'_>) {
    let cited = String::from_utf8_lossy(part.word);
    let mut finding = RULE
        .finding(
            part.whole,
            format!("`{cited}` is in the weekday column, where 3proxy reads each digit as a day"),
        )
        .label("hours are periods, in the next column")
        .note(COLUMNS)
        .help("write weekdays (`*` for all) and periods in two columns: `1-5 09:00:00-18:00:00`");
    if let Some((days, periods)) = parted(part.word) {
        let columns = columns(lint.sources, part.whole);
        let mut behind = columns.iter().skip_while(|word| **word != part.whole).skip(1);
        let (title, safety) = ("write the hours in their column", Safety::Safe);
        match behind.next() {
            None if columns.contains(&part.whole) => {
                let fix = Fix::replace(title, safety, part.whole, format!("{days} {periods}"));
                finding = finding.fix(fix);
            }
            Some(next) if lint.sources.text(*next) == b"*" => {
                let edits = vec![Edit { at: part.whole, text: days }, Edit { at: *next, text: periods }];
                finding = finding.fix(Fix { title: title.into(), safety, edits });
            }
            _ => {}
        }
    }
    lint.report(finding);
}

/// The weekdays and, in full, the periods of a list that has the days first. `None`: it is another mixture.
fn parted(word: &[u8]) -> Option<(String, String)> {
    let word = str::from_utf8(word).ok()?;
    let hours = word.split(',').position(holds_clock_text)?;
    let items: Vec<&str> = word.split(',').collect();
    let (days, periods) = items.split_at_checked(hours)?;
    let day = |item: &&str| item.bytes().all(|byte| matches!(byte, b'0'..=b'7' | b'-')) && !item.is_empty();
    let periods = periods.iter().copied().all(holds_clock_text).then(|| periods.join(","))?;
    let periods = clock::periods(&periods)?;
    let days = if days.is_empty() { "*".to_owned() } else { days.iter().all(day).then(|| days.join(","))? };
    Some((days, periods))
}

fn holds_clock_text(item: &str) -> bool {
    holds_clock(item.as_bytes())
}
