//! Markers of templates: what stands in a file from which a configuration is still to be made.
//!
//! Known are Jinja and its kin (`{{ value }}`, `{% control %}`, `{# comment #}`), ERB (`<%= value %>`, `<% control %>`),
//! `@NAME@`, the shell's `${NAME}`, `$NAME` and `$(command)`. [`mask`] makes of such a file one that can be split into lines and words.
use std::path::Path;

use crate::{Span, value::OPERATION_WORDS};

/// A marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marker {
    /// From its first to behind its last byte.
    pub span: Span,
    /// What it does.
    pub kind: MarkerKind,
    /// Nothing else than a template has it. Others are markers in a file that has one of these.
    pub certain: bool,
}

/// What a marker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkerKind {
    /// It stands for text.
    Value,
    /// It decides which lines are there, and how often; or it stands for lines.
    Control,
    /// It is left out.
    Comment,
}

/// Whether a file may hold markers in place of what is not known yet: `{{ port }}`, `${PORT}`, `{% if x %}`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Template {
    /// It may, if it has a marker that nothing else than a template has.
    #[default]
    Auto,
    /// It does.
    Yes,
    /// It does not: they are words as any other, as for whoever runs it.
    No,
}

impl Template {
    /// The markers of a text, in order. None where it is no template.
    #[must_use]
    pub fn markers(self, text: &[u8]) -> Vec<Marker> {
        if self == Self::No {
            return Vec::new();
        }
        let mut markers = markers(text);
        if self == Self::Yes {
            let free = |found: &Marker| {
                let at = markers.partition_point(|other| other.span.end <= found.span.start);
                markers.get(at).is_none_or(|other| found.span.end <= other.span.start)
            };
            let found: Vec<Marker> = placeholders(text).filter(free).collect();
            markers.extend(found);
            markers.sort_by_key(|marker| marker.span);
            return markers;
        }
        if markers.iter().any(|marker| marker.certain) { markers } else { Vec::new() }
    }

    /// The same for the file at `path`: one whose name says that it is a template is one, if nothing else was said.
    #[must_use]
    pub fn for_file(self, path: &Path) -> Self {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let is_named = EXTENSIONS.contains(&extension.to_ascii_lowercase().as_str());
        if self == Self::Auto && is_named { Self::Yes } else { self }
    }
}

/// Ends of names of templates.
const EXTENSIONS: [&str; 11] =
    ["ctmpl", "erb", "gotmpl", "in", "j2", "jinja", "jinja2", "mustache", "template", "tmpl", "tpl"];
/// A marker is not longer, in bytes; a comment may be.
const LONGEST: usize = 4096;
/// What follows `{{` where it stands for no text.
const CONTROL_WORDS: [&[u8]; 14] = [
    b"if",
    b"else",
    b"elseif",
    b"end",
    b"range",
    b"with",
    b"define",
    b"block",
    b"template",
    b"for",
    b"endif",
    b"endfor",
    b"each",
    b"unless",
];
/// Ends of names that are given to a program by its environment.
const VARIABLES: [&[u8]; 11] = [
    b"PORT",
    b"USER",
    b"LOGIN",
    b"PASSWORD",
    b"PASS",
    b"HOST",
    b"IP",
    b"ADDR",
    b"ADDRESS",
    b"NAME",
    b"USERNAME",
];

/// Every marker of a configuration outside its comments, in order.
fn markers(text: &[u8]) -> Vec<Marker> {
    let mut found = Vec::new();
    let mut scan = Scan::new(text);
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        if at == scan.line && byte == b'#' {
            at = scan.ends.line.behind(text, at).unwrap_or(text.len());
            scan.line = at;
            continue;
        }
        if byte == b'\n' {
            scan.line = at + 1;
        }
        let marker = if matches!(byte, b'{' | b'<' | b'@' | b'$') { scan.marker(at) } else { None };
        at = match marker {
            Some(marker) => {
                let span = marker.span.range();
                let inside = text.get(span.clone()).unwrap_or_default();
                if let Some(end) = inside.iter().rposition(|byte| *byte == b'\n') {
                    scan.line = span.start + end + 1;
                }
                found.push(marker);
                span.end
            }
            None => at + 1,
        };
    }
    found
}

/// Words that stand where a value is to be filled in by hand or by `sed`, outside comments: `SERVER_IP`, `__PORT__`, `_maxconn_`.
fn placeholders(text: &[u8]) -> impl Iterator<Item = Marker> + '_ {
    let mut start = 0;
    let lines = text.split_inclusive(|byte| *byte == b'\n').map(move |line| {
        let at = start;
        start += line.len();
        (at, line)
    });
    let found = lines.filter(|(_, line)| !line.starts_with(b"#")).flat_map(|(at, line)| {
        placeholders_of(line).map(move |span| span.shifted(u32::try_from(at).unwrap_or(u32::MAX)))
    });
    found.map(|span| Marker { span, kind: MarkerKind::Value, certain: false })
}

/// Whether a word, or a part of one, stands where a value is to be filled in: `SERVER_IP`, `__PORT__`, `_maxconn_`.
#[must_use]
pub fn holds_placeholder(word: &[u8]) -> bool {
    word.contains(&b'_') && placeholders_of(word).next().is_some()
}

fn placeholders_of(line: &[u8]) -> impl Iterator<Item = Span> + '_ {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            at += line.get(at..)?.iter().position(is_word)?;
            let length = line.get(at..)?.iter().take_while(|byte| is_word(byte)).count();
            // The flag of an option is glued to it.
            let is_flag = is_option_start(line, at);
            let flag = line
                .get(at..at + length)?
                .iter()
                .take(2)
                .take_while(|byte| is_flag && byte.is_ascii_lowercase());
            let start = at + flag.count();
            let before = at.checked_sub(1).and_then(|before| line.get(before));
            at += length;
            if before != Some(&b'$') && is_placeholder(line.get(start..at)?) {
                return Some(Span::new(u32::try_from(start).ok()?, u32::try_from(at).ok()?));
            }
        }
    })
}

/// Whether a word that begins with `-` has its flag at `at`.
fn is_option_start(line: &[u8], at: usize) -> bool {
    let before = line.get(..at).unwrap_or_default();
    before.ends_with(b"-") && before.iter().rev().nth(1).is_none_or(u8::is_ascii_whitespace)
}

/// What begins names of socket options and cipher suites.
const CONSTANTS: [&[u8]; 6] = [b"SO_", b"TCP_", b"IP_", b"IPV6_", b"TLS_", b"SSL_"];

fn is_placeholder(word: &[u8]) -> bool {
    let inside = word.iter().any(u8::is_ascii_alphanumeric);
    let fenced = word.len() > 2 && word.starts_with(b"_") && word.ends_with(b"_");
    let capitals = word.len() >= 4 && word.iter().all(|byte| is_name(*byte)) && word.contains(&b'_');
    let begins = word.first().is_some_and(u8::is_ascii_uppercase);
    let is_constant = CONSTANTS.iter().any(|start| word.starts_with(start))
        || OPERATION_WORDS.iter().any(|(name, _)| name.as_bytes() == word);
    inside && (fenced || capitals && begins && !is_constant)
}

/// A text on the way from its start to its end. What is looked for ahead is looked for once: a text may be full of openings
/// that nothing closes.
struct Scan<'a> {
    text: &'a [u8],
    /// Where the line starts.
    line: usize,
    ends: Ends,
    /// Each `(` behind a `$`, and where what closes it is over; found when the first is met.
    parentheses: Option<Vec<(usize, usize)>>,
}

/// The next ends of each kind.
struct Ends {
    braces: Next,
    control: Next,
    comment: Next,
    erb: Next,
    brace: Next,
    line: Next,
}

/// Where something stands next.
struct Next {
    part: &'static [u8],
    /// It was looked for from here on.
    from: usize,
    found: Option<usize>,
}

impl Next {
    /// Nothing has been looked for.
    const fn new(part: &'static [u8]) -> Self {
        Self { part, from: usize::MAX, found: None }
    }

    /// Where the first one that starts at or behind `at` is over. Asked in order, it reads a text once.
    fn behind(&mut self, text: &[u8], at: usize) -> Option<usize> {
        let is_known = self.from <= at && self.found.is_none_or(|found| found >= at);
        if !is_known {
            let rest = text.get(at..).unwrap_or_default();
            self.from = at;
            self.found =
                rest.windows(self.part.len()).position(|part| part == self.part).map(|found| at + found);
        }
        Some(self.found? + self.part.len())
    }
}

impl<'a> Scan<'a> {
    const fn new(text: &'a [u8]) -> Self {
        let ends = Ends {
            braces: Next::new(b"}}"),
            control: Next::new(b"%}"),
            comment: Next::new(b"#}"),
            erb: Next::new(b"%>"),
            brace: Next::new(b"}"),
            line: Next::new(b"\n"),
        };
        Self { text, line: 0, ends, parentheses: None }
    }

    /// The marker that starts at `at`.
    fn marker(&mut self, at: usize) -> Option<Marker> {
        let text = self.text;
        let rest = text.get(at..)?;
        let rest = rest.get(..LONGEST).unwrap_or(rest);
        let (end, kind, certain) = match rest {
            [b'{', b'{', inside @ ..] => {
                let end = self.ends.braces.behind(text, at)?;
                // A value stands in one line.
                if self.ends.line.behind(text, at).is_some_and(|line| line <= end) {
                    return None;
                }
                let kind = if is_control(inside) { MarkerKind::Control } else { MarkerKind::Value };
                (end, kind, true)
            }
            [b'{', b'%', b' ' | b'-' | b'+' | b'\t', ..] => {
                (self.ends.control.behind(text, at)?, MarkerKind::Control, true)
            }
            [b'{', b'#', ..] => {
                let end = self.ends.comment.behind(text, at)?;
                let lines = self.ends.line.behind(text, at).is_some_and(|line| line <= end);
                // One in a line may be an argument as any other.
                (end, MarkerKind::Comment, lines && at == self.line)
            }
            [b'<', b'%', b'=', ..] => (self.ends.erb.behind(text, at)?, MarkerKind::Value, true),
            [b'<', b'%', b' ' | b'-' | b'#', ..] => {
                (self.ends.erb.behind(text, at)?, MarkerKind::Control, true)
            }
            [b'@', name @ ..] => {
                let length = name.iter().take_while(|byte| is_name(**byte)).count();
                let closed =
                    name.get(length) == Some(&b'@') && name.first().is_some_and(u8::is_ascii_uppercase);
                closed.then_some((at + length + 2, MarkerKind::Value, true))?
            }
            [b'$', b'{', name @ ..] if name.first() != Some(&b'{') => {
                let letters =
                    name.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
                let behind = *name.get(letters)?;
                let named = letters > 0 && matches!(behind, b'}' | b':' | b'-' | b'#' | b'%' | b'/');
                named.then_some(())?;
                (self.ends.brace.behind(text, at)?, MarkerKind::Value, true)
            }
            [b'$', b'(', ..] => {
                let end = self.closed(at)?;
                let lines =
                    self.ends.line.behind(text, at).is_some_and(|line| line <= end) || at == self.line;
                (end, if lines { MarkerKind::Control } else { MarkerKind::Value }, true)
            }
            [b'$', name @ ..] => {
                let (length, kind, certain) = variable(text, at, name)?;
                (at + length, kind, certain)
            }
            _ => return None,
        };
        if end - at > LONGEST && kind != MarkerKind::Comment {
            return None;
        }
        // What a shell is to run has variables of its own.
        let certain = certain && !(rest.starts_with(b"$") && is_for_a_shell(text.get(self.line..at)?));
        let span = Span::new(u32::try_from(at).ok()?, u32::try_from(end).ok()?);
        Some(Marker { span, kind, certain })
    }

    /// Where the `$(…)` at `at` is over, parentheses within counted.
    fn closed(&mut self, at: usize) -> Option<usize> {
        let pairs = self.parentheses.get_or_insert_with(|| pairs(self.text, at));
        let pair = pairs.binary_search_by_key(&at, |(open, _)| *open).ok()?;
        pairs.get(pair).map(|(_, end)| *end)
    }
}

/// Every `$(…)` from `at` on: where it starts, and where it is over.
fn pairs(text: &[u8], at: usize) -> Vec<(usize, usize)> {
    let mut open = Vec::new();
    let mut pairs = Vec::new();
    for (place, byte) in text.iter().enumerate().skip(at) {
        match byte {
            b'(' => open.push(place),
            b')' => {
                let start = open.pop().and_then(|open| open.checked_sub(1));
                let shell = start.filter(|start| text.get(*start) == Some(&b'$'));
                pairs.extend(shell.map(|start| (start, place + 1)));
            }
            _ => {}
        }
    }
    pairs.sort_unstable();
    pairs
}

/// `$NAME`, as `envsubst` takes it. Certain is one of a telling name that is glued to something else.
fn variable(text: &[u8], at: usize, name: &[u8]) -> Option<(usize, MarkerKind, bool)> {
    let length = name.iter().take_while(|byte| is_name(**byte)).count();
    let (name, behind) = name.split_at_checked(length)?;
    let path = behind.first().is_some_and(|byte| byte.is_ascii_alphanumeric() || b"./-$".contains(byte));
    if length < 2 || path || !name.iter().any(u8::is_ascii_uppercase) {
        return None;
    }
    let before = at.checked_sub(1).and_then(|before| text.get(before)).copied().unwrap_or(b'\n');
    let option = is_option(text.get(..at)?);
    if before.is_ascii_alphanumeric() && !option {
        return None;
    }
    let glued = b":=,".contains(&before) || behind.first() == Some(&b':') || option;
    let telling = name.contains(&b'_') || VARIABLES.contains(&name);
    Some((length + 1, MarkerKind::Value, glued && telling))
}

/// Whether a line that begins so is a command whose argument others run, or has a regular expression.
fn is_for_a_shell(line: &[u8]) -> bool {
    [&b"system"[..], b"dialer", b"archiver", b"plugin", b"pcre"].iter().any(|name| line.starts_with(name))
}

/// Whether `before` ends with the flag of an option: `-p`, `-oc`.
fn is_option(before: &[u8]) -> bool {
    // A longer word is none, so it need not be read to its start.
    let tail = before.get(before.len().saturating_sub(4)..).unwrap_or_default();
    let word = tail.rsplit(|byte| byte.is_ascii_whitespace()).next().unwrap_or_default();
    word.len() > 1 && word.len() < 4 && word.starts_with(b"-")
}

const fn is_name(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_'
}

/// Whether what stands in `{{ }}` decides about lines.
fn is_control(inside: &[u8]) -> bool {
    let start = inside.iter().position(|byte| !b" -#/^~".contains(byte)).unwrap_or_default();
    let word = inside.get(start..).unwrap_or_default();
    let end = word.iter().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(word.len());
    word.get(..end).is_some_and(|word| CONTROL_WORDS.contains(&word))
        && !matches!(word.get(end), Some(b'_' | b'.' | b'[' | b'0'..=b'9'))
}

/// What stands in place of a marker's bytes: an ordinary byte that no value has.
pub const UNKNOWN: u8 = 0x1a;

/// The same text, of the same length, with unknown words where values stood, and without the lines that hold markers only.
#[must_use]
pub fn mask(text: &[u8], markers: &[Marker]) -> Masked {
    let mut masked = text.to_vec();
    let mut lines = Vec::new();
    for (marker, alone) in markers.iter().zip(alone(text, markers)) {
        if marker.kind == MarkerKind::Control || marker.kind == MarkerKind::Value && alone {
            lines.push(marker.span);
        }
        let blank = alone || marker.kind == MarkerKind::Comment;
        for byte in masked.get_mut(marker.span.range()).into_iter().flatten() {
            match blank {
                true if *byte != b'\n' => *byte = b' ',
                true => {}
                false => *byte = UNKNOWN,
            }
        }
    }
    Masked { text: masked, lines }
}

/// A text whose markers are masked.
#[derive(Clone, Debug)]
pub struct Masked {
    /// The text.
    pub text: Vec<u8>,
    /// The markers that decide which lines there are, in order.
    pub lines: Vec<Span>,
}

/// For each marker whether nothing but markers and blanks stands in the lines that it is in. What reaches into a line from
/// another is no marker there, and a word that is to be replaced is a word.
fn alone(text: &[u8], markers: &[Marker]) -> Vec<bool> {
    let span = |marker: &Marker| marker.span.range();
    let is_text = |marker: &Marker| {
        let inside = text.get(span(marker)).unwrap_or_default();
        inside.contains(&b'\n') || !inside.first().is_some_and(|byte| b"{<@$".contains(byte))
    };
    let is_blank = |part: &[u8]| part.iter().all(u8::is_ascii_whitespace);
    let mut alone = Vec::with_capacity(markers.len());
    let (mut blank, mut done) = (true, 0);
    for marker in markers {
        let gap = text.get(done..span(marker).start).unwrap_or_default();
        let mut lines = gap.rsplit(|byte| *byte == b'\n');
        let own = is_blank(lines.next().unwrap_or_default());
        blank = own && (blank || lines.next().is_some());
        alone.push(blank);
        blank &= !is_text(marker);
        done = span(marker).end;
    }
    let (mut blank, mut done) = (true, text.len());
    for (marker, alone) in markers.iter().zip(&mut alone).rev() {
        let gap = text.get(span(marker).end..done).unwrap_or_default();
        let mut lines = gap.split(|byte| *byte == b'\n');
        let own = is_blank(lines.next().unwrap_or_default());
        blank = own && (blank || lines.next().is_some());
        *alone &= blank;
        blank &= !is_text(marker);
        done = span(marker).start;
    }
    alone
}

#[cfg(test)]
mod tests;
