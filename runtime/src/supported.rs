//! What `cfgc run` does not execute yet: it is refused by name, at its place. Nothing of a configuration is ever left out in silence.
//!
//! What has no effect on what a configuration does passes: `stacksize`, `delimchar` without a mail proxy, `-h` of a `proxy`.
//! Whoever executes something new takes its line out of here.
mod parents;
mod service;
#[cfg(test)]
mod tests;

use std::{borrow::Cow, collections::HashSet, sync::Arc};

use compiler::{
    finding::{Finding, Level, group},
    program::{
        Program,
        auth::{AuthType, Password},
        limits::{Limit, Limits, Rotation},
        log::LogTarget,
        process::Process,
        service::Service,
    },
    sources::{Loc, Sources},
};

/// The rule of these findings. They can't be allowed away.
pub const RULE: &str = "not-executed";

/// A finding for everything in `program` that is not executed.
#[must_use]
pub fn check(sources: &Sources, program: &Program) -> Vec<Finding> {
    let mut refused = Refused { findings: Vec::new() };
    for service in &program.services {
        service::check(service, &mut refused);
    }
    parents::check(&program.acls, &mut refused);
    users(program, &mut refused);
    limits(&program.limits, &mut refused);
    process(&program.process, &mut refused);
    // Without a rotation there is nothing to archive.
    if program.services.iter().any(|service| rotates(&service.log.target.value)) {
        let archiver = program.process.log_files.archiver.as_ref();
        refused.set("archiver", archiver.and_then(|archiver| archiver.at));
    }
    // `system`, `plugin`, `dialer`, filters, and whatever a plugin may have brought.
    for &line in &program.unmodelled {
        let text = sources.text(line);
        let word = text.split(u8::is_ascii_whitespace).next().unwrap_or_default();
        refused.at(line, String::from_utf8_lossy(word).into_owned());
    }
    // Services share settings, so that one line may have been met more than once.
    let mut met = HashSet::new();
    refused.findings.retain(|finding| met.insert((finding.at, finding.message.clone())));
    group(refused.findings, sources)
}

/// Findings in the making.
struct Refused {
    findings: Vec<Finding>,
}

impl Refused {
    /// `what` stands at `at`.
    fn at(&mut self, at: Loc, what: impl Into<Cow<'static, str>>) {
        let message = format!("`{}` is not executed by `cfgc run` yet", what.into());
        let finding = Finding::new(RULE, Level::Deny, at, message)
            .label("this is not executed")
            .help("take it out, or run this configuration with 3proxy");
        self.findings.push(finding);
    }

    /// `what` stands somewhere, if there is a place.
    fn set(&mut self, what: &'static str, at: Option<Loc>) {
        if let Some(at) = at {
            self.at(at, what);
        }
    }
}

/// Hashed passwords matter where passwords are asked for.
fn users(program: &Program, refused: &mut Refused) {
    let asked = |service: &Arc<Service>| service.chain.value.iter().any(|step| step.kind == AuthType::Strong);
    if !program.services.iter().any(asked) {
        return;
    }
    for user in &program.users {
        match user.password {
            Password::Clear(_) => {}
            Password::Crypt(_) => refused.at(user.at, "a password of type CR"),
            Password::Nt(_) => refused.at(user.at, "a password of type NT"),
        }
    }
}

fn limits(limits: &Limits, refused: &mut Refused) {
    let lines = |what: &'static str, places: &mut dyn Iterator<Item = Loc>, refused: &mut Refused| {
        places.for_each(|at| refused.at(at, what));
    };
    lines("bandlimin", &mut places(&limits.bandwidth_in), refused);
    lines("bandlimout", &mut places(&limits.bandwidth_out), refused);
    lines("connlim", &mut places(&limits.connections), refused);
    // A `no…` line alone limits nothing.
    let quotas = limits.traffic.iter().filter(|line| line.limit.limit.is_some());
    lines("count", &mut quotas.map(|line| line.limit.at), refused);
    refused.set("counter", limits.counter_file.as_ref().map(|file| file.at));
}

/// Lines that limit something: a `no…` line alone does not.
fn places<T>(limits: &[Limit<T>]) -> impl Iterator<Item = Loc> {
    limits.iter().filter(|line| line.limit.is_some()).map(|line| line.at)
}

fn process(process: &Process, refused: &mut Refused) {
    refused.set("daemon", process.daemon);
    for (what, list) in [("setuid", &process.setuid), ("setgid", &process.setgid)] {
        list.iter().for_each(|line| refused.set(what, line.at));
    }
    process.chroot.iter().for_each(|line| refused.set("chroot", line.at));
    refused.set("config", process.config.as_ref().and_then(|config| config.at));
    refused.set("maxseg", process.max_segment.as_ref().and_then(|segment| segment.at));
}

fn rotates(target: &LogTarget) -> bool {
    matches!(target, LogTarget::File { rotation, .. } if !matches!(rotation, Rotation::None | Rotation::Never))
}
