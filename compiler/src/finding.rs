//! What is wrong with a configuration, ready for any renderer.
use std::collections::HashMap;

use crate::{
    fix::Fix,
    sources::{Loc, Sources},
};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Off unless asked for.
    Allow,
    /// Suspicious.
    Warn,
    /// 3proxy refuses the file, or the meaning is certainly not what is written. `run` refuses it too.
    Deny,
}

impl Level {
    /// As users write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Warn => "warn",
            Self::Deny => "deny",
        }
    }
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule that found it.
    pub rule: &'static str,
    /// How bad.
    pub level: Level,
    /// 3proxy itself rejects the file here: this finding can't be allowed away.
    pub refused: bool,
    /// Where: the primary label. Its text is [`Finding::label`].
    pub at: Loc,
    /// What is wrong, in one sentence without a capital or a period, that stands alone.
    pub message: String,
    /// What the primary place has to do with it; may be empty.
    pub label: String,
    /// Other places that matter: the line that made the trap, the line that springs it.
    pub labels: Vec<Label>,
    /// Why it is so, or a witness: full sentences.
    pub notes: Vec<String>,
    /// What to do, as a command.
    pub help: Option<String>,
    /// The edit that does it.
    pub fix: Option<Fix>,
    /// How many equal findings this one stands for: itself, and those that [`group`] folded into it.
    pub count: u32,
}

/// A secondary place and what it has to do with the finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub at: Loc,
    /// What.
    pub text: String,
}

impl Finding {
    /// A finding of `rule` at `at`, with nothing but its message.
    pub fn new(rule: &'static str, level: Level, at: Loc, message: impl Into<String>) -> Self {
        Self {
            rule,
            level,
            refused: false,
            at,
            message: message.into(),
            label: String::new(),
            labels: Vec::new(),
            notes: Vec::new(),
            help: None,
            fix: None,
            count: 1,
        }
    }

    /// Takes an equal finding in.
    fn absorb(&mut self, other: Self) {
        self.count += other.count;
        if let (Some(fix), Some(more)) = (&mut self.fix, other.fix) {
            fix.edits.extend(more.edits);
        }
    }

    /// Says what the primary place has to do with it.
    #[must_use]
    pub fn label(mut self, text: impl Into<String>) -> Self {
        self.label = text.into();
        self
    }

    /// Points at another place.
    #[must_use]
    pub fn also(mut self, at: Loc, text: impl Into<String>) -> Self {
        self.labels.push(Label { at, text: text.into() });
        self
    }

    /// Says why.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Offers the edit, if there is one.
    #[must_use]
    pub fn fix(mut self, fix: impl Into<Option<Fix>>) -> Self {
        self.fix = fix.into();
        self
    }
}

/// So many equal findings are shown one by one; more become one finding.
const SHOWN_ONE_BY_ONE: usize = 8;

/// Puts findings in source order, and makes one of those that say the same ten thousand times, as in a generated file.
///
/// Two findings are equal if they differ in places and in what stands between backticks only. The one that remains is the
/// first; it says how many there are and where the last is, and its fix mends all of them.
#[must_use]
pub fn group(mut findings: Vec<Finding>, sources: &Sources) -> Vec<Finding> {
    findings.sort_by_key(|finding| (finding.at, finding.rule));
    let mut counts: HashMap<(&'static str, String), usize> = HashMap::new();
    for finding in &findings {
        *counts.entry((finding.rule, shape(&finding.message))).or_default() += 1;
    }
    counts.retain(|_, count| *count > SHOWN_ONE_BY_ONE);
    if counts.is_empty() {
        return findings;
    }
    let mut shown: Vec<Finding> = Vec::new();
    let mut first: HashMap<(&'static str, String), usize> = HashMap::new();
    let mut last: HashMap<usize, Loc> = HashMap::new();
    for finding in findings {
        let key = (finding.rule, shape(&finding.message));
        if !counts.contains_key(&key) {
            shown.push(finding);
            continue;
        }
        let at = *first.entry(key).or_insert(shown.len());
        match shown.get_mut(at) {
            Some(one) => {
                last.insert(at, finding.at);
                one.absorb(finding);
            }
            None => shown.push(finding),
        }
    }
    for (at, place) in last {
        if let Some(one) = shown.get_mut(at) {
            let path = sources.get(place.file).map(|source| source.path.display().to_string());
            let line = sources.line_column(place).line;
            let path = path.filter(|_| place.file != one.at.file);
            let of = path.map(|path| format!(" of `{path}`")).unwrap_or_default();
            one.notes.push(format!("This is found {} times, the last time in line {line}{of}.", one.count));
        }
    }
    shown
}

/// A message without what it cites.
fn shape(message: &str) -> String {
    message.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

#[cfg(test)]
mod tests {
    use grammar::Span;

    use super::{Finding, Level, group};
    use crate::{
        fix::{Fix, Safety},
        sources::{FileId, Loc, Source, Sources},
    };

    fn sources(text: &str) -> Sources {
        let mut sources = Sources::default();
        sources.add(Source::config("main.cfg".into(), text.into(), None));
        sources
    }

    fn at(offset: u32) -> Loc {
        Loc { file: FileId(0), span: Span::new(offset, offset + 1) }
    }

    fn finding(rule: &'static str, offset: u32, message: String) -> Finding {
        Finding::new(rule, Level::Deny, at(offset), message).fix(Fix::replace(
            "cut",
            Safety::Safe,
            at(offset),
            "",
        ))
    }

    #[test]
    fn equal_findings_become_one_that_mends_all() {
        let sources = sources(&"ab\n".repeat(20));
        let many = (0..20).rev().map(|line| finding("many", line * 3, format!("`{line}` is bad")));
        let few = (0..8).map(|line| finding("few", line * 3 + 1, format!("`{line}` is bad")));
        let shown = group(many.chain(few).collect(), &sources);
        assert_eq!(shown.len(), 9);
        assert_eq!((shown[0].rule, shown[0].count, shown[0].message.as_str()), ("many", 20, "`0` is bad"));
        assert_eq!(shown[0].notes, ["This is found 20 times, the last time in line 20."]);
        assert_eq!(shown[0].fix.as_ref().unwrap().edits.len(), 20);
        assert!(shown[1..].iter().all(|finding| finding.rule == "few" && finding.count == 1));
    }

    #[test]
    fn different_messages_are_not_equal() {
        let sources = sources("ab\n");
        let words = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
        let different = words.map(|word| finding("one", 0, format!("{word} is bad")));
        assert_eq!(group(different.to_vec(), &sources).len(), words.len());
    }
}
