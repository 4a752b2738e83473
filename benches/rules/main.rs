//! What `cfgc check` costs: all rules against reading and running the script, and the whole process on a small file.
//!
//! `cargo bench --bench rules`. It prints, for files of 100,000 lines, how long parsing and lowering take, how many times that the
//! whole check takes, and the rules that take most; then what the process takes for 50 lines, in time and, if there is a valgrind,
//! in instructions. It fails when a bound is broken. Under `cargo test` only short files are compiled, and nothing is timed.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
mod process;
mod shapes;

use std::{
    fs,
    path::Path,
    process::ExitCode,
    sync::LazyLock,
    time::{Duration, Instant},
};

use compiler::{
    compile, finding, lints,
    lower::lower,
    options::{CompileOptions, Template},
    sources::MemoryFiles,
};
use shapes::{SHAPES, Shape};

/// The most that the whole check may take, as a multiple of what parsing and lowering take.
const MOST_TIMES: f64 = 3.0;
/// Both are measured so often, in turns, and the best of each counts: a machine's speed changes while it measures.
const RUNS: u32 = 7;
/// How many of the dearest rules are named.
const NAMED: usize = 4;

fn main() -> ExitCode {
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    if !is_bench {
        SHAPES.iter().for_each(|shape| drop(compile(Path::new("main"), &files(shape, 100))));
        return ExitCode::SUCCESS;
    }
    // Everything is measured, whatever is wrong before.
    let broken = SHAPES.iter().filter(|shape| !holds(shape)).count();
    let is_quick = process::holds();
    ExitCode::from(u8::from(broken > 0 || !is_quick))
}

fn files(shape: &Shape, lines: usize) -> MemoryFiles {
    let mut files = MemoryFiles::default();
    files.insert("main", (shape.text)(lines));
    files
}

/// Measures a shape, prints what it found, and says whether the bound holds.
fn holds(shape: &Shape) -> bool {
    let files = files(shape, shape.lines);
    let path = Path::new("main");
    let mut found = (0, 0);
    let (mut base, mut whole) = (Duration::MAX, Duration::MAX);
    for _ in 0..RUNS {
        base = base.min(time_of(|| drop(lower(path, &files, &as_run()))));
        whole = whole.min(time_of(|| {
            let findings = compile(path, &files).findings;
            let all = findings.len();
            found = (all, finding::group(findings).len());
        }));
    }
    let times = whole.as_secs_f64() / base.as_secs_f64();
    let good = times <= MOST_TIMES;
    println!("{}: {} lines, {} findings in {} groups", shape.name, shape.lines, found.0, found.1);
    println!(
        "  parse and lower {:.0} ms, the whole check {:.0} ms: {times:.2} of {MOST_TIMES} times: {}",
        base.as_secs_f64() * 1e3,
        whole.as_secs_f64() * 1e3,
        if good { "good" } else { "TOO MUCH" }
    );
    let costs: Vec<String> = costs(&files)
        .into_iter()
        .take(NAMED)
        .map(|(rule, cost)| format!("{rule} {:.1} ms", cost.as_secs_f64() * 1e3))
        .collect();
    println!("  {}", costs.join(", "));
    good
}

/// What each rule takes, the dearest first. What several share, the first of them pays.
fn costs(files: &MemoryFiles) -> Vec<(&'static str, Duration)> {
    let options = as_run();
    let lowered = lower(Path::new("main"), files, &options);
    let mut costs = Vec::new();
    let mut before = processor_time();
    lints::check_each(&lowered.sources, &lowered.program, &options, Vec::new(), |rule| {
        let now = processor_time();
        costs.push((rule.name, now.saturating_sub(before)));
        before = processor_time();
    });
    costs.sort_by_key(|(_, cost)| std::cmp::Reverse(*cost));
    costs
}

/// As [`compile`] reads a file.
fn as_run() -> CompileOptions {
    CompileOptions { template: Template::No, ..CompileOptions::default() }
}

fn time_of(work: impl FnOnce()) -> Duration {
    let start = processor_time();
    work();
    processor_time().saturating_sub(start)
}

/// What this process has had of the processor, whatever else runs there; where that is not told, the time of day.
fn processor_time() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let told = fs::read_to_string("/proc/self/schedstat").ok();
    let nanoseconds = told.and_then(|line| line.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| START.elapsed(), Duration::from_nanos)
}
