//! Cost of an access decision by length of the list: the indexed table against the plain walk, in one run.
//!
//! `cargo bench --bench table`. Reads as: nanoseconds for a decision by the table and by the walk, the walk's as a multiple, then
//! the time in which the table is compiled and the bytes that it takes. Times on a shared machine are noisy: compare the
//! columns of one line, and the lines of one shape.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
use std::{hint::black_box, path::Path, sync::Arc, time::Instant};

use compiler::{
    policy::Policy,
    program::{Program, acl::Operation},
    sources::MemoryFiles,
    table::{Request, Table, WeekTime, oracle::Walk},
};

/// A kind of list, and the request that its nth entry is for.
struct Shape {
    name: &'static str,
    entry: fn(u32) -> String,
    ask: fn(u32) -> Ask,
}

#[derive(Default)]
struct Ask {
    user: Option<String>,
    host: String,
    address: [u8; 4],
}

const SHAPES: [Shape; 4] = [
    Shape {
        name: "user, each with an extip",
        entry: |at| format!("allow user{at}\nparent 1000 extip 192.0.2.1 0\n"),
        ask: |at| Ask { user: Some(format!("user{at}")), ..Ask::default() },
    },
    Shape {
        name: "target network",
        entry: |at| format!("allow * * 10.{}.{}.{}/30\n", at >> 14, at >> 6 & 255, (at & 63) << 2),
        ask: |at| Ask {
            address: [10, (at >> 14) as u8, (at >> 6) as u8, ((at & 63) << 2) as u8 + 1],
            ..Ask::default()
        },
    },
    Shape {
        name: "target name",
        entry: |at| format!("allow * * *.n{at}.example.com\n"),
        ask: |at| Ask { host: format!("www.n{at}.example.com"), address: [203, 0, 113, 1], ..Ask::default() },
    },
    Shape {
        name: "mixed, realistic",
        entry: |at| match at % 4 {
            0 => format!("deny * 10.{}.{}.0/24\n", at >> 8 & 255, at & 255),
            1 => format!("allow user{at} * * 80,443\n"),
            2 => format!("allow * 172.16.0.0/12 n{at}.example.com 443 HTTPS,CONNECT\n"),
            _ => format!("deny user{at} * 198.51.100.0/24\n"),
        },
        ask: |at| Ask {
            user: Some(format!("user{}", at | 1)),
            host: format!("n{at}.example.com"),
            address: [203, 0, 113, 1],
        },
    },
];

fn main() {
    println!(
        "{:<26}{:>8}{:>10}{:>12}{:>9}{:>12}{:>12}",
        "shape", "entries", "table ns", "walk ns", "ratio", "compile ms", "KiB"
    );
    for shape in &SHAPES {
        for entries in [10, 1_000, 100_000] {
            measure(shape, entries);
        }
    }
}

fn measure(shape: &Shape, entries: u32) {
    let program = compile(shape, entries);
    let started = Instant::now();
    let policy = Policy::compile(&program);
    let compiled = started.elapsed();
    let list = program.services.first().and_then(|service| service.acl);
    let walk = Walk { acls: &program.acls, list };
    // Places spread over the list, and requests that no entry is for.
    let asks: Vec<Ask> = (0..16).map(|at| (shape.ask)(at * (entries / 10))).collect();
    let requests: Vec<Request<'_>> = asks.iter().map(Ask::request).collect();
    for request in &requests {
        assert_eq!(policy.decide(0, request), walk.decide(request), "the table is not the walk");
    }
    let table = nanoseconds(&requests, |request| policy.decide(0, request).passes());
    let plain = nanoseconds(&requests, |request| walk.decide(request).passes());
    println!(
        "{:<26}{entries:>8}{table:>10.0}{plain:>12.0}{:>8.0}x{:>12.1}{:>12}",
        shape.name,
        plain / table,
        compiled.as_secs_f64() * 1e3,
        policy.table_bytes() / 1024,
    );
}

impl Ask {
    fn request(&self) -> Request<'_> {
        Request {
            user: self.user.as_deref().map(str::as_bytes),
            source: [172, 16, 1, 1].into(),
            host: Some(self.host.as_bytes()).filter(|host| !host.is_empty()),
            address: Some(self.address.into()),
            port: 443,
            operation: Operation::Connect,
            time: WeekTime { day: 1, second: 36_000 },
            weight: 0,
            redirected: false,
        }
    }
}

fn compile(shape: &Shape, entries: u32) -> Arc<Program> {
    let list: String = (0..entries).map(shape.entry).collect();
    let mut files = MemoryFiles::default();
    files.insert("3proxy.cfg", format!("auth iponly\n{list}socks -p1080\n"));
    compiler::compile(Path::new("3proxy.cfg"), &files).program
}

/// The best of some rounds, per decision.
fn nanoseconds(requests: &[Request<'_>], decide: impl Fn(&Request<'_>) -> bool) -> f64 {
    let round = |_| {
        let started = Instant::now();
        let mut decisions = 0_u32;
        while decisions < 64 || started.elapsed().as_millis() < 5 {
            for request in requests {
                black_box(decide(black_box(request)));
                decisions += 1;
            }
        }
        started.elapsed().as_nanos() as f64 / f64::from(decisions)
    };
    (0..5).map(round).fold(f64::INFINITY, f64::min)
}
