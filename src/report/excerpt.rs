//! A few lines of a source, fit to be shown: in UTF-8, without secrets, and a window of what is very long.
use std::ops::Range;

use compiler::mask::Script;

/// What stands for a secret.
pub(super) const STARS: &str = "***";
/// What stands where a line is cut.
const CUT: char = '…';
/// The longest line, in bytes, that is shown whole.
const WHOLE: usize = 200;
/// How many bytes are shown of longer ones, and how many of them before what matters.
const WINDOW: usize = 160;
const BEFORE: usize = 40;

/// Lines of a source as they are shown.
#[derive(Debug, Default)]
pub(super) struct Excerpt {
    pub(super) text: String,
    /// Byte offsets in the source, and where in `text` what stands there is shown.
    places: Vec<(usize, usize)>,
}

impl Excerpt {
    /// Adds `line`, which is without its line end and starts at `start` in its source. `interest` is what matters in
    /// it, and `window` what is shown of it, both as ranges of the line.
    pub(super) fn line(&mut self, script: Script, line: &[u8], start: usize, window: &Range<usize>) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        let mut secrets = script.secrets(line);
        secrets.retain(|secret| secret.end > window.start && secret.start < window.end);
        if window.start > 0 {
            self.text.push(CUT);
        }
        let mut at = window.start;
        for secret in secrets {
            self.plain(line, start, at..secret.start);
            self.places.push((start + secret.start.max(at), self.text.len()));
            self.text.push_str(STARS);
            at = secret.end;
        }
        self.plain(line, start, at..window.end);
        self.places.push((start + window.end.max(at), self.text.len()));
        if window.end < line.len() {
            self.text.push(CUT);
        }
        // Whatever lies behind the window is shown at its end, and the next line's places are behind that.
        self.places.push((start + line.len(), self.text.len()));
    }

    /// Adds what `range` of `line` holds, byte by byte where it is not UTF-8.
    fn plain(&mut self, line: &[u8], start: usize, range: Range<usize>) {
        let mut at = start + range.start;
        for chunk in line.get(range).unwrap_or_default().utf8_chunks() {
            for char in chunk.valid().chars() {
                self.places.push((at, self.text.len()));
                self.show(char);
                at += char.len_utf8();
            }
            for _ in chunk.invalid() {
                self.places.push((at, self.text.len()));
                self.text.push(char::REPLACEMENT_CHARACTER);
                at += 1;
            }
        }
    }

    /// Adds a character. Those of ASCII that steer a terminal are shown by a picture each, or go into lines and columns: the renderers
    /// see to them.
    fn show(&mut self, char: char) {
        if super::steers(char) && !char.is_ascii() {
            self.text.extend(char.escape_unicode());
        } else {
            self.text.push(char);
        }
    }

    /// Where in `text` a span of the source is shown.
    pub(super) fn shown(&self, span: Range<usize>) -> Range<usize> {
        let place = |offset: usize| {
            let behind = self.places.partition_point(|(source, _)| *source <= offset);
            // Several may be at one offset, as around a cut: the first is where it is shown.
            let at =
                behind.checked_sub(1).and_then(|at| self.places.get(at)).map_or(0, |(source, _)| *source);
            let first = self.places.partition_point(|(source, _)| *source < at);
            self.places.get(first).map_or(0, |(_, shown)| *shown)
        };
        let start = place(span.start);
        // The end is where the next shown thing starts: a secret that is touched is marked whole.
        let end = self.places.partition_point(|(source, _)| *source < span.end);
        let end = self.places.get(end).or(self.places.last()).map_or(0, |(_, shown)| *shown);
        start..end.max(start)
    }
}

/// How much of a line has room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Room {
    /// The longest line, in bytes, that is shown whole.
    whole: usize,
    /// How many bytes are shown of longer ones.
    window: usize,
}

impl Default for Room {
    fn default() -> Self {
        Self { whole: WHOLE, window: WINDOW }
    }
}

impl Room {
    /// What has room in `columns` columns, with a label of `label` columns behind what is marked.
    pub(super) fn of(columns: usize, label: usize) -> Self {
        // The signs where it is cut, and a blank before the label.
        let window = columns.saturating_sub(label + 3).max(columns / 2);
        Self { whole: columns.min(WHOLE), window: window.min(WINDOW) }
    }

    /// What is shown of a line of `length` bytes in which `interest` matters.
    pub(super) fn window(self, length: usize, interest: usize) -> Range<usize> {
        if length <= self.whole {
            return 0..length;
        }
        let start = interest.min(length).saturating_sub(BEFORE.min(self.window / 4));
        start..length.min(start + self.window)
    }
}

#[cfg(test)]
mod tests {
    use super::{Excerpt, Room, Script};

    fn shown(line: &[u8], span: std::ops::Range<usize>) -> (String, String) {
        let mut excerpt = Excerpt::default();
        excerpt.line(Script::Lines, b"first", 1_000, &(0..5));
        excerpt.line(Script::Lines, line, 2_000, &Room::default().window(line.len(), span.start));
        let range = excerpt.shown(2_000 + span.start..2_000 + span.end);
        let marked = excerpt.text.get(range).unwrap().to_owned();
        (excerpt.text.strip_prefix("first\n").unwrap().to_owned(), marked)
    }

    #[test]
    fn marks_stay_on_what_they_mark() {
        let pair = |text: &str, marked: &str| (text.to_owned(), marked.to_owned());
        assert_eq!(shown(b"allow bob", 6..9), pair("allow bob", "bob"));
        assert_eq!(shown(b"allow bob", 0..9), pair("allow bob", "allow bob"));
        assert_eq!(shown(b"caf\xe9 bob", 5..8), pair("caf\u{fffd} bob", "bob"));
        assert_eq!(shown("café bob".as_bytes(), 6..9), pair("café bob", "bob"));
        assert_eq!(shown(b"radius secret ::12", 14..18), pair("radius *** ::12", "::12"));
        assert_eq!(shown(b"radius secret ::12", 7..13), pair("radius *** ::12", "***"));
        assert_eq!(shown(b"radius secret ::12", 8..9), pair("radius *** ::12", "***"));
        assert_eq!(shown(b"flush", 5..5), pair("flush", ""));
        // CSI in one character, and one that turns the order of letters round.
        assert_eq!(shown("a\u{9b}31m bob".as_bytes(), 7..10), pair("a\\u{9b}31m bob", "bob"));
        assert_eq!(shown("a\u{202e}b bob".as_bytes(), 6..9), pair("a\\u{202e}b bob", "bob"));
    }

    #[test]
    fn of_a_long_line_a_window_is_shown() {
        let line = ["deny * * ", &"10.0.0.1,".repeat(5_000), "bad", &",10.0.0.2".repeat(5_000)].concat();
        let at = line.find("bad").unwrap();
        let (text, marked) = shown(line.as_bytes(), at..at + 3);
        assert_eq!(marked, "bad");
        assert!(text.starts_with('…') && text.ends_with('…') && text.chars().count() < 170, "{text}");
        let (text, marked) = shown(line.as_bytes(), 9..line.len());
        assert!(
            text.starts_with("deny * * 10.") && marked.starts_with("10.") && marked.len() < 170,
            "{marked}"
        );
    }

    #[test]
    fn a_window_never_opens_on_a_secret() {
        let line = format!("users bob:CL:{}", "s".repeat(1_000));
        let (text, marked) = shown(line.as_bytes(), 500..501);
        assert_eq!((text.as_str(), marked.as_str()), ("…***…", "***"));
    }
}
