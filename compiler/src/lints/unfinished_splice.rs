//! A `$file` as the last word of a file that does not end with a line end.
use grammar::Span;

use super::rule::rule;
use crate::{
    finding::Finding,
    fix::{Fix, Safety},
    sources::Loc,
};

rule! {
    /// A `$file` needs white space after it; at the very end of a file, 3proxy refuses it.
    ///
    /// 3proxy reads the file when it reaches the space or line end after its name. A configuration whose last line is a
    /// `$file` without a line end makes it give up.
    ///
    /// ```3proxy,fires
    /// proxy -i127.0.0.1
    /// users $passwords{EOF}
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,fixed
    /// proxy -i127.0.0.1
    /// users $passwords
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// users alice:CL:rabbit
    /// proxy -i127.0.0.1
    /// ```
    "unfinished-splice",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    refused: true,
    from lowering,
}

/// The word is at `at`.
pub(crate) fn finding(at: Loc, message: &str) -> Finding {
    let end = Loc { file: at.file, span: Span::new(at.span.end, at.span.end) };
    RULE.finding(at, message.to_owned()).help("end the line").fix(Fix::replace(
        "end the line",
        Safety::Safe,
        end,
        "\n",
    ))
}
