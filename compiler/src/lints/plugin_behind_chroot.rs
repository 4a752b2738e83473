//! `plugin-behind-chroot`
use std::path::Path;

use grammar::Text;

use super::rule::{Lint, rule};
use crate::{finding::Level, program::Set, sources::Loc};

rule! {
    /// Behind `chroot` the library of a plugin is looked for in that folder.
    ///
    /// So `/usr/lib/3proxy/x.so` is `/jail/usr/lib/3proxy/x.so` then, and the libraries that it needs must be in there, too. The
    /// finding warns where the path begins with the folder itself: there it would be twice.
    ///
    /// ```3proxy,fires
    /// chroot /jail
    /// plugin /jail/lib/x.so start
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// Load it before, or name it as it is called inside:
    ///
    /// ```3proxy,clean
    /// plugin /jail/lib/x.so start
    /// chroot /jail
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// proxy -i10.0.0.1
    /// ```
    "plugin-behind-chroot",
    level: Allow,
    group: Correctness,
    since: "0.1.0",
    reads: Order,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let process = &lint.program.process;
    let (chroots, plugins) = (process.chroot.clone(), process.plugins.clone());
    if chroots.is_empty() || plugins.is_empty() {
        return;
    }
    let order = |at: Option<Loc>| lint.program.commands.iter().position(|ran| Some(ran.at) == at);
    let mut findings = Vec::new();
    for plugin in &plugins {
        let place = order(plugin.at);
        let jail = chroots.iter().find(|chroot| order(chroot.at) < place);
        let named = (first(plugin), jail.and_then(|jail| Some((first(jail)?, jail.at?))), plugin.at);
        let (Some(library), Some((folder, jail)), Some(at)) = named else { continue };
        if !library.as_bytes().starts_with(b"/") {
            continue;
        }
        let inside = Path::new(&library.to_string()).starts_with(folder.to_string());
        let message = if inside {
            format!(
                "the folder of `chroot` is put in front of this library's path a second time: `{folder}{library}`"
            )
        } else {
            format!("this library is looked up in the `chroot` folder: `{}{library}`", trimmed(folder))
        };
        let mut finding = RULE
            .finding(at, message)
            .label("looked up inside that folder")
            .also(jail, "from here on this folder is `/`")
            .help("move `plugin` above `chroot`, or put the library into that folder");
        if inside && folder.as_bytes() != b"/" {
            finding.level = Level::Warn;
        }
        findings.push(finding);
    }
    for finding in findings {
        lint.report(finding);
    }
}

/// The path, if the line has one.
fn first(set: &Set<Vec<Text>>) -> Option<&Text> {
    set.value.first()
}

fn trimmed(folder: &Text) -> String {
    folder.to_string().trim_end_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use crate::{
        finding::Level,
        lints::tests::{check, findings},
    };

    #[test]
    fn the_order_counts_and_the_path() {
        check(
            "plugin-behind-chroot",
            r"
plugin /usr/lib/a.so start
chroot /jail
plugin b.so start
plugin /usr/lib/c.so start
#^ in the `chroot` folder: `/jail/usr/lib/c.so`
proxy
",
        );
        let level = |library: &str| {
            let text = format!("chroot /jail\nplugin {library} start\nproxy -i127.0.0.1\n");
            findings("plugin-behind-chroot", &text).first().map(|finding| finding.level)
        };
        assert_eq!(level("/jail/lib/x.so"), Some(Level::Warn));
        assert_eq!(level("/jailer/lib/x.so"), Some(Level::Allow));
    }
}
