//! A quotation that does not end in its line.
use super::rule::rule;
use crate::{finding::Finding, sources::Loc};

rule! {
    /// A quotation must end on the line where it begins; otherwise 3proxy refuses the whole file.
    ///
    /// Inside a quotation, `""` means one `"`.
    ///
    /// ```3proxy,fires
    /// logformat "L%t %U
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// logformat "L%t ""%U"""
    /// proxy -i127.0.0.1
    /// ```
    "unclosed-quote",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    refused: true,
    from lowering,
}

/// The quotation opens at `at`.
pub(crate) fn finding(at: Loc, message: &str) -> Finding {
    RULE.finding(at, message.to_owned())
        .label("opens here")
        .help("close it with `\"`, or write `\"\"` for a literal quotation mark")
}
