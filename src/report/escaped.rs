//! JSON in which no character steers a terminal: what JSON itself does not escape of them is escaped as well.
use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};

use super::steers;

/// Writes a document, with an end of line.
pub(crate) fn write_json(out: &mut dyn Write, document: &impl Serialize) -> io::Result<()> {
    let mut out = out;
    let mut serializer = Serializer::with_formatter(&mut out, Escaped(PrettyFormatter::new()));
    document.serialize(&mut serializer)?;
    writeln!(out)
}

/// As [`PrettyFormatter`], but for texts.
struct Escaped(PrettyFormatter<'static>);

impl Formatter for Escaped {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, text: &str) -> io::Result<()> {
        for part in text.split_inclusive(steers) {
            let mut plain = part.chars();
            match plain.next_back().filter(|last| steers(*last)) {
                Some(last) => write!(out, "{}\\u{:04x}", plain.as_str(), u32::from(last))?,
                None => out.write_all(part.as_bytes())?,
            }
        }
        Ok(())
    }

    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_array(out)
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_array(out)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(out, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_array_value(out)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_object(out)
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_object(out)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(out, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_object_value(out)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_object_value(out)
    }
}

#[cfg(test)]
mod tests {
    use super::write_json;

    #[test]
    fn it_is_the_same_document() {
        let text = "a\u{85}b\u{9b}c\u{202e}\u{2066}\u{2028}\u{7f}é\u{e000}\"\n\u{1b}";
        let document = serde_json::json!({ text: [text, 1, { "empty": [], "none": {} }], "plain": "café" });
        let mut out = Vec::new();
        write_json(&mut out, &document).unwrap();
        let written = String::from_utf8(out).unwrap();
        assert_eq!(serde_json::from_str::<serde_json::Value>(&written).unwrap(), document);
        assert!(written.contains("a\\u0085b\\u009bc\\u202e\\u2066\\u2028\\u007fé\\ue000"), "{written}");
        assert!(written.chars().all(|char| char == '\n' || !super::steers(char)), "{written}");
        // What needs no escape is written as ever.
        let plain = serde_json::json!({ "a": [1, "é"], "b": {} });
        let mut out = Vec::new();
        write_json(&mut out, &plain).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), serde_json::to_string_pretty(&plain).unwrap() + "\n");
    }
}
