//! An empty pair of quotes as an argument.
use grammar::{
    directive::{self, Effect},
    syntax::{LineKind, WordShape},
};

use super::rule::{Lint, rule};
use crate::{
    fix::{Fix, Safety},
    sources::Loc,
};

rule! {
    /// `""` as an argument is not an empty one: 3proxy joins it with what follows, including the space.
    ///
    /// `deny "" 10.0.0.5` is an entry for a user whose name is ` 10.0.0.5`, and matches nobody.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// deny "" 10.0.0.5
    /// allow * 10.0.0.0/8
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// Write `*` where a field is to restrict nothing:
    ///
    /// ```3proxy,fixed
    /// auth iponly
    /// deny * 10.0.0.5
    /// allow * 10.0.0.0/8
    /// proxy -i10.0.0.1
    /// ```
    "empty-quotes",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let sources = lint.sources;
    for (file, source) in sources.iter().filter(|(_, source)| !source.spliced) {
        // Few files have one: their lines need not be looked at.
        if !source.text.windows(2).any(|two| two == b"\"\"") {
            continue;
        }
        for line in source.tree.lines() {
            let LineKind::Directive(words) = line.kind else { continue };
            let empty = source
                .tree
                .words(words)
                .find(|word| word.shape == WordShape::Quoted && word.span.of(&source.text) == b"\"\"");
            let Some(word) = empty else { continue };
            let at = Loc { file, span: word.span };
            let name = source.tree.words(words).next().map(|name| name.value(&source.text));
            let entry =
                name.and_then(|name| directive::find(&name)).is_some_and(|row| row.effect == Effect::Acl);
            let finding = RULE
                .finding(at, "3proxy appends what follows to these quotes, including the space")
                .label("not an empty argument");
            lint.report(if entry {
                let title = "write `*`, which restricts nothing";
                finding.help(title).fix(Fix::replace(title, Safety::Unsafe, at, "*"))
            } else {
                finding.help("remove the quotes: 3proxy has no way to write an empty argument")
            });
        }
    }
}
