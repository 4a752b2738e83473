//! The one way to write a configuration: words one blank apart, quotes only where they are needed, one empty line at a time.
//!
//! What 3proxy reads stays what it is: comments, indented lines (which it skips), order, odd bytes, and all that stands behind `end`.
use crate::{
    LineColumn, LineIndex, parse,
    syntax::{LineKind, SyntaxError, Tree, Word, WordShape, Words},
    template::Template,
};

/// A line that 3proxy can't read, so that nobody knows what is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// Where it goes wrong.
    pub at: LineColumn,
    /// How.
    pub error: SyntaxError,
}

/// The same configuration, written the one way. Lines with a template's markers stay as they are; `template` says whether it is one.
///
/// # Errors
/// The first line that can't be split into words.
pub fn format(source: &[u8], template: Template) -> Result<Vec<u8>, Unreadable> {
    let tree = parse(source);
    let kept: Vec<_> = template.markers(source).into_iter().map(|marker| marker.span).collect();
    let line_end = line_end(source);
    let mut written = Vec::with_capacity(source.len());
    let mut blank = false;
    for line in tree.lines() {
        let text = line.span.of(source);
        if line.kind == LineKind::Blank {
            blank = !written.is_empty();
            continue;
        }
        if std::mem::take(&mut blank) {
            written.extend(line_end);
        }
        if line.span.meets(&kept) {
            written.extend(text);
            continue;
        }
        match line.kind {
            LineKind::Blank => {}
            LineKind::Comment | LineKind::Indented => written.extend(text.trim_ascii_end()),
            // Some editors end lines so: joined by a blank they would never be lines again.
            LineKind::Directive(_) if text.trim_ascii_end().contains(&b'\r') => {
                written.extend(text.trim_ascii_end())
            }
            LineKind::Directive(words) => {
                if ends(&tree, words, source) {
                    written.extend(source.get(line.span.start as usize..).unwrap_or_default());
                    return Ok(written);
                }
                directive(&tree, words, source, &mut written);
            }
            LineKind::Bad(error, _) => return Err(unreadable(source, error)),
        }
        written.extend(line_end);
    }
    Ok(written)
}

/// How the lines of a file end: as its first one does.
fn line_end(source: &[u8]) -> &'static [u8] {
    let first = source.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if first.len() < source.len() && first.ends_with(b"\r") { b"\r\n" } else { b"\n" }
}

/// Whether 3proxy stops reading here.
fn ends(tree: &Tree, words: Words, source: &[u8]) -> bool {
    let mut words = tree.words(words);
    words.next().is_some_and(|word| &*word.value(source) == b"end") && words.next().is_none()
}

fn directive(tree: &Tree, words: Words, source: &[u8], written: &mut Vec<u8>) {
    for (index, word) in tree.words(words).enumerate() {
        if index > 0 {
            written.push(b' ');
        }
        match word.shape {
            WordShape::Quoted if !needs_quotes(&word, source) => written.extend(&*word.value(source)),
            WordShape::Plain | WordShape::Quoted | WordShape::Splice { .. } => {
                written.extend(word.span.of(source));
            }
        }
    }
}

/// Whether a word without its quotes would be, or look like, something else.
fn needs_quotes(word: &Word, source: &[u8]) -> bool {
    let value = word.value(source);
    value.is_empty() || !value.iter().all(|byte| byte.is_ascii_graphic() && !b"\"$#\\".contains(byte))
}

fn unreadable(source: &[u8], error: SyntaxError) -> Unreadable {
    Unreadable { at: LineIndex::new(source).line_column(error.span().start), error }
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {}", self.at.line, self.at.column, self.error.message())
    }
}

impl std::error::Error for Unreadable {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::format;
    use crate::{
        parse,
        syntax::{LineKind, WordShape},
        template::Template,
    };

    /// What 3proxy reads of a text, up to `end`: the words of each command, each with the file that it names.
    fn read(text: &[u8]) -> Vec<Vec<(Vec<u8>, Option<Vec<u8>>)>> {
        let tree = parse(text);
        let mut commands = Vec::new();
        for line in tree.lines() {
            let LineKind::Directive(words) = line.kind else { continue };
            let words =
                tree.words(words).map(|word| (word.value(text).into_owned(), word.spliced_path(text)));
            commands.push(words.collect::<Vec<_>>());
            if commands.last().unwrap().iter().map(|(word, _)| &word[..]).eq([b"end"]) {
                break;
            }
        }
        commands
    }

    #[test]
    fn blanks_and_quotes() {
        for (text, expected) in [
            ("", ""),
            ("\n\n", ""),
            ("\nauth  \t iponly \n\n\n\nproxy", "auth iponly\n\nproxy\n"),
            ("allow \"bob\" \"a b\" \"\" x\"y z\"\n", "allow bob \"a b\" \"\" x\"y z\"\n"),
            ("\"allow\" b\"o\"b\n", "allow bob\n"),
            ("\"#allow\" \"#x\" \"$1$x\" \"a\\\"\n", "\"#allow\" \"#x\" \"$1$x\" \"a\\\"\n"),
            ("users  $\"my users\"  x\n", "users $\"my users\" x\n"),
            ("  indented   is skipped  \n#  a   comment \t\n", "  indented   is skipped\n#  a   comment\n"),
            ("log\r\nproxy  -p1\r\n", "log\r\nproxy -p1\r\n"),
            ("log\nproxy  -p1\r\n", "log\nproxy -p1\n"),
            ("proxy\nend\n\n\n \"not  closed", "proxy\nend\n\n\n \"not  closed"),
            ("proxy  -p{{ a  or  b }}\nallow  *\n", "proxy  -p{{ a  or  b }}\nallow *\n"),
            ("auth  iponly\rallow  *\r# a\rproxy\r", "auth  iponly\rallow  *\r# a\rproxy\n"),
        ] {
            assert_eq!(
                String::from_utf8(format(text.as_bytes(), Template::Auto).unwrap()).unwrap(),
                expected,
                "{text:?}"
            );
        }
    }

    #[test]
    fn what_is_a_template_may_be_said() {
        for (text, template, expected) in [
            ("users  $PASSWD\n", Template::Auto, "users $PASSWD\n"),
            ("users  $PASSWD\n", Template::Yes, "users  $PASSWD\n"),
            ("log  {{ a  }}\n", Template::Auto, "log  {{ a  }}\n"),
            ("log  {{ a  }}\n", Template::No, "log {{ a }}\n"),
        ] {
            let written = format(text.as_bytes(), template).unwrap();
            assert_eq!(String::from_utf8(written).unwrap(), expected, "{text} {template:?}");
        }
    }

    #[test]
    fn what_can_t_be_read_is_named() {
        for (text, fault) in [
            (&b"log\nallow \"a\n"[..], "2:7: this quotation is not closed in its line"),
            (b"users $file", "1:7: 3proxy refuses a `$file` at the end of a file without a line end"),
            (
                b"\xef\xbb\xbflog\n",
                "1:1: the file begins with a byte order mark, which 3proxy takes for a part of the first command",
            ),
            (b"log\0x\n", "1:4: 3proxy drops the rest of this line, which has a NUL byte"),
        ] {
            assert_eq!(format(text, Template::Auto).unwrap_err().to_string(), fault);
        }
    }

    proptest! {
        /// Whatever the text: the same words in the same lines, and what is written once is not written otherwise.
        #[test]
        fn it_says_the_same_and_is_settled(text in "([ \t\r\n\"#$a*,.{}%-]|end|proxy|\u{e9}|\n){0,60}") {
            let text = text.as_bytes();
            if let Ok(once) = format(text, Template::Auto) {
                prop_assert_eq!(read(text), read(&once));
                prop_assert_eq!(&format(&once, Template::Auto).unwrap(), &once);
            }
        }

        /// Comments stay, and in their order.
        #[test]
        fn comments_stay(text in "([ \t\n\"#a]|\n#|\n \n){0,40}") {
            let comments = |text: &[u8]| -> Vec<Vec<u8>> {
                let tree = parse(text);
                let kept = |line: &crate::syntax::Line| matches!(line.kind, LineKind::Comment | LineKind::Indented);
                tree.lines().filter(kept).map(|line| line.span.of(text).trim_ascii_end().to_vec()).collect()
            };
            if let Ok(once) = format(text.as_bytes(), Template::Auto) {
                prop_assert_eq!(comments(text.as_bytes()), comments(&once));
            }
        }
    }

    #[test]
    fn no_word_is_left_quoted_without_need() {
        let text = b"allow \"bob\" \"10.0.0.0/8\" \"a,b\" \"*\" \"80\"\n";
        let once = format(text, Template::Auto).unwrap();
        let tree = parse(&once);
        let LineKind::Directive(words) = tree.line(0).unwrap().kind else { panic!("no command") };
        assert!(tree.words(words).all(|word| word.shape == WordShape::Plain));
    }
}
