//! Which configurations are checked: files, standard input, and what stands in folders.
use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs,
    io::{self, Read},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use grammar::{
    directive,
    syntax::{LineKind, Tree},
};

use crate::files::is_stdin;

/// Files in folders are looked into up to here.
const MOST_BYTES: u64 = 1 << 24;

/// A configuration to check.
#[derive(Debug)]
pub(super) struct Input {
    /// As it was given, or found in a folder; `-` for standard input.
    pub(super) path: PathBuf,
    /// Why there is nothing to check.
    pub(super) fault: Option<String>,
}

impl Input {
    pub(super) fn is_stdin(&self) -> bool {
        is_stdin(&self.path)
    }
}

/// The configurations that `paths` name, each once: files as they are, and of folders the files in them that look like one.
pub(super) fn find(paths: &[PathBuf], root: Option<&Path>) -> Vec<Input> {
    let mut met = BTreeSet::new();
    let mut inputs = Vec::new();
    for path in paths {
        let found = if !is_stdin(path) && path.is_dir() {
            in_folder(path, root)
        } else {
            vec![Input { path: path.clone(), fault: None }]
        };
        inputs.extend(found.into_iter().filter(|input| met.insert(input.path.clone())));
    }
    inputs
}

fn in_folder(folder: &Path, root: Option<&Path>) -> Vec<Input> {
    let mut found = Vec::new();
    let fault = match below(folder, &mut found) {
        Err(error) => Some(format!("`{}` can't be read: {error}", folder.display())),
        Ok(()) if found.is_empty() => {
            Some(format!("there is no 3proxy configuration in `{}`", folder.display()))
        }
        Ok(()) => None,
    };
    if fault.is_some() {
        return vec![Input { path: folder.to_owned(), fault }];
    }
    // What another one includes is checked as part of it.
    let included: BTreeSet<PathBuf> =
        found.iter().flat_map(|candidate| included(&candidate.text, root)).collect();
    let stands_alone =
        |candidate: &Candidate| !fs::canonicalize(&candidate.path).is_ok_and(|path| included.contains(&path));
    let alone: Vec<Input> = found
        .iter()
        .filter(|candidate| stands_alone(candidate))
        .map(|candidate| Input { path: candidate.path.clone(), fault: None })
        .collect();
    if alone.is_empty() {
        // They include each other.
        return found.into_iter().map(|candidate| Input { path: candidate.path, fault: None }).collect();
    }
    alone
}

/// A file that looks like a configuration.
struct Candidate {
    path: PathBuf,
    text: Vec<u8>,
}

/// Collects what looks like a configuration in a folder and those in it, by name. Hidden files and folders are left out, and
/// links to folders are not followed.
fn below(folder: &Path, found: &mut Vec<Candidate>) -> io::Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with('.') {
            continue;
        }
        // What is found in `.` needs no `./`.
        let path = entry.path();
        let path = path.strip_prefix(".").map(Path::to_owned).unwrap_or(path);
        if entry.file_type()?.is_dir() {
            below(&path, found)?;
        } else if may_be_called(&name) && path.is_file() {
            // What can't be read is told when it is checked.
            let text = head(&path).unwrap_or_default();
            if is_called(&name) || looks_like(&text) {
                found.push(Candidate { path, text });
            }
        }
    }
    Ok(())
}

fn head(path: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    fs::File::open(path)?.take(MOST_BYTES).read_to_end(&mut text)?;
    Ok(text)
}

/// Whether a file of this name is worth a look.
fn may_be_called(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.ends_with(".cfg") || name.ends_with(".conf") || name.contains(".cfg.") || name.contains("3proxy")
}

/// Whether a file of this name is a configuration whatever it holds.
fn is_called(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.contains("3proxy") && (name.ends_with(".cfg") || name.ends_with(".conf"))
}

/// Whether most lines begin with a command of 3proxy.
fn looks_like(text: &[u8]) -> bool {
    let tree = grammar::parse(text);
    let (mut known, mut other) = (0_usize, 0_usize);
    for name in commands(&tree, text) {
        *(if directive::find(&name).is_some() { &mut known } else { &mut other }) += 1;
    }
    known > other
}

/// The first word of each command.
fn commands(tree: &Tree, text: &[u8]) -> Vec<Vec<u8>> {
    let first = |words| Some(tree.words(words).next()?.value(text).into_owned());
    let name = |kind| match kind {
        LineKind::Directive(words) | LineKind::Bad(_, words) => first(words),
        _ => None,
    };
    tree.lines().filter_map(|line| name(line.kind)).collect()
}

/// The files that a configuration includes, as the system calls them.
fn included(text: &[u8], root: Option<&Path>) -> Vec<PathBuf> {
    let tree = grammar::parse(text);
    let mut paths = Vec::new();
    for line in tree.lines() {
        let LineKind::Directive(words) = line.kind else { continue };
        let mut words = tree.words(words);
        let is_include = words.next().is_some_and(|word| &*word.value(text) == b"include");
        let Some(word) = words.next().filter(|_| is_include) else { continue };
        let path = word.value(text);
        let path = Path::new(OsStr::from_bytes(&path));
        paths.extend(fs::canonicalize(match (root, path.strip_prefix("/")) {
            (Some(root), Ok(inside)) => root.join(inside),
            _ => path.to_owned(),
        }));
    }
    paths
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{find, looks_like};

    #[test]
    fn of_a_folder_configurations_are_checked_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("sub")).unwrap();
        std::fs::create_dir(at(".git")).unwrap();
        let users = at("users.cfg");
        for (name, text) in [
            ("a.cfg", format!("include {}\nproxy\n", users.display()).as_str()),
            ("users.cfg", "users bob:CL:x\n"),
            ("haproxy.cfg", "global\n  daemon\ndefaults\n  mode http\nfrontend x\nbackend y\nlisten z\n"),
            ("setup.cfg", "[metadata]\nname = x\n"),
            ("sub/3proxy.cfg", "nonsense\n"),
            ("sub/proxy.conf", "auth iponly\nsocks\n"),
            ("README.3proxy.md", "How to run it\n"),
            (".git/3proxy.cfg", "proxy\n"),
        ] {
            std::fs::write(at(name), text).unwrap();
        }
        let found = find(&[folder.path().to_owned()], None);
        let names: Vec<_> =
            found.iter().map(|input| input.path.strip_prefix(folder.path()).unwrap().to_owned()).collect();
        let expected = ["a.cfg", "sub/3proxy.cfg", "sub/proxy.conf"].map(Path::new);
        assert_eq!(names, expected);
        // A file that is named is checked, whatever it looks like.
        assert_eq!(find(&[at("setup.cfg"), at("setup.cfg")], None).len(), 1);
    }

    #[test]
    fn an_empty_folder_is_at_fault() {
        let folder = tempfile::tempdir().unwrap();
        let found = find(&[folder.path().to_owned()], None);
        assert!(found.len() == 1 && found[0].fault.as_ref().unwrap().starts_with("there is no 3proxy"));
    }

    #[test]
    fn what_looks_like_a_configuration_is_mostly_commands() {
        assert!(looks_like(b"# x\nauth iponly\nallow *\nproxi\n"));
        assert!(!looks_like(b""));
        assert!(!looks_like(b"server {\nlisten 80;\n}\n"));
    }
}
