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
    } else if let Some(within) = within_root(named, path) {
        finding.help(format!(
            "write `/{}`: behind `chroot`, absolute paths are looked up in its folder",
            within.display()
        ))
    } else if named.is_absolute() || is_moved {
        finding.help("create the file, or correct its path; if it is on another machine, `cfgc check --root DIR` looks up absolute paths in `DIR`, and `--no-includes` checks without it")
    } else {
        finding.help(
            "create the file, or write an absolute path: 3proxy looks in the directory where it was started",
        )
    }
}

/// What is left of a path that begins with the folder in which it is looked up.
fn within_root<'a>(named: &'a Path, path: &Path) -> Option<&'a Path> {
    let below = named.strip_prefix("/").ok().filter(|below| path.ends_with(below))?;
    let root = path.ancestors().nth(below.components().count())?;
    // Without a folder of its own, all paths begin with it.
    named.strip_prefix(root).ok().filter(|within| root.components().count() > 1 && *within != below)
}

/// Whether a file is named as variables are: `HTTP_PORT`.
fn is_variable(named: &Path) -> bool {
    let name = named.as_os_str().as_encoded_bytes();
    let is_letter = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
    name.len() > 1 && name.first().is_some_and(u8::is_ascii_uppercase) && name.iter().all(is_letter)
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::findings;

    #[test]
    fn a_path_behind_chroot_begins_in_its_folder() {
        for (text, help) in [
            ("chroot /jail\ninclude /jail/conf/users.cfg\n", "write `/conf/users.cfg`: behind `chroot`"),
            ("chroot /var/jail\nusers $/var/jail/users\n", "write `/users`: behind `chroot`"),
            ("chroot /jail\ninclude /conf/users.cfg\n", "create the file, or correct its path"),
            ("include /jail/conf/users.cfg\n", "create the file, or correct its path"),
            ("include conf/users.cfg\n", "create the file, or write an absolute path"),
        ] {
            let found = findings("include-missing", text);
            let helps: Vec<_> = found.iter().filter_map(|finding| finding.help.as_deref()).collect();
            assert!(helps.len() == 1 && helps.iter().all(|it| it.starts_with(help)), "{text}: {helps:?}");
        }
    }
}
