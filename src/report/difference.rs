//! A fix as the difference that it makes.
use std::{collections::VecDeque, ops::Range};

use compiler::{
    fix::{Edit, Fix, Safety},
    mask::Script,
    sources::Sources,
};

use super::{
    excerpt::{Excerpt, Room},
    line_at, line_start, printable,
};

/// How many lines are shown changed.
const LINES: usize = 3;
/// How many lines are shown that come in the place of one.
const MOST_NEW: usize = 10;

const TITLE: &str = "\x1b[1m\x1b[96m";
const GUTTER: &str = "\x1b[1m\x1b[94m";
pub(super) const GONE: &str = "\x1b[91m";
pub(super) const COME: &str = "\x1b[92m";
pub(super) const PLAIN: &str = "\x1b[0m";

/// What `fix` changes, line by line: without secrets, and a window of what is very long.
pub(super) fn of(sources: &Sources, fix: &Fix, color: bool) -> String {
    let paint =
        |style: &str, text: &str| if color { format!("{style}{text}{PLAIN}") } else { text.to_owned() };
    let risk = match fix.safety {
        Safety::Safe => "",
        Safety::Unsafe => " (this changes what the configuration does)",
    };
    let mut text = format!("{}: {}{risk}", paint(TITLE, "fix"), printable(&fix.title));
    let mut edits: Vec<&Edit> = fix.edits.iter().collect();
    edits.sort_by_key(|edit| edit.at);
    let line = |edit: &Edit| (edit.at.file, sources.line_column(edit.at).line);
    let lines: Vec<&[&Edit]> = edits.chunk_by(|one, other| line(one) == line(other)).collect();
    let last = lines.iter().take(LINES).flat_map(|edits| edits.iter()).map(|edit| line(edit).1).max();
    let width = last.unwrap_or_default().to_string().len();
    let mut file = None;
    for edits in lines.iter().take(LINES) {
        let Some((first, change)) = edits.first().zip(change(sources, edits)) else { continue };
        if file.replace(first.at.file).is_some_and(|file| file != first.at.file) {
            let path = sources.get(first.at.file).map(|source| source.path.display().to_string());
            text += &format!(
                "\n{} {}",
                paint(GUTTER, &format!("{:width$}:::", "")),
                printable(&path.unwrap_or_default())
            );
        }
        let number = paint(GUTTER, &format!("{:width$}", line(first).1));
        let none = paint(GUTTER, &" ".repeat(width));
        text.extend(change.gone.map(|gone| format!("\n{number} {} {gone}", paint(GONE, "-"))));
        for (index, come) in change.come.iter().take(MOST_NEW).enumerate() {
            let number = if index == 0 { &number } else { &none };
            text += &format!("\n{number} {} {come}", paint(COME, "+"));
        }
        if change.come.len() > MOST_NEW {
            let more = change.come.len() - MOST_NEW;
            text += &format!("\n{none} {} … and {more} more lines", paint(COME, "+"));
        }
    }
    if lines.len() > LINES {
        text += &format!("\n{} and {} more lines like this", paint(GUTTER, "..."), lines.len() - LINES);
    }
    text
}

/// What becomes of one line.
struct Change {
    gone: Option<String>,
    come: VecDeque<String>,
}

/// What `edits`, which all start in one line, make of it.
fn change(sources: &Sources, edits: &[&Edit]) -> Option<Change> {
    let first = edits.first()?;
    let source = sources.get(first.at.file)?;
    let start = line_start(sources, first.at);
    let script = Script::of(sources, source).at(&source.text, start);
    let line = line_at(source, start);
    let end = start + line.len();
    let mut fixed: Vec<u8> = Vec::new();
    let mut done = start;
    for edit in edits {
        fixed.extend(source.text.get(done..edit.at.span.start as usize)?);
        fixed.extend(edit.text.as_bytes());
        done = edit.at.span.end as usize;
    }
    let removed = done > end && fixed.is_empty();
    fixed.extend(source.text.get(done..end).unwrap_or_default());

    let interest = first.at.span.start as usize - start;
    let window = Room::default().window(line.len(), interest);
    let shown = |line: &[u8], window: &Range<usize>| {
        let mut excerpt = Excerpt::default();
        excerpt.line(script, line, 0, window);
        printable(&excerpt.text.trim_end().replace('\t', "    ")).into_owned()
    };
    let gone = shown(line, &window);
    let mut come: VecDeque<String> = VecDeque::new();
    for fixed in fixed.split(|byte| *byte == b'\n').filter(|_| !removed) {
        // The same window, as much longer or shorter as the line is.
        let whole = window == (0..line.len());
        let grown = (window.end + fixed.len()).saturating_sub(line.len()).min(window.end + LONGEST);
        let window = if whole {
            0..fixed.len().min(window.end + LONGEST)
        } else {
            window.start.min(fixed.len())..grown.max(window.start)
        };
        come.push_back(shown(fixed, &window));
    }
    // A line that stays is not shown among those that are put before or behind it.
    let stays = come.len() > 1 && (come.front() == Some(&gone) || come.back() == Some(&gone));
    if come.len() > 1 && come.front() == Some(&gone) {
        come.pop_front();
    } else if stays {
        come.pop_back();
    }
    Some(Change { gone: (!stays).then_some(gone), come })
}

/// How many bytes that a fix puts into a line are shown.
const LONGEST: usize = 200;

#[cfg(test)]
mod tests {
    use compiler::{
        compile,
        fix::{Edit, Fix, Safety},
        sources::{FileId, Loc, MemoryFiles},
    };
    use grammar::Span;

    use super::of;

    fn shown(text: &str, edits: &[(u32, u32, &str)]) -> String {
        let mut files = MemoryFiles::default();
        files.insert("a", text);
        let compiled = compile("a".as_ref(), &files);
        let edit = |(start, end, text): &(u32, u32, &str)| Edit {
            at: Loc { file: FileId(0), span: Span::new(*start, *end) },
            text: (*text).to_owned(),
        };
        let fix = Fix { title: "do".into(), safety: Safety::Safe, edits: edits.iter().map(edit).collect() };
        of(&compiled.sources, &fix, false)
    }

    #[test]
    fn lines_go_and_come() {
        for (text, edits, expected) in [
            ("  flush\n", vec![(0, 2, "")], "fix: do\n1 -   flush\n1 + flush"),
            ("flush\nallow\n", vec![(6, 12, "")], "fix: do\n2 - allow"),
            ("flush\nallow\n", vec![(6, 6, "deny\n")], "fix: do\n2 + deny"),
            ("flush\nallow\n", vec![(5, 5, "\ndeny")], "fix: do\n1 + deny"),
            ("allow a b\n", vec![(6, 6, "\""), (9, 9, "\"")], "fix: do\n1 - allow a b\n1 + allow \"a b\""),
            (
                "users a:CR:$1$s$h \n",
                vec![(6, 6, "\""), (17, 17, "\"")],
                "fix: do\n1 - users a:CR:***\n1 + users \"a:CR:***\"",
            ),
            (
                "users a:CR:$1$s$h \n",
                vec![(6, 17, "\"a:CR:$1$s$h\"")],
                "fix: do\n1 - users a:CR:***\n1 + users \"a:CR:***\"",
            ),
        ] {
            assert_eq!(shown(text, &edits), expected);
        }
    }

    #[test]
    fn of_what_is_put_in_so_much_is_shown_as_can_be_read() {
        let text = shown("flush\nallow\n", &[(6, 6, &"deny\n".repeat(500))]);
        assert!(text.ends_with("\n  + deny\n  + … and 490 more lines"), "{text}");
        assert_eq!(text.lines().count(), 12);
        let text = shown("flush\nallow\n", &[(6, 6, &format!("deny {}\n", "1,".repeat(5_000)))]);
        assert!(text.ends_with('…') && text.len() < 300, "{text}");
    }

    #[test]
    fn of_many_lines_some_are_shown() {
        let edits: Vec<_> = (0..12).map(|line| (line * 3, line * 3 + 1, "")).collect();
        let text = shown(&" x\n".repeat(12), &edits);
        assert!(text.ends_with("3 -  x\n3 + x\n... and 9 more lines like this"), "{text}");
    }
}
