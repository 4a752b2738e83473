//! Which fixes can be made together.
//!
//! Two that touch can't be. Nor are two of different rules made together if one changes what the finding of the other points at: they may
//! be two ways to cure one cause, and when the one is made, the other's finding may be gone. Then the one that changes what others
//! point at goes first, since it may cure theirs too.
use std::collections::{BTreeMap, BTreeSet};

use grammar::Span;

use crate::{
    finding::Finding,
    sources::{FileId, Loc},
};

/// A place in a file: one that is included twice has its findings twice.
type Place = (FileId, Span);

/// A finding with its fix.
struct Candidate<'a> {
    finding: &'a Finding,
    edits: Vec<Place>,
    points: Vec<Place>,
}

/// Of `findings`, which have fixes, those that can be mended together; they stay in order. `files` has for each text the
/// first one of the same file.
pub(super) fn choose<'a>(files: &[FileId], findings: impl Iterator<Item = &'a Finding>) -> Vec<&'a Finding> {
    let candidates: Vec<Candidate<'_>> =
        findings.filter_map(|finding| Candidate::new(files, finding)).collect();
    let changes = Changes::of(&candidates);
    let mut taken = Taken::default();
    let mut chosen = BTreeSet::new();
    let (mut waiting, first): (Vec<usize>, Vec<usize>) =
        (0..candidates.len()).partition(|index| changes.what(&candidates, *index).next().is_some());
    // What corrects a word goes before what adds to it: that may be missing only because it is misspelt.
    waiting.sort_by_key(|index| candidates.get(*index).is_some_and(Candidate::only_adds));
    let mut blocked = BTreeSet::new();
    for index in first.into_iter().chain(waiting) {
        let Some(candidate) = candidates.get(index) else { continue };
        let waits = || changes.what(&candidates, index).any(|other| chosen.contains(&other));
        if blocked.contains(&index) || waits() || !taken.take(&candidate.edits) {
            continue;
        }
        blocked.extend(changes.what(&candidates, index));
        chosen.insert(index);
    }
    chosen.iter().filter_map(|index| candidates.get(*index)).map(|candidate| candidate.finding).collect()
}

impl<'a> Candidate<'a> {
    fn new(files: &[FileId], finding: &'a Finding) -> Option<Self> {
        let place = |at: Loc| Some((*files.get(at.file.0 as usize)?, at.span));
        let fix = finding.fix.as_ref().filter(|fix| !fix.edits.is_empty())?;
        let edits = fix.edits.iter().map(|edit| place(edit.at)).collect::<Option<_>>()?;
        let labels = finding.labels.iter().map(|label| label.at);
        let points = [finding.at].into_iter().chain(labels).filter_map(place).collect();
        Some(Self { finding, edits, points })
    }

    fn only_adds(&self) -> bool {
        self.edits.iter().all(|(_, span)| span.start == span.end)
    }
}

/// What all candidates change.
struct Changes(BTreeMap<FileId, Vec<Change>>);

struct Change {
    span: Span,
    /// The furthest end of this one and those before it.
    reach: u32,
    by: usize,
}

impl Changes {
    fn of(candidates: &[Candidate<'_>]) -> Self {
        let mut all: BTreeMap<FileId, Vec<Change>> = BTreeMap::new();
        for (by, candidate) in candidates.iter().enumerate() {
            for (file, span) in &candidate.edits {
                all.entry(*file).or_default().push(Change { span: *span, reach: 0, by });
            }
        }
        for changes in all.values_mut() {
            changes.sort_by_key(|change| change.span);
            let mut reach = 0;
            for change in changes {
                reach = change.span.end.max(reach);
                change.reach = reach;
            }
        }
        Self(all)
    }

    /// The candidates of other rules that change what the finding of one points at.
    fn what(&self, candidates: &[Candidate<'_>], index: usize) -> impl Iterator<Item = usize> {
        let candidate = candidates.get(index);
        let rule = candidate.map(|candidate| candidate.finding.rule);
        let points = candidate.into_iter().flat_map(|candidate| &candidate.points);
        let touching =
            points.flat_map(|place| self.near(place).filter(|change| changes_it(change.span, place.1)));
        let other = move |by: &usize| candidates.get(*by).map(|other| other.finding.rule) != rule;
        touching.map(|change| change.by).filter(other)
    }
}

impl Changes {
    /// The changes that may touch a place: all that are looked at for it.
    fn near(&self, (file, point): &Place) -> impl Iterator<Item = &Change> {
        let changes = self.0.get(file).map(Vec::as_slice).unwrap_or_default();
        let before = changes.partition_point(|change| change.span.start <= point.end);
        // What only ends where the place starts changes nothing of it: a thousand lines may be put in there.
        changes.get(..before).unwrap_or_default().iter().rev().take_while(|change| change.reach > point.start)
    }
}

/// Whether an edit changes the text at a place: an insertion before it does not.
fn changes_it(edit: Span, place: Span) -> bool {
    if edit.start == edit.end {
        place.start < edit.start && edit.start <= place.end
    } else {
        edit.start < place.end && place.start < edit.end
    }
}

/// Where fixes are to be made.
#[derive(Default)]
struct Taken(BTreeMap<FileId, BTreeMap<u32, u32>>);

impl Taken {
    /// Takes these places, if they touch none that is taken.
    fn take(&mut self, places: &[Place]) -> bool {
        let is_free = |(file, span): &Place| {
            self.0.get(file).is_none_or(|taken| {
                // The last one that starts before this one's end: those before it end before it.
                taken.range(..=span.end).next_back().is_none_or(|(_, end)| *end < span.start)
            })
        };
        if !places.iter().all(is_free) {
            return false;
        }
        for (file, span) in places {
            let end = self.0.entry(*file).or_default().entry(span.start).or_default();
            *end = span.end.max(*end);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        finding::Level,
        fix::{Edit, Fix, Safety},
    };

    /// A thousand settings that are to be moved above one service all point at it, and all change the place before it.
    #[test]
    fn what_is_put_in_before_a_place_is_not_looked_at() {
        let loc = |start, end| Loc { file: FileId(0), span: Span::new(start, end) };
        let service = loc(100, 105);
        let findings: Vec<_> = (0..1000)
            .map(|number| {
                let line = loc(200 + 10 * number, 209 + 10 * number);
                let edits = vec![
                    Edit { at: loc(100, 100), text: "x\n".to_owned() },
                    Edit { at: line, text: String::new() },
                ];
                let fix = Fix { title: "move it".into(), safety: Safety::Unsafe, edits };
                Finding::new("x", Level::Warn, line, "x").also(service, "x").fix(fix)
            })
            .collect();
        let candidates: Vec<_> =
            findings.iter().filter_map(|finding| Candidate::new(&[FileId(0)], finding)).collect();
        let changes = Changes::of(&candidates);
        let looked_at: usize =
            candidates.iter().flat_map(|one| &one.points).map(|place| changes.near(place).count()).sum();
        // Of each the line that goes.
        assert_eq!(looked_at, 1000);
    }
}
