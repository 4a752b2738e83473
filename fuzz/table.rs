//! The indexed tables of any policy say what the plain walk says of any request.
#![no_main]

#[path = "../tests/it/support/policies.rs"]
mod policies;

use policies::{Numbers, Seeded, compare};

/// Choices from the fuzzer's bytes, and when they are used up from a generator.
struct Bytes<'a>(&'a [u8], Seeded);

impl Numbers for Bytes<'_> {
    fn below(&mut self, end: usize) -> usize {
        match self.0.split_off_first() {
            Some(byte) => usize::from(*byte) % end,
            None => self.1.below(end),
        }
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    compare(&mut Bytes(bytes, Seeded(bytes.len() as u64)), 64);
});
