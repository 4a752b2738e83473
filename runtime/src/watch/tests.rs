//! Files that change in all the ways in which editors and orchestrators change them.
use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    time::Duration,
};

use tempfile::TempDir;
use tokio::time::timeout;

use super::Watch;
use crate::reload::{Input, Inputs};

/// Far longer than a change takes to be seen: who waits for it has failed.
const LONG: Duration = Duration::from_secs(20);

struct Scene {
    folder: TempDir,
    watch: Watch,
    files: Vec<PathBuf>,
}

impl Scene {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), watch: Watch::new().unwrap(), files: Vec::new() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn follow(&mut self, names: &[&str]) {
        self.files = names.iter().map(|name| self.path(name)).collect();
        self.again();
    }

    fn again(&mut self) {
        self.watch.follow(Inputs(self.files.iter().cloned().map(Input::of).collect()));
    }

    async fn sees_it(&mut self) {
        timeout(LONG, self.watch.changed()).await.unwrap();
        self.again();
    }

    /// Whatever happened so far was nothing: what comes next is the first that is seen.
    async fn sees_only(&mut self, change: impl FnOnce(&Path)) {
        let nothing = timeout(Duration::from_millis(500), self.watch.changed()).await;
        assert!(nothing.is_err(), "a change was seen where there was none");
        change(self.folder.path());
        self.sees_it().await;
    }
}

#[tokio::test]
async fn a_file_that_is_written_replaced_or_made_again_is_seen_each_time() {
    let mut scene = Scene::new();
    scene.write("a.cfg", "1");
    scene.follow(&["a.cfg"]);
    for text in ["2", "3"] {
        scene.write("a.cfg", text);
        scene.sees_it().await;
    }
    for text in ["4", "5"] {
        scene.write("a.cfg.new", text);
        fs::rename(scene.path("a.cfg.new"), scene.path("a.cfg")).unwrap();
        scene.sees_it().await;
    }
    fs::remove_file(scene.path("a.cfg")).unwrap();
    scene.sees_it().await;
    scene.write("a.cfg", "6");
    scene.sees_it().await;
}

#[tokio::test]
async fn a_link_that_is_swapped_is_seen_each_time() {
    let mut scene = Scene::new();
    for (version, text) in [("..1", "a"), ("..2", "b"), ("..3", "c")] {
        fs::create_dir(scene.path(version)).unwrap();
        scene.write(&format!("{version}/a.cfg"), text);
    }
    symlink("..1", scene.path("..data")).unwrap();
    symlink("..data/a.cfg", scene.path("a.cfg")).unwrap();
    scene.follow(&["a.cfg"]);
    for version in ["..2", "..3"] {
        symlink(version, scene.path("..next")).unwrap();
        fs::rename(scene.path("..next"), scene.path("..data")).unwrap();
        scene.sees_it().await;
    }
    scene.write("..3/a.cfg", "d");
    scene.sees_it().await;
}

#[tokio::test]
async fn a_change_between_the_reading_and_the_watching_is_seen() {
    let mut scene = Scene::new();
    scene.write("a.cfg", "1");
    let read = Inputs(vec![Input::of(scene.path("a.cfg"))]);
    scene.write("a.cfg", "2");
    scene.watch.follow(read);
    timeout(LONG, scene.watch.changed()).await.unwrap();
}

#[tokio::test]
async fn what_changes_nothing_is_not_seen() {
    let mut scene = Scene::new();
    scene.write("a.cfg", "1");
    scene.follow(&["a.cfg"]);
    scene.write("a.cfg", "1");
    fs::read(scene.path("a.cfg")).unwrap();
    scene.write("3proxy.log", "beside it");
    scene.sees_only(|folder| fs::write(folder.join("a.cfg"), "2").unwrap()).await;
}

#[tokio::test]
async fn a_file_in_a_folder_that_is_not_there_yet_is_seen() {
    let mut scene = Scene::new();
    scene.follow(&["sub/users"]);
    fs::create_dir(scene.path("sub")).unwrap();
    scene.write("sub/users", "bob:CL:x");
    scene.sees_it().await;
}

#[tokio::test]
async fn a_pipe_is_read_once_and_never_changes() {
    let mut scene = Scene::new();
    let made = std::process::Command::new("mkfifo").arg(scene.path("pipe")).status().unwrap();
    assert!(made.success());
    scene.write("a.cfg", "1");
    scene.follow(&["pipe", "a.cfg"]);
    scene.sees_only(|folder| fs::write(folder.join("a.cfg"), "2").unwrap()).await;
}
