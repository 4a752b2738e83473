//! Instructions, counted by valgrind's callgrind.
use std::{fs, hint::black_box, process::Command};

/// Calls what is to be counted. Callgrind knows this function by its name.
#[inline(never)]
pub(crate) fn counted(work: impl Fn() -> usize) {
    black_box(work());
}

/// Runs this program under callgrind; the instructions of each call of [`counted`], in order. `None`: there is no valgrind.
pub(crate) fn run() -> Option<Vec<f64>> {
    let directory = tempfile::tempdir().ok()?;
    let out = directory.path().join("out");
    let status = Command::new("valgrind")
        .args([
            "--tool=callgrind",
            "--toggle-collect=table::count::counted",
            "--dump-after=table::count::counted",
        ])
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(std::env::current_exe().ok()?)
        .arg("--counted")
        .env("RUST_BACKTRACE", "0")
        .output();
    if !status.ok()?.status.success() {
        return None;
    }
    // The dumps are numbered from 1; the last file, without a number, is what came after them.
    let dump = |number: u32| fs::read_to_string(directory.path().join(format!("out.{number}"))).ok();
    Some((1..).map_while(dump).filter_map(|text| total(&text)).collect())
}

fn total(dump: &str) -> Option<f64> {
    let line =
        dump.lines().find_map(|line| line.strip_prefix("summary: ").or(line.strip_prefix("totals: ")))?;
    line.split(' ').next()?.parse().ok()
}
