//! A list that a space cuts in two, so that its rest stands in the next column.
use grammar::Span;

use super::RULE;
use crate::{
    finding::Finding,
    fix::{Edit, Fix, Safety},
    lints::{
        Lint,
        columns::{columns, is_address},
    },
    sources::Loc,
};

/// What a column holds, by its place in the entry.
const COLUMNS: [&str; 7] =
    ["users", "sources", "targets", "target ports", "operations", "weekdays", "periods"];

/// A list that a space cuts.
pub(crate) struct Broken<'a> {
    /// What it lists.
    column: &'static str,
    /// Its first part, which stands in its column.
    first: Loc,
    /// The others, which are read as the next columns.
    others: Vec<(Loc, &'a [u8])>,
}

/// Reports the line's first list that goes on in the next column.
pub(super) fn check(lint: &mut Lint<'_>, at: Loc) {
    let columns = columns(lint.sources, at);
    let words: Vec<_> = columns.iter().map(|word| (*word, lint.sources.text(*word))).collect();
    if let Some(finding) = Broken::first(&words).and_then(|broken| broken.finding()) {
        lint.report(finding);
    }
}

impl<'a> Broken<'a> {
    /// The first list of an entry, whose columns these are, that goes on in the next column.
    pub(crate) fn first(columns: &[(Loc, &'a [u8])]) -> Option<Self> {
        columns.iter().zip(COLUMNS).enumerate().find_map(|(index, ((first, text), column))| {
            let mut head = *text;
            let others = columns.iter().skip(index + 1).take_while(|(_, tail)| {
                let goes_on = tail.starts_with(b",") || head.ends_with(b",") && continues(column, tail);
                head = tail;
                goes_on
            });
            let others: Vec<_> = others.copied().collect();
            (!others.is_empty()).then_some(Self { column, first: *first, others })
        })
    }

    /// Whether `word` comes after the place where the list is cut.
    pub(crate) fn moves(&self, word: Loc) -> bool {
        self.others
            .first()
            .is_some_and(|(rest, _)| rest.file == word.file && rest.span.start <= word.span.start)
    }

    /// What to say of it.
    pub(crate) fn finding(&self) -> Option<Finding> {
        let Self { column, first, others } = self;
        let (rest, text) = others.first()?;
        let cited = String::from_utf8_lossy(text);
        let mut end = first.span.end;
        let mut edits = Vec::new();
        for (part, _) in others {
            edits.push(Edit {
                at: Loc { file: part.file, span: Span::new(end, part.span.start) },
                text: String::new(),
            });
            end = part.span.end;
        }
        let title = if edits.len() == 1 { "remove the space" } else { "remove the spaces" };
        Some(
            RULE.finding(
                *rest,
                format!("a space breaks the list of {column}, so `{cited}` is in the next column"),
            )
            .label("read as the next column")
            .also(*first, format!("the list of {column} ends here"))
            .help("write the list without spaces")
            .fix(Fix { title: title.into(), safety: Safety::Safe, edits }),
        )
    }
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
