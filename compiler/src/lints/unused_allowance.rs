//! A comment that allows what is not there.
use super::rule::rule;

rule! {
    /// An allowance suppresses nothing.
    ///
    /// `# cfgc: allow(RULE) REASON` above a line says that what RULE finds in that line is meant. When the line was mended
    /// or moved, or the name is misspelt, the comment is left over, and could hide a fault that is made later. What 3proxy
    /// itself refuses can't be allowed.
    ///
    /// ```3proxy,fires
    /// # cfgc: allow(indented-directive) for looks
    /// maxconn 100
    /// ```
    ///
    /// ```3proxy,clean
    /// # cfgc: allow(indented-directive) for looks
    ///   maxconn 100
    /// ```
    "unused-allowance",
    level: Warn,
    group: Style,
    since: "0.1.0",
    from lowering,
}
