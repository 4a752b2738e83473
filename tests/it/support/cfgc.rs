//! A running `cfgc run`.
use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, SocketAddr, TcpStream},
    path::PathBuf,
    process::{Child, Command, Output, Stdio},
};

use tempfile::TempDir;

use super::{lines::Lines, ports};

/// The built command.
pub(crate) fn command() -> Command {
    Command::new(env!("CARGO_BIN_EXE_cfgc"))
}

/// `cfgc run` on a configuration, stopped when dropped.
pub(crate) struct Cfgc {
    child: Child,
    folder: TempDir,
    ports: BTreeMap<String, u16>,
    /// The access log, if the configuration has a `log` line without a file.
    pub(crate) stdout: Lines,
    /// What it tells the operator.
    pub(crate) stderr: Lines,
}

impl Cfgc {
    /// Starts it, and waits until every `@name` of `config` listens; a free port stands for each.
    #[track_caller]
    pub(crate) fn run(config: &str) -> Self {
        Self::run_with(config, &[])
    }

    /// The same, with further arguments.
    #[track_caller]
    pub(crate) fn run_with(config: &str, arguments: &[&str]) -> Self {
        for _ in 0..3 {
            let cfgc = Self::spawn(config, arguments);
            if cfgc.comes_up() {
                return cfgc;
            }
            let said = cfgc.stderr.so_far().join("\n");
            // Somebody else took the port between our look and the bind.
            assert!(
                said.to_lowercase().contains("in use"),
                "`cfgc run` ended:\n{said}\non:\n{}",
                cfgc.config()
            );
        }
        panic!("three times in a row a free port was taken before it could be bound");
    }

    /// The same, in a process that may have so many descriptors.
    #[track_caller]
    pub(crate) fn run_limited(config: &str, descriptors: u32) -> Self {
        let limit = format!("ulimit -n {descriptors} && exec \"$0\" \"$@\"");
        let mut shell = Command::new("sh");
        shell.args(["-c", &limit, env!("CARGO_BIN_EXE_cfgc")]);
        let cfgc = Self::start(shell, config, &[]);
        assert!(cfgc.comes_up(), "{:?}", cfgc.stderr.so_far());
        cfgc
    }

    fn spawn(config: &str, arguments: &[&str]) -> Self {
        Self::start(command(), config, arguments)
    }

    fn start(mut command: Command, config: &str, arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (config, ports) = ports::fill(config);
        let path = folder.path().join("3proxy.cfg");
        std::fs::write(&path, config).unwrap();
        let mut child = command
            .arg("run")
            .args(arguments)
            .arg(&path)
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = Lines::collect(child.stdout.take().unwrap());
        let stderr = Lines::collect(child.stderr.take().unwrap());
        Self { child, folder, ports, stdout, stderr }
    }

    /// Waits until it says that it listens (true) or the process has ended (false).
    #[track_caller]
    fn comes_up(&self) -> bool {
        self.stderr.comes("that it is ready", |line| line.starts_with("cfgc: ready: listening on "))
    }

    /// The address of the service that listens on `@name`.
    pub(crate) fn at(&self, name: &str) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.ports[name]).into()
    }

    /// A connection to it.
    #[track_caller]
    pub(crate) fn connect(&self, name: &str) -> TcpStream {
        super::client::connect(self.at(name))
    }

    /// Where its configuration is.
    pub(crate) fn config_path(&self) -> PathBuf {
        self.folder.path().join("3proxy.cfg")
    }

    fn config(&self) -> String {
        std::fs::read_to_string(self.config_path()).unwrap()
    }

    /// Replaces its configuration by a rename, so that it is never half there. Ports keep their names.
    pub(crate) fn rewrite(&mut self, config: &str) {
        let new = self.folder.path().join("3proxy.cfg.new");
        std::fs::write(&new, ports::fill_with(config, &mut self.ports)).unwrap();
        std::fs::rename(new, self.config_path()).unwrap();
    }

    /// A path in its folder, which is its working directory too.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Sends it a signal: `HUP`, `TERM` …
    pub(crate) fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &pid]).status().unwrap().success());
    }

    /// Reloads by a signal, and waits until it says that a new configuration is in force.
    #[track_caller]
    pub(crate) fn reload(&self) {
        let in_force = |line: &str| line.contains("is in force");
        let before = self.stderr.so_far().iter().filter(|line| in_force(line)).count();
        self.signal("HUP");
        let text = format!("configuration {} is in force", before + 2);
        self.stderr.wait_for(&text, |line| line.contains(&text));
    }

    /// Waits for its end, and says its exit status.
    pub(crate) fn ended(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    /// Its process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether the process is there.
    pub(crate) fn is_alive(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }
}

impl Drop for Cfgc {
    fn drop(&mut self) {
        // It may have ended on its own: then there is nothing to stop.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs `cfgc` with `arguments` on `config` as its last one, to its end.
pub(crate) fn output(arguments: &[&str], config: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("3proxy.cfg");
    std::fs::write(&path, ports::fill(config).0).unwrap();
    command().args(arguments).arg(&path).current_dir(folder.path()).stdin(Stdio::null()).output().unwrap()
}
