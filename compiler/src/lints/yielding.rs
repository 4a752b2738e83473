//! Which of two findings at one place is told.
use super::smart_punctuation;
use crate::finding::{Finding, Level};

/// Takes out what `smart-punctuation` finds where others deny the same place, and leaves them its fix.
pub(crate) fn settle(findings: &mut Vec<Finding>) {
    let own: Vec<Finding> =
        findings.extract_if(.., |finding| finding.rule == smart_punctuation::RULE.name).collect();
    for finding in own {
        let covers = |other: &&mut Finding| {
            let (here, there) = (finding.at, other.at);
            other.level == Level::Deny
                && here.file == there.file
                && there.span.start <= here.span.start
                && here.span.end <= there.span.end
        };
        match findings.iter_mut().find(covers) {
            Some(other) if other.fix.is_none() => {
                other.notes.push(
                    "There are characters of a word processor in it, in place of plain ones.".to_owned(),
                );
                other.fix = finding.fix;
            }
            Some(_) => {}
            None => findings.push(finding),
        }
    }
}
