//! A file that is named and can't be read.
use std::path::Path;

use super::rule::rule;
use crate::{finding::Finding, sources::Loc};

rule! {
    /// A file that `include` or `$` names can't be read: 3proxy refuses the configuration.
    ///
    /// 3proxy opens a relative path from the directory in which it was started, not from that of the configuration.
    /// An empty `$file` is refused too.
    ///
    /// ```3proxy,fires
    /// auth strong
    /// users $passwords
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth strong
    /// users alice:CL:rabbit
    /// proxy -i127.0.0.1
    /// ```
    "include-missing",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    refused: true,
    from lowering,
}

/// The file that is named at `at`, and was looked up at `path`, can't be read.
pub(crate) fn finding(at: Loc, named: &Path, path: &Path, error: &str) -> Finding {
    let finding = RULE.finding(at, format!("`{}` can't be read: {error}", named.display()));
    let is_moved = named.strip_prefix(".").unwrap_or(named) != path;
    let finding =
        if is_moved { finding.note(format!("It was looked up as `{}`.", path.display())) } else { finding };
    if is_variable(named) {
        finding.help("if it is a shell variable, replace it before 3proxy reads the file, or check it as a template: `cfgc check --template`")
    } else if named.is_absolute() || is_moved {
        finding.help("create the file, or correct its path; if it is on another machine, `cfgc check --root DIR` looks up absolute paths in `DIR`, and `--no-includes` checks without it")
    } else {
        finding.help(
            "create the file, or write an absolute path: 3proxy looks in the directory where it was started",
        )
    }
}

/// Whether a file is named as variables are: `HTTP_PORT`.
fn is_variable(named: &Path) -> bool {
    let name = named.as_os_str().as_encoded_bytes();
    let is_letter = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
    name.len() > 1 && name.first().is_some_and(u8::is_ascii_uppercase) && name.iter().all(is_letter)
}
