//! `cfgc check` of long access lists: linear in time, and how many bytes of memory a line costs.
//!
//! `cargo bench --bench check`. What it prints are ratios and bytes; it fails when a bound that README or the design
//! gives is broken. Under `cargo test` only short lists are compiled, and nothing is timed.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
use std::{
    env,
    fmt::Write,
    fs,
    path::Path,
    process::{Command, ExitCode},
    sync::LazyLock,
    time::{Duration, Instant},
};

use compiler::sources::MemoryFiles;

/// A line of a longer list may cost so many times what one of a shorter list costs.
const GROWTH: f64 = 1.6;
/// Peak memory of a line of the longest list, tree, Program, findings and text together.
const BYTES_PER_LINE: f64 = 400.0;
const LONGEST: usize = 100_000;
/// For so many lines: a twentieth of what 3proxy's own load of them took on one of our machines.
const LIMIT: Duration = Duration::from_millis(450);

/// Names the shape whose memory a process of its own measures.
const MEMORY: &str = "CFGC_BENCH_MEMORY";

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
    if let Some(shape) = env::var(MEMORY).ok().and_then(|name| SHAPES.iter().find(|shape| shape.name == name))
    {
        let text = list(shape, LONGEST);
        let before = status("VmRSS");
        compile(&text);
        println!("{}", status("VmHWM").saturating_sub(before));
        return ExitCode::SUCCESS;
    }
    if !env::args().any(|argument| argument == "--bench") {
        for shape in &SHAPES {
            compile(&list(shape, 100));
        }
        return ExitCode::SUCCESS;
    }
    let mut broken = false;
    for shape in &SHAPES {
        let bytes = peak(shape).unwrap_or_default() as f64 / LONGEST as f64;
        let found = compile(&list(shape, LONGEST));
        let [short, middle, long] = [1_000, 10_000, LONGEST].map(|lines| time(shape, lines));
        let per_line = |time: Duration, lines: usize| time.as_secs_f64() / lines as f64;
        let growth = per_line(long, LONGEST) / per_line(middle, 10_000);
        let early = per_line(middle, 10_000) / per_line(short, 1_000);
        let share = long.as_secs_f64() / LIMIT.as_secs_f64();
        println!(
            "{:9} {bytes:4.0} bytes a line; a line costs {early:.2} at 10k against 1k, {growth:.2} at 100k against 10k; \
             {share:.2} of the time allowed; {found} findings",
            shape.name
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
        let start = processor_time();
        compile(&text);
        processor_time().saturating_sub(start)
    };
    (0..5).map(run).min().unwrap_or_default()
}

/// What this process has had of the processor, whatever else runs there; where that is not told, the time of day.
fn processor_time() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let told = fs::read_to_string("/proc/self/schedstat").ok();
    let nanoseconds = told.and_then(|line| line.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| START.elapsed(), Duration::from_nanos)
}

/// How many bytes compiling the longest list takes at most, measured in a process that did nothing else.
fn peak(shape: &Shape) -> Option<u64> {
    let this = Command::new(env::current_exe().ok()?).env(MEMORY, shape.name).output().ok()?;
    String::from_utf8(this.stdout).ok()?.trim().parse().ok()
}

/// A line of /proc/self/status in bytes; 0 where there is none, as on other systems.
fn status(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or_default() * 1024
}
