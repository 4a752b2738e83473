//! `cfgc check` as a process: what it reads, mends, prints, and how it ends.
mod fixing;
mod formats;
mod patching;
mod settings;
mod sharing;
mod unreadable;

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use tempfile::TempDir;

use crate::support::cfgc;

/// A folder with files, in which the command runs.
struct Folder(TempDir);

/// What the command said, and its exit status.
struct Said {
    status: Option<i32>,
    out: String,
    err: String,
}

impl Folder {
    /// Files by path and text; the folder is the root of a repository, so that no settings are found above it.
    fn with(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir(folder.path(".git")).unwrap();
        for (path, text) in files {
            folder.write(path, text.as_bytes());
        }
        folder
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn write(&self, path: &str, text: &[u8]) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn read(&self, path: impl AsRef<Path>) -> String {
        std::fs::read_to_string(self.0.path().join(path)).unwrap()
    }

    /// `cfgc check` with these arguments.
    fn check(&self, arguments: &[&str]) -> Said {
        self.check_input(arguments, b"")
    }

    /// The same with so much on standard input.
    fn check_input(&self, arguments: &[&str], input: &[u8]) -> Said {
        self.check_to(Stdio::piped(), arguments, input)
    }

    /// The same with standard input coming from there.
    fn check_from(&self, input: impl Into<Stdio>, arguments: &[&str]) -> Said {
        let mut command: Command = cfgc::command();
        command.arg("check").args(arguments).current_dir(self.0.path()).stdin(input);
        said(command.output().unwrap())
    }

    /// The same with standard output going there.
    fn check_to(&self, out: impl Into<Stdio>, arguments: &[&str], input: &[u8]) -> Said {
        let mut command: Command = cfgc::command();
        command.arg("check").args(arguments).current_dir(self.0.path());
        command.stdin(Stdio::piped()).stdout(out).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // It may have ended without reading.
        let _ = child.stdin.take().unwrap().write_all(input);
        let output = child.wait_with_output().unwrap();
        said(output)
    }
}

fn said(output: Output) -> Said {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Said { status: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}
