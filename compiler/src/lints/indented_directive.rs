//! A command that starts with a blank, and so is none.
use grammar::{Span, syntax::LineKind};

use super::rule::{Lint, rule};
use crate::{
    fix::{Fix, Safety},
    sources::Loc,
};

rule! {
    /// A line that starts with a blank is skipped by 3proxy.
    ///
    /// 3proxy silently reads such a line as a comment. An indented `deny` denies nothing.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow *
    ///   maxconn 100
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,fixed
    /// auth iponly
    /// allow *
    /// maxconn 100
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// The fix is not applied by default, because it puts the line into effect.
    ///
    /// Blank lines and comments may be indented:
    ///
    /// ```3proxy,clean
    /// auth iponly
    ///   # all hosts
    ///
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "indented-directive",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let sources = lint.sources;
    for (file, source) in sources.iter() {
        for line in source.tree.lines() {
            if line.kind != LineKind::Indented {
                continue;
            }
            let text = line.span.of(&source.text);
            let written = text.trim_ascii();
            // Punctuation starts a comment of other languages, or a ruler.
            if !written.first().is_some_and(u8::is_ascii_alphanumeric) {
                continue;
            }
            let indent = text.len() - text.trim_ascii_start().len();
            let start = line.span.start + u32::try_from(indent).unwrap_or_default();
            // A template takes the blanks away behind `-%}`, as if they were not there.
            if source
                .unknown
                .as_ref()
                .is_some_and(|unknown| unknown.trims_behind(&source.text, line.span.start))
            {
                continue;
            }
            // The command alone: what stands behind it may be unknown.
            let command = written.iter().position(u8::is_ascii_whitespace).unwrap_or(written.len());
            let end = start + u32::try_from(command).unwrap_or_default();
            let place = |from, to| Loc { file, span: Span::new(from, to) };
            let blank = place(line.span.start, start);
            lint.report(
                RULE.finding(place(start, end), "3proxy skips this line because it starts with white space")
                    .label("read as a comment")
                    .also(blank, "this white space")
                    .help("remove the white space, or start the line with `#` if it is meant as a comment")
                    .fix(Fix::replace("remove the white space", Safety::Unsafe, blank, "")),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn points_at_what_is_written() {
        check(
            "indented-directive",
            r"
  allow *
# ^ 3proxy skips this line
	deny *
#^ 3proxy skips this line
 ; not a command anywhere
proxy
",
        );
    }
}
