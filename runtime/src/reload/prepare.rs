//! Everything that comes before the swap: it may fail, and changes nothing that is in force.
use std::{
    collections::{HashMap, HashSet},
    ffi::OsStr,
    io,
    net::{IpAddr, SocketAddr},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use grammar::Text;
use tokio::{runtime::Handle, task::JoinSet};

use compiler::{
    Compiled,
    finding::{self, Finding, Level},
    options::{CompileOptions, Runner, Template},
    program::{Program, acl::ParentHost, log::LogTarget, resolve::ResolverMode, service::Service},
    redact,
    sources::Loc,
};

use super::{Config, Input, Inputs, ReloadError, gate, inputs::Disk};
use crate::{
    findings::COUNTER_FILE,
    limits::{Limits, Unusable},
    listener::{self, Bound, Key, Listener, Listening},
    log::{Format, Logger, Sink, Writer},
    resolve::Resolver,
    snapshot::{ListenerId, Snapshot},
    supported,
};

/// A configuration that is ready to come into force.
pub(super) struct Prepared {
    pub(super) snapshot: Snapshot,
    /// New sockets.
    pub(super) new: Vec<Listening>,
    /// Listeners that go on.
    pub(super) kept: HashSet<ListenerId>,
    pub(super) compiled: Compiled,
}

/// Reads and compiles a configuration, and gets hold of all that it needs beside what `running` has already, after `before`.
pub(super) async fn prepare(
    config: &Config,
    before: Option<Arc<Snapshot>>,
    running: &[Listener],
    writer: Writer,
) -> (Result<Prepared, ReloadError>, Inputs) {
    let (compiled, inputs) = blocking({
        let config = config.clone();
        move || load(&config)
    })
    .await;
    let prepared = async {
        let compiled = compiled?;
        if compiled.program.services.is_empty() && !running.is_empty() {
            return Err(ReloadError::Empty { path: config.path.clone() });
        }
        let compiled = parents_resolve(compiled).await?;
        let sockets = sockets(&compiled, running)?;
        blocking(move || finish(compiled, sockets, before.as_deref(), &writer)).await
    };
    (prepared.await, inputs)
}

/// Runs what blocks where no connection waits for it.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

/// Reads and compiles.
fn load(config: &Config) -> (Result<Compiled, ReloadError>, Inputs) {
    let path = &config.path;
    let disk = match Disk::with(path) {
        Ok(disk) => disk,
        Err(error) => {
            let inputs = Inputs(vec![Input { path: path.clone(), contents: None }]);
            return (Err(ReloadError::Read { path: path.clone(), error }), inputs);
        }
    };
    let mut compiled = compile(path, &disk);
    let mut inputs = disk.into_inputs();
    let monitored = compiled.program.process.monitors.iter().map(|monitor| path_of(&monitor.value));
    inputs.0.extend(monitored.map(Input::of));
    compiled.findings = finding::group(config.levels.apply(compiled.findings));
    let unsupported = supported::check(&compiled.sources, &compiled.program);
    add(&mut compiled, unsupported);
    (
        if gate::refuses(&compiled.findings) {
            Err(ReloadError::Refused(Box::new(compiled)))
        } else {
            Ok(compiled)
        },
        inputs,
    )
}

/// Adds what only a run finds, without secrets; the others have none any more.
fn add(compiled: &mut Compiled, mut found: Vec<Finding>) {
    redact::hide(&compiled.sources, &mut found);
    compiled.findings.append(&mut found);
}

/// Compiles, and once more if addresses are needed that only the network can tell.
fn compile(path: &Path, disk: &Disk) -> Compiled {
    let mut options =
        CompileOptions { runner: Runner::Cfgc, template: Template::No, ..CompileOptions::default() };
    let compiled = compiler::compile_with(path, disk, &options);
    if compiled.program.host_names.is_empty() {
        return compiled;
    }
    options.hosts = Handle::current().block_on(addresses(&compiled.program));
    compiler::compile_with(path, disk, &options)
}

/// The addresses of names that stand where an address is wanted: by the name servers of the configuration, if it has any, or else by
/// the system.
async fn addresses(program: &Program) -> HashMap<String, IpAddr> {
    let limit = Duration::from_secs(program.process.timeouts.dns.into());
    let mut settings = program.resolver.clone();
    if settings.servers.is_empty() {
        settings.mode.value = ResolverMode::System;
    }
    let resolver = Arc::new(Resolver::new(&settings, limit));
    let names: HashSet<_> =
        program.host_names.iter().map(|(_, name)| name.to_string().to_ascii_lowercase()).collect();
    let mut lookups = JoinSet::new();
    for name in names {
        let resolver = Arc::clone(&resolver);
        lookups.spawn(async move { Some((resolver.lookup_parent(&name).await?, name)) });
    }
    let mut found = HashMap::new();
    // One that the end of the process cancels found nothing.
    while let Some(looked_up) = lookups.join_next().await {
        found.extend(looked_up.ok().flatten().map(|(address, name)| (name, address)));
    }
    found
}

/// Refuses a configuration with a parent whose name does not resolve, as 3proxy does.
async fn parents_resolve(mut compiled: Compiled) -> Result<Compiled, ReloadError> {
    let program = Arc::clone(&compiled.program);
    let limit = Duration::from_secs(program.process.timeouts.dns.into());
    let resolver = Arc::new(Resolver::new(&program.resolver, limit));
    let mut lookups = JoinSet::new();
    for parent in &program.acls.parents {
        if let ParentHost::Name(name) = &parent.host {
            let (resolver, name, at) = (Arc::clone(&resolver), name.to_string(), parent.at);
            lookups.spawn(async move {
                let found = resolver.lookup_parent(&name.to_ascii_lowercase()).await;
                found.is_none().then_some((at, name))
            });
        }
    }
    let mut unresolved: Vec<_> = lookups.join_all().await.into_iter().flatten().collect();
    if unresolved.is_empty() {
        return Ok(compiled);
    }
    unresolved.sort();
    let finding =
        |(at, name): (_, String)| supported::unresolved(at, &name).label("this parent can't be reached");
    let unresolved = unresolved.into_iter().map(finding).collect();
    add(&mut compiled, unresolved);
    Err(ReloadError::Refused(Box::new(compiled)))
}

/// The sockets of a configuration.
struct Sockets {
    /// In the order of services.
    ids: Vec<ListenerId>,
    /// The new ones, each with the service that it is for.
    bound: Vec<(Arc<Service>, Bound)>,
    kept: HashSet<ListenerId>,
}

/// Binds the sockets that are not there already.
fn sockets(compiled: &Compiled, running: &[Listener]) -> Result<Sockets, ReloadError> {
    let program = &compiled.program;
    // Services on Unix sockets were refused before.
    let keys = listener::keys(program).unwrap_or_default();
    let wanted: HashSet<&Key> = keys.iter().collect();
    let there: HashMap<&Key, ListenerId> =
        running.iter().map(|listener| (&listener.key, listener.id)).collect();
    let mut sockets = Sockets { ids: Vec::new(), bound: Vec::new(), kept: HashSet::new() };
    for (key, service) in keys.iter().zip(&program.services) {
        if key.nth > 0 && !key.share {
            return Err(ReloadError::Duplicate { service: named(compiled, service), address: key.address });
        }
        if let Some(&id) = there.get(key) {
            sockets.ids.push(id);
            sockets.kept.insert(id);
            continue;
        }
        let leaving = running.iter().filter(|old| !wanted.contains(&old.key) && old.key.overlaps(key));
        let bound = Bound::beside(key.clone(), leaving);
        let bound = bound.map_err(|error| listen(compiled, service, key.address, error))?;
        sockets.ids.push(bound.id);
        sockets.bound.push((Arc::clone(service), bound));
    }
    Ok(sockets)
}

fn listen(compiled: &Compiled, service: &Service, address: SocketAddr, error: io::Error) -> ReloadError {
    ReloadError::Listen { service: named(compiled, service), address, error }
}

/// Opens logs, compiles tables and formats, and begins to take connections into the new sockets' backlogs.
fn finish(
    mut compiled: Compiled,
    sockets: Sockets,
    before: Option<&Snapshot>,
    writer: &Writer,
) -> Result<Prepared, ReloadError> {
    let loggers = loggers(&compiled, writer)?;
    let known = before.map(|before| (&*before.program, &before.limits));
    let limits = match Limits::prepare(&compiled.program, known) {
        Ok(limits) => limits,
        Err((at, error)) => {
            add(&mut compiled, vec![counter_file(at, &error)]);
            return Err(ReloadError::Refused(Box::new(compiled)));
        }
    };
    let snapshot = Snapshot::new(before, Arc::clone(&compiled.program), loggers, &sockets.ids, limits);
    let mut new = Vec::new();
    for (service, socket) in sockets.bound {
        let address = socket.address();
        let listening = socket.listen(listener::backlog(&service));
        new.push(listening.map_err(|error| listen(&compiled, &service, address, error))?);
    }
    Ok(Prepared { snapshot, new, kept: sockets.kept, compiled })
}

/// A counter file that can't be gone on with. It is left as it is.
fn counter_file(at: Loc, error: &Unusable) -> Finding {
    let help = match error {
        Unusable::Damaged { .. } => "move it away to begin a new one, or name another; it is left as it is",
        Unusable::Io { .. } => {
            "the file must be readable, and its folder writable: it is replaced when it is written"
        }
    };
    Finding::new(COUNTER_FILE, Level::Deny, at, error.to_string()).label("kept there").help(help)
}

/// One logger for each service; formats and files that are equal are shared.
fn loggers(compiled: &Compiled, writer: &Writer) -> Result<Vec<Logger>, ReloadError> {
    let program: &Program = &compiled.program;
    let keep = u32::try_from(program.process.log_files.keep.value).unwrap_or(0);
    let mut formats = HashMap::new();
    let mut sinks: HashMap<&LogTarget, Arc<Sink>> = HashMap::new();
    let loggers = program.services.iter().map(|service| {
        let sink = match (&service.log.target.value, sinks.get(&service.log.target.value)) {
            (_, Some(sink)) => Arc::clone(sink),
            (LogTarget::Stdout, None) => Arc::new(Sink::stdout()),
            (LogTarget::File { path: name, rotation }, None) => {
                let path = path_of(name);
                let opened = Sink::file(path.clone(), *rotation, keep);
                let service = || named(compiled, service);
                Arc::new(opened.map_err(|error| ReloadError::Log { service: service(), path, error })?)
            }
            // Other targets were refused before.
            (_, None) => return Ok(Logger::nowhere()),
        };
        sinks.insert(&service.log.target.value, Arc::clone(&sink));
        let text = service.log.format.as_ref().map(|format| format.value.as_bytes());
        let compile = || Arc::new(text.map_or_else(Format::default, Format::compile));
        let format = formats.entry(text).or_insert_with(compile);
        Ok(Logger::new(Arc::clone(format), writer.clone(), sink))
    });
    loggers.collect()
}

/// A path as a configuration names it: any bytes.
fn path_of(name: &Text) -> PathBuf {
    OsStr::from_bytes(name.as_bytes()).into()
}

/// A service's kind and place: `PROXY (3proxy.cfg:12)`.
fn named(compiled: &Compiled, service: &Service) -> String {
    let kind = crate::log::Protocol::from(service.kind).name();
    let path = compiled.sources.get(service.at.file).map(|source| source.path.display().to_string());
    let line = compiled.sources.line_column(service.at).line;
    format!("{kind} ({}:{line})", path.unwrap_or_default())
}
