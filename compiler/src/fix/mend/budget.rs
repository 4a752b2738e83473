//! How much is tried: what a bad fix among many costs, and what a reader who only wants to see findings waits for.
use crate::sources::Sources;

/// Compilations to make fixes: what a bad fix among many costs is found by halving.
const TO_MAKE: Most = Most { tries: 200, bytes: 64 << 20, elsewhere: 1000 };
/// Compilations to see which fixes can be offered.
const TO_OFFER: Most = Most { tries: 24, bytes: 1 << 20, elsewhere: 1000 };
/// The longest texts, in bytes together, of which it is tried what can be offered.
const LONGEST_OFFERED: usize = 256 * 1024;
/// The compilations that are tried however long the texts are.
const FEWEST_TRIES: u32 = 4;

/// The most that is tried.
struct Most {
    /// Compilations of short texts.
    tries: u32,
    /// Bytes that are compiled in all: of long texts fewer compilations are tried.
    bytes: usize,
    /// Compilations of other configurations.
    elsewhere: usize,
}

/// What may still be tried.
#[derive(Debug)]
pub(super) struct Budget {
    left: u32,
    elsewhere: usize,
    /// More was wanted than there was.
    pub ran_out: bool,
}

impl Budget {
    /// To make fixes of these texts.
    pub(super) fn to_make(sources: &Sources) -> Self {
        Self::of(&TO_MAKE, sources)
    }

    /// To see which fixes of these texts can be offered. `None`: they are so long that a reader would wait for it.
    pub(super) fn to_offer(sources: &Sources) -> Option<Self> {
        (bytes(sources) <= LONGEST_OFFERED).then(|| Self::of(&TO_OFFER, sources))
    }

    fn of(most: &Most, sources: &Sources) -> Self {
        let fit = u32::try_from(most.bytes / bytes(sources).max(1)).unwrap_or(u32::MAX);
        Self { left: most.tries.min(fit).max(FEWEST_TRIES), elsewhere: most.elsewhere, ran_out: false }
    }

    /// One more compilation. `None`: enough was tried.
    pub(super) fn spend(&mut self) -> Option<()> {
        let left = self.left.checked_sub(1);
        self.ran_out |= left.is_none();
        self.left = left?;
        Some(())
    }

    /// One more compilation of another configuration. `None`: enough was tried.
    pub(super) fn spend_elsewhere(&mut self) -> Option<()> {
        let left = self.elsewhere.checked_sub(1);
        self.ran_out |= left.is_none();
        self.elsewhere = left?;
        Some(())
    }
}

/// Bytes of all texts, each time that it is brought in.
fn bytes(sources: &Sources) -> usize {
    sources.iter().map(|(_, source)| source.text.len()).sum()
}
