//! Buffers that are borrowed from a pool of the thread and go back to the pool of whichever thread drops them.
use std::cell::RefCell;

/// Large enough that a bulk transfer is bound by copying, small enough for the cache.
const SIZE: usize = 16 * 1024;
/// How many a thread keeps for later.
const KEPT: usize = 64;

thread_local! {
    static POOL: RefCell<Vec<Box<[u8; SIZE]>>> = const { RefCell::new(Vec::new()) };
}

/// Bytes on their way.
pub(super) struct Buffer {
    /// `None` only while it is dropped.
    bytes: Option<Box<[u8; SIZE]>>,
    start: usize,
    end: usize,
}

impl Buffer {
    /// An empty one.
    pub(super) fn take() -> Self {
        let pooled = POOL.with_borrow_mut(Vec::pop);
        Self { bytes: Some(pooled.unwrap_or_else(|| Box::new([0; SIZE]))), start: 0, end: 0 }
    }

    /// What is not consumed yet.
    pub(super) fn rest(&self) -> &[u8] {
        self.bytes.as_deref().and_then(|bytes| bytes.get(self.start..self.end)).unwrap_or_default()
    }

    /// Where the next bytes can be read to, `most` at most. What was not consumed is gone.
    pub(super) fn space(&mut self, most: usize) -> &mut [u8] {
        (self.start, self.end) = (0, 0);
        let bytes = self.bytes.as_deref_mut().map(|bytes| bytes.get_mut(..most.min(SIZE)));
        bytes.flatten().unwrap_or_default()
    }

    /// `bytes` bytes of the space were filled.
    pub(super) fn fill(&mut self, bytes: usize) {
        self.end = bytes.min(SIZE);
    }

    /// `bytes` bytes of the rest are dealt with.
    pub(super) fn consume(&mut self, bytes: usize) {
        self.start = (self.start + bytes).min(self.end);
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let Some(bytes) = self.bytes.take() else { return };
        // While the thread ends its pool is gone: then the buffer is freed.
        let _ = POOL.try_with(|pool| {
            let mut pool = pool.borrow_mut();
            if pool.len() < KEPT {
                pool.push(bytes);
            }
        });
    }
}
