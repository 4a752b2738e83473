//! What changes in a file, as a unified diff. Secrets are hidden in it, so it is for readers and not for `patch` where a line has one.
use std::{
    io::{self, Write},
    path::Path,
};

use similar::{Algorithm, DiffTag, capture_diff_slices, group_diff_ops};

use compiler::mask::Script;

use super::{difference, excerpt::Excerpt, printable};

/// So many lines are shown around what changes.
const CONTEXT: usize = 3;

/// Writes what changes in the file at `path`.
pub(super) fn write(
    out: &mut dyn Write,
    path: &Path,
    script: Script,
    (before, after): (&[u8], &[u8]),
    color: bool,
) -> io::Result<()> {
    let (old, new) = (lines(before), lines(after));
    let paint =
        |style: &str, text: String| if color { format!("{style}{text}{}", difference::PLAIN) } else { text };
    let path = printable(&path.display().to_string()).into_owned();
    writeln!(out, "{}", paint(difference::GONE, format!("--- {path}")))?;
    writeln!(out, "{}", paint(difference::COME, format!("+++ {path}")))?;
    for group in group_diff_ops(capture_diff_slices(Algorithm::Myers, &old, &new), CONTEXT) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let was = range(first.old_range().start, last.old_range().end);
        let is = range(first.new_range().start, last.new_range().end);
        writeln!(out, "@@ -{was} +{is} @@")?;
        for op in group {
            let (old_range, new_range) = (op.old_range(), op.new_range());
            if op.tag() == DiffTag::Equal {
                old_range.into_iter().try_for_each(|at| writeln!(out, " {}", shown(script, &old, at)))?;
                continue;
            }
            for at in old_range {
                writeln!(out, "{}", paint(difference::GONE, format!("-{}", shown(script, &old, at))))?;
            }
            for at in new_range {
                writeln!(out, "{}", paint(difference::COME, format!("+{}", shown(script, &new, at))))?;
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
fn shown(script: Script, lines: &[&[u8]], at: usize) -> String {
    let line = lines.get(at).copied().unwrap_or_default();
    let script = script.behind(line, lines.iter().take(at).rev().copied());
    let (line, end) = match line.strip_suffix(b"\n") {
        Some(line) => (line, ""),
        None => (line, "\n\\ No newline at end of file"),
    };
    let mut excerpt = Excerpt::default();
    excerpt.line(script, line, 0, &(0..line.len()));
    let parts: Vec<_> = excerpt.text.split('\t').map(printable).collect();
    parts.join("\t") + end
}

#[cfg(test)]
mod tests {
    use compiler::mask::Script;

    use super::write;

    fn diff(before: &str, after: &str) -> String {
        let mut out = Vec::new();
        let texts = (before.as_bytes(), after.as_bytes());
        write(&mut out, "a.cfg".as_ref(), Script::Lines, texts, false).unwrap();
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
    }
}
