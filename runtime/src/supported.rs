//! What `cfgc run` does not execute yet: it is refused by name, at its place. Nothing of a configuration is ever left out in silence.
//!
//! What has no effect on what a configuration does passes: `stacksize`, `delimchar` without a mail proxy, `-h` of a `proxy`.
//! Whoever executes something new takes its line out of here.
//!
//! A setting that is forgotten here would be ignored. So the parts of a Program are taken apart with every field named: what is executed,
//! or needs no execution, is `_`.
mod parents;
mod service;
#[cfg(test)]
mod tests;

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use compiler::{
    finding::{Finding, Level, group},
    program::{
        Program, Set,
        limits::{Limits, Rotation, Traffic},
        log::{LogFiles, LogTarget},
        process::Process,
        resolve::Resolver,
        service::Service,
    },
    sources::{Loc, Sources},
};

use crate::{
    findings::{HOST_UNRESOLVED, NOT_EXECUTED},
    limits::MOST_RECORDS,
};

/// A finding for everything in `program` that is not executed.
#[must_use]
pub(crate) fn check(sources: &Sources, program: &Program) -> Vec<Finding> {
    let Program {
        services,
        acls,
        users: _,
        limits,
        resolver,
        // Asked by a service's `auth radius` and `log radius`.
        radius: _,
        auth_cache_size: _,
        process,
        leftover_acl: _,
        behind_services: _,
        // Each is in what it did.
        commands: _,
        unread: _,
        flushes: _,
        // Nothing is unknown: what is run is no template.
        unknown: _,
        unmodelled,
        host_names,
        traps: _,
        history: _,
    } = program;
    let mut refused = Refused { findings: Vec::new() };
    for service in services {
        service::check(service, &mut refused);
    }
    parents::check(acls, &mut refused);
    self::limits(limits, &mut refused);
    // All of name resolution is executed but `dialer`, which is among `unmodelled`.
    let Resolver {
        servers: _,
        ignored_servers: _,
        auth_server: _,
        cache: _,
        cache6: _,
        records: _,
        mode: _,
        dialer: _,
    } = resolver;
    self::process(process, services, &mut refused);
    // `system`, `plugin`, `dialer`, filters, and whatever a plugin may have brought.
    let names: HashSet<Loc> = host_names.iter().map(|(at, _)| *at).collect();
    for &line in unmodelled.iter().filter(|at| !names.contains(at)) {
        let text = sources.text(line);
        let word = text.split(u8::is_ascii_whitespace).next().unwrap_or_default();
        refused.at(line, String::from_utf8_lossy(word).into_owned());
    }
    for (at, name) in host_names {
        refused.findings.push(unresolved(*at, &name.to_string()).label("this address can't be found"));
    }
    // Services share settings, so that one line may have been met more than once.
    let mut met = HashSet::new();
    refused.findings.retain(|finding| met.insert((finding.at, finding.message.clone())));
    by_name(refused.findings)
}

/// A name has no address.
pub(crate) fn unresolved(at: Loc, name: &str) -> Finding {
    Finding::new(HOST_UNRESOLVED, Level::Deny, at, format!("`{name}` does not resolve"))
        .help("name a host that resolves, or give its address")
}

/// Many findings of one thing are one; each thing has its own, since each must be taken out.
fn by_name(findings: Vec<Finding>) -> Vec<Finding> {
    let mut named: BTreeMap<String, Vec<Finding>> = BTreeMap::new();
    for finding in findings {
        named.entry(finding.message.to_string()).or_default().push(finding);
    }
    let mut grouped: Vec<_> = named.into_values().flat_map(group).collect();
    grouped.sort_by_key(|finding| finding.at);
    grouped
}

/// Findings in the making.
struct Refused {
    findings: Vec<Finding>,
}

impl Refused {
    /// `what` stands at `at`.
    fn at(&mut self, at: Loc, what: impl Into<Cow<'static, str>>) {
        let what = what.into();
        let help = match &*what {
            "daemon" => "take it out: cfgc stays in the foreground, for a service manager or a shell's `&`",
            "config" => "take it out: cfgc reads again the file that it was started with",
            "setuid" | "setgid" => {
                "take it out, and start cfgc as that user or group (systemd: `User=`, `Group=`)"
            }
            "chroot" => "take it out, and start cfgc in that root (systemd: `RootDirectory=`)",
            _ => "take it out, or run this configuration with 3proxy",
        };
        // Prose cites what it names itself.
        let cited = if what.starts_with("a ") || what.contains('`') {
            what.into_owned()
        } else {
            format!("`{what}`")
        };
        let message = format!("{cited} is not executed by `cfgc run` yet");
        self.findings.push(
            Finding::new(NOT_EXECUTED, Level::Deny, at, message).label("this is not executed").help(help),
        );
    }

    /// `what` stands somewhere, if there is a place.
    fn set(&mut self, what: &'static str, at: Option<Loc>) {
        if let Some(at) = at {
            self.at(at, what);
        }
    }
}

fn limits(limits: &Limits, refused: &mut Refused) {
    let Limits { bandwidth_in: _, bandwidth_out: _, connections: _, traffic, counter_file } = limits;
    let number = |line: &Traffic| line.limit.limit.as_ref().map_or(0, |quota| quota.number);
    // A record has its place in the file by its number.
    for line in traffic.iter().filter(|line| counter_file.is_some() && number(line) > MOST_RECORDS) {
        refused.at(line.limit.at, format!("a counter number above {MOST_RECORDS}"));
    }
}

fn process(process: &Process, services: &[Arc<Service>], refused: &mut Refused) {
    let Process {
        timeouts: _,
        parent_retries: _,
        monitors: _,
        daemon,
        pid_file: _,
        setuid,
        setgid,
        chroot,
        // These three, too, stand among `Program::unmodelled`.
        system: _,
        plugins: _,
        filters: _,
        config,
        // Asked by `admin`.
        writable: _,
        stack_size: _,
        // Asked by filters.
        filter_max_size: _,
        max_segment,
        service: _,
        log_files: LogFiles { keep: _, archiver, delimiter: _, log_lines: _ },
    } = process;
    refused.set("daemon", *daemon);
    for (what, list) in [("setuid", setuid), ("setgid", setgid)] {
        list.iter().for_each(|line| refused.set(what, line.at));
    }
    chroot.iter().for_each(|line| refused.set("chroot", line.at));
    refused.set("config", place(config));
    refused.set("maxseg", place(max_segment));
    // Without a rotation there is nothing to archive.
    if services.iter().any(|service| rotates(&service.log.target.value)) {
        refused.set("archiver", place(archiver));
    }
}

/// Where an optional setting stands.
fn place<T>(setting: &Option<Set<T>>) -> Option<Loc> {
    setting.as_ref().and_then(|setting| setting.at)
}

fn rotates(target: &LogTarget) -> bool {
    matches!(target, LogTarget::File { rotation, .. } if !matches!(rotation, Rotation::None | Rotation::Never))
}
