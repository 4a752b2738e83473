//! Files, folders, users and interfaces that the configuration names, on the host: whether they are there, and whether who serves may
//! write where it has to.
use std::{
    collections::HashSet,
    io,
    path::{Path, PathBuf},
};

use compiler::{
    finding::Level,
    program::{Program, Set, limits::Rotation, log::LogTarget, service::ListenAddress},
    redact,
    sources::Loc,
};
use grammar::Text;

use super::{
    checks::{INTERFACE_MISSING, PATH_MISSING, PATH_NOT_WRITABLE, USER_UNKNOWN},
    examination::{Diagnosis, Examination},
    files,
};

/// The bits of a mode that say what it is, and those of a folder.
const KIND: u32 = 0o170_000;
const FOLDER: u32 = 0o040_000;

/// What has to be at a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    /// A file, to be read.
    File,
    /// A folder.
    Folder,
    /// The folder of a file that is written.
    FolderOf,
    /// The folder of a file that is made anew while the service runs.
    FolderOfNew,
}

/// A path that a line names.
struct Named<'a> {
    at: Loc,
    path: &'a Text,
    what: What,
    /// What it is to the reader.
    role: &'static str,
    level: Level,
}

pub(super) fn examine(examination: &mut Examination<'_>) {
    let program = examination.subject.program;
    let mut seen = HashSet::new();
    for named in named(program) {
        // Services share what they name.
        if seen.insert((named.path.as_bytes(), named.role)) {
            place(examination, &named);
        }
    }
    users(examination, program);
    interfaces(examination, program);
}

/// Every path that is opened, but those of certificates and included files, which have checks of their own.
fn named(program: &Program) -> Vec<Named<'_>> {
    let mut all = Vec::new();
    let mut add = |at: Option<Loc>, path, what, role, level| {
        all.extend(at.map(|at| Named { at, path, what, role, level }));
    };
    let process = &program.process;
    if let Some((at, folder)) = root(program) {
        add(at, folder, What::Folder, "chroot folder", Level::Deny);
    }
    for service in &program.services {
        if let LogTarget::File { path, rotation } = &service.log.target.value {
            let what = if renews(*rotation) { What::FolderOfNew } else { What::FolderOf };
            add(service.log.target.at, path, what, "log file", Level::Deny);
        }
        if let ListenAddress::Unix(path) = &service.listen.address.value
            && !path.as_bytes().starts_with(b"@")
        {
            add(service.listen.address.at, path, What::FolderOf, "socket", Level::Deny);
        }
        if let Some(Set { value, at }) = &service.tls.certificate_cache {
            add(*at, value, What::FolderOfNew, "certificate cache", Level::Deny);
        }
        for folder in [&service.tls.server.ca_dir, &service.tls.client.ca_dir].into_iter().flatten() {
            add(folder.at, &folder.value, What::Folder, "folder of authorities", Level::Deny);
        }
    }
    if let Some(counter) = &program.limits.counter_file {
        add(Some(counter.at), &counter.path, What::FolderOf, "counter file", Level::Deny);
        if let Some((_, report)) = &counter.report {
            add(Some(counter.at), report, What::FolderOfNew, "traffic report", Level::Warn);
        }
    }
    if let Some(Set { value, at }) = &process.pid_file {
        add(*at, value, What::FolderOf, "pid file", Level::Deny);
    }
    if let Some(Set { value, at }) = &process.config {
        add(*at, value, What::File, "configuration for reloads", Level::Deny);
    }
    for Set { value, at } in &process.monitors {
        add(*at, value, What::File, "watched file", Level::Warn);
    }
    for Set { value, at } in &process.plugins {
        // Without a slash the system looks for it.
        if let Some(library) = value.first().filter(|library| library.as_bytes().contains(&b'/')) {
            add(*at, library, What::File, "library", Level::Deny);
        }
    }
    if let Some(Set { value, at }) = &process.log_files.archiver
        && let Some(command) = value.get(1).filter(|command| command.as_bytes().starts_with(b"/"))
    {
        add(*at, command, What::File, "archiver", Level::Warn);
    }
    all
}

fn renews(rotation: Rotation) -> bool {
    !matches!(rotation, Rotation::None | Rotation::Never)
}

/// Looks at one path, and at who may write there.
fn place(examination: &mut Examination<'_>, named: &Named<'_>) {
    // A pattern: what it will be called is not known. A pipe to a command is no file.
    if named.path.as_bytes().iter().any(|byte| b"%|".contains(byte)) {
        return;
    }
    let path = on_host(examination, named);
    let (looked_at, what) = match named.what {
        What::File => (path, "file"),
        What::Folder => (path, "folder"),
        What::FolderOf | What::FolderOfNew => (folder_of(&path), "folder"),
    };
    let shown =
        |path: &Path| redact::shown_of(examination.subject.sources, named.at, &path.display().to_string());
    let mode = match examination.host.mode(&looked_at) {
        Ok(mode) if what == "file" || matches!(mode & KIND, 0 | FOLDER) => mode,
        Ok(_) => {
            let message = format!("`{}`, where the {} is to be, is no folder", shown(&looked_at), named.role);
            return missing(examination, named, message, None, "no folder", what);
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let message = match named.what {
                What::FolderOf | What::FolderOfNew => {
                    format!("there is no folder `{}` for the {}", shown(&looked_at), named.role)
                }
                What::File | What::Folder => {
                    format!("there is no {} `{}`", named.role, shown(&looked_at))
                }
            };
            let command = (what == "folder").then(|| made(examination, named, &looked_at)).flatten();
            return missing(examination, named, message, command, "nothing", what);
        }
        Err(error) => {
            let why = format!("`{}` can't be looked at: {error}", shown(&looked_at));
            return examination.unchecked(&PATH_MISSING, why);
        }
    };
    if matches!(named.what, What::FolderOf | What::FolderOfNew) {
        writable(examination, named, &looked_at, mode);
    }
}

fn missing(
    examination: &mut Examination<'_>,
    named: &Named<'_>,
    message: String,
    command: Option<String>,
    seen: &str,
    needed: &str,
) {
    let diagnosis = Diagnosis::new(&PATH_MISSING, named.level, named.at, message).label(named.role);
    let diagnosis = diagnosis.values(seen, format!("a {needed}"));
    examination.found(match command {
        Some(command) => diagnosis.command(command),
        None => diagnosis.help(format!("put a {needed} there, or correct the path")),
    });
}

/// A path as a command may have it. `None`: a line hides a part of it.
fn plain(examination: &Examination<'_>, at: Loc, path: &Path) -> Option<String> {
    let written = path.to_str()?;
    (redact::shown_of(examination.subject.sources, at, written) == written).then(|| files::for_shell(path))
}

/// The command that makes a folder, for who is to write into it.
fn made(examination: &Examination<'_>, named: &Named<'_>, folder: &Path) -> Option<String> {
    let folder = plain(examination, named.at, folder)?;
    let writer = match named.what {
        What::FolderOf | What::FolderOfNew => writer(examination, named).filter(|(user, _)| *user != 0),
        What::File | What::Folder => None,
    };
    Some(match writer {
        Some((user, _)) => format!("mkdir -p {folder} && chown {user} {folder}"),
        None => format!("mkdir -p {folder}"),
    })
}

/// The folder that becomes the root, and where it is named. A second `chroot` changes users only.
pub(super) fn root(program: &Program) -> Option<(Option<Loc>, &Text)> {
    let first = program.process.chroot.first()?;
    Some((first.at, first.value.first()?))
}

/// Where a path is: in the folder that became the root before its line, or where it says.
fn on_host(examination: &Examination<'_>, named: &Named<'_>) -> PathBuf {
    let program = examination.subject.program;
    let is_before = |at: Loc| at != named.at && comes_first(program, at, named.at);
    let before = root(program).filter(|(at, _)| at.is_some_and(is_before));
    let written = files::written(named.path);
    match before {
        Some((_, root)) => files::written(root).join(written.strip_prefix("/").unwrap_or(&written)),
        None => written,
    }
}

/// Whether the command with `first` in it runs before the one with `second`.
fn comes_first(program: &Program, first: Loc, second: Loc) -> bool {
    let within = |place: Loc| {
        program.commands.iter().position(|command| {
            command.at.file == place.file
                && command.at.span.start <= place.span.start
                && place.span.end <= command.at.span.end
        })
    };
    within(first).zip(within(second)).is_some_and(|(first, second)| first < second)
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() => PathBuf::from("."),
        Some(folder) => folder.to_owned(),
        None => path.to_owned(),
    }
}

/// Whether the user that the process is by then may write into a folder. Which further groups it is in is not known: then a group
/// that may write counts.
fn writable(examination: &mut Examination<'_>, named: &Named<'_>, folder: &Path, mode: u32) {
    let Some((user, by)) = writer(examination, named) else { return };
    let Ok((owner, _)) = examination.host.owner(folder) else { return };
    let may = user == 0 || mode & if owner == user { 0o200 } else { 0o022 } != 0;
    if may {
        return;
    }
    let shown = redact::shown_of(examination.subject.sources, named.at, &folder.display().to_string());
    let message = format!("user {user}, who serves, can't write the {} into `{shown}`", named.role);
    let mut diagnosis =
        Diagnosis::new(&PATH_NOT_WRITABLE, named.level, named.at, message).label(named.role).values(
            format!("mode {:04o} of user {owner}", mode & 0o7777),
            format!("write permission for user {user}"),
        );
    if let Some(folder) = plain(examination, named.at, folder) {
        diagnosis = diagnosis.command(format!("chown {user} {folder}"));
    }
    if let Some(by) = by {
        diagnosis.finding = diagnosis.finding.also(by, "from here on it is this user");
    }
    examination.found(diagnosis);
}

/// Who writes there, and the line that says so; `None`: that is not known, or said elsewhere.
fn writer(examination: &Examination<'_>, named: &Named<'_>) -> Option<(u32, Option<Loc>)> {
    let program = examination.subject.program;
    let mut set = program.process.setuid.iter().filter(|set| set.at.is_some());
    // What is made anew is made by whoever the process is in the end.
    let before = |set: &&Set<Text>| {
        named.what == What::FolderOfNew || set.at.is_some_and(|at| comes_first(program, at, named.at))
    };
    if let Some(last) = set.rfind(before) {
        return Some((id(examination, "/etc/passwd", &last.value)?, last.at));
    }
    let process = examination.subject.process?;
    let status = examination.host.read(Path::new(&format!("/proc/{process}/status"))).ok()?;
    let status = String::from_utf8_lossy(&status).into_owned();
    let users = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    // With `setuid` the process was another one at this line.
    let is_first = program.process.setuid.is_empty();
    Some((users.split_whitespace().nth(1)?.parse().ok().filter(|_| is_first)?, None))
}

/// A user or group by number, or by its name in a file such as `/etc/passwd`.
fn id(examination: &Examination<'_>, file: &str, name: &Text) -> Option<u32> {
    let name = name.to_string();
    if let Ok(number) = name.parse() {
        return Some(number);
    }
    let text = examination.host.read(Path::new(file)).ok()?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let mut rows = text.lines().map(|line| line.split(':'));
    let mut row = rows.find(|row| row.clone().next() == Some(name.as_str()))?;
    row.nth(2)?.parse().ok()
}

/// Users and groups that the process is to become.
fn users(examination: &mut Examination<'_>, program: &Program) {
    let process = &program.process;
    let users = process.setuid.iter().map(|set| (set.at, &set.value, "user", "/etc/passwd"));
    let groups = process.setgid.iter().map(|set| (set.at, &set.value, "group", "/etc/group"));
    let jailed = process.chroot.iter().flat_map(|chroot| {
        let user = chroot.value.get(1).map(|user| (chroot.at, user, "user", "/etc/passwd"));
        let group = chroot.value.get(2).map(|group| (chroot.at, group, "group", "/etc/group"));
        user.into_iter().chain(group)
    });
    for (at, name, what, file) in users.chain(groups).chain(jailed) {
        let is_known = id(examination, file, name).is_some();
        // Other sources of users than the file may know it, but then the file is there.
        let is_readable = examination.host.read(Path::new(file)).is_ok();
        if let Some(at) = at.filter(|_| !is_known && is_readable) {
            let shown = redact::shown_of(examination.subject.sources, at, &name.to_string());
            let message = format!("this host has no {what} `{shown}` in {file}");
            let diagnosis = Diagnosis::new(&USER_UNKNOWN, Level::Warn, at, message).label(what);
            let diagnosis = diagnosis.values("nothing", format!("a {what}"));
            let add = if what == "group" { "groupadd" } else { "useradd" };
            examination.found(match plain(examination, at, Path::new(&name.to_string())) {
                Some(name) => diagnosis.command(format!("{add} --system {name}")),
                None => diagnosis,
            });
        }
    }
}

/// Interfaces that services are bound to, and namespaces.
fn interfaces(examination: &mut Examination<'_>, program: &Program) {
    let mut seen = HashSet::new();
    for service in &program.services {
        let options = &service.options;
        let devices = [&options.listen_device, &options.external_device]
            .map(|set| (set, "interface", "/sys/class/net"));
        let spaces = [&options.listen_namespace, &options.external_namespace]
            .map(|set| (set, "network namespace", "/run/netns"));
        for (set, what, folder) in devices.into_iter().chain(spaces) {
            let Some(Set { value: name, at: Some(at) }) = set else { continue };
            if !seen.insert((name.as_bytes(), what)) {
                continue;
            }
            // A namespace may be named by its path.
            let path = Path::new(folder).join(files::written(name));
            absent(examination, *at, name, what, &path);
        }
    }
}

fn absent(examination: &mut Examination<'_>, at: Loc, name: &Text, what: &str, path: &Path) {
    let gone = |path: &Path| matches!(examination.host.mode(path), Err(error) if error.kind() == io::ErrorKind::NotFound);
    // Without the folder the host can't be asked.
    if !gone(path) || path.parent().is_none_or(gone) {
        return;
    }
    let shown = redact::shown_of(examination.subject.sources, at, &name.to_string());
    let message = format!("this host has no {what} `{shown}`");
    let diagnosis = Diagnosis::new(&INTERFACE_MISSING, Level::Deny, at, message).label(what.to_owned());
    examination.found(
        diagnosis.values("nothing", format!("an entry in {}", path.parent().unwrap_or(path).display())),
    );
}
