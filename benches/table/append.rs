//! A plain list that grows at its end by walking there, as 3proxy builds it: what compilation is compared with.
use std::{fs, hint::black_box};

/// An entry of the size of 3proxy's.
struct Node {
    _fields: [u64; 15],
    next: Option<Box<Node>>,
}

/// Processor seconds in which a list of so many entries is built.
pub(crate) fn seconds(length: u32) -> f64 {
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
