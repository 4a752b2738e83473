//! The whole process on a small file: an editor and a hook wait for it.
use std::{
    fs,
    path::Path,
    process::{Command, ExitStatus, Stdio},
    time::Duration,
};

/// Processor time of one run.
const LIMIT: Duration = Duration::from_millis(5);
/// Batches, of which the best counts: what else runs on the machine, and changes of its speed, only add.
const BATCHES: u32 = 8;
/// Runs in a batch: enough for ticks to tell a twentieth of a millisecond.
const RUNS: u32 = 200;
/// The system's ticks: a hundred a second, on every Linux.
const TICK: Duration = Duration::from_millis(10);

/// About what stands in a proxy's configuration, in 50 lines.
const CONFIG: &str = include_str!("small.cfg");

/// Measures, prints, and says whether the bound holds.
pub(crate) fn holds() -> bool {
    let Ok(folder) = tempfile::tempdir() else { return false };
    let config = folder.path().join("3proxy.cfg");
    if fs::write(&config, CONFIG).is_err() {
        return false;
    }
    let Some(batches) = (0..BATCHES).map(|_| batch(&config)).collect::<Option<Vec<_>>>() else {
        println!("`cfgc check` does not run on small.cfg");
        return false;
    };
    let milliseconds = |time: Option<&Duration>| time.map_or(f64::NAN, |time| time.as_secs_f64() * 1e3);
    let best = batches.iter().min();
    let good = best.is_some_and(|best| *best <= LIMIT);
    println!("the process, on {} lines", CONFIG.lines().count());
    println!(
        "  {:.2} of {} ms of the processor (in the worst of {BATCHES} batches {:.2}): {}",
        milliseconds(best),
        LIMIT.as_millis(),
        milliseconds(batches.iter().max()),
        if good { "good" } else { "TOO MUCH" }
    );
    match instructions(&config, folder.path()) {
        Some(count) => println!("  {:.2} million instructions", count / 1e6),
        None => println!("  there is no valgrind to count instructions"),
    }
    good
}

/// What one run of a batch takes; `None`: it fails.
fn batch(config: &Path) -> Option<Duration> {
    let before = children();
    for _ in 0..RUNS {
        check(config).status().ok().filter(ExitStatus::success)?;
    }
    Some(children().saturating_sub(before) / RUNS)
}

fn check(config: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cfgc"));
    command.args(["check", "--no-config"]).arg(config).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// What ended children have had of the processor, in user and system mode; zero where it is not told.
fn children() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Behind the name, which stands in parentheses, `cutime` and `cstime` are the 14th and 15th field.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_ascii_whitespace().skip(13).take(2);
    let ticks: u32 = fields.filter_map(|field| field.parse::<u32>().ok()).sum();
    TICK * ticks
}

/// Instructions of one run, counted by valgrind's callgrind.
fn instructions(config: &Path, folder: &Path) -> Option<f64> {
    let out = folder.join("callgrind");
    let status = Command::new("valgrind")
        .arg("--tool=callgrind")
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(env!("CARGO_BIN_EXE_cfgc"))
        .args(["check", "--no-config"])
        .arg(config)
        .output()
        .ok()?;
    if !status.status.success() {
        return None;
    }
    let text = fs::read_to_string(out).ok()?;
    let line =
        text.lines().find_map(|line| line.strip_prefix("summary: ").or(line.strip_prefix("totals: ")))?;
    line.split(' ').next()?.parse().ok()
}
