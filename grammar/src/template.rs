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
/// A marker is not longer, in bytes.
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
    let mut at = 0;
    let mut line_start = true;
    while let Some(&byte) = text.get(at) {
        if line_start && byte == b'#' {
            at = text
                .get(at..)
                .and_then(|rest| rest.iter().position(|byte| *byte == b'\n'))
                .map_or(text.len(), |end| at + end);
            line_start = false;
            continue;
        }
        line_start = byte == b'\n';
        let marker = if matches!(byte, b'{' | b'<' | b'@' | b'$') { marker(text, at) } else { None };
        at = match marker {
            Some(marker) => {
                found.push(marker);
                marker.span.end as usize
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

/// The marker that starts at `at`.
fn marker(text: &[u8], at: usize) -> Option<Marker> {
    let rest = text.get(at..)?;
    let rest = rest.get(..LONGEST).unwrap_or(rest);
    let (length, kind, certain) = match rest {
        [b'{', b'{', inside @ ..] => {
            let end = find(rest, b"}}")?;
            let one_line = !rest.get(..end)?.contains(&b'\n');
            let kind = if is_control(inside) { MarkerKind::Control } else { MarkerKind::Value };
            one_line.then_some((end, kind, true))?
        }
        [b'{', b'%', b' ' | b'-' | b'+' | b'\t', ..] => (find(rest, b"%}")?, MarkerKind::Control, true),
        [b'{', b'#', b' ' | b'-', ..] => (find(rest, b"#}")?, MarkerKind::Comment, false),
        [b'<', b'%', b'=', ..] => (find(rest, b"%>")?, MarkerKind::Value, true),
        [b'<', b'%', b' ' | b'-' | b'#', ..] => (find(rest, b"%>")?, MarkerKind::Control, true),
        [b'@', name @ ..] => {
            let length = name.iter().take_while(|byte| is_name(**byte)).count();
            let closed = name.get(length) == Some(&b'@') && name.first().is_some_and(u8::is_ascii_uppercase);
            closed.then_some((length + 2, MarkerKind::Value, true))?
        }
        [b'$', b'{', name @ ..] if name.first() != Some(&b'{') => {
            let letters =
                name.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
            let behind = *name.get(letters)?;
            let named = letters > 0 && matches!(behind, b'}' | b':' | b'-' | b'#' | b'%' | b'/');
            named.then_some((find(rest, b"}")?, MarkerKind::Value, true))?
        }
        [b'$', b'(', ..] => {
            let length = balanced(rest)?;
            let lines = rest.get(..length)?.contains(&b'\n') || at == 0 || text.get(at - 1) == Some(&b'\n');
            (length, if lines { MarkerKind::Control } else { MarkerKind::Value }, true)
        }
        [b'$', name @ ..] => variable(text, at, name)?,
        _ => return None,
    };
    // What a shell is to run has variables of its own.
    let certain = certain && !(rest.starts_with(b"$") && is_for_a_shell(text, at));
    let (start, length) = (u32::try_from(at).ok()?, u32::try_from(length).ok()?);
    Some(Marker { span: Span::new(start, start.checked_add(length)?), kind, certain })
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

/// Whether `at` stands in a command whose argument others run, or in a regular expression.
fn is_for_a_shell(text: &[u8], at: usize) -> bool {
    let line = text.get(..at).unwrap_or_default().rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    [&b"system"[..], b"dialer", b"archiver", b"plugin", b"pcre"].iter().any(|name| line.starts_with(name))
}

/// Whether `before` ends with the flag of an option: `-p`, `-oc`.
fn is_option(before: &[u8]) -> bool {
    let word = before.rsplit(|byte| byte.is_ascii_whitespace()).next().unwrap_or_default();
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

/// Where `end` stands in `text`, and is over.
fn find(text: &[u8], end: &[u8]) -> Option<usize> {
    text.windows(end.len()).position(|part| part == end).map(|at| at + end.len())
}

/// The length of `$(…)`, parentheses within counted.
fn balanced(text: &[u8]) -> Option<usize> {
    let mut depth = 0_u32;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 1 => return Some(at + 1),
            b')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// What stands in place of a marker's bytes: an ordinary byte that no value has.
pub const UNKNOWN: u8 = 0x1a;

/// The same text, of the same length, with unknown words where values stood, and without the lines that hold markers only.
#[must_use]
pub fn mask(text: &[u8], markers: &[Marker]) -> Masked {
    let mut masked = text.to_vec();
    let mut lines = Vec::new();
    for marker in markers {
        let alone = alone(text, marker.span);
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

/// Whether nothing but markers and blanks stands in the lines that a marker is in.
fn alone(text: &[u8], span: Span) -> bool {
    let (before, behind) = (text.get(..span.start as usize), text.get(span.end as usize..));
    let before = before.unwrap_or_default().rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    let behind = behind.unwrap_or_default().split(|byte| *byte == b'\n').next().unwrap_or_default();
    let only_markers = |part: &[u8]| {
        let mut at = 0;
        while let Some(byte) = part.get(at) {
            if byte.is_ascii_whitespace() {
                at += 1;
            } else if let Some(marker) = marker(part, at) {
                at = marker.span.end as usize;
            } else {
                return false;
            }
        }
        true
    };
    only_markers(before) && only_markers(behind)
}

#[cfg(test)]
mod tests {
    use super::{MarkerKind, markers, mask};

    #[test]
    fn markers_are_found_and_what_looks_like_them_is_not() {
        use MarkerKind::{Comment, Control, Value};
        let cases: [(&str, &[(&str, MarkerKind, bool)]); 25] = [
            ("proxy -p{{ port }}\n", &[("{{ port }}", Value, true)]),
            ("{{ if .Auth }}\n", &[("{{ if .Auth }}", Control, true)]),
            ("{{- range .Users }}\n", &[("{{- range .Users }}", Control, true)]),
            ("log {{ end_point }}\n", &[("{{ end_point }}", Value, true)]),
            ("{% for u in users %}\nallow a\n", &[("{% for u in users %}", Control, true)]),
            ("flush {# why #}\n", &[("{# why #}", Comment, false)]),
            ("socks <%= args %>\n", &[("<%= args %>", Value, true)]),
            ("<% if x %>\n", &[("<% if x %>", Control, true)]),
            ("internal @INTERNAL_IP@\n", &[("@INTERNAL_IP@", Value, true)]),
            ("log @daemon\n", &[]),
            (
                "users ${LOGIN}:CL:${PASSWORD:-x}\n",
                &[("${LOGIN}", Value, true), ("${PASSWORD:-x}", Value, true)],
            ),
            ("users $LOGIN:CL:$PASSWORD\n", &[("$LOGIN", Value, true), ("$PASSWORD", Value, true)]),
            ("proxy -p$PROXY_PORT\n", &[("$PROXY_PORT", Value, true)]),
            ("users $PASSWD\n", &[("$PASSWD", Value, false)]),
            ("users $/etc/3proxy/passwd\n", &[]),
            ("users $PASSWD.txt\n", &[]),
            ("users \"a:CR:$1$salt$ABCDEFGH\"\n", &[]),
            ("users a:CL:pa$SECRET\n", &[]),
            ("users $(cat /x | sed (s))\n", &[("$(cat /x | sed (s))", Value, true)]),
            ("$(awk '{print}'\n x)\n", &[("$(awk '{print}'\n x)", Control, true)]),
            ("system \"kill $(cat x)\"\n", &[("$(cat x)", Value, false)]),
            ("# {{ ansible_managed }}\nproxy\n", &[]),
            ("logformat \"G{%t,{%U}}\"\n", &[]),
            ("logformat \"L<%d %m>\"\n", &[]),
            ("log {{ a\n}}\n", &[]),
        ];
        for (text, expected) in cases {
            let found = markers(text.as_bytes());
            let found: Vec<_> = found
                .iter()
                .map(|marker| {
                    let at = std::str::from_utf8(marker.span.of(text.as_bytes())).unwrap();
                    (at, marker.kind, marker.certain)
                })
                .collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn placeholders_are_found_and_what_looks_like_them_is_not() {
        let cases: [(&str, &[&str]); 14] = [
            ("internal SERVER_B_IP_PLACEHOLDER\n", &["SERVER_B_IP_PLACEHOLDER"]),
            ("maxconn _maxconn_\n", &["_maxconn_"]),
            ("users __NAME__:CL:__PASS__\n", &["__NAME__", "__PASS__"]),
            ("users USER_PWD\n", &["USER_PWD"]),
            ("proxy -pSERVER_PORT -i__IP__\n", &["SERVER_PORT", "__IP__"]),
            ("log /var/log/MY_NAME.log\n", &["MY_NAME"]),
            ("allow * * * * HTTP_GET,HTTP_CONNECT\n", &[]),
            ("socks -olSO_REUSEPORT,TCP_NODELAY\n", &[]),
            ("ssl_server_ciphersuites TLS_AES_128_GCM_SHA256\n", &[]),
            ("allow my_user _x a_ A_B CL\n", &[]),
            ("# SERVER_IP\n", &[]),
            ("ssl_server_cert x\n", &[]),
            ("users $USER_PWD\n", &[]),
            ("logformat L__%U\n", &[]),
        ];
        for (text, expected) in cases {
            let found: Vec<&str> = super::placeholders(text.as_bytes())
                .map(|marker| text.get(marker.span.range()).unwrap())
                .collect();
            assert_eq!(found, expected, "{text}");
            assert_eq!(
                super::holds_placeholder(text.as_bytes()) && !text.starts_with('#'),
                !expected.is_empty(),
                "{text}"
            );
        }
    }

    #[test]
    fn a_file_may_say_by_its_name_that_it_is_a_template() {
        use super::Template::{Auto, No, Yes};
        for (path, given, expected) in [
            ("3proxy.cfg.j2", Auto, Yes),
            ("etc/3proxy.cfg.TEMPLATE", Auto, Yes),
            ("3proxy.cfg.in", No, No),
            ("3proxy.cfg", Auto, Auto),
            ("j2", Auto, Auto),
        ] {
            assert_eq!(given.for_file(std::path::Path::new(path)), expected, "{path}");
        }
        assert_eq!(Yes.markers(b"maxconn _n_ {{ SERVER_IP }}\n").len(), 2);
        assert_eq!(Auto.markers(b"maxconn _n_\n").len(), 0);
    }

    #[test]
    fn a_masked_text_keeps_its_places() {
        for (text, expected, lines) in [
            ("proxy -p{{ p }}\n", "proxy -p???????\n", false),
            ("{% if x %}\nproxy\n{% endif %}\n", "          \nproxy\n           \n", true),
            ("{{ section }}\nproxy\n", "             \nproxy\n", true),
            ("{% if x %}daemon{% endif %}\n", "??????????daemon???????????\n", true),
            ("flush {# a\nb #}\n", "flush     \n    \n", false),
            ("a {% if x %} \nb", "a ?????????? \nb", true),
            ("users {% for %}{{ a }}{% \nend %}\n", "users ??????????????????????????\n", true),
        ] {
            let masked = mask(text.as_bytes(), &markers(text.as_bytes()));
            let shown: Vec<u8> =
                masked.text.iter().map(|byte| if *byte == super::UNKNOWN { b'?' } else { *byte }).collect();
            assert_eq!(
                (std::str::from_utf8(&shown).unwrap(), !masked.lines.is_empty()),
                (expected, lines),
                "{text}"
            );
        }
    }

    #[test]
    fn any_text_can_be_masked() {
        for text in [
            "{{",
            "{%",
            "{% ",
            "$",
            "$(",
            "${",
            "@",
            "@A",
            "<%",
            "<%=",
            "{{}}",
            "$(()",
            "\u{fc}{{ \u{fc} }}\u{fc}",
        ] {
            let masked = mask(text.as_bytes(), &markers(text.as_bytes()));
            assert_eq!(masked.text.len(), text.len(), "{text}");
        }
    }
}
