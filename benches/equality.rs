//! The indexed tables against the plain walk, for as many decisions as are asked for, from seeds that the tests don't use.
//!
//! `cargo bench --bench equality -- 1000000000` compares a thousand million; without a number, ten million. Under `cargo test` a few.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a comparison that fails can't go on")]
#[path = "../tests/it/support/policies.rs"]
mod policies;

use policies::{Seeded, compare};

/// Far from the seeds of the tests.
const FIRST_SEED: u64 = 1 << 32;
/// The most that are reported at once.
const STEP: u64 = 10_000_000;

fn main() {
    let timed = std::env::args().any(|argument| argument == "--bench");
    let asked = std::env::args().find_map(|argument| argument.parse::<u64>().ok());
    let wanted = asked.unwrap_or(if timed { STEP } else { 10_000 });
    let mut decisions = 0;
    let mut policies = 0;
    while decisions < wanted {
        let before = decisions;
        decisions += compare(&mut Seeded(FIRST_SEED + policies), if timed { 5_000 } else { 500 });
        policies += 1;
        if before / STEP != decisions / STEP {
            println!("{decisions} decisions by {policies} policies were the walk's");
        }
    }
    println!("{decisions} decisions by {policies} policies were the walk's: all");
}
