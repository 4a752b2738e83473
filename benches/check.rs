//! `cfgc check` of long access lists: linear in time, and how many bytes of memory a line costs.
//!
//! `cargo bench --bench check`. It prints what a line costs in each size, and fails when a bound is broken. Memory is all
//! that a process has taken at most beyond what it had at first: text, tree, Program, policy and findings. Under
//! `cargo test` only short lists are compiled, and nothing is timed.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
use std::{
    cell::Cell,
    env,
    fmt::Write,
    fs, io,
    path::Path,
    process::{Command, ExitCode},
    sync::LazyLock,
    time::{Duration, Instant},
};

use compiler::sources::{Files, MemoryFiles};

/// The most that a line of a longer list may cost, as a multiple of one in a shorter list.
const GROWTH: f64 = 1.6;
/// Peak memory of a line of the longest list.
const BYTES_PER_LINE: f64 = 400.0;
const LONGEST: usize = 100_000;
/// For this many lines: a twentieth of what 3proxy's own load of them took on one of our machines.
const LIMIT: Duration = Duration::from_millis(450);

/// Names the shape whose memory a process of its own measures.
const MEMORY: &str = "CFGC_BENCH_MEMORY";
const SIZES: [usize; 3] = [1_000, 10_000, LONGEST];

/// What a list looks like.
struct Shape {
    name: &'static str,
    /// What stands before the list.
    head: &'static str,
    line: fn(usize) -> String,
    /// The last entry.
    last: &'static str,
    services: u16,
}

/// No rule asks who is let in.
const LOCAL: &str = "internal 127.0.0.1\nauth iponly\n";
/// It is asked whether strangers may use it.
const REACHABLE: &str = "internal 0.0.0.0\nauth iponly\n";
/// Rules of the cache ask what its key misses, of a Policy that is compiled for them.
const CACHED: &str = "internal 127.0.0.1\nusers alice:CL:secret\n\
    authcache user,pass,ip,dstaddr,dsthost,dstport,dstoper 600\nauth cacheacl useronly\n";

const SHAPES: [Shape; 7] = [
    Shape { name: "users", head: LOCAL, line: users, last: "deny *", services: 1 },
    Shape { name: "users, reachable", head: REACHABLE, line: users, last: "deny *", services: 1 },
    Shape { name: "networks", head: LOCAL, line: networks, last: "deny *", services: 1 },
    Shape { name: "names", head: LOCAL, line: names, last: "allow *", services: 1 },
    Shape {
        name: "users, 20 services with a cache",
        head: CACHED,
        line: users,
        last: "deny *",
        services: 20,
    },
    Shape {
        name: "networks, 20 services with a cache",
        head: CACHED,
        line: networks,
        last: "deny *",
        services: 20,
    },
    Shape {
        name: "names, 20 services with a cache",
        head: CACHED,
        line: names,
        last: "allow *",
        services: 20,
    },
];

fn users(n: usize) -> String {
    format!("allow user{n} * * 80,443 HTTP,CONNECT")
}

fn networks(n: usize) -> String {
    format!("allow * 10.{}.{}.0/24 * *", n / 256 % 256, n % 256)
}

fn names(n: usize) -> String {
    format!("deny * * *.site{n}.example,site{n}.example")
}

fn main() -> ExitCode {
    if let Some(shape) = env::var(MEMORY).ok().and_then(|name| SHAPES.iter().find(|shape| shape.name == name))
    {
        println!("{}", taken(shape));
        return ExitCode::SUCCESS;
    }
    if !env::args().any(|argument| argument == "--bench") {
        for shape in &SHAPES {
            compile(&list(shape, 100));
        }
        return ExitCode::SUCCESS;
    }
    // Every shape is measured, whatever is wrong with those before.
    let broken = SHAPES.iter().filter(|shape| !holds(shape)).count();
    ExitCode::from(u8::from(broken != 0))
}

/// Measures a shape, prints what it found, and says whether the bounds hold.
fn holds(shape: &Shape) -> bool {
    let [short, middle, long] = SIZES.map(|lines| time(shape, lines));
    let bytes = peak(shape).map_or(f64::NAN, |bytes| bytes as f64 / LONGEST as f64);
    let growth = long / middle;
    println!("{}: {} findings", shape.name, compile(&list(shape, LONGEST)));
    println!("  {short:.0} ns a line at 1k, {middle:.0} at 10k, {long:.0} at 100k");
    let judged = [
        (
            format!("a line costs {growth:.2} at 100k against 10k, {:.2} at 10k against 1k", middle / short),
            growth <= GROWTH,
        ),
        (
            format!("100k lines take {:.0} of {} ms", long * LONGEST as f64 / 1e6, LIMIT.as_millis()),
            long * LONGEST as f64 <= LIMIT.as_nanos() as f64,
        ),
        (format!("a line takes {bytes:.0} of {:.0} bytes", BYTES_PER_LINE), bytes <= BYTES_PER_LINE),
    ];
    for (what, good) in &judged {
        println!("  {what}: {}", if *good { "good" } else { "TOO MUCH" });
    }
    judged.iter().all(|(_, good)| *good)
}

/// A configuration with `lines` entries.
fn list(shape: &Shape, lines: usize) -> Vec<u8> {
    let mut text = shape.head.to_owned();
    for number in 0..lines {
        let _ = writeln!(text, "{}", (shape.line)(number));
    }
    let _ = writeln!(text, "{}", shape.last);
    for service in 0..shape.services {
        let _ = writeln!(text, "proxy -p{}", 3128 + service);
    }
    text.into_bytes()
}

/// Compiles, and returns how many findings there are.
fn compile(text: &[u8]) -> usize {
    let mut files = MemoryFiles::default();
    files.insert("main", text);
    compiler::compile(Path::new("main"), &files).findings.len()
}

/// A text that is handed out, not copied: as a file is.
struct Once(Cell<Vec<u8>>);

impl Files for Once {
    fn read(&self, _: &Path) -> io::Result<Vec<u8>> {
        Ok(self.0.take())
    }
}

/// How many bytes this process takes more, at most, when it compiles the longest list. The text is counted once.
fn taken(shape: &Shape) -> u64 {
    let before = status("VmRSS");
    let text = Once(Cell::new(list(shape, LONGEST)));
    let compiled = compiler::compile(Path::new("main"), &text);
    let peak = status("VmHWM");
    drop(compiled);
    peak.saturating_sub(before)
}

/// What a line takes, in nanoseconds: the best of some runs. The system counts in ticks, so each run is as long as one of the
/// longest list.
fn time(shape: &Shape, lines: usize) -> f64 {
    let text = list(shape, lines);
    let run = |_| {
        let start = processor_time();
        for _ in 0..LONGEST / lines {
            compile(&text);
        }
        processor_time().saturating_sub(start)
    };
    (0..5).map(run).min().unwrap_or_default().as_secs_f64() * 1e9 / LONGEST as f64
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
