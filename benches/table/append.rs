//! A plain list that grows at its end by walking there, as 3proxy builds it: what compilation is compared with.
use std::{fs, hint::black_box};

/// An entry of the size of 3proxy's.
struct Node {
    _fields: [u64; 15],
    next: Option<Box<Node>>,
}

/// The fewest processor seconds in which a list of `length` entries can be built.
///
/// A fifth of them is built, some times, and the best counts 25 times, since each walk is five times as long. The whole takes longer,
/// as it does not fit into caches, and how much longer depends on what else the machine does.
pub(crate) fn least_seconds(length: u32) -> f64 {
    (0..3).map(|_| 25.0 * seconds(length / 5)).fold(f64::INFINITY, f64::min)
}

/// Processor seconds in which a list of `length` entries is built.
fn seconds(length: u32) -> f64 {
    let started = processor_seconds();
    let mut head: Option<Box<Node>> = None;
    for number in 0..u64::from(length) {
        let mut end = &mut head;
        while let Some(node) = end {
            end = &mut node.next;
        }
        *end = Some(Box::new(Node { _fields: [number; 15], next: None }));
    }
    let passed = processor_seconds() - started;
    // Freed one by one: a long list would be freed recursively.
    let mut rest = black_box(head);
    while let Some(mut node) = rest {
        rest = node.next.take();
    }
    passed
}

/// What this thread has used of a processor. 0 on systems that don't tell.
pub(crate) fn processor_seconds() -> f64 {
    let told = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    told.split(' ').next().and_then(|nanoseconds| nanoseconds.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}
