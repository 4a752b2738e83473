//! `cfgc.toml`: levels of rules and what runs the configurations, for all that are beside it and below.
mod read;

use std::{
    collections::HashMap,
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    rc::Rc,
};

use anyhow::{Context, Result, anyhow, bail};
use compiler::{
    finding::{Finding, Level},
    options::{Allowances, Runner},
};
use glob::{MatchOptions, Pattern};
use runtime::reload::read as files;

use crate::{levels::RuleLevels, report::complain};

/// The name of the file.
const NAME: &str = "cfgc.toml";
/// How many faults of a file are told.
const MOST_TOLD: usize = 5;
/// A folder that has one of these is the root of a repository: nothing above it counts.
const REPOSITORIES: [&str; 3] = [".git", ".hg", ".jj"];

/// What stands in the file.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    /// Its folder, from which patterns are counted.
    folder: PathBuf,
    rules: RuleLevels,
    overrides: Vec<Override>,
    /// What will run the configurations.
    pub(crate) runner: Runner,
    /// What comments may allow.
    pub(crate) allowances: Allowances,
    /// What is to be said of the file, though it counts.
    hints: Vec<read::Fault>,
}

/// Levels for some files.
#[derive(Debug)]
struct Override {
    paths: Vec<Covered>,
    rules: RuleLevels,
}

impl Settings {
    /// What stands in the file at `path`, which `file` reads.
    fn read(path: &Path, file: fn(&Path) -> io::Result<Vec<u8>>) -> Result<Self> {
        let shown = path.display();
        let unreadable = || format!("`{shown}` can't be read");
        let text = file(path).with_context(unreadable)?;
        let text =
            String::from_utf8(text).map_err(|_| anyhow!("it is not UTF-8")).with_context(unreadable)?;
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let line =
            |fault: &read::Fault| format!("{shown}:{}:{}: {}", fault.at.line, fault.at.column, fault.message);
        match read::read(&text, folder) {
            Ok(settings) => {
                settings.hints.iter().for_each(|hint| complain(&line(hint)));
                Ok(settings)
            }
            Err(faults) => {
                // One broken line brings many after it.
                faults.iter().take(MOST_TOLD).for_each(|fault| complain(&line(fault)));
                bail!("nothing is checked: `{shown}` has {}", counted(faults.len()))
            }
        }
    }

    /// The level of a finding in the file at `path`: of the last override that names its rule and covers the file, else of the rules.
    pub(crate) fn level(&self, finding: &Finding, path: &Path) -> Option<Level> {
        let own = || self.overrides.iter().rev().filter(|one| one.covers(&self.folder, path));
        let overridden =
            if self.overrides.is_empty() { None } else { own().find_map(|one| one.rules.of(finding)) };
        overridden.or_else(|| self.rules.of(finding))
    }
}

/// Files that a pattern names.
#[derive(Debug)]
struct Covered {
    pattern: Pattern,
    /// In whatever folder: the pattern is one of names, not of paths.
    anywhere: bool,
}

impl Override {
    /// Whether a file is covered: by its path from `folder` on or that of a folder it is in; by its name alone, if the pattern
    /// has no slash.
    fn covers(&self, folder: &Path, path: &Path) -> bool {
        let Ok(path) = std::path::absolute(path) else { return false };
        let Ok(inside) = path.strip_prefix(folder) else { return false };
        let options = MatchOptions { require_literal_separator: true, ..MatchOptions::new() };
        self.paths.iter().any(|Covered { pattern, anywhere }| {
            inside.ancestors().any(|part| {
                let part = if *anywhere { part.file_name().map(Path::new) } else { Some(part) };
                part.is_some_and(|part| pattern.matches_path_with(part, options))
            })
        })
    }
}

fn counted(faults: usize) -> String {
    match faults {
        1 => "a fault".to_owned(),
        few if few <= MOST_TOLD => format!("{few} faults"),
        many => format!("{many} faults, of which the first {MOST_TOLD} are shown"),
    }
}

/// Where settings come from.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// Found beside each configuration, or above it.
    Found,
    /// This file.
    File(PathBuf),
    /// Nowhere.
    Nowhere,
}

/// The settings of many configurations, each file read once.
pub(crate) struct SettingsFiles {
    origin: Origin,
    known: HashMap<Option<PathBuf>, Rc<Settings>>,
}

impl SettingsFiles {
    pub(crate) fn new(origin: Origin) -> Self {
        Self { origin, known: HashMap::new() }
    }

    /// The settings of the configuration at `path`.
    pub(crate) fn of(&mut self, path: &Path) -> Result<Rc<Settings>> {
        let file = match &self.origin {
            Origin::Found => above(path)?,
            Origin::File(path) => Some(std::path::absolute(path)?),
            Origin::Nowhere => None,
        };
        if let Some(known) = self.known.get(&file) {
            return Ok(Rc::clone(known));
        }
        let settings = Rc::new(match (&file, &self.origin) {
            (Some(file), Origin::Found) => Settings::read(file, files::included)?,
            // It may be a pipe of the shell.
            (Some(file), _) => Settings::read(file, files::configuration)?,
            (None, _) => Settings::default(),
        });
        self.known.insert(file, Rc::clone(&settings));
        Ok(settings)
    }
}

/// The nearest settings file in the folder of `path` or above it, up to the root of the repository.
fn above(path: &Path) -> Result<Option<PathBuf>> {
    let path = std::path::absolute(path)?;
    for folder in path.ancestors().skip(1) {
        let file = folder.join(NAME);
        // A link that leads nowhere is no file that is not there: who made it meant something.
        match fs::symlink_metadata(&file) {
            Ok(_) => return Ok(Some(file)),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            Err(error) => return Err(error).with_context(|| format!("`{}` can't be read", file.display())),
        }
        if REPOSITORIES.iter().any(|name| folder.join(name).exists()) {
            break;
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path, process::Command};

    use compiler::{
        finding::{Finding, Level},
        sources::Loc,
    };

    use super::{Origin, Settings, SettingsFiles};

    fn found(rule: &'static str) -> Finding {
        Finding::new(rule, Level::Warn, Loc::default(), "x")
    }

    #[test]
    fn the_nearest_file_counts_up_to_the_root_of_the_repository() {
        let top = tempfile::tempdir().unwrap();
        let at = |path: &str| top.path().join(path);
        fs::create_dir_all(at("repo/.git")).unwrap();
        fs::create_dir_all(at("repo/a/b")).unwrap();
        fs::create_dir_all(at("repo/c")).unwrap();
        fs::create_dir_all(at("other/.git")).unwrap();
        for (path, level) in
            [("cfgc.toml", "deny"), ("repo/cfgc.toml", "warn"), ("repo/a/cfgc.toml", "allow")]
        {
            fs::write(at(path), format!("[rules]\nopen-proxy = \"{level}\"\n")).unwrap();
        }
        let mut files = SettingsFiles::new(Origin::Found);
        let mut level = |path: &str| files.of(&at(path)).unwrap().level(&found("open-proxy"), &at(path));
        assert_eq!(level("repo/a/b/3proxy.cfg"), Some(Level::Allow));
        assert_eq!(level("repo/c/3proxy.cfg"), Some(Level::Warn));
        assert_eq!(level("other/3proxy.cfg"), None);
        assert_eq!(level("3proxy.cfg"), Some(Level::Deny));
        let mut named = SettingsFiles::new(Origin::File(at("cfgc.toml")));
        let path = at("repo/a/x.cfg");
        assert_eq!(named.of(&path).unwrap().level(&found("open-proxy"), &path), Some(Level::Deny));
        let mut none = SettingsFiles::new(Origin::Nowhere);
        assert_eq!(none.of(&path).unwrap().level(&found("open-proxy"), &path), None);
    }

    #[test]
    fn settings_that_are_no_file_are_not_passed_over() {
        let top = tempfile::tempdir().unwrap();
        let at = |path: &str| top.path().join(path);
        for folder in ["folder/cfgc.toml", "link", "pipe", "none/.git"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        assert!(Command::new("mkfifo").arg(at("pipe/cfgc.toml")).status().unwrap().success());
        std::os::unix::fs::symlink("nowhere", at("link/cfgc.toml")).unwrap();
        let told = |path: &str| {
            SettingsFiles::new(Origin::Found).of(&at(path)).map(|_| ()).map_err(|error| format!("{error:#}"))
        };
        for (path, why) in [
            ("folder/a.cfg", "is a directory"),
            ("link/a.cfg", "No such file or directory (os error 2)"),
            ("pipe/a.cfg", "it is no regular file"),
        ] {
            let error = told(path).unwrap_err();
            assert!(error.ends_with(&format!("cfgc.toml` can't be read: {why}")), "{path}: {error}");
        }
        assert_eq!(told("none/a.cfg"), Ok(()));
    }

    #[test]
    fn a_pattern_with_a_slash_is_a_path_from_the_folder_on() {
        for (pattern, covered) in [
            ("a.cfg", [true, true, false]),
            ("./a.cfg", [true, false, false]),
            ("././sub", [false, true, true]),
            ("sub/", [false, true, true]),
            ("./sub/*.cfg", [false, true, false]),
            (".", [true, true, true]),
            ("./", [true, true, true]),
        ] {
            let text = format!("[[overrides]]\npaths = [\"{pattern}\"]\nrules = {{ all = \"warn\" }}\n");
            let settings = super::read::read(&text, "/repo".into()).unwrap();
            let is = |path: &str| settings.level(&found("bom"), Path::new(path)).is_some();
            assert_eq!(
                ["/repo/a.cfg", "/repo/sub/a.cfg", "/repo/sub/x/b.conf"].map(is),
                covered,
                "{pattern}"
            );
        }
    }

    #[test]
    fn the_last_override_that_covers_a_file_and_names_the_rule_counts() {
        let text = r#"
            [rules]
            security = "warn"
            [[overrides]]
            paths = ["lab", "*.test.cfg"]
            rules = { open-proxy = "allow" }
            [[overrides]]
            paths = ["lab/strict/**"]
            rules = { all = "deny" }
            [[overrides]]
            paths = ["**/old/*.cfg"]
            rules = { bom = "allow" }
        "#;
        let settings: Settings = super::read::read(text, "/repo".into()).unwrap();
        for (path, expected) in [
            ("/repo/3proxy.cfg", Some(Level::Warn)),
            ("/repo/lab/3proxy.cfg", Some(Level::Allow)),
            ("/repo/lab/sub/3proxy.cfg", Some(Level::Allow)),
            ("/repo/x/a.test.cfg", Some(Level::Allow)),
            ("/repo/labs/a.cfg", Some(Level::Warn)),
            ("/repo/lab/strict/3proxy.cfg", Some(Level::Deny)),
            ("/repo/lab/strict/old/3proxy.cfg", Some(Level::Deny)),
            ("/elsewhere/lab/3proxy.cfg", Some(Level::Warn)),
        ] {
            assert_eq!(settings.level(&found("open-proxy"), Path::new(path)), expected, "{path}");
        }
        assert_eq!(settings.level(&found("bom"), Path::new("/repo/old/x.cfg")), Some(Level::Allow));
        assert_eq!(settings.level(&found("bom"), Path::new("/repo/old/sub/x.cfg")), None);
    }
}
