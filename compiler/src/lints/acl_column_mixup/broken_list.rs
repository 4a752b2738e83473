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
pub(super) const COLUMNS: [&str; 7] =
    ["users", "sources", "targets", "target ports", "operations", "weekdays", "periods"];

/// A list that a space cuts.
pub(crate) struct Broken<'a> {
    /// What it lists.
    column: &'static str,
    /// Its first part, which stands in its column.
    first: (Loc, &'a [u8]),
    /// The others, which are read as the next columns.
    others: Vec<(Loc, &'a [u8])>,
}

/// A word without the quotes around it: they change nothing of a list.
fn bare(word: &[u8]) -> &[u8] {
    word.strip_prefix(b"\"").and_then(|inside| inside.strip_suffix(b"\"")).unwrap_or(word)
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
            let mut head = bare(text);
            let others = columns.iter().skip(index + 1).take_while(|(_, tail)| {
                let tail = bare(tail);
                let goes_on = tail.starts_with(b",") || head.ends_with(b",") && continues(column, tail);
                head = tail;
                goes_on
            });
            let others: Vec<_> = others.copied().collect();
            (!others.is_empty()).then_some(Self { column, first: (*first, *text), others })
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
        let Self { column, first: (first, head), others } = self;
        let (rest, text) = others.first()?;
        let cited = String::from_utf8_lossy(bare(text));
        let mut before = (*first, *head);
        let mut edits = Vec::new();
        for part in others {
            // Two quotes side by side would be one that stands for itself.
            let quotes = u32::from(before.1.ends_with(b"\"") && part.1.starts_with(b"\""));
            edits.push(Edit {
                at: Loc {
                    file: part.0.file,
                    span: Span::new(before.0.span.end - quotes, part.0.span.start + quotes),
                },
                text: String::new(),
            });
            before = *part;
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::{
        compile,
        fix::{Safety, mend},
        sources::{Files, MemoryFiles},
    };

    /// What was cut is one word, and lists what it was meant to, however it was quoted.
    #[test]
    fn quotes_are_joined_as_they_were_meant() {
        for (entry, fixed) in [
            ("allow al, bo", "allow al,bo"),
            ("allow \"al,\" \"bo\"", "allow \"al,bo\""),
            ("allow \"al\" \",bo\"", "allow \"al,bo\""),
            ("allow \"al,\" \"bo,\" \"ce\"", "allow \"al,bo,ce\""),
            ("allow al, \"bo\"", "allow al,\"bo\""),
            ("allow \"al,\" bo", "allow \"al,\"bo"),
            ("allow * \"10.0.0.1,\" \"10.0.0.2\"", "allow * \"10.0.0.1,10.0.0.2\""),
        ] {
            let text = |entry: &str| format!("users al:CL:x bo:CL:y ce:CL:z\nauth strong\n{entry}\nproxy\n");
            let mut files = MemoryFiles::default();
            files.insert("3proxy.cfg", text(entry));
            let compile = |files: &dyn Files| {
                let mut compiled = compile(Path::new("3proxy.cfg"), files);
                compiled.findings.retain(|finding| finding.rule == "acl-column-mixup");
                compiled
            };
            let mended = mend(&files, &compile, &[], Safety::Safe);
            let changed = mended.changed.get(Path::new("3proxy.cfg")).map(|changed| changed.after.clone());
            assert_eq!(changed.map(|text| String::from_utf8(text).unwrap()), Some(text(fixed)), "{entry}");
            let matcher = &mended.compiled.program.acls.aces[0].matcher;
            let listed = (
                matcher.users.as_ref().map(|list| list.iter().count()),
                matcher.sources.as_ref().map(|list| list.len()),
            );
            let names = entry.matches(',').count() + 1;
            assert!(listed == (Some(names), None) || listed == (None, Some(names)), "{entry}: {listed:?}");
        }
    }
}
