//! A file that includes itself.
use std::path::Path;

use super::rule::rule;
use crate::{finding::Finding, sources::Loc};

rule! {
    /// A file that includes itself, directly or through others, is never read to its end.
    ///
    /// 3proxy goes on until it has no memory or descriptors left. cfgc stops at 64 files within each other, and where 16,384 files,
    /// 256 MiB of text or 4,194,304 words of `$file`s are included in all, each counted as often as it is named.
    ///
    /// ```3proxy,fires
    /// include 3proxy.cfg
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "include-cycle",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    refused: true,
    from lowering,
}

/// The file at `path` is included at `at`.
pub(crate) fn finding(at: Loc, path: &Path) -> Finding {
    RULE.finding(at, format!("`{}` is included from within itself", path.display())).help("remove this line")
}

/// The include at `at` is one too many.
pub(crate) fn too_deep(at: Loc) -> Finding {
    RULE.finding(at, "so many files are included that they probably include each other")
        .help("remove this line")
}

/// What is included up to `at` is more than the bounds.
pub(crate) fn too_much(at: Loc) -> Finding {
    RULE.finding(at, "the included files are too large in total, so the rest is left out")
        .label("nothing is included after this point")
        .help("write a long list into one entry, which all services after it copy")
}
