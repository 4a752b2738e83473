//! Who may read and write the files of a configuration.
use std::{
    collections::{BTreeMap, HashSet},
    ffi::OsStr,
    io,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use compiler::{
    finding::Level,
    program::{Program, log::LogTarget},
    sources::{FileId, Loc},
};
use grammar::Text;

use super::{
    checks::FILE_PERMISSIONS,
    examination::{Diagnosis, Examination},
    places,
};
use crate::files::STDIN_NAME;

/// Every user may read.
const OTHERS_READ: u32 = 0o004;
/// Every user may write.
const OTHERS_WRITE: u32 = 0o002;
/// In such a folder, only the owner of a file may replace it.
const STICKY: u32 = 0o1000;

pub(super) fn examine(examination: &mut Examination<'_>) {
    let secrets = secrets(examination.subject.program);
    let files: Vec<_> =
        examination.subject.sources.iter().map(|(id, source)| (id, source.path.clone())).collect();
    let mut seen = HashSet::new();
    for (id, path) in files {
        // A file that is included twice is examined once.
        if path == Path::new(STDIN_NAME) || !seen.insert(path.clone()) {
            continue;
        }
        let start = Loc { file: id, ..Loc::default() };
        file(examination, &path, secrets.get(&id).copied(), start);
    }
    for (path, at) in keys(examination) {
        file(examination, &path, Some((at, "a private key")), at);
    }
}

/// The first secret of each file, and what it is.
fn secrets(program: &Program) -> BTreeMap<FileId, (Loc, &'static str)> {
    let users = program.users.iter().map(|user| (user.at, "passwords"));
    let radius = program.radius.iter().map(|radius| (radius.at, "a RADIUS secret"));
    let parents = program.acls.parents.iter().filter(|parent| parent.password.is_some());
    let parents = parents.map(|parent| (parent.at, "the password of a parent"));
    let logs = program.services.iter().filter_map(|service| match service.log.target.value {
        LogTarget::Sql(_) => Some((service.log.target.at?, "the password of a database")),
        _ => None,
    });
    let mut first = BTreeMap::new();
    for (at, what) in users.chain(radius).chain(parents).chain(logs) {
        first.entry(at.file).or_insert((at, what));
    }
    first
}

/// Files of private keys, and where they are named.
fn keys(examination: &Examination<'_>) -> BTreeMap<PathBuf, Loc> {
    let mut keys = BTreeMap::new();
    for service in &examination.subject.program.services {
        for key in [&service.tls.server.key, &service.tls.server.ca_key, &service.tls.client.key]
            .into_iter()
            .flatten()
        {
            keys.entry(path(examination, &key.value)).or_insert(key.at.unwrap_or(service.at));
        }
    }
    keys
}

/// Where a file is that is read at a service: in the folder that becomes the root, if there is one and the file is in it; what is read
/// before that line is outside.
pub(super) fn path(examination: &Examination<'_>, text: &Text) -> PathBuf {
    let path = written(text);
    let inside = places::root(examination.subject.program)
        .map(|(_, root)| written(root).join(path.strip_prefix("/").unwrap_or(&path)));
    inside.filter(|inside| examination.host.mode(inside).is_ok()).unwrap_or(path)
}

/// A path as it is written.
pub(super) fn written(text: &Text) -> PathBuf {
    Path::new(OsStr::from_bytes(text.as_bytes())).to_path_buf()
}

fn file(examination: &mut Examination<'_>, path: &Path, secret: Option<(Loc, &'static str)>, start: Loc) {
    let mode = match examination.host.mode(path) {
        Ok(mode) => mode,
        // What can't be opened at all is reported by who needs it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return,
        Err(error) => {
            return examination
                .unchecked(&FILE_PERMISSIONS, format!("`{}` can't be looked at: {error}", path.display()));
        }
    };
    let shown = path.display();
    let seen = format!("mode {:04o}", mode & 0o7777);
    if mode & OTHERS_WRITE != 0 {
        let message = format!("every user of this host can change `{shown}`");
        let diagnosis = Diagnosis::new(&FILE_PERMISSIONS, Level::Deny, start, message);
        examination.found(
            diagnosis
                .values(&seen, "no write permission for others")
                .command(format!("chmod o-w {}", for_shell(path))),
        );
    }
    if let Some((at, what)) = secret.filter(|_| mode & OTHERS_READ != 0) {
        let message = format!("every user of this host can read `{shown}`, which holds {what}");
        let diagnosis = Diagnosis::new(&FILE_PERMISSIONS, Level::Deny, at, message).label(what);
        examination.found(
            diagnosis
                .values(&seen, "no permission for others")
                .command(format!("chmod o-rwx {}", for_shell(path))),
        );
    }
    folder(examination, path, start);
}

/// Who may write into a file's folder can put another file in its place.
fn folder(examination: &mut Examination<'_>, path: &Path, at: Loc) {
    let folder = match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) => folder,
        None => return,
    };
    let Ok(mode) = examination.host.mode(folder) else { return };
    if mode & OTHERS_WRITE != 0 && mode & STICKY == 0 {
        let message = format!("every user of this host can replace `{}`", path.display());
        let diagnosis = Diagnosis::new(&FILE_PERMISSIONS, Level::Deny, at, message);
        let diagnosis = diagnosis
            .values(format!("mode {:04o} of its folder", mode & 0o7777), "no write permission for others");
        examination.found(diagnosis.command(format!("chmod o-w {}", for_shell(folder))));
    }
}

/// A path as a shell takes it for one word.
pub(super) fn for_shell(path: &Path) -> String {
    let text = path.to_string_lossy();
    let plain = |char: char| char.is_ascii_alphanumeric() || "/._-+@,:".contains(char);
    // A word that starts so would be an option.
    let start = if text.starts_with('-') { "./" } else { "" };
    if text.chars().all(plain) {
        format!("{start}{text}")
    } else {
        format!("'{start}{}'", text.replace('\'', "'\\''"))
    }
}
