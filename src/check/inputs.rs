//! Which configurations are checked: files, standard input, and what stands in folders.
use std::{
    cell::OnceCell,
    collections::BTreeSet,
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

use compiler::{lower::lower, options::CompileOptions};
use grammar::{
    directive,
    syntax::{LineKind, Tree},
};

use crate::{
    args::{Image, Reading},
    files::{Given, is_stdin, plain},
};

/// Files in folders are looked into up to here.
const MOST_BYTES: u64 = 1 << 24;

/// A configuration to check.
#[derive(Debug)]
pub(super) struct Input {
    /// As it was given, or found in a folder; `-` for standard input.
    pub(super) path: PathBuf,
    /// Why there is nothing to check.
    pub(super) fault: Option<String>,
    /// The files that it reads besides its own, when somebody asked.
    includes: OnceCell<BTreeSet<PathBuf>>,
}

impl Input {
    fn new(path: PathBuf, fault: Option<String>) -> Self {
        Self { path, fault, includes: OnceCell::new() }
    }

    /// Where the files are that it reads, its own among them: none, if it can be read once only.
    pub(super) fn reads(&self, reading: &Reading) -> BTreeSet<PathBuf> {
        if self.is_stdin() || !reading.image.has_file(&self.path) {
            return BTreeSet::new();
        }
        self.includes(reading).iter().cloned().chain(reading.image.place(&self.path)).collect()
    }

    /// The files that it reads besides its own.
    fn includes(&self, reading: &Reading) -> &BTreeSet<PathBuf> {
        self.includes.get_or_init(|| included(&self.path, reading).into_iter().collect())
    }

    pub(super) fn is_stdin(&self) -> bool {
        is_stdin(&self.path)
    }
}

/// The configurations that `paths` name, each once: files as they are, and of folders the files in them that look like one. A file
/// that is read as a part of another one is left out.
pub(super) fn find(paths: &[PathBuf], reading: &Reading) -> Vec<Input> {
    let mut met = BTreeSet::new();
    let mut inputs = Vec::new();
    for path in paths {
        let found =
            if !is_stdin(path) && path.is_dir() { in_folder(path, reading) } else { vec![named(path)] };
        inputs.extend(found.into_iter().filter(|input| met.insert(input.path.clone())));
    }
    if paths.len() > 1 && !reading.no_includes { standing_alone(inputs, reading) } else { inputs }
}

/// A file that was named. What would then be called as standard input is keeps its name.
fn named(path: &Path) -> Input {
    let shown = Some(plain(path)).filter(|shown| !is_stdin(shown));
    Input::new(shown.unwrap_or_else(|| path.to_owned()), None)
}

/// Without the files that others of them include; all of them, if they include each other.
fn standing_alone(inputs: Vec<Input>, reading: &Reading) -> Vec<Input> {
    if inputs.len() < 2 {
        return inputs;
    }
    let included: BTreeSet<&PathBuf> = inputs.iter().flat_map(|input| input.includes(reading)).collect();
    let is_part = |input: &Input| {
        !included.is_empty() && reading.image.place(&input.path).is_ok_and(|path| included.contains(&path))
    };
    let parts: Vec<bool> = inputs.iter().map(is_part).collect();
    if parts.iter().all(|is_part| *is_part) {
        return inputs;
    }
    inputs.into_iter().zip(parts).filter(|(_, is_part)| !is_part).map(|(input, _)| input).collect()
}

fn in_folder(folder: &Path, reading: &Reading) -> Vec<Input> {
    let mut found = Vec::new();
    let fault = match below(folder, &reading.image, &mut found) {
        Err(error) => Some(format!("`{}` can't be read: {error}", folder.display())),
        Ok(()) if found.is_empty() => {
            Some(format!("there is no 3proxy configuration in `{}`", folder.display()))
        }
        Ok(()) => None,
    };
    if fault.is_some() {
        return vec![Input::new(folder.to_owned(), fault)];
    }
    standing_alone(found.into_iter().map(|path| Input::new(path, None)).collect(), reading)
}

/// Collects what looks like a configuration in a folder and those in it, by name. Hidden files and folders are left out, and
/// links to folders are not followed.
fn below(folder: &Path, image: &Image, found: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with('.') {
            continue;
        }
        let path = plain(&entry.path());
        if entry.file_type()?.is_dir() {
            below(&path, image, found)?;
        } else if may_be_called(&name) && image.has_file(&path) {
            // What can't be read is told when it is checked.
            if is_called(&name)
                || looks_like(&image.place(&path).and_then(|place| head(&place)).unwrap_or_default())
            {
                found.push(path);
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

/// Whether most lines begin with a command of 3proxy. Those that begin with a marker of a template say nothing.
fn looks_like(text: &[u8]) -> bool {
    let tree = grammar::parse(text);
    let (mut known, mut other) = (0_usize, 0_usize);
    for name in commands(&tree, text).into_iter().filter(|name| !name.starts_with(b"{")) {
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

/// The files that a configuration reads besides its own, as the system calls them.
fn included(path: &Path, reading: &Reading) -> Vec<PathBuf> {
    // A pipe can be read once only, and so can standard input, whatever file is called as it is.
    if reading.no_includes || is_stdin(path) || !reading.image.has_file(path) {
        return Vec::new();
    }
    let Ok(given) = Given::read(path, &reading.image) else { return Vec::new() };
    let options = CompileOptions {
        root: reading.image.root.clone(),
        template: reading.template.into(),
        ..CompileOptions::default()
    };
    let lowered = lower(path, &given, &options);
    lowered.sources.iter().skip(1).filter_map(|(_, source)| given.located(&source.path).ok()).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{find, looks_like};
    use crate::args::{Image, Reading};

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
        let found = find(&[folder.path().to_owned()], &Reading::default());
        let names: Vec<_> =
            found.iter().map(|input| input.path.strip_prefix(folder.path()).unwrap().to_owned()).collect();
        let expected = ["a.cfg", "sub/3proxy.cfg", "sub/proxy.conf"].map(Path::new);
        assert_eq!(names, expected);
        // A file that is named is checked, whatever it looks like.
        assert_eq!(find(&[at("setup.cfg"), at("setup.cfg")], &Reading::default()).len(), 1);
    }

    #[test]
    fn what_a_named_file_reads_is_no_configuration_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("sub")).unwrap();
        for (name, text) in [
            ("main.cfg", "include /3proxy-acl.cfg\nusers $/3proxy-users.cfg\nproxy\n"),
            ("3proxy-acl.cfg", "allow bob\n"),
            ("3proxy-users.cfg", "bob:CL:x\n"),
            ("sub/3proxy.cfg", "proxy\n"),
            ("one.cfg", "include /two.cfg\n"),
            ("two.cfg", "include /one.cfg\n"),
            ("jail.cfg", "chroot /sub\ninclude /3proxy.cfg\n"),
        ] {
            std::fs::write(at(name), text).unwrap();
        }
        let inside = || Image { root: Some(folder.path().to_owned()) };
        let reading = Reading { image: inside(), ..Reading::default() };
        let found = |names: &[&str], reading: &Reading| {
            let paths: Vec<_> = names.iter().map(|name| at(name)).collect();
            let name = |path: &Path| path.strip_prefix(folder.path()).unwrap().display().to_string();
            find(&paths, reading).iter().map(|input| name(&input.path)).collect::<Vec<_>>()
        };
        let all = ["3proxy-acl.cfg", "3proxy-users.cfg", "main.cfg"];
        assert_eq!(found(&all, &reading), ["main.cfg"]);
        assert_eq!(found(&["sub", "main.cfg", "3proxy-acl.cfg"], &reading), ["sub/3proxy.cfg", "main.cfg"]);
        assert_eq!(found(&["sub/3proxy.cfg", "jail.cfg"], &reading), ["jail.cfg"]);
        // Alone it is what was asked for; so is each where nothing is included.
        assert_eq!(found(&["3proxy-acl.cfg"], &reading), ["3proxy-acl.cfg"]);
        assert_eq!(found(&all, &Reading { no_includes: true, image: inside(), ..Reading::default() }), all);
        assert_eq!(found(&["one.cfg", "two.cfg"], &reading), ["one.cfg", "two.cfg"]);
    }

    #[test]
    fn an_empty_folder_is_at_fault() {
        let folder = tempfile::tempdir().unwrap();
        let found = find(&[folder.path().to_owned()], &Reading::default());
        assert!(found.len() == 1 && found[0].fault.as_ref().unwrap().starts_with("there is no 3proxy"));
    }

    #[test]
    fn what_looks_like_a_configuration_is_mostly_commands() {
        assert!(looks_like(b"# x\nauth iponly\nallow *\nproxi\n"));
        assert!(looks_like(
            b"{% for p in ports %}\n{% if p %}\nproxy -p{{ p }}\n{% endif %}\n{% endfor %}\n"
        ));
        assert!(!looks_like(b""));
        assert!(!looks_like(b"server {\nlisten 80;\n}\n"));
    }
}
