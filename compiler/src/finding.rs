//! What is wrong with a configuration, ready for any renderer.
use std::{
    borrow::Cow,
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
};

use foldhash::fast::RandomState;

use crate::{fix::Fix, lints, sources::Loc};

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
    /// The rule that would have found it before [another took that in](crate::lints::Rule::parts).
    pub part: Option<&'static str>,
    /// How bad.
    pub level: Level,
    /// 3proxy itself rejects the file here: this finding can't be allowed away.
    pub refused: bool,
    /// Where: the primary label. Its text is [`Finding::label`].
    pub at: Loc,
    /// What is wrong, in one sentence without a capital or a period, that stands alone.
    pub message: Cow<'static, str>,
    /// What the primary place has to do with it; may be empty.
    pub label: Cow<'static, str>,
    /// Other places that matter: the line that made the trap, the line that springs it.
    pub labels: Vec<Label>,
    /// Why it is so, or a witness: full sentences.
    pub notes: Vec<Cow<'static, str>>,
    /// What to do, as a command.
    pub help: Option<Cow<'static, str>>,
    /// The edit that does it.
    pub fix: Option<Box<Fix>>,
    /// The command that is missing in the file, if that is why: it has no place to point at.
    pub lacks: Option<&'static str>,
    /// How many equal findings this one stands for: itself, and those that [`group`] folded into it.
    pub count: u32,
    /// Where the last of them is, if it stands for more than itself.
    pub last: Option<Loc>,
}

/// A secondary place and what it has to do with the finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub at: Loc,
    /// What.
    pub text: Cow<'static, str>,
}

impl Finding {
    /// A finding of `rule` at `at`, with nothing but its message.
    pub fn new(rule: &'static str, level: Level, at: Loc, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            rule,
            part: None,
            level,
            refused: false,
            at,
            message: message.into(),
            label: Cow::Borrowed(""),
            labels: Vec::new(),
            notes: Vec::new(),
            help: None,
            fix: None,
            lacks: None,
            count: 1,
            last: None,
        }
    }

    /// Cuts what it cites where that is very long: a word may be as long as a file.
    pub(crate) fn shorten(&mut self) {
        self.change_texts(|text| (text.len() > LONGEST_CITATION).then(|| shortened(text)));
    }

    /// Puts what `change` makes of it in the place of each text that is not ours from beginning to end: what stands between backticks in ours
    /// is no citation.
    pub(crate) fn change_texts(&mut self, change: impl Fn(&str) -> Option<String>) {
        let labels = self.labels.iter_mut().map(|label| &mut label.text);
        let title = self.fix.as_mut().map(|fix| &mut fix.title);
        let texts = [&mut self.message, &mut self.label].into_iter().chain(labels);
        for text in texts.chain(&mut self.notes).chain(&mut self.help).chain(title) {
            if let Cow::Owned(cites) = text
                && let Some(changed) = change(cites)
            {
                *text = Cow::Owned(changed);
            }
        }
    }

    /// Where it points, and what its repair changes.
    pub(crate) fn places(&self) -> impl Iterator<Item = Loc> {
        let labels = self.labels.iter().map(|label| label.at);
        let edits = self.fix.iter().flat_map(|fix| &fix.edits).map(|edit| edit.at);
        [self.at].into_iter().chain(labels).chain(edits)
    }

    /// Takes an equal finding in that stands behind it; what is left of that is not shown.
    fn absorb(&mut self, other: &mut Self) {
        self.count += other.count;
        self.last = other.last.or(Some(other.at));
        if let (Some(fix), Some(more)) = (&mut self.fix, &mut other.fix) {
            fix.edits.append(&mut more.edits);
        }
    }

    /// How many of those that it stands for it does not point at.
    #[must_use]
    pub fn unseen(&self) -> u32 {
        let shown = self.labels.iter().filter(|label| label.text == AND_HERE).count();
        self.count.saturating_sub(1).saturating_sub(u32::try_from(shown).unwrap_or(u32::MAX))
    }

    /// Whether it is what the rule of this name is for, that has now another.
    #[must_use]
    pub fn is_called(&self, name: &str) -> bool {
        self.rule == name
            || self.part == Some(name)
            || lints::find(self.rule).is_some_and(|rule| rule.is_called(name))
    }

    /// Says of which rule that another has taken in it is.
    #[must_use]
    pub fn part(mut self, name: impl Into<Option<&'static str>>) -> Self {
        self.part = name.into();
        self
    }

    /// Says what the primary place has to do with it.
    #[must_use]
    pub fn label(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.label = text.into();
        self
    }

    /// Points at another place.
    #[must_use]
    pub fn also(mut self, at: Loc, text: impl Into<Cow<'static, str>>) -> Self {
        reserve_one(&mut self.labels);
        self.labels.push(Label { at, text: text.into() });
        self
    }

    /// Says that it is so because the file has no such command.
    #[must_use]
    pub fn lacking(mut self, command: &'static str) -> Self {
        self.lacks = Some(command);
        self
    }

    /// Says why.
    #[must_use]
    pub fn note(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        reserve_one(&mut self.notes);
        self.notes.push(text.into());
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Offers the edit, if there is one.
    #[must_use]
    pub fn fix(mut self, fix: impl Into<Option<Fix>>) -> Self {
        self.fix = fix.into().map(Box::new);
        self
    }
}

/// Most findings have one: a list takes room for four by itself, and there may be hundreds of thousands of findings.
fn reserve_one<T>(list: &mut Vec<T>) {
    if list.is_empty() {
        list.reserve_exact(1);
    }
}

/// The longest citation, in bytes, that stays whole, and how many characters of longer ones do.
const LONGEST_CITATION: usize = 200;
const CITED: usize = 100;

/// A text with long citations cut.
fn shortened(text: &str) -> String {
    let mut short = String::with_capacity(LONGEST_CITATION);
    for (number, part) in text.split('`').enumerate() {
        if number > 0 {
            short.push('`');
        }
        if number % 2 == 1 && part.len() > LONGEST_CITATION {
            short.extend(part.chars().take(CITED).chain(['…']));
        } else {
            short.push_str(part);
        }
    }
    short
}

/// Puts findings in source order, those of one place by their rules. They are long, and mostly there in rows that are in order: so a list of
/// their places is sorted, and each is moved once.
pub(crate) fn sort(findings: &mut [Finding]) {
    let mut order: Vec<(Loc, &'static str, usize)> =
        findings.iter().enumerate().map(|(from, finding)| (finding.at, finding.rule, from)).collect();
    order.sort_by_key(|(at, rule, _)| (*at, *rule));
    for to in 0..order.len() {
        let from_of = |place: usize| order.get(place).map_or(to, |(.., from)| *from);
        // What stood in a place that is in order already was swapped to where that came from.
        let mut from = from_of(to);
        while from < to {
            from = from_of(from);
        }
        if let Some((.., moved)) = order.get_mut(to) {
            *moved = from;
        }
        if from != to {
            findings.swap(to, from);
        }
    }
}

/// What is said at the place of one that was folded into another.
const AND_HERE: &str = "and here";

/// How many equal findings are shown one by one; more become one finding.
const SHOWN_ONE_BY_ONE: u32 = 8;

/// Makes one finding of those that say the same ten thousand times, as in a generated file. They are given in source order.
///
/// Two findings are equal if they differ in places and in what stands between backticks only. The one that remains is the
/// first; it says how many there are and where the last is, and its fix mends all of them. However few they are, those that say the same
/// of one cause are one finding, which points at the places of the others.
#[must_use]
pub fn group(mut findings: Vec<Finding>) -> Vec<Finding> {
    by_cause(&mut findings);
    let mut kinds: HashMap<(&'static str, Level, Shape<'_>), usize, RandomState> = HashMap::default();
    let mut counts: Vec<u32> = Vec::new();
    let mut kind_of: Vec<usize> = Vec::with_capacity(findings.len());
    for finding in &findings {
        let shape = Shape(&finding.message);
        let kind = *kinds.entry((finding.rule, finding.level, shape)).or_insert(counts.len());
        match counts.get_mut(kind) {
            Some(count) => *count += 1,
            None => counts.push(1),
        }
        kind_of.push(kind);
    }
    if counts.iter().all(|count| *count <= SHOWN_ONE_BY_ONE) {
        return findings;
    }
    // Where the first of each kind that is common is shown.
    let mut first: Vec<Option<usize>> = vec![None; counts.len()];
    let mut kind_of = kind_of.into_iter();
    fold(&mut findings, |shown, finding| {
        let kind = kind_of.next()?;
        let is_common = counts.get(kind).is_some_and(|count| *count > SHOWN_ONE_BY_ONE);
        let one = first.get_mut(kind).filter(|_| is_common).map(|first| *first.get_or_insert(shown.len()));
        shown.get_mut(one?)?.absorb(finding);
        Some(())
    });
    findings
}

/// Takes out the findings that `absorb` puts into one of those before them that are shown. In place: there may be hundreds of thousands.
fn fold(findings: &mut Vec<Finding>, mut absorb: impl FnMut(&mut [Finding], &mut Finding) -> Option<()>) {
    let mut shown = 0;
    for at in 0..findings.len() {
        let (before, rest) = findings.split_at_mut(at);
        let (Some(before), Some(finding)) = (before.get_mut(..shown), rest.first_mut()) else { break };
        if absorb(before, finding).is_none() {
            if shown < at {
                findings.swap(shown, at);
            }
            shown += 1;
        }
    }
    findings.truncate(shown);
    findings.shrink_to_fit();
}

/// A message as it is compared: without what it cites.
struct Shape<'a>(&'a str);

impl<'a> Shape<'a> {
    fn parts(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        self.0.as_bytes().split(|byte| *byte == b'`').step_by(2)
    }
}

impl PartialEq for Shape<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.parts().eq(other.parts())
    }
}

impl Eq for Shape<'_> {}

impl Hash for Shape<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.parts().for_each(|part| part.hash(state));
    }
}

/// Makes one finding of those that say the same and point at the same other places: what stands there is the cause of all of them.
/// The notes are those of the first: an example of one is enough.
fn by_cause(findings: &mut Vec<Finding>) {
    let mut first: HashMap<u64, usize> = HashMap::new();
    fold(findings, |shown, finding| {
        let at = *first.entry(cause(finding)?).or_insert(shown.len());
        let one = shown.get_mut(at).filter(|one| is_of_one_cause(one, finding))?;
        if one.count < SHOWN_ONE_BY_ONE {
            one.labels.push(Label { at: finding.at, text: AND_HERE.into() });
        }
        one.absorb(finding);
        Some(())
    });
}

/// A number that findings of one cause have in common. `None`: no cause is to be seen, or it has a fix, which is for one place.
fn cause(finding: &Finding) -> Option<u64> {
    let mut elsewhere = elsewhere(finding).peekable();
    if elsewhere.peek().is_none() && finding.lacks.is_none() || finding.fix.is_some() {
        return None;
    }
    let mut hasher = DefaultHasher::new();
    (finding.rule, finding.level, &finding.message, &finding.help, finding.lacks).hash(&mut hasher);
    elsewhere.for_each(|place| place.hash(&mut hasher));
    Some(hasher.finish())
}

/// The other places that it points at. What stands in its own line is no cause that others have, too.
fn elsewhere(finding: &Finding) -> impl Iterator<Item = Loc> {
    let own = finding.at;
    finding.labels.iter().map(|label| label.at).filter(move |place| !own.contains(*place))
}

/// Whether `other` says what `one` says, of the places that `one` pointed at before it took others in.
fn is_of_one_cause(one: &Finding, other: &Finding) -> bool {
    let says = |finding: &Finding| (finding.rule, finding.level, finding.fix.is_none(), finding.lacks);
    let places = elsewhere(other).count();
    says(one) == says(other)
        && (&one.message, &one.help) == (&other.message, &other.help)
        && elsewhere(one).take(places).eq(elsewhere(other))
}

#[cfg(test)]
mod tests {
    use grammar::Span;

    use super::{Finding, Level, group};
    use crate::{
        fix::{Fix, Safety},
        sources::{FileId, Loc},
    };

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
    fn those_of_one_cause_become_one_that_points_at_all() {
        let of = |offset: u32, cause: u32| {
            Finding::new("open", Level::Deny, at(offset), "open").also(at(cause), "asks nothing")
        };
        let shown = group(vec![of(10, 0), of(20, 0), of(30, 1), of(40, 0)]);
        let places = |finding: &Finding| finding.labels.iter().map(|label| label.at).collect::<Vec<_>>();
        assert_eq!(
            shown.iter().map(|finding| (finding.at, finding.count)).collect::<Vec<_>>(),
            [(at(10), 3), (at(30), 1)]
        );
        assert_eq!(places(&shown[0]), [at(0), at(20), at(40)]);
        assert_eq!(shown[0].last, Some(at(40)));
        assert_eq!((shown[0].unseen(), shown[1].unseen()), (0, 0));
        let many = group((0..100).map(|line| of(10 + line, 0)).collect());
        assert_eq!((many.len(), many[0].count, many[0].labels.len()), (1, 100, 8));
        assert_eq!(many[0].unseen(), 92);
        // What each points at in its own line is no cause, and what the file lacks is one without a place.
        let line = |offset: u32| Loc { file: FileId(0), span: Span::new(offset, offset + 5) };
        let own = |offset: u32| {
            Finding::new("open", Level::Deny, line(offset), "open").also(at(offset + 1), "listens here")
        };
        assert_eq!(group([10, 20].map(own).to_vec()).len(), 2);
        let shared = group([10, 20].map(|offset| own(offset).also(at(0), "asks nothing")).to_vec());
        assert_eq!((shared.len(), shared[0].count), (1, 2));
        let lacking = group([10, 20, 30].map(|offset| own(offset).lacking("auth")).to_vec());
        assert_eq!((lacking.len(), lacking[0].count, lacking[0].labels.len()), (1, 3, 3));
        // Without another place there is no cause to be seen, and a fix is for one place.
        let alone = [10, 20].map(|offset| Finding::new("open", Level::Deny, at(offset), "open"));
        assert_eq!(group(alone.to_vec()).len(), 2);
        let fixed = [10, 20].map(|offset| finding("cut", offset, "open".to_owned()).also(at(0), "here"));
        assert_eq!(group(fixed.to_vec()).len(), 2);
    }

    #[test]
    fn equal_findings_become_one_that_mends_all() {
        let many = (0..20).map(|line| finding("many", line * 3, format!("`{line}` is bad")));
        let few = (0..8).map(|line| finding("few", line * 3 + 1, format!("`{line}` is bad")));
        let mut all: Vec<Finding> = many.chain(few).collect();
        all.sort_by_key(|finding| finding.at);
        let shown = group(all);
        assert_eq!(shown.len(), 9);
        assert_eq!((shown[0].rule, shown[0].count, &*shown[0].message), ("many", 20, "`0` is bad"));
        assert_eq!(shown[0].last, Some(at(57)));
        assert_eq!(shown[0].fix.as_ref().unwrap().edits.len(), 20);
        assert!(shown[1..].iter().all(|finding| finding.rule == "few" && finding.count == 1));
    }

    #[test]
    fn long_words_are_cut_where_they_are_cited() {
        let long = "é".repeat(1_000);
        let mut cut = finding("one", 0, format!("`{long}` is not `b`")).help(format!("write `{long}`"));
        cut.shorten();
        let short = "é".repeat(100);
        assert_eq!(cut.message, format!("`{short}…` is not `b`"));
        assert_eq!(cut.help.unwrap(), format!("write `{short}…`"));
    }

    #[test]
    fn they_are_put_in_source_order_and_equal_places_by_rule() {
        let mut all: Vec<Finding> = ["b", "a"]
            .into_iter()
            .flat_map(|rule| (0..50).map(move |line| finding(rule, line * 7 % 50, format!("{line}"))))
            .chain((0..50).rev().map(|line| finding("a", line, "second".to_owned())))
            .collect();
        let mut expected = all.clone();
        expected.sort_by_key(|finding| (finding.at, finding.rule));
        super::sort(&mut all);
        assert_eq!(all, expected);
    }

    #[test]
    fn different_messages_are_not_equal() {
        let words = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
        let different = words.map(|word| finding("one", 0, format!("{word} is bad")));
        assert_eq!(group(different.to_vec()).len(), words.len());
    }
}
