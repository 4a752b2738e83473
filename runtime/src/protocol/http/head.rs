//! Heads: where one ends, its first line, its fields.
use std::fmt;

use super::Malformed;

/// Longest line of a head in bytes, its end not counted: what 3proxy reads as one line.
pub(crate) const MAX_LINE: usize = 32_765;
/// Longest head in bytes: sixteen of 3proxy's line buffers.
pub(crate) const MAX_HEAD: usize = 16 * 32 * 1024;
/// Most fields of a head.
const MAX_FIELDS: usize = 8192;

/// Finds the end of a head in a growing buffer, looking at each byte once.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scanner {
    line: usize,
    seen: usize,
}

impl Scanner {
    /// The length of the head, its empty line included, or `None` if more bytes are needed. `bytes` is all that has come.
    ///
    /// # Errors
    /// [`Malformed::TooLarge`].
    pub(crate) fn scan(&mut self, bytes: &[u8]) -> Result<Option<usize>, Malformed> {
        while let Some(offset) =
            bytes.get(self.seen..).and_then(|rest| rest.iter().position(|&byte| byte == b'\n'))
        {
            let end = self.seen + offset;
            let line = bytes.get(self.line..end).unwrap_or_default();
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.len() > MAX_LINE || end >= MAX_HEAD {
                return Err(Malformed::TooLarge);
            }
            self.line = end + 1;
            self.seen = self.line;
            if line.is_empty() {
                return Ok(Some(self.line));
            }
        }
        self.seen = bytes.len();
        if self.seen - self.line > MAX_LINE + 1 || self.seen > MAX_HEAD {
            return Err(Malformed::TooLarge);
        }
        Ok(None)
    }
}

/// How many bytes of line ends stand before a request: clients send them behind a body, and a server skips them.
#[must_use]
pub(crate) fn leading_line_ends(bytes: &[u8]) -> usize {
    let mut skipped = 0;
    while let Some(rest) = bytes.get(skipped..) {
        skipped += match rest {
            [b'\r', b'\n', ..] => 2,
            [b'\n', ..] => 1,
            _ => break,
        };
    }
    skipped
}

/// Makes a head unambiguous, in place: a line that continues the one before is joined to it, and control characters become
/// blanks.
///
/// # Errors
/// [`Malformed::Field`] for NUL, for CR without LF, and for a first line that is continued, [`Malformed::Line`] for control
/// characters in the first line: readers differ over them.
pub(crate) fn tidy(head: &mut [u8]) -> Result<(), Malformed> {
    let mut first_line = true;
    let mut at = 0;
    while let Some(rest) = head.get_mut(at..) {
        at += match rest {
            [] => break,
            [b'\r', b'\n', b' ' | b'\t', ..] | [b'\n', b' ' | b'\t', ..] if first_line => {
                return Err(Malformed::Field);
            }
            [cr @ b'\r', lf @ b'\n', b' ' | b'\t', ..] => {
                (*cr, *lf) = (b' ', b' ');
                3
            }
            [lf @ b'\n', b' ' | b'\t', ..] => {
                *lf = b' ';
                2
            }
            [b'\r', b'\n', ..] => {
                first_line = false;
                2
            }
            [b'\n', ..] => {
                first_line = false;
                1
            }
            [0 | b'\r', ..] => return Err(Malformed::Field),
            [byte, ..] if first_line && byte.is_ascii_control() => return Err(Malformed::Line),
            [byte, ..] => {
                if byte.is_ascii_control() && *byte != b'\t' {
                    *byte = b' ';
                }
                1
            }
        };
    }
    Ok(())
}

/// A header field. Debug prints its name alone: values hold credentials.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Field<'a> {
    /// Name, as spelled.
    pub name: &'a [u8],
    /// Value, without the blanks around it.
    pub value: &'a [u8],
}

impl fmt::Debug for Field<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ***", self.name.escape_ascii())
    }
}

impl Field<'_> {
    /// Whether it has this name, in whatever case.
    #[must_use]
    pub(crate) fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name.as_bytes())
    }
}

/// A head, cut into its parts. Debug leaves the first line out: an URL may hold a password.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Head<'a> {
    /// Request line or status line, without its end.
    pub line: &'a [u8],
    /// Fields, in order.
    pub fields: Vec<Field<'a>>,
}

impl fmt::Debug for Head<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Head").field("fields", &self.fields).finish_non_exhaustive()
    }
}

impl<'a> Head<'a> {
    /// The values of the fields of a name, in order.
    pub(crate) fn values<'s>(&'s self, name: &'s str) -> impl Iterator<Item = &'a [u8]> + 's {
        self.fields.iter().filter(move |field| field.is(name)).map(|field| field.value)
    }

    /// Whether a comma-separated list field has this item, in whatever case.
    #[must_use]
    pub(crate) fn lists(&self, name: &str, item: &str) -> bool {
        self.values(name).flat_map(items).any(|found| found.eq_ignore_ascii_case(item.as_bytes()))
    }
}

/// The items of a comma-separated value, without the blanks around them.
pub(crate) fn items(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).filter(|item| !item.is_empty())
}

/// What to do about a field whose name can't be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadNames {
    /// Refuse the message: of a client.
    Refuse,
    /// Leave the field out: of a server.
    Drop,
}

/// Cuts a tidied head. Lines without a colon or without a name are left out, as they mean nothing.
///
/// # Errors
/// [`Malformed::Field`] for a name that is not a token, if those are refused; [`Malformed::TooLarge`] for too many fields.
pub(crate) fn split(head: &[u8], bad_names: BadNames) -> Result<Head<'_>, Malformed> {
    let mut lines = head.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let line = lines.next().unwrap_or_default();
    let mut fields = Vec::new();
    for line in lines {
        let Some(colon) = line.iter().position(|&byte| byte == b':') else { continue };
        let (name, value) =
            (line.get(..colon).unwrap_or_default(), line.get(colon + 1..).unwrap_or_default());
        let name = name.trim_ascii_end();
        match name.iter().all(|&byte| is_token(byte)) {
            _ if name.is_empty() => {}
            true if fields.len() == MAX_FIELDS => return Err(Malformed::TooLarge),
            true => fields.push(Field { name, value: value.trim_ascii() }),
            false if bad_names == BadNames::Refuse => return Err(Malformed::Field),
            false => {}
        }
    }
    Ok(Head { line, fields })
}

/// Whether a byte may stand in a method or a field name (RFC 9110, `tchar`).
#[must_use]
pub(crate) fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// The minor version of HTTP/1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Version {
    /// HTTP/1.0: a connection ends with its response unless both sides say otherwise.
    Http10,
    /// HTTP/1.1: a connection is kept unless a side says otherwise.
    Http11,
}

impl Version {
    fn of(word: &[u8]) -> Option<Self> {
        let (name, minor) = word.split_at_checked(7)?;
        match minor {
            _ if !name.eq_ignore_ascii_case(b"HTTP/1.") => None,
            b"0" => Some(Self::Http10),
            [b'1'..=b'9'] => Some(Self::Http11),
            _ => None,
        }
    }

    /// As it is written in a message.
    #[must_use]
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Http10 => "HTTP/1.0",
            Self::Http11 => "HTTP/1.1",
        }
    }
}

/// A request line. Debug leaves the target out: it may hold a password.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct RequestLine<'a> {
    /// Method, as spelled.
    pub method: &'a [u8],
    /// Target. It may hold blanks: 3proxy takes them.
    pub target: &'a [u8],
    /// Version.
    pub version: Version,
}

impl fmt::Debug for RequestLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { method, target: _, version } = self;
        write!(f, "{} *** {}", method.escape_ascii(), version.text())
    }
}

/// Reads a request line.
///
/// # Errors
/// [`Malformed::Line`].
pub(crate) fn request_line(line: &[u8]) -> Result<RequestLine<'_>, Malformed> {
    let cut = |bytes: &[u8], at: Option<usize>| at.filter(|&at| at > 0 && at + 1 < bytes.len());
    let first = cut(line, line.iter().position(|&byte| byte == b' ')).ok_or(Malformed::Line)?;
    let (method, rest) = (line.get(..first).unwrap_or_default(), line.get(first + 1..).unwrap_or_default());
    let rest = rest.trim_ascii_end();
    let last = cut(rest, rest.iter().rposition(|&byte| byte == b' ')).ok_or(Malformed::Line)?;
    let (target, version) = (rest.get(..last).unwrap_or_default(), rest.get(last + 1..).unwrap_or_default());
    let target = target.trim_ascii();
    if target.is_empty() || !method.iter().all(|&byte| is_token(byte)) {
        return Err(Malformed::Line);
    }
    Ok(RequestLine { method, target, version: Version::of(version).ok_or(Malformed::Line)? })
}

/// A status line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StatusLine {
    /// Version.
    pub version: Version,
    /// Status, 100 to 999.
    pub status: u16,
}

/// Reads a status line.
///
/// # Errors
/// [`Malformed::Line`].
pub(crate) fn status_line(line: &[u8]) -> Result<StatusLine, Malformed> {
    let mut words = line.splitn(3, |&byte| byte == b' ');
    let version = words.next().and_then(Version::of).ok_or(Malformed::Line)?;
    match words.next() {
        Some([a @ b'1'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9']) => {
            let digit = |byte: u8| u16::from(byte - b'0');
            Ok(StatusLine { version, status: digit(*a) * 100 + digit(*b) * 10 + digit(*c) })
        }
        _ => Err(Malformed::Line),
    }
}

#[cfg(test)]
mod tests;
