//! What findings would say if passwords that are words of ours were other ones.
//!
//! In `users bob:CL:allow` the password is a command's name. Stars wherever a text of ours has that word would make the text unreadable,
//! and tell the password by what they stand for. So the configuration is compiled once more with a password of the same length in
//! its place, and what is said of that is said of this one.
use std::{
    cell::Cell,
    collections::{HashMap, HashSet, VecDeque},
    hash::{DefaultHasher, Hash, Hasher},
    io,
    path::{Path, PathBuf},
};

use super::{PART, hide_in};
use crate::{
    Compiled,
    finding::Finding,
    fix::Fix,
    mask::Script,
    sources::{Files, Loc, Source, Sources},
};

/// Takes the secrets out of all that was found in a configuration. `again` finds what it does in other files.
pub(crate) fn hide_all(
    compiled: &mut Compiled,
    files: &dyn Files,
    again: impl FnOnce(&dyn Files) -> Compiled,
) {
    let Hid { taken, dropped } = hide_in(&compiled.sources, &mut compiled.findings);
    if taken.is_empty() {
        return;
    }
    let other = Twin::of(&compiled.sources, files, &taken);
    let mut twin = again(&other);
    hide_in(&twin.sources, &mut twin.findings);
    // With another password, a word beside it may be no secret any more.
    twin.findings.retain_mut(|finding| !other.is_told_by(finding));
    say_as(&mut compiled.findings, dropped, twin.findings);
}

/// What hiding secrets may have told of them.
#[derive(Default)]
pub(super) struct Hid {
    /// The secrets of lines of which more was hidden than citations of accounts.
    pub(super) taken: HashSet<String>,
    pub(super) dropped: Vec<Dropped>,
}

/// A fix that would show a secret.
pub(super) struct Dropped {
    pub(super) finding: usize,
    pub(super) fix: Box<Fix>,
}

/// The files of a configuration with other passwords in the place of some.
struct Twin<'a> {
    below: &'a dyn Files,
    texts: HashMap<PathBuf, Vec<u8>>,
    /// The other passwords.
    stand_ins: HashSet<String>,
}

impl<'a> Twin<'a> {
    /// Of what was read, with other passwords for those in `taken`.
    fn of(sources: &Sources, below: &'a dyn Files, taken: &HashSet<String>) -> Self {
        let mut stand_ins = HashSet::new();
        let mut texts = HashMap::new();
        for (_, source) in sources.iter() {
            texts.insert(source.path.clone(), other(sources, source, taken, &mut stand_ins));
        }
        Self { below, texts, stand_ins }
    }
}

impl Twin<'_> {
    /// Whether a finding says what stands here in the place of a secret.
    fn is_told_by(&self, finding: &mut Finding) -> bool {
        let is_told = Cell::new(false);
        finding.change_texts(|text| {
            let tells = |other: &String| other.len() >= PART && text.contains(other.as_str());
            is_told.set(is_told.get() || self.stand_ins.iter().any(tells));
            None
        });
        is_told.get()
    }
}

impl Files for Twin<'_> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.texts.get(path).map_or_else(|| self.below.read(path), |text| Ok(text.clone()))
    }

    fn place(&self, path: &Path) -> PathBuf {
        self.below.place(path)
    }
}

/// A text with other passwords for those in `taken`.
fn other(
    sources: &Sources,
    source: &Source,
    taken: &HashSet<String>,
    stand_ins: &mut HashSet<String>,
) -> Vec<u8> {
    let mut text = source.text.to_vec();
    let script = Script::of(sources, source);
    let mut start = 0;
    for line in source.text.split(|byte| *byte == b'\n') {
        if !script.is_plain(line) {
            for secret in script.at(&source.text, start).secrets(line) {
                let written = line.get(secret.clone()).unwrap_or_default();
                if taken.contains(&*String::from_utf8_lossy(written)) {
                    let range = start + secret.start..start + secret.end;
                    let other = stand_in(written);
                    text.get_mut(range).unwrap_or_default().copy_from_slice(&other);
                    stand_ins.insert(String::from_utf8_lossy(&other).into_owned());
                }
            }
        }
        start += line.len() + 1;
    }
    text
}

/// A password that is in no word of ours, made of the same kinds of characters.
fn stand_in(secret: &[u8]) -> Vec<u8> {
    let letter = |(at, byte): (usize, &u8)| {
        let mut hasher = DefaultHasher::new();
        (secret, at).hash(&mut hasher);
        let among = |kind: &[u8]| {
            let index = hasher.finish() % kind.len().max(1) as u64;
            usize::try_from(index).ok().and_then(|index| kind.get(index).copied()).unwrap_or(*byte)
        };
        match byte {
            // As few letters are in words of ours, whatever they are.
            _ if secret.len() < PART && byte.is_ascii_alphanumeric() => b'~',
            b'a'..=b'z' => among(b"qxjzkvwy"),
            b'A'..=b'Z' => among(b"QXJZKVWY"),
            b'0'..=b'9' => among(b"456789"),
            _ => *byte,
        }
    };
    secret.iter().enumerate().map(letter).collect()
}

/// Says of `findings` what was found in their twin, where that is the same finding; and offers the fixes again that are fixes there.
fn say_as(findings: &mut [Finding], dropped: Vec<Dropped>, twins: Vec<Finding>) {
    let mut by_key: HashMap<Key, VecDeque<Finding>> = HashMap::new();
    for twin in twins {
        by_key.entry(key(&twin)).or_default().push_back(twin);
    }
    let mut dropped = dropped.into_iter().peekable();
    for (index, finding) in findings.iter_mut().enumerate() {
        let fix = dropped.next_if(|dropped| dropped.finding == index).map(|dropped| dropped.fix);
        let key = key(finding);
        let Some(twin) = by_key.get_mut(&key).and_then(VecDeque::pop_front) else { continue };
        let fix = fix.or(finding.fix.take());
        *finding = Finding { count: finding.count, last: finding.last, ..twin };
        finding.fix = finding.fix.take().zip(fix).map(|(said, mut fix)| {
            fix.title = said.title;
            fix
        });
    }
}

type Key = (&'static str, Loc, Vec<Loc>, usize);

/// What is the same of a finding and its twin.
fn key(finding: &Finding) -> Key {
    (finding.rule, finding.at, finding.labels.iter().map(|label| label.at).collect(), finding.notes.len())
}

#[cfg(test)]
mod tests {
    use grammar::directive;

    use crate::{
        finding::Finding,
        program::{acl::ParentKind, auth::AuthType},
        sources::MemoryFiles,
    };

    /// Configurations of which something is found that tells of the line with the password, which is `S`.
    const CONFIGURATIONS: [&str; 8] = [
        "users bob:CL:S\nproxy -i127.0.0.1\n",
        "users bob:CL:S bob:CL:S\nproxy -p1 -p2\n",
        "auth strong\nusers bob:CL:S\nallow bob:CL:S\nalow bob\nproxy\n",
        "users bob:S\nallow *\ndeny *\nproxy\n",
        "parent 1000 http 10.0.0.300 3128 bob S\nauth none\nproxy\n",
        "auth iponly\nallow * * * 443\nparent 100 http proxy1 3128 bob S x\nproxy\n",
        "auth radius\nradius S 10.0.0.1 10.0.0.300\nallow *\nproxy\n",
        "log &db,me,S\nauth strong\nallow bob:S\nproxy\n",
    ];

    /// All that is said of a configuration, and where.
    fn said(text: &str, password: &str) -> Vec<String> {
        let mut files = MemoryFiles::default();
        files.insert("3proxy.cfg", text.replace("S", password));
        let told = |finding: &Finding| {
            let Finding { rule, at, message, label, labels, notes, help, fix, .. } = finding;
            let title = fix.as_ref().map(|fix| &fix.title);
            format!("{rule} {at:?} {message} {label} {labels:?} {notes:?} {help:?} {title:?}")
        };
        let found = crate::compile("3proxy.cfg".as_ref(), &files).findings;
        // Such a password is found for what it is, in words that are all ours.
        found.iter().filter(|finding| finding.rule != "guessable-password").map(told).collect()
    }

    /// So nobody can tell a password by what is hidden, and nothing of ours is unreadable.
    #[test]
    fn what_is_said_is_the_same_whatever_the_password() {
        let words =
            ["line", "name", "password", "account", "a", "al", "the", "write", "entry", "bob", "3128"];
        let words = directive::all().map(|row| row.name).chain(words);
        let words: Vec<&str> = words.chain(AuthType::ALL.iter().map(|kind| kind.name())).collect();
        for text in CONFIGURATIONS {
            // Such a word in the fields of a parent makes it doubtful what each of them is.
            let is_field = |word: &str| ParentKind::WORDS.iter().any(|(name, _)| *name == word);
            for word in words.iter().filter(|word| !(text.contains("parent") && is_field(word))) {
                let neutral = "zqjxkvw".repeat(9).get(..word.len()).unwrap().to_owned();
                assert_eq!(said(text, word), said(text, &neutral), "{word}: {text}");
            }
        }
    }
}
