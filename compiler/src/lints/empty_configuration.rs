//! A configuration without a command.
use super::rule::{Lint, rule};
use crate::sources::{FileId, Loc};
use grammar::{Span, syntax::LineKind};

rule! {
    /// The file has no commands.
    ///
    /// 3proxy starts and serves nothing. Most likely what should have written the file did not.
    ///
    /// ```3proxy,fires
    /// # managed by the deployment
    /// ```
    ///
    /// ```3proxy,clean
    /// # managed by the deployment
    /// internal 127.0.0.1
    /// socks
    /// ```
    "empty-configuration",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    // One that can't be read has its own finding, and no text.
    let Some(main) = lint.sources.get(FileId(0)) else { return };
    let is_command = |kind| !matches!(kind, LineKind::Blank | LineKind::Comment | LineKind::Indented);
    if !main.tree.lines().any(|line| is_command(line.kind)) {
        let at = Loc { file: FileId(0), span: Span::new(0, 0) };
        lint.report(
            RULE.finding(at, "this file has no commands, so nothing is served")
                .help("check the program that should have written the file"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn blank_lines_and_comments_are_no_commands() {
        check("empty-configuration", "\n   # indented\n#^ no command\n");
        check("empty-configuration", "flush\n");
    }
}
