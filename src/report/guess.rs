//! That an answer about a configuration is a guess, since 3proxy would reject it: one wording for all commands.
use std::path::Path;

use compiler::{Compiled, finding::Finding};

use crate::args::Image;

/// What to do where an included file is missing.
const ROOT: &str = "`--root DIR` looks up absolute paths in DIR";

/// Why the answer does not cover all of a configuration, if it does not; `image`: where it was looked up, if the command can be told that.
pub(crate) fn guess(path: &Path, compiled: &Compiled, image: Option<&Image>) -> Option<String> {
    let name = path.display();
    let errors = compiled.findings.iter().filter(|finding| finding.refused).count();
    let unread: Vec<&Finding> = unread(compiled).collect();
    if let Some(first) = unread.first() {
        let line = compiled.sources.line_column(first.at).line;
        let file = compiled.sources.get(first.at.file).map_or(path, |source| &source.path).display();
        let more = match unread.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let root = if image.is_some() { format!("; {ROOT}") } else { String::new() };
        return Some(format!(
            "`{name}` could not be read completely: {file}:{line}: {}{more}{root}",
            first.message
        ));
    }
    let root = image.and_then(|image| image.root.as_deref());
    // The folder that the command runs in has an empty path.
    let here =
        |root: &Path| if root.as_os_str().is_empty() { ".".to_owned() } else { root.display().to_string() };
    let root = root.map(|root| format!("--root {} ", here(root))).unwrap_or_default();
    let count = if errors == 1 { "1 error".to_owned() } else { format!("{errors} errors") };
    (errors > 0).then(|| {
        format!(
            "3proxy would reject `{name}` ({count}); the answer covers only what could be read. Run `cfgc check {root}{name}` for details."
        )
    })
}

/// What to do where an included file of a configuration is missing, if one is.
pub(crate) fn root_hint(compiled: &Compiled) -> Option<&'static str> {
    unread(compiled).next().map(|_| ROOT)
}

fn unread(compiled: &Compiled) -> impl Iterator<Item = &Finding> {
    compiled.findings.iter().filter(|finding| finding.refused && finding.rule == "include-missing")
}
