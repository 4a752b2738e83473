//! Text in XML.
use std::borrow::Cow;

use super::steers;

/// Text as it may stand in XML, in attributes too. XML has no way to write most control characters: they become `\u{…}`, and so
/// do others that steer a terminal.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    let is_plain = |char: char| {
        !matches!(char, '&' | '<' | '>' | '"' | '\'' | '\u{fffe}' | '\u{ffff}')
            && (!steers(char) || char == '\n')
    };
    if text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for char in text.chars() {
        match char {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            char if is_plain(char) => escaped.push(char),
            char => escaped.extend(char.escape_unicode()),
        }
    }
    Cow::Owned(escaped)
}
