//! A plugin that is built in.
use super::rule::{Lint, rule};
use crate::{
    fix::{Fix, Safety},
    sources::Loc,
};

rule! {
    /// The SSL and PCRE plugins are a part of 3proxy since 0.9.7: loading them does nothing.
    ///
    /// The commands that they brought (`ssl_…`, `pcre…`) are there without them.
    ///
    /// ```3proxy,fires
    /// plugin /usr/lib/3proxy/SSLPlugin.ld.so ssl_plugin
    /// ssl_client_verify
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,fixed
    /// ssl_client_verify
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// ```3proxy,clean
    /// ssl_client_verify
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "obsolete-plugin",
    level: Warn,
    group: Portability,
    since: "0.1.0",
    reads: Line,
    check: check,
}

/// The functions of plugins that are built in.
const BUILT_IN: [&[u8]; 2] = [b"ssl_plugin", b"pcre_plugin"];

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    for ran in program.commands.iter().filter(|ran| ran.row.name == "plugin") {
        let words = lint.sources.values(ran.at);
        let Some((_, function)) = words.get(2).filter(|(_, word)| BUILT_IN.contains(&word.as_ref())) else {
            continue;
        };
        let name = String::from_utf8_lossy(function).into_owned();
        let line = lint.sources.get(ran.at.file).and_then(|source| {
            source
                .tree
                .line(source.tree.line_at(ran.at.span.start)?)
                .map(|line| Loc { span: line.span, ..ran.at })
        });
        let title = "remove the line, where 3proxy is 0.9.7 or newer";
        lint.report(
            RULE.finding(ran.at, format!("`{name}` is built in, so this line has no effect"))
                .help(title)
                .fix(line.map(|line| Fix::replace(title, Safety::Unsafe, line, ""))),
        );
    }
}
