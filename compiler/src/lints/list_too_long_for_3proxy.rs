//! A `$file` that 3proxy reads only in part.
use grammar::Span;

use super::rule::{Lint, rule};
use crate::sources::Loc;

rule! {
    /// 3proxy reads the first 65,534 bytes of a `$file` only.
    ///
    /// The rest of a longer list is silently ignored, so names that should be denied are allowed. cfgc reads all of it.
    ///
    /// ```3proxy,file=domains
    /// {REP:bad-example-domain.example,:3000}
    /// ```
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// deny * * $domains
    /// allow * 192.168.0.0/16
    /// proxy -i192.168.0.1
    /// ```
    ///
    /// Use several files, and an entry for each:
    ///
    /// ```3proxy,file=domains
    /// {REP:bad-example-domain.example,:1000}
    /// ```
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// deny * * $domains
    /// deny * * $domains
    /// allow * 192.168.0.0/16
    /// proxy -i192.168.0.1
    /// ```
    "list-too-long-for-3proxy",
    level: Warn,
    group: Portability,
    since: "0.1.0",
    reads: Line,
    of_3proxy: true,
    check: check,
}

/// The most bytes that 3proxy takes of a file, the text glued before its `$` included.
const MOST: usize = 65_534;

fn check(lint: &mut Lint<'_>) {
    let sources = lint.sources;
    for (file, source) in sources.iter().filter(|(_, source)| source.spliced && source.text.len() > MOST) {
        let Some(by) = source.included_at else { continue };
        let glued = sources.text(by).iter().position(|byte| *byte == b'$').unwrap_or_default();
        let cut = u32::try_from(MOST.saturating_sub(glued)).unwrap_or(u32::MAX);
        let path = source.path.display();
        lint.report(
            RULE.finding(by, format!("3proxy reads {cut} of the {} bytes of `{path}`", source.text.len()))
                .also(Loc { file, span: Span::new(cut, cut + 1) }, "3proxy does not read past here")
                .help("split it into several files, and name each on its own line"),
        );
    }
}
