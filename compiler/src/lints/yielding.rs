//! Which of two findings at one place is told.
use super::{single_quotes, smart_punctuation};
use crate::{
    finding::{Finding, Level},
    sources::Loc,
};

/// Takes out what is found of characters that are none of 3proxy's where others deny the same place, and leaves them its fix; and what
/// follows from a text that such characters do not hold together.
pub(crate) fn give_way(findings: &mut Vec<Finding>) {
    let own: Vec<Finding> = findings.extract_if(.., |finding| cause(finding).is_some()).collect();
    if own.is_empty() {
        return;
    }
    let torn = Torn::new(&own);
    findings.retain(|finding| finding.refused || !torn.holds(finding.at));
    let denied = Denied::new(findings);
    for finding in own {
        let inside = || single_quotes::torn(&finding).find_map(|torn| denied.inside(torn));
        match denied.around(finding.at).or_else(inside).and_then(|index| findings.get_mut(index)) {
            Some(other) if other.fix.is_none() => {
                other.notes.extend(cause(&finding).map(Into::into));
                other.fix = finding.fix;
            }
            Some(_) => {}
            None => findings.push(finding),
        }
    }
}

/// What is said of the other finding's cause. `None`: this finding gives way to none.
fn cause(finding: &Finding) -> Option<&'static str> {
    if finding.rule == smart_punctuation::RULE.name {
        Some("There are characters of a word processor in it, in place of plain ones.")
    } else if finding.rule == single_quotes::RULE.name {
        Some("3proxy takes the single quotes for letters.")
    } else {
        None
    }
}

/// Texts in single quotes of which a space makes several words, in order: what these are read as was meant by nobody.
struct Torn(Vec<Loc>);

impl Torn {
    fn new(own: &[Finding]) -> Self {
        let mut torn: Vec<Loc> = own.iter().flat_map(single_quotes::torn).collect();
        torn.sort();
        Self(torn)
    }

    fn holds(&self, at: Loc) -> bool {
        let ahead = self.0.partition_point(|torn| (torn.file, torn.span.start) <= (at.file, at.span.start));
        ahead.checked_sub(1).and_then(|last| self.0.get(last)).is_some_and(|torn| torn.contains(at))
    }
}

/// The places that are denied, by their starts.
struct Denied(Vec<Place>);

struct Place {
    at: Loc,
    /// Which finding this is.
    index: usize,
    /// Where the last of this one and those before it in the same file ends.
    reach: u32,
}

impl Denied {
    fn new(findings: &[Finding]) -> Self {
        let denied = findings.iter().enumerate().filter(|(_, finding)| finding.level == Level::Deny);
        let mut places: Vec<_> =
            denied.map(|(index, Finding { at, .. })| Place { at: *at, index, reach: at.span.end }).collect();
        places.sort_by_key(|place| place.at);
        let mut before: Option<(Loc, u32)> = None;
        for place in &mut places {
            if let Some((_, reach)) = before.filter(|(at, _)| at.file == place.at.file) {
                place.reach = place.reach.max(reach);
            }
            before = Some((place.at, place.reach));
        }
        Self(places)
    }

    /// A finding whose place is within this one.
    fn inside(&self, at: Loc) -> Option<usize> {
        let ahead =
            self.0.partition_point(|place| (place.at.file, place.at.span.start) < (at.file, at.span.start));
        self.0.get(ahead).filter(|place| at.contains(place.at)).map(|place| place.index)
    }

    /// The finding whose place covers this one; the one that starts last.
    fn around(&self, at: Loc) -> Option<usize> {
        let ahead =
            self.0.partition_point(|place| (place.at.file, place.at.span.start) <= (at.file, at.span.start));
        let before = self.0.get(..ahead)?.iter().rev();
        before
            .take_while(|place| place.at.file == at.file && place.reach >= at.span.end)
            .find(|place| place.at.span.end >= at.span.end)
            .map(|place| place.index)
    }
}
