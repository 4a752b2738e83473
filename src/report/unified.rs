//! What changes in a file, as a unified diff: for `patch`, as the bytes that stand there; on a terminal escaped where they would steer it.
//! Secrets are hidden in it, so it is for readers only where a line has one.
use std::{
    io::{self, IsTerminal, Write},
    path::Path,
};

use similar::{Algorithm, DiffTag, capture_diff_slices, group_diff_ops};

use compiler::mask::Script;

use super::{
    difference,
    excerpt::{Excerpt, STARS},
    printable,
};
use crate::args::Color;

/// How many lines are shown around what changes.
const CONTEXT: usize = 3;

/// How it looks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Look {
    pub(crate) color: bool,
    /// Every byte as it is: it is not read on a terminal.
    pub(crate) raw: bool,
}

impl Look {
    /// How it looks on standard output.
    pub(crate) fn of_stdout(color: Color) -> Self {
        let out = io::stdout();
        Self { color: color.is_on(&out), raw: !out.is_terminal() }
    }
}

/// Writes what changes in the file at `path`.
pub(super) fn write(
    out: &mut dyn Write,
    path: &Path,
    script: Script,
    (before, after): (&[u8], &[u8]),
    Look { color, raw }: Look,
) -> io::Result<()> {
    let (old, new) = (lines(before), lines(after));
    let shown = if raw { shown_raw } else { shown };
    let paint = |out: &mut dyn Write, style: &str, text: &[u8]| {
        let (start, end) = if color { (style, difference::PLAIN) } else { ("", "") };
        out.write_all(&[start.as_bytes(), text, end.as_bytes(), b"\n"].concat())
    };
    let path = printable(&path.display().to_string()).into_owned();
    paint(out, difference::GONE, format!("--- {path}").as_bytes())?;
    paint(out, difference::COME, format!("+++ {path}").as_bytes())?;
    for group in group_diff_ops(capture_diff_slices(Algorithm::Myers, &old, &new), CONTEXT) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let was = range(first.old_range().start, last.old_range().end);
        let is = range(first.new_range().start, last.new_range().end);
        writeln!(out, "@@ -{was} +{is} @@")?;
        for op in group {
            let (old_range, new_range) = (op.old_range(), op.new_range());
            if op.tag() == DiffTag::Equal {
                for at in old_range {
                    out.write_all(&[b" ", &*shown(script, &old, at), b"\n"].concat())?;
                }
                continue;
            }
            for at in old_range {
                paint(out, difference::GONE, &[b"-", &*shown(script, &old, at)].concat())?;
            }
            for at in new_range {
                paint(out, difference::COME, &[b"+", &*shown(script, &new, at)].concat())?;
            }
        }
    }
    Ok(())
}

/// Lines with their ends.
fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// Lines as a diff counts them.
fn range(start: usize, end: usize) -> String {
    match end - start {
        0 => format!("{start},0"),
        1 => format!("{}", start + 1),
        lines => format!("{},{lines}", start + 1),
    }
}

/// One of some lines, without secrets and what steers a terminal.
fn shown(script: Script, lines: &[&[u8]], at: usize) -> Vec<u8> {
    let (script, line, end) = line(script, lines, at);
    let mut excerpt = Excerpt::default();
    excerpt.line(script, line, 0, &(0..line.len()));
    let parts: Vec<_> = excerpt.text.split('\t').map(printable).collect();
    (parts.join("\t") + end).into_bytes()
}

/// The same as it stands there, without secrets.
fn shown_raw(script: Script, lines: &[&[u8]], at: usize) -> Vec<u8> {
    let (script, line, end) = line(script, lines, at);
    let mut shown = Vec::with_capacity(line.len());
    let mut done = 0;
    for secret in script.secrets(line) {
        shown.extend_from_slice(line.get(done..secret.start).unwrap_or_default());
        shown.extend_from_slice(STARS.as_bytes());
        done = secret.end;
    }
    shown.extend_from_slice(line.get(done..).unwrap_or_default());
    shown.extend_from_slice(end.as_bytes());
    shown
}

/// One of some lines without its end, what it is a line of, and what is to be said if it has no end.
fn line<'a>(script: Script, lines: &[&'a [u8]], at: usize) -> (Script, &'a [u8], &'static str) {
    let line = lines.get(at).copied().unwrap_or_default();
    let script = script.behind(line, lines.iter().take(at).rev().copied());
    match line.strip_suffix(b"\n") {
        Some(line) => (script, line, ""),
        None => (script, line, "\n\\ No newline at end of file"),
    }
}

#[cfg(test)]
mod tests {
    use compiler::mask::Script;

    use super::{Look, write};

    fn diff(before: &str, after: &str) -> String {
        let mut out = Vec::new();
        let texts = (before.as_bytes(), after.as_bytes());
        write(&mut out, "a.cfg".as_ref(), Script::Lines, texts, Look::default()).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn it_reads_as_diff_writes_it() {
        assert_eq!(
            diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n"),
            "--- a.cfg\n+++ a.cfg\n@@ -2,8 +2,9 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n 9\n+10\n"
        );
        assert_eq!(diff("", "x\n"), "--- a.cfg\n+++ a.cfg\n@@ -0,0 +1 @@\n+x\n");
        assert_eq!(
            diff("a\nb", "a\nb\n"),
            "--- a.cfg\n+++ a.cfg\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"
        );
    }

    #[test]
    fn no_secret_is_shown() {
        let text = diff("users a:cl:hunter2\tb:CL:hunter2\n", "users a:CL:hunter2\tb:CL:hunter2\n");
        assert!(!text.contains("hunter2") && text.contains("-users a:cl:***\tb:CL:***\n"), "{text}");
        assert!(!diff("a\x1b[2J\n", "a\n").contains('\x1b'));
        let mut out = Vec::new();
        let texts =
            (&b"users a:cl:hunter2\xff b:CL:\xfe\r\n"[..], &b"users a:CL:hunter2\xff b:CL:\xfe\r\n"[..]);
        write(&mut out, "a.cfg".as_ref(), Script::Lines, texts, Look { raw: true, color: false }).unwrap();
        assert!(
            !out.windows(7).any(|part| part == b"hunter2") && !out.contains(&0xfe) && !out.contains(&0xff)
        );
    }
}
