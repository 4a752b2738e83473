//! `cfgc run`: serves a configuration in the foreground, and follows its files and signals.
//!
//! HUP and USR1 reload. TERM closes the listeners and ends when the last session has; a second TERM, or INT, ends at once.
use std::{
    ffi::OsStr,
    fs,
    future::pending,
    io::{self, Write},
    net::SocketAddr,
    os::unix::{ffi::OsStrExt, fs::FileTypeExt},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, Result, bail};
use compiler::Compiled;
use runtime::{
    Events, Watch,
    reload::{self, Applied, Config, Proxy, ReloadError},
};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::{
    args::{Format, Run},
    files,
    report::{Report, complain},
};

/// Runs until a signal ends it: exit status 0. If findings refuse the configuration it is 1.
///
/// # Errors
/// Why the configuration can't be served: exit status 2.
pub(crate) fn run(args: &Run, color: bool) -> Result<ExitCode> {
    args.levels.validate()?;
    if args.file.as_os_str() == "-" {
        bail!(
            "`run` does not read standard input, since it reads the configuration again on a reload: write it to a file"
        );
    }
    let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let code = tokio.block_on(serve(args, color));
    // Sessions that are left end with the process.
    tokio.shutdown_background();
    code
}

async fn serve(args: &Run, color: bool) -> Result<ExitCode> {
    // Before anything else: a signal that comes early must not kill the process.
    let mut signals = Signals::new()?;
    let levels = args.levels.clone();
    let config = Config {
        path: args.file.clone(),
        levels: reload::Levels::new(move |findings| levels.apply(findings)),
    };
    let started = tokio::select! {
        started = Proxy::start(config, Events::new(|event| complain(&event.to_string()))) => started,
        // Names may be slow to resolve, and a pipe to be written.
        _ = signals.interrupt.recv() => return Ok(ExitCode::SUCCESS),
        _ = signals.terminate.recv() => return Ok(ExitCode::SUCCESS),
    };
    let (proxy, applied) = match started {
        Ok(started) => started,
        Err(ReloadError::Refused(compiled)) => {
            show(&compiled, color);
            return Ok(ExitCode::from(1));
        }
        Err(ReloadError::Read { path, error }) if error.kind() == io::ErrorKind::IsADirectory => {
            return Err(files::is_folder(&path));
        }
        Err(error) => return Err(error.into()),
    };
    show(&applied.compiled, color);
    let mut files = Files { watch: if args.no_watch { None } else { watch() }, pid: None };
    files.pid(&applied.compiled)?;
    complain(&ready(&applied.opened));
    drop(applied);
    until_ended(&proxy, signals, files, color).await;
    Ok(ExitCode::SUCCESS)
}

/// Reloads as signals and files ask for it, until a signal ends the process.
async fn until_ended(proxy: &Proxy, mut signals: Signals, mut files: Files, color: bool) {
    loop {
        files.follow(proxy).await;
        tokio::select! {
            () = files.changed() => {}
            _ = signals.hangup.recv() => {}
            _ = signals.user1.recv() => {}
            _ = signals.interrupt.recv() => return proxy.flush().await,
            _ = signals.terminate.recv() => break,
        }
        let tried = tokio::select! {
            tried = proxy.reload() => tried,
            _ = signals.interrupt.recv() => return proxy.flush().await,
            _ = signals.terminate.recv() => break,
        };
        match tried {
            Ok(applied) => reloaded(&applied, &mut files, color),
            Err(error) => {
                if let ReloadError::Refused(compiled) = &error {
                    show(compiled, color);
                }
                complain(&format!("reload failed; still running the previous configuration: {error}"));
            }
        }
    }
    match proxy.sessions() {
        0 => complain("ending"),
        1 => complain("ending when 1 session has ended"),
        more => complain(&format!("ending when {more} sessions have ended")),
    }
    tokio::select! {
        () = proxy.drain() => {}
        _ = signals.terminate.recv() => proxy.flush().await,
        _ = signals.interrupt.recv() => proxy.flush().await,
    }
}

/// How many addresses are named.
const NAMED: usize = 8;

fn ready(addresses: &[SocketAddr]) -> String {
    let named: Vec<_> = addresses.iter().take(NAMED).map(SocketAddr::to_string).collect();
    let more = match addresses.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    if named.is_empty() {
        return "ready: listening nowhere, the configuration has no service".to_owned();
    }
    format!("ready: listening on {}{more}", named.join(", "))
}

fn reloaded(applied: &Applied, files: &mut Files, color: bool) {
    show(&applied.compiled, color);
    if let Err(error) = files.pid(&applied.compiled) {
        complain(&format!("{error:#}"));
    }
    let Applied { generation, opened, kept, closed, .. } = applied;
    let opened = count(opened.len(), "socket");
    complain(&format!(
        "configuration {generation} is in force: {opened} opened, {kept} kept, {closed} closed"
    ));
}

/// Shows findings on standard error: standard output may be the access log.
fn show(compiled: &Compiled, color: bool) {
    let mut out = io::stderr().lock();
    let mut report = Report::new(Format::Text, color, false);
    // A closed standard error is no reason to end.
    let _ = report.findings(&mut out, &compiled.sources, &compiled.findings).and_then(|()| out.flush());
}

/// A watch, if the system has one to give. Without it, reloads come by signal only.
fn watch() -> Option<Watch> {
    let failed = |error: &_| complain(&format!("files can't be watched, so only signals reload: {error}"));
    Watch::new().inspect_err(failed).ok()
}

/// The files beside the configuration that the command sees to.
struct Files {
    watch: Option<Watch>,
    /// The pid file that was written.
    pid: Option<PathBuf>,
}

impl Files {
    /// Watches what the last attempt read.
    async fn follow(&mut self, proxy: &Proxy) {
        if let Some(watch) = &mut self.watch {
            watch.follow(proxy.inputs().await);
        }
    }

    /// Returns when one of the files has changed.
    async fn changed(&mut self) {
        match &mut self.watch {
            Some(watch) => watch.changed().await,
            None => pending().await,
        }
    }

    /// Writes the `pidfile`, if there is a new one.
    fn pid(&mut self, compiled: &Compiled) -> Result<()> {
        let named = compiled.program.process.pid_file.as_ref();
        let path = named.map(|path| PathBuf::from(OsStr::from_bytes(path.value.as_bytes())));
        if let Some(path) = path.as_ref().filter(|path| self.pid.as_ref() != Some(path)) {
            write_pid(path).with_context(|| format!("can't write the pid file `{}`", path.display()))?;
        }
        self.pid = path;
        Ok(())
    }
}

/// Writes this process's number to `path`. A pipe would keep the process waiting until someone reads it.
fn write_pid(path: &Path) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_fifo()) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a pipe"));
    }
    fs::write(path, std::process::id().to_string())
}

/// The signals that mean something to the process.
struct Signals {
    hangup: Signal,
    user1: Signal,
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self {
            hangup: signal(SignalKind::hangup())?,
            user1: signal(SignalKind::user_defined1())?,
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }
}

fn count(number: usize, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}
