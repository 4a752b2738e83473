//! `config` names the file of the next reload.
use super::rule::{Lint, rule};
use crate::sources::FileId;

rule! {
    /// `config` does not read a file: it names the one that the next reload reads, in place of this one.
    ///
    /// With `monitor` on the same file, its next change makes it the whole configuration. To read a part from another file, `include` it.
    ///
    /// ```3proxy,fires
    /// config /etc/3proxy/routes.cfg
    /// monitor /etc/3proxy/routes.cfg
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// proxy -i192.168.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,file=/etc/3proxy/routes.cfg
    /// allow * 192.168.0.0/16
    /// ```
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// include /etc/3proxy/routes.cfg
    /// monitor /etc/3proxy/routes.cfg
    /// proxy -i192.168.0.1
    /// ```
    "config-replaces-file",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let process = &lint.program.process;
    let Some((config, at)) = process.config.as_ref().and_then(|config| Some((config, config.at?))) else {
        return;
    };
    let name = |path: &str| path.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
    let path = config.value.to_string();
    // This file itself may be known by another path, and where it is kept by another name.
    let main = lint.sources.get(FileId::default()).map(|source| source.path.display().to_string());
    if name(&path).contains("3proxy") || main.is_none_or(|main| name(&main) == name(&path)) {
        return;
    }
    let Some(monitor) = process.monitors.iter().find(|file| file.value == config.value) else { return };
    let finding = RULE
        .finding(at, format!("the next change of `{path}` makes it the whole configuration"))
        .label("this is the file that a reload reads");
    let finding = match monitor.at {
        Some(monitor) => finding.also(monitor, "a change of this file triggers a reload"),
        None => finding,
    };
    lint.report(finding.help(format!("write `include {path}` where its lines should apply")));
}
