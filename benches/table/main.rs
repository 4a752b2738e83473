//! Cost of access decisions by length and shape of the list, against the plain walk.
//!
//! `cargo bench --bench table` prints, for each shape and length: instructions of a decision by the table (the mean of requests spread
//! over the list, and the worst one), as multiples of the shortest list's, and how many times more the walk takes; then the time in
//! which text becomes a Program and the Program a Policy, as a share of what it takes at least to append as many entries at the end of a
//! plain list, in the same run; and the tables' bytes. It fails when a bound that the design gives is broken.
//!
//! Instructions are counted by valgrind, which runs this program again (`--counted`). Times are of the processor, so that other work
//! on the machine counts little. Under `cargo test` short lists are compared once, and nothing is measured.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
mod append;
mod count;
mod shapes;

use std::{hint::black_box, path::Path, process::ExitCode, sync::Arc};

use compiler::{
    policy::Policy,
    program::Program,
    sources::MemoryFiles,
    table::{Request, Table, oracle::Walk},
};

use shapes::{SHAPES, Shape};

/// The most that a decision may cost, as a multiple of its cost in the shortest list of its shape.
const GROWTH: f64 = 3.0;
/// The least that the walk of 100,000 entries or values costs, as a multiple of the table's cost.
const GAIN: f64 = 1_000.0;
/// The most that compilation of 100,000 may take, as a share of the time in which as many are appended to a plain list.
const SHARE: f64 = 1.0 / 20.0;
/// The most bytes that tables of any shape take.
const BYTES: usize = 64 << 20;
/// What the bounds speak of.
const LONG: u32 = 100_000;

fn main() -> ExitCode {
    let has = |wanted: &str| std::env::args().any(|argument| argument == wanted);
    if has("--counted") {
        SHAPES.iter().for_each(|shape| shape.lengths.iter().for_each(|length| counted(shape, *length)));
        return ExitCode::SUCCESS;
    }
    if !has("--bench") {
        SHAPES.iter().for_each(|shape| drop(policy(&program(shape, 100))));
        return ExitCode::SUCCESS;
    }
    let Some(mut counts) = count::run().map(Vec::into_iter) else {
        println!("valgrind is needed to count instructions");
        return ExitCode::FAILURE;
    };
    let plain = append::least_seconds(LONG);
    println!("a plain list of {LONG} entries, appended at the end: at least {plain:.2} s");
    println!(
        "{:<34}{:>7}{:>7}{:>7}{:>7}{:>8}{:>10}{:>9}{:>9}{:>8}",
        "shape", "length", "mean", "worst", "x mean", "x worst", "walk x", "program", "policy", "KiB"
    );
    let mut sound = true;
    for shape in SHAPES {
        let mut shortest = None;
        for length in shape.lengths {
            let counted: Vec<f64> = counts.by_ref().take(COUNTS).collect();
            let [mean, walk, each @ ..] = counted.as_slice() else { return ExitCode::FAILURE };
            let mean = mean / f64::from(REQUESTS);
            let gain = walk / each.iter().step_by(WALKED).sum::<f64>();
            let worst = each.iter().fold(mean, |worst, count| worst.max(*count));
            let (mean_first, worst_first) = *shortest.get_or_insert((mean, worst));
            let growth = (mean / mean_first, worst / worst_first);
            let (program, policy, bytes) = compile(shape, *length);
            println!(
                "{:<34}{length:>7}{mean:>7.0}{worst:>7.0}{:>7.2}{:>8.2}{:>10.0}{:>9.4}{:>9.4}{:>8}",
                shape.name,
                growth.0,
                growth.1,
                gain,
                program / plain,
                policy / plain,
                bytes / 1024,
            );
            let long = *length == LONG;
            sound &= growth.0.max(growth.1) <= GROWTH && bytes <= BYTES;
            sound &= !long || gain >= GAIN && (program + policy) / plain <= SHARE;
        }
    }
    ExitCode::from(u8::from(!sound))
}

/// How many requests are counted one by one: for entries all over the list, and two that no entry is for.
const REQUESTS: u32 = 34;
/// The walk, which takes long, is asked one request of this many.
const WALKED: usize = 6;
/// Counts of a list: all requests by the table, some by the walk, then each by the table.
const COUNTS: usize = 2 + REQUESTS as usize;

/// Runs what valgrind counts.
fn counted(shape: &Shape, length: u32) {
    let program = program(shape, length);
    let policy = policy(&program);
    let entries = program.acls.aces.iter();
    let (entries, values) = (entries.len(), entries.map(|ace| ace.matcher.values()).max());
    assert!(entries.max(values.unwrap_or(0)) >= length as usize, "{}: a part of it is not there", shape.name);
    let walk = Walk { acls: &program.acls, list: program.services.first().and_then(|service| service.acl) };
    let within = u64::from(REQUESTS) - 2;
    let at = |nth: u64| u32::try_from(nth * u64::from(length - 1) / (within - 1)).unwrap_or(0);
    let asks: Vec<_> =
        (0..within).map(at).chain([length + 7, u32::MAX - 3]).map(|at| (shape.ask)(at)).collect();
    let requests: Vec<Request<'_>> = asks.iter().map(shapes::Ask::request).collect();
    for request in &requests {
        assert_eq!(policy.decide(0, request), walk.decide(request), "the table is not the walk");
    }
    let decide = |requests: &[Request<'_>]| {
        requests.iter().filter(|request| policy.decide(0, black_box(request)).passes()).count()
    };
    count::counted(|| decide(&requests));
    count::counted(|| {
        let some = requests.iter().step_by(WALKED);
        some.filter(|request| walk.decide(black_box(request)).passes()).count()
    });
    for request in &requests {
        count::counted(|| decide(std::slice::from_ref(request)));
    }
}

/// Seconds from text to Program and from Program to Policy, the best of some runs, and the tables' bytes.
fn compile(shape: &Shape, length: u32) -> (f64, f64, usize) {
    let files = files(shape, length);
    let mut best = (f64::INFINITY, f64::INFINITY, 0);
    for _ in 0..3 {
        let started = append::processor_seconds();
        let program = compiled(&files);
        let middle = append::processor_seconds();
        let policy = policy(&program);
        let end = append::processor_seconds();
        best = (best.0.min(middle - started), best.1.min(end - middle), policy.table_bytes());
    }
    best
}

fn program(shape: &Shape, length: u32) -> Arc<Program> {
    compiled(&files(shape, length))
}

fn policy(program: &Arc<Program>) -> Policy {
    Policy::compile(program)
}

fn files(shape: &Shape, length: u32) -> MemoryFiles {
    let mut files = MemoryFiles::default();
    files.insert("3proxy.cfg", format!("auth iponly\n{}socks -p1080\n", (shape.list)(length)));
    if let Some(values) = shape.values {
        files.insert("values", values(length));
    }
    files
}

fn compiled(files: &MemoryFiles) -> Arc<Program> {
    compiler::compile(Path::new("3proxy.cfg"), files).program
}
