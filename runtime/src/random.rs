//! Random numbers.
use std::{
    hash::{BuildHasher, RandomState},
    io,
};

/// A fair number below `bound` for choices that need not be secret, such as which parent is drawn; 0 if `bound` is 0.
pub(crate) fn below(bound: u32) -> u32 {
    // Each `RandomState` has keys of its own, and what it makes of nothing is as random as they are.
    let drawn = RandomState::new().hash_one(()) & u64::from(u32::MAX);
    u32::try_from((drawn * u64::from(bound)) >> 32).unwrap_or(0)
}

/// Bytes that nobody can guess.
///
/// # Errors
/// The system has no randomness to give.
pub(crate) fn secret<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    openssl::rand::rand_bytes(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::below;

    #[test]
    fn numbers_are_below_the_bound_and_all_of_them_come() {
        let mut seen = [0_u32; 5];
        for _ in 0..5_000 {
            seen[below(5) as usize] += 1;
        }
        // Each is expected 1,000 times with a deviation of 28: ten of those would be no accident.
        assert!(seen.iter().all(|&times| (720..1_280).contains(&times)), "{seen:?}");
        assert_eq!(below(0), 0);
    }
}
