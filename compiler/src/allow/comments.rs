//! How an allowance is written: which rules a comment names, for which line, and whether with a reason.
use grammar::{
    Span,
    syntax::{Line, LineKind},
};

use crate::{
    lints::{self, Rule},
    sources::{FileId, Loc, Source},
};

/// How a comment begins that speaks to cfgc.
pub(crate) const PREFIX: &[u8] = b"cfgc:";

/// One rule name in a comment.
pub(super) struct Allowance {
    /// Where the name stands.
    pub(super) at: Loc,
    pub(super) name: String,
    /// The rule that has this name, or had it.
    pub(super) rule: Option<&'static Rule>,
    /// The line of the comment.
    pub(super) comment: usize,
    /// The line that it is for, as its index in the file; `None`: no line follows the comment, or a blank one.
    pub(super) line: Option<usize>,
    /// A blank line follows.
    pub(super) apart: bool,
    pub(super) has_reason: bool,
    pub(super) used: bool,
    /// 3proxy itself refuses what it is for.
    pub(super) refused: bool,
}

/// Finds the allowances of one file.
pub(super) fn collect(
    file: FileId,
    source: &Source,
    allowances: &mut Vec<Allowance>,
    malformed: &mut Vec<Loc>,
) {
    let mut open = allowances.len();
    for (index, line) in source.tree.lines().enumerate() {
        let Some(comment) = comment(source, &line) else {
            // These stand above this line: unless it is blank, they are for it.
            let for_line = (line.kind != LineKind::Blank).then_some(index);
            for allowance in allowances.iter_mut().skip(open) {
                (allowance.line, allowance.apart) = (for_line, for_line.is_none());
            }
            open = allowances.len();
            continue;
        };
        let Some(asked) = after(source, comment, PREFIX) else {
            if is_near(comment.of(&source.text)) {
                malformed.push(Loc { file, span: comment });
            }
            continue;
        };
        match after(source, asked, b"allow(").and_then(|list| names(source, list)) {
            Some((names, has_reason)) if !names.is_empty() => {
                allowances.extend(names.into_iter().map(|span| {
                    let name = String::from_utf8_lossy(span.of(&source.text)).into_owned();
                    Allowance {
                        at: Loc { file, span },
                        rule: lints::find(&name),
                        name,
                        comment: index,
                        line: None,
                        apart: false,
                        has_reason,
                        used: false,
                        refused: false,
                    }
                }));
            }
            _ => malformed.push(Loc { file, span: comment }),
        }
    }
}

/// What a comment says, without its `#`; it may be indented.
fn comment(source: &Source, line: &Line) -> Option<Span> {
    if !matches!(line.kind, LineKind::Comment | LineKind::Indented) {
        return None;
    }
    let mut comment = after(source, trimmed(source, line.span), b"#")?;
    while let Some(rest) = after(source, comment, b"#") {
        comment = rest;
    }
    Some(comment)
}

/// Whether a comment was meant as an allowance, and is written otherwise: `# cfgc allow(rule)`, `# CFGC: allow(rule)`,
/// `# allow(rule)`.
fn is_near(comment: &[u8]) -> bool {
    let strip = |text: &'_ [u8], word: &[u8]| {
        let (start, rest) = text.split_at_checked(word.len())?;
        start.eq_ignore_ascii_case(word).then(|| rest.to_vec())
    };
    let comment = comment.trim_ascii_start();
    let named = strip(comment, b"cfgc");
    let rest = named.as_deref().unwrap_or(comment).trim_ascii_start();
    if named.is_some() && rest.starts_with(b":") {
        return true;
    }
    let marks = rest.iter().take_while(|byte| named.is_some() && b" \t:;,.-_=".contains(byte)).count();
    let Some(rest) = strip(rest.get(marks..).unwrap_or_default(), b"allow") else { return false };
    let open = rest.trim_ascii_start().strip_prefix(b"(");
    let listed = open.unwrap_or(&rest).trim_ascii_start();
    let name = listed.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'-').next().unwrap_or_default();
    let is_rule = std::str::from_utf8(name).is_ok_and(|name| lints::find(name).is_some());
    is_rule || named.is_some() && open.is_some()
}

/// A span without the white space around it.
fn trimmed(source: &Source, span: Span) -> Span {
    let text = span.of(&source.text);
    let cut = |by: usize| u32::try_from(by).unwrap_or_default();
    let start = span.start + cut(text.len() - text.trim_ascii_start().len());
    Span::new(start, start.max(span.end - cut(text.len() - text.trim_ascii_end().len())))
}

/// What stands behind `prefix`, white space around it aside.
fn after(source: &Source, span: Span, prefix: &[u8]) -> Option<Span> {
    let rest = span.of(&source.text).strip_prefix(prefix)?;
    let start = span.end - u32::try_from(rest.len()).unwrap_or_default();
    Some(trimmed(source, Span::new(start, span.end)))
}

/// The names in `rule, rule) reason`, and whether there is a reason. In its place another list may stand: `rule), allow(rule) reason`.
fn names(source: &Source, list: Span) -> Option<(Vec<Span>, bool)> {
    let (mut names, mut list) = (Vec::new(), list);
    loop {
        let text = list.of(&source.text);
        let close = text.iter().position(|byte| *byte == b')')?;
        let mut start = list.start;
        names.extend(text.get(..close)?.split(|byte| *byte == b',').map(|item| {
            let end = start + u32::try_from(item.len()).unwrap_or_default();
            let span = trimmed(source, Span::new(start, end));
            start = end + 1;
            span
        }));
        let rest = trimmed(source, Span::new(start, list.end));
        let behind = after(source, rest, b",").unwrap_or(rest);
        match after(source, behind, b"allow(") {
            Some(next) => list = next,
            None => {
                names.retain(|span| !span.is_empty());
                return Some((names, rest.of(&source.text).iter().any(u8::is_ascii_alphanumeric)));
            }
        }
    }
}
