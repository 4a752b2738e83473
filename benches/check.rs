//! `cfgc check` of long access lists: linear in time, and how many bytes of memory a line costs.
//!
//! `cargo bench --bench check`. What it prints are ratios and bytes; it fails when a bound that README or the design
//! gives is broken. Under `cargo test` only short lists are compiled, and nothing is timed.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
use std::{
    fmt::Write,
    fs,
    path::Path,
    process::ExitCode,
    time::{Duration, Instant},
};

use compiler::sources::MemoryFiles;

/// A line of a longer list may cost so many times what one of a shorter list costs.
const GROWTH: f64 = 1.6;
/// Peak memory of a line of the longest list, tree, Program, findings and text together.
const BYTES_PER_LINE: f64 = 400.0;
/// For 100,000 lines: a twentieth of what 3proxy's own load of them took on one of our machines.
const LIMIT: Duration = Duration::from_millis(450);

/// What the lines of a list look like.
struct Shape {
    name: &'static str,
    line: fn(usize) -> String,
}

const SHAPES: [Shape; 3] = [
    Shape { name: "users", line: |n| format!("allow user{n} * * 80,443 HTTP,CONNECT") },
    Shape { name: "networks", line: |n| format!("allow * 10.{}.{}.0/24 * *", n / 256 % 256, n % 256) },
    Shape { name: "names", line: |n| format!("deny * * *.site{n}.example,site{n}.example") },
];

fn main() -> ExitCode {
    if !std::env::args().any(|argument| argument == "--bench") {
        for shape in &SHAPES {
            compile(&list(shape, 100));
        }
        return ExitCode::SUCCESS;
    }
    let mut broken = false;
    for shape in &SHAPES {
        // The longest first: memory that was freed once would hide what it takes.
        let text = list(shape, 100_000);
        let before = memory("VmRSS");
        let whole = compile(&text);
        let bytes = memory("VmHWM").saturating_sub(before) as f64 / 100_000.0;
        drop(text);
        let [short, middle, long] = [1_000, 10_000, 100_000].map(|lines| time(shape, lines));
        let per_line = |time: Duration, lines: u32| time.as_secs_f64() / f64::from(lines);
        let growth = per_line(long, 100_000) / per_line(middle, 10_000);
        let share = long.as_secs_f64() / LIMIT.as_secs_f64();
        let early = per_line(middle, 10_000) / per_line(short, 1_000);
        println!(
            "{:9} {bytes:4.0} bytes a line; a line costs {early:.2} at 10k against 1k, {growth:.2} at 100k against 10k; \
             {share:.2} of the time allowed; {} findings",
            shape.name, whole
        );
        broken |= growth > GROWTH || share > 1.0 || bytes > BYTES_PER_LINE;
    }
    ExitCode::from(u8::from(broken))
}

/// A configuration with so many entries.
fn list(shape: &Shape, lines: usize) -> Vec<u8> {
    let mut text = String::from("internal 127.0.0.1\nauth iponly\n");
    for number in 0..lines {
        let _ = writeln!(text, "{}", (shape.line)(number));
    }
    text.push_str("deny *\nproxy\n");
    text.into_bytes()
}

/// Compiles, and returns how many findings there are.
fn compile(text: &[u8]) -> usize {
    let mut files = MemoryFiles::default();
    files.insert("main", text);
    compiler::compile(Path::new("main"), &files).findings.len()
}

/// The best of some runs.
fn time(shape: &Shape, lines: usize) -> Duration {
    let text = list(shape, lines);
    let run = |_| {
        let start = Instant::now();
        compile(&text);
        start.elapsed()
    };
    (0..5).map(run).min().unwrap_or_default()
}

/// A line of /proc/self/status in bytes; 0 where there is none, as on other systems.
fn memory(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let number = line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<u64>().ok());
    // A new mark for the next shape.
    let _ = fs::write("/proc/self/clear_refs", "5");
    number.unwrap_or_default() * 1024
}
