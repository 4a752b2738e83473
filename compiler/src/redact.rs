//! How messages cite words: without what is secret of them.
//!
//! A rule cites what it has at hand: a word, a part of it, or what it would be in another place. So what a citation may show is
//! judged here once: what the lines that its finding points at show anyway ([`mask`]), and nothing of what they hide.
use std::{
    borrow::Cow,
    cell::{Cell, RefCell},
    collections::{BTreeSet, HashMap, HashSet},
    ops::Range,
};

mod shown;
mod twin;
mod without;

pub use self::shown::{Redactor, Redactors, shown, shown_of};
pub(crate) use self::twin::hide_all;
use self::twin::{Dropped, Hid};
use self::without::{find, without, without_ends, without_parts};
use crate::{
    finding::Finding,
    fix::{self, Edit, Fix},
    mask::{self, Script},
    sources::{FileId, Loc, Source, Sources},
};

/// What stands for a secret.
const STARS: &str = "***";
/// Of a longer line, how many bytes around a place are looked at.
const WHOLE: usize = 4096;
const AROUND: usize = 512;
/// Shorter texts are parts of many words, so they are no secret for being part of one.
const PART: usize = 3;
/// The most secrets that are all looked for; of more, those that may stand in the text.
const FEW: usize = 8;
/// In a longer line with secrets nothing is fixed.
const LONGEST_FIXED: usize = 16_384;
/// For all citations of a line together: what is beyond is not cited.
const MOST_COMPARED_OF_LINE: usize = 1 << 24;
/// A longer secret is no word of ours.
const LONGEST_WORD: usize = 64;
/// How many secrets of one line are looked at as words of ours.
const MOST_TAKEN: usize = 64;
/// Shorter ones are words of our own too often to be looked for outside citations.
const DISTINCT: usize = 6;

/// Takes the secrets of the lines that findings point at out of what they say.
pub fn hide(sources: &Sources, findings: &mut [Finding]) {
    hide_in(sources, findings);
}

fn hide_in(sources: &Sources, findings: &mut [Finding]) -> Hid {
    let mut lines = Lines::default();
    let mut hid = Hid::default();
    for (index, finding) in findings.iter_mut().enumerate() {
        let mut hidden = Hidden::default();
        for at in finding.places() {
            hidden.add(sources, at, &mut lines);
        }
        hidden.sort();
        let is_shown = finding.fix.as_ref().is_some_and(|fix| hidden.is_shown_by(sources, fix));
        let fix = finding.fix.take_if(|_| is_shown);
        hid.dropped.extend(fix.map(|fix| Dropped { finding: index, fix }));
        let taken = RefCell::new(&mut hid.taken);
        if is_shown {
            Hidden::take(hidden.secrets.iter(), &mut taken.borrow_mut());
        }
        finding.change_texts(|text| match hidden.message(text) {
            Cow::Owned(cited) => {
                if !hidden.is_account_in(text, &cited) {
                    Hidden::take(hidden.near(text), &mut taken.borrow_mut());
                }
                Some(cited)
            }
            Cow::Borrowed(_) => None,
        });
        lines.spend(&hidden);
    }
    hid
}

/// Lines that have been looked at.
#[derive(Default)]
struct Lines {
    /// Each that may have secrets.
    secret: HashMap<(FileId, usize), Line>,
    /// The last that can have none: a finding mostly points at one line several times.
    plain: Option<(FileId, Range<usize>)>,
    /// The last of those that may have some, likewise.
    last: Option<(FileId, Range<usize>)>,
    /// How many have been read.
    #[cfg(test)]
    read: usize,
}

impl Lines {
    /// The line in which `at` starts, if it may have secrets: each is read once.
    fn enter(&mut self, sources: &Sources, source: &Source, at: Loc) -> Option<Range<usize>> {
        let is_it = |(file, line): &&(FileId, Range<usize>)| {
            *file == at.file && line.contains(&(at.span.start as usize))
        };
        if self.plain.as_ref().filter(is_it).is_some() {
            return None;
        }
        if let Some((_, line)) = self.last.as_ref().filter(is_it) {
            return Some(line.clone());
        }
        let start = (at.span.start + 1).saturating_sub(sources.line_column(at).column) as usize;
        let rest = source.text.get(start..).unwrap_or_default();
        let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let script = Script::of(sources, source).at(&source.text, start);
        if script.is_plain(line) {
            self.plain = Some((at.file, start..start + line.len() + 1));
            return None;
        }
        #[cfg(test)]
        {
            self.read += 1;
        }
        let read = || Line { secrets: script.secrets(line), left: MOST_COMPARED_OF_LINE };
        self.secret.entry((at.file, start)).or_insert_with(read);
        self.last = Some((at.file, start..start + line.len()));
        Some(start..start + line.len())
    }

    /// Keeps what citing lines has left of what may be compared: in equal parts.
    fn spend(&mut self, hidden: &Hidden) {
        let each = hidden.left.get().checked_div(hidden.lines.len()).unwrap_or_default();
        for place in &hidden.lines {
            if let Some(line) = self.secret.get_mut(place) {
                line.left = each;
            }
        }
    }
}

/// A line that may have secrets.
struct Line {
    secrets: Vec<Range<usize>>,
    /// How many pairs of bytes may still be compared for what cites it: a line may have thousands of secrets, and of findings.
    left: usize,
}

/// What is secret of some lines, and what is not.
#[derive(Default)]
struct Hidden {
    /// Of the lines, what [`Line::left`] says, together.
    left: Cell<usize>,
    /// The lines.
    lines: Vec<(FileId, usize)>,
    /// The longest first.
    secrets: Vec<String>,
    shown: String,
    /// Which secrets three letters stand in, if there are more than a few.
    by_letters: Option<HashMap<[u8; PART], Vec<usize>>>,
}

impl Hidden {
    /// Adds the line in which `at` starts.
    fn add(&mut self, sources: &Sources, at: Loc, known: &mut Lines) {
        let Some(source) = sources.get(at.file) else { return };
        let Some(range) = known.enter(sources, source, at) else { return };
        let (start, line) = (range.start, source.text.get(range).unwrap_or_default());
        let Some(Line { secrets, left }) = known.secret.get_mut(&(at.file, start)) else { return };
        if secrets.is_empty() {
            return;
        }
        if !self.lines.contains(&(at.file, start)) {
            self.lines.push((at.file, start));
            self.left.set(self.left.get().saturating_add(*left));
        }
        let place = at.span.start as usize - start..(at.span.end as usize).saturating_sub(start);
        let window = match line.len() {
            ..=WHOLE => 0..line.len(),
            length => place.start.saturating_sub(AROUND)..length.min(place.end + AROUND),
        };
        let first = secrets.partition_point(|secret| secret.end <= window.start);
        let mut shown = window.start;
        for secret in secrets.get(first..).unwrap_or_default() {
            if secret.start >= window.end {
                break;
            }
            self.show(line.get(shown..secret.start));
            self.secret(line.get(secret.clone()).unwrap_or_default());
            shown = secret.end;
        }
        self.show(line.get(shown..window.end));
    }

    /// Brings the secrets in order, once there are all.
    fn sort(&mut self) {
        self.secrets.sort_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
        self.secrets.dedup();
        if self.secrets.len() > FEW {
            let mut by_letters: HashMap<_, Vec<usize>> = HashMap::new();
            for (index, secret) in self.secrets.iter().enumerate() {
                for letters in letters(secret) {
                    let secrets = by_letters.entry(letters).or_default();
                    if secrets.last() != Some(&index) {
                        secrets.push(index);
                    }
                }
            }
            self.by_letters = Some(by_letters);
        }
    }

    /// The secrets that may have something to do with a text: others share no three letters with it.
    fn near<'a>(&'a self, text: &str) -> Box<dyn Iterator<Item = &'a String> + 'a> {
        let Some(by_letters) = &self.by_letters else { return Box::new(self.secrets.iter()) };
        let mut near: BTreeSet<usize> =
            letters(text).filter_map(|it| by_letters.get(&it)).flatten().copied().collect();
        let short = self.secrets.partition_point(|secret| secret.len() >= PART);
        near.extend(short..self.secrets.len());
        Box::new(near.into_iter().filter_map(|index| self.secrets.get(index)))
    }

    /// Whether a line would show with `fix` what it hides without.
    fn is_shown_by(&self, sources: &Sources, fix: &Fix) -> bool {
        let line = |edit: &Edit| sources.line_column(edit.at).line;
        let mut edits: Vec<&Edit> = fix.edits.iter().filter(|_| !self.secrets.is_empty()).collect();
        edits.sort_by_key(|edit| edit.at);
        edits.chunk_by(|one, other| one.at.file == other.at.file && line(one) == line(other)).any(|edits| {
            let Some(fixed) = fixed_line(sources, edits) else { return true };
            let near: Vec<_> = self.near(&fixed).collect();
            if !self.pay((fixed.len() + self.shown.len()) * bytes(&near)) {
                return true;
            }
            let told = |text: &str, secret: &String| {
                *without_parts(Cow::Borrowed(text), secret) != *text || find(text, secret).is_some()
            };
            let is_shown =
                |secret: &String| secret.len() >= PART && told(&fixed, secret) && !told(&self.shown, secret);
            near.into_iter().any(is_shown)
        })
    }

    /// Takes `price` from what may still be compared; false: there is not so much left.
    fn pay(&self, price: usize) -> bool {
        let left = self.left.get().checked_sub(price);
        self.left.set(left.unwrap_or_default());
        left.is_some()
    }

    fn show(&mut self, part: Option<&[u8]>) {
        self.shown.push_str(&String::from_utf8_lossy(part.unwrap_or_default()));
        self.shown.push_str(STARS);
    }

    /// Adds a secret as it is written, and as it is meant.
    fn secret(&mut self, written: &[u8]) {
        // A comment that was meant as one.
        if written == b"#" {
            return;
        }
        let written = String::from_utf8_lossy(written).into_owned();
        if written.contains('"') {
            self.secrets.push(written.replace("\"\"", "\""));
            self.secrets.push(written.replace('"', ""));
        }
        self.secrets.push(written);
    }

    /// A message without them; borrowed: as it is.
    fn message<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.secrets.is_empty() && !(text.contains('`') && text.contains([':', '='])) {
            return Cow::Borrowed(text);
        }
        let mut text = Cow::Borrowed(text);
        // A secret with a backtick ends the citation that it is in.
        let whole = |secret: &&String| {
            let is_word = secret.bytes().all(|byte| byte.is_ascii_alphabetic());
            secret.contains('`')
                || secret.len() >= DISTINCT && !is_word && !self.shown.contains(secret.as_str())
        };
        // With a backtick in a secret nobody knows where a citation ends.
        let all = self.secrets.iter().any(|secret| secret.contains('`'));
        let near = self.near(&text).filter(whole).collect::<Vec<_>>();
        if self.pay(text.len() * near.len()) {
            for secret in near {
                text = without(text, secret);
            }
        } else if all {
            return Cow::Owned(STARS.to_owned());
        }
        let parts: Vec<_> = text.split('`').collect();
        let cited = |(number, part): (usize, &&'_ str)| {
            if all || number % 2 == 1 { self.citation(part).into_owned() } else { (*part).to_owned() }
        };
        let cited = parts.iter().enumerate().map(cited).collect::<Vec<_>>().join("`");
        if cited == *text { text } else { Cow::Owned(cited) }
    }

    /// Whether `cited` is `text` with nothing hidden but passwords of accounts, behind their colons.
    fn is_account_in(&self, text: &str, cited: &str) -> bool {
        let mut plain = of_shape(text).into_owned();
        for secret in self.near(text) {
            plain = plain.replace(&format!(":{secret}"), ":***");
        }
        plain == cited
    }

    /// Notes secrets that may be words of ours; of a line that has thousands a few.
    fn take<'a>(secrets: impl Iterator<Item = &'a String>, taken: &mut HashSet<String>) {
        let short = secrets.filter(|secret| secret.len() <= LONGEST_WORD);
        taken.extend(short.take(MOST_TAKEN).cloned());
    }

    /// What may be shown of a citation.
    fn citation<'a>(&self, cited: &'a str) -> Cow<'a, str> {
        let masked = of_shape(cited);
        if self.secrets.is_empty() || self.shown.contains(&*masked) {
            return masked;
        }
        let near: Vec<_> = self.near(&masked).collect();
        if !self.pay(masked.len() * bytes(&near)) {
            return Cow::Borrowed(STARS);
        }
        let mut text = masked;
        for secret in &near {
            text = without(text, secret);
        }
        let is_part = |secret: &&String| find(secret, &text).is_some();
        if text.len() >= PART && !text.contains(STARS) && near.iter().any(is_part) {
            return Cow::Borrowed(STARS);
        }
        near.into_iter().fold(text, |text, secret| without_ends(without_parts(text, secret), secret))
    }
}

/// How long some secrets are together.
fn bytes(secrets: &[&String]) -> usize {
    secrets.iter().map(|secret| secret.len() + 1).sum()
}

/// Each three letters that follow each other in a text, as small ones.
fn letters(text: &str) -> impl Iterator<Item = [u8; PART]> {
    text.as_bytes().windows(PART).filter_map(|part| <[u8; PART]>::try_from(part.to_ascii_lowercase()).ok())
}

/// What a line shows with `edits`, which start in it; `None`: it is too long to tell.
fn fixed_line(sources: &Sources, edits: &[&Edit]) -> Option<String> {
    let first = edits.first()?.at;
    let source = sources.get(first.file)?;
    let start = (first.span.start + 1).saturating_sub(sources.line_column(first).column) as usize;
    let length = source.text.get(start..)?.iter().position(|byte| *byte == b'\n');
    let end = length.map_or(source.text.len(), |length| start + length);
    if end - start > LONGEST_FIXED {
        return None;
    }
    let fixed = fix::edited(edits.to_vec(), &source.text, start..end);
    let script = Script::of(sources, source).at(&source.text, start);
    let mut shown = String::new();
    for line in fixed.split(|byte| *byte == b'\n') {
        let mut from = 0;
        for secret in script.secrets(line) {
            shown.push_str(&String::from_utf8_lossy(line.get(from..secret.start).unwrap_or_default()));
            shown.push_str(STARS);
            from = secret.end;
        }
        shown.push_str(&String::from_utf8_lossy(line.get(from..).unwrap_or_default()));
    }
    Some(shown)
}

/// A citation in which no word looks like an account, a URL with a password, a parameter with one or a key.
fn of_shape(cited: &str) -> Cow<'_, str> {
    let word = |word: &str| -> Option<String> {
        let secret = mask::of_shape(word.as_bytes())?;
        Some(format!("{}{STARS}{}", word.get(..secret.start)?, word.get(secret.end..)?))
    };
    if let Some((shown, _)) = mask::of_block(cited.as_bytes()).and_then(|start| cited.split_at_checked(start))
    {
        return Cow::Owned(format!("{shown}{STARS}"));
    }
    if !cited.contains([':', '=']) {
        return Cow::Borrowed(cited);
    }
    let words: Vec<_> =
        cited.split(' ').map(|one| word(one).map_or(Cow::Borrowed(one), Cow::Owned)).collect();
    Cow::Owned(words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::{Hidden, STARS};

    fn hidden(secrets: &[&str], shown: &str) -> Hidden {
        let secrets = secrets.iter().map(|secret| (*secret).to_owned()).collect();
        let left = std::cell::Cell::new(super::MOST_COMPARED_OF_LINE);
        let mut hidden = Hidden { secrets, shown: shown.to_owned(), left, ..Hidden::default() };
        hidden.sort();
        hidden
    }

    #[test]
    fn citations_show_what_the_line_shows_and_nothing_else() {
        let secrets = hidden(&["hunter2!pass", "admin"], "users admin:CL:*** bob:CL:***");
        for (message, shown) in [
            ("`admin` has a password", "`admin` has a password"),
            ("`bob:CL:hunter2!pass` is long", "`bob:CL:***` is long"),
            ("`HUNTER2!PASS` and `ter2!` and `er`", "`***` and `***` and `er`"),
            ("hunter2!pass stands here", "*** stands here"),
            ("write `users bob:CL:hunter2!pass x`", "write `users bob:CL:*** x`"),
            ("the admin of `x`", "the admin of `x`"),
            ("`[bob:hunter2]:443` is refused", "`[bob:***]:443` is refused"),
            ("`!pass@h/` and `bob:hunter`", "`***@h/` and `bob:***`"),
        ] {
            assert_eq!(secrets.message(message), shown);
        }
        let ticks = hidden(&["hun`ter"], "users a:CL:***");
        assert_eq!(ticks.message("`hun`ter` is it"), format!("`{STARS}` is it"));
    }

    /// A password may be one of the words that we use ourselves.
    #[test]
    fn what_is_ours_is_no_citation() {
        let found = |password: &str, more: &str, rule: &str| {
            let mut files = crate::sources::MemoryFiles::default();
            files.insert("3proxy.cfg", format!("users bob:CL:{password}{more}\nproxy -i127.0.0.1\n"));
            let found = crate::compile("3proxy.cfg".as_ref(), &files).findings;
            found.into_iter().find(|finding| finding.rule == rule).unwrap()
        };
        for password in ["strong", "auth", "name"] {
            let finding = found(password, "", "users-unused");
            assert_eq!(finding.help.unwrap(), found("other", "", "users-unused").help.unwrap(), "{password}");
        }
        // A citation is one, whatever it is equal to.
        let finding = found("strong", " bob:CL:strong", "user-redefined");
        assert!(!format!("{finding:?}").contains("CL:strong"), "{finding:?}");
    }

    /// However many words of it are shown.
    #[test]
    fn a_line_is_read_once() {
        let mut files = crate::sources::MemoryFiles::default();
        let accounts: String = (0..500).map(|number| format!(" u{number}:CL:s{number}")).collect();
        files.insert("3proxy.cfg", format!("users{accounts}\nparent 1000 http h 1 bob S\n"));
        let compiled = crate::compile("3proxy.cfg".as_ref(), &files);
        let cited = super::Redactors::of(&compiled.sources);
        for user in &compiled.program.users {
            assert_eq!(cited.shown(user.at, &user.name.to_string()), user.name.to_string());
        }
        assert_eq!((compiled.program.users.len(), cited.read()), (500, 1));
    }

    #[test]
    fn what_a_comma_left_of_a_url_is_not_shown() {
        for (words, expected) in [
            ("socks5://bob:hunter", "socks5://bob:***"),
            ("ter2@10.0.0.1:1080", "***@10.0.0.1:1080"),
            ("http://u:p@h/ and http://h:80", "***@h/ and http://h:80"),
            ("CONNECT [socks5://bob:x]:443 from 10.0.0.1", "CONNECT [socks5://bob:*** from 10.0.0.1"),
            ("*.example.com 10.0.0.0/8 ::1", "*.example.com 10.0.0.0/8 ::1"),
        ] {
            assert_eq!(super::shown(words.as_bytes()), expected);
        }
    }

    #[test]
    fn what_looks_like_a_secret_is_none_of_a_citation() {
        let none = hidden(&[], "");
        for (message, shown) in [
            ("`bob:cl:hunter2` is no name", "`bob:cl:***` is no name"),
            ("`http://u:p@h/` is no target", "`***@h/` is no target"),
            ("`10.0.0.1:3128` and `a:b`", "`10.0.0.1:3128` and `a:b`"),
        ] {
            assert_eq!(none.message(message), shown);
        }
    }
}
