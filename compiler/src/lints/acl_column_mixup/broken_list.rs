//! A list that a space cuts in two, so that its rest stands in the next column.
use grammar::Span;

use super::{RULE, columns, is_address};
use crate::{
    fix::{Edit, Fix, Safety},
    lints::Lint,
    sources::{Loc, Sources},
};

/// What a column holds, by its place in the entry.
const COLUMNS: [&str; 7] =
    ["users", "sources", "targets", "target ports", "operations", "weekdays", "periods"];

/// Reports the line's first list that goes on in the next column.
pub(super) fn check(lint: &mut Lint<'_>, at: Loc) {
    let columns = columns(lint.sources, at);
    let Some((name, word, rest)) = first_broken(lint.sources, &columns) else { return };
    let cited = String::from_utf8_lossy(lint.sources.text(rest)).into_owned();
    let gap = Loc { file: at.file, span: Span::new(word.span.end, rest.span.start) };
    let edits = vec![Edit { at: gap, text: String::new() }];
    lint.report(
        RULE.finding(rest, format!("a space breaks the list of {name}, so `{cited}` is in the next column"))
            .label("read as the next column")
            .also(word, format!("the list of {name} ends here"))
            .help("write the list without spaces")
            .fix(Fix { title: "remove the space".to_owned(), safety: Safety::Safe, edits }),
    );
}

/// The column's name, its word, and the next word, which continues its list.
fn first_broken(sources: &Sources, columns: &[Loc]) -> Option<(&'static str, Loc, Loc)> {
    let pairs = columns.iter().zip(columns.iter().skip(1));
    pairs.zip(COLUMNS).find_map(|((word, rest), name)| {
        let (head, tail) = (sources.text(*word), sources.text(*rest));
        let broken = tail.starts_with(b",") || head.ends_with(b",") && continues(name, tail);
        broken.then_some((name, *word, *rest))
    })
}

/// Whether `word` is a list of what the column holds, and no good value for the next column.
/// A trailing comma alone is harmless: generators leave it.
fn continues(column: &str, word: &[u8]) -> bool {
    let items = || word.split(|byte| *byte == b',').filter(|item| !item.is_empty());
    let first = word.first().copied().unwrap_or_default();
    match column {
        _ if word == b"*" => false,
        "users" => !items().all(is_address),
        "sources" => items().all(is_address),
        "targets" => !word.iter().all(|byte| byte.is_ascii_digit() || b",-".contains(byte)),
        "target ports" => first.is_ascii_digit(),
        "operations" => word.iter().all(|byte| byte.is_ascii_uppercase() || b",_".contains(byte)),
        "weekdays" => first.is_ascii_digit() && !word.contains(&b':'),
        _ => word.contains(&b':'),
    }
}
