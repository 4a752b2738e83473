//! Any bytes give a tree of that text: lines laid end to end are the source, words stand in their lines, in order.
#![no_main]

use grammar::{
    Span,
    syntax::{LineKind, Tree, WordShape},
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|source: &[u8]| {
    let tree = grammar::parse(source);
    assert_lossless(&tree, source);
    assert_eq!(tree.lines().count(), source.split_inclusive(|byte| *byte == b'\n').count());
    assert_lossless(&grammar::parse_words(source), source);
});

fn assert_lossless(tree: &Tree, source: &[u8]) {
    let mut end = 0;
    for line in tree.lines() {
        assert_eq!(line.span.start, end);
        assert!(!line.span.is_empty());
        end = line.span.end;
        let (LineKind::Directive(words) | LineKind::Bad(_, words)) = line.kind else { continue };
        let mut at = line.span.start;
        for word in tree.words(words) {
            assert!(at <= word.span.start && word.span.start < word.span.end && word.span.end <= line.span.end);
            at = word.span.end;
            let value = word.value(source);
            assert!(value.len() <= word.span.len() as usize);
            assert_eq!(word.spliced_path(source).is_some(), matches!(word.shape, WordShape::Splice { .. }));
            let part = word.part(Span::new(0, value.len() as u32));
            assert!(word.span.start <= part.start && part.end <= word.span.end);
        }
    }
    assert_eq!(end as usize, source.len());
}
