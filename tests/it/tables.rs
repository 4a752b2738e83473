//! The indexed tables decide as the plain walk does: over a million decisions, through the text of a configuration.
use crate::support::policies::{Seeded, compare};

/// Small policies and many requests: `cargo bench --bench equality` goes on where this ends.
#[test]
fn tables_decide_as_the_walk_does() {
    let decisions: u64 = (0..200).map(|seed| compare(&mut Seeded(seed), 1_700)).sum();
    assert!(decisions >= 1_000_000, "{decisions}");
}
