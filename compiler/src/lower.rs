//! Runs the script: walks the lines in order, as 3proxy does, carrying the state that services copy.
//!
//! [`Lowering`] holds what the walk builds; the commands are in `lower/`, one file a family, named as in
//! `grammar/src/directive/`. To give a command a meaning, write its function there and list it in the family's `HANDLERS`.
//! It goes on behind whatever 3proxy refuses, so that one run reports everything.
mod acl;
mod auth;
mod carried;
pub(crate) mod command;
mod dns;
mod fault;
mod filter;
mod limits;
mod listen;
mod log;
mod process;
mod read;
mod services;
mod state;
mod tls;

use std::{
    collections::HashMap,
    path::{Component, Path, PathBuf},
    sync::{Arc, LazyLock},
};

use foldhash::fast::FixedState;
use grammar::{
    Span,
    directive::{self, Directive, Effect, Kind},
    syntax::{Line, LineKind, SyntaxError, Tree, Word},
};

use self::{
    command::{Arg, Command},
    state::State,
};
use crate::{
    Compiled,
    finding::Finding,
    lints,
    options::CompileOptions,
    program::{Executed, Open, Program},
    sources::{self, FileId, Files, Loc, Source, Sources},
    template,
};

/// Includes within includes: 3proxy has no limit, but nobody means more than this.
const DEEPEST_INCLUDE: usize = 64;
/// Files in all: two files that include each other's successors twice would otherwise grow without end.
const MOST_FILES: usize = 16_384;
/// Bytes of all that is included, each time that it is: a long list can be brought in by each of many lines.
const MOST_BYTES: usize = 1 << 28;
/// Words of all `$file`s, each time that they are brought in: 128 lines of as many as 3proxy takes in one. What a short word becomes, or a
/// finding on it, takes a hundred times its bytes.
const MOST_LISTED_WORDS: usize = 1 << 19;

/// Runs the configuration at `path`, read as `options` say, and yields its Program, with a finding for each line that 3proxy refuses.
pub fn lower(path: &Path, files: &dyn Files, options: &CompileOptions) -> Compiled {
    let mut lowering = Lowering::new(files, options.clone());
    match sources::read(files, path) {
        Ok(text) => lowering.config(Source::config(path.to_owned(), text, None, options)),
        Err(error) => {
            lowering.report(lints::include_missing::finding(Loc::default(), path, path, &error.to_string()));
        }
    }
    lowering.finish()
}

/// What a command does.
type Handler = fn(&mut Lowering<'_>, &Command<'_>);

/// The commands of one family.
type Handlers = &'static [(&'static str, Handler)];

const FAMILIES: [Handlers; 10] = [
    acl::HANDLERS,
    auth::HANDLERS,
    dns::HANDLERS,
    filter::HANDLERS,
    limits::HANDLERS,
    listen::HANDLERS,
    log::HANDLERS,
    process::HANDLERS,
    services::HANDLERS,
    tls::HANDLERS,
];

static BY_NAME: LazyLock<HashMap<&str, Handler, FixedState>> = LazyLock::new(|| {
    let rows = FAMILIES.iter().flat_map(|family| family.iter().copied());
    let mut by_name = HashMap::with_capacity_and_hasher(rows.clone().count(), FixedState::default());
    by_name.extend(rows);
    by_name
});

/// What was included so far.
#[derive(Default)]
struct Included {
    /// By `include`.
    files: usize,
    bytes: usize,
    /// By `$file`.
    words: usize,
    /// It was too much, and that was said.
    full: bool,
}

/// What is to be included.
enum More {
    /// A file, by `include`.
    File,
    /// This many bytes of it.
    Text(usize),
    /// A list of words, by `$file`.
    List { bytes: usize, words: usize },
}

/// The walk: what it has read, what it has built, and the state that services copy.
struct Lowering<'f> {
    files: &'f dyn Files,
    options: CompileOptions,
    /// `$file`s that were read, by path: read once, however often they are named.
    lists: HashMap<PathBuf, FileId>,
    /// Configuration files that are being read, outermost first.
    open: Vec<PathBuf>,
    included: Included,
    sources: Sources,
    program: Program,
    state: State,
    findings: Vec<Finding>,
}

impl<'f> Lowering<'f> {
    fn new(files: &'f dyn Files, options: CompileOptions) -> Self {
        Self {
            files,
            options,
            lists: HashMap::new(),
            open: Vec::new(),
            included: Included::default(),
            sources: Sources::default(),
            program: Program::default(),
            state: State::default(),
            findings: Vec::new(),
        }
    }

    /// Whether `more` may be included at `at`. Where that is too much for the first time, it is reported.
    fn takes(&mut self, more: More, at: Loc) -> bool {
        let Included { files, bytes, words, full } = &mut self.included;
        let (more_bytes, more_words) = match more {
            More::File => (0, 0),
            More::Text(bytes) => (bytes, 0),
            // Each has its place among the sources, even if it is empty.
            More::List { bytes, words } => (bytes, words + 1),
        };
        *files += usize::from(matches!(more, More::File));
        *bytes = bytes.saturating_add(more_bytes);
        *words = words.saturating_add(more_words);
        let fits = *files <= MOST_FILES && *bytes <= MOST_BYTES && *words <= MOST_LISTED_WORDS;
        if !fits && !std::mem::replace(full, true) {
            self.report(lints::include_cycle::too_much(at));
        }
        fits
    }

    /// Runs a configuration file: up to its end, or to `end`.
    fn config(&mut self, source: Source) {
        let (text, tree) = (Arc::clone(source.script()), Arc::clone(&source.tree));
        let unknown = source.unknown.as_ref().map(|unknown| unknown.lines.clone()).unwrap_or_default();
        let mut unknown = unknown.into_iter().peekable();
        self.open.push(source.path.clone());
        let file = self.sources.add(source);
        let mut lines = tree.lines();
        while let Some(line) = lines.next() {
            while unknown.next_if(|marker| marker.start < line.span.start).is_some() {
                self.note_open(Open::Lines);
            }
            let words = match line.kind {
                LineKind::Blank | LineKind::Comment | LineKind::Indented => continue,
                LineKind::Directive(words) => words,
                LineKind::Bad(fault, words) => {
                    self.fault(file, &text, fault);
                    if matches!(fault, SyntaxError::UnclosedQuote(_) | SyntaxError::UnfinishedSplice(_)) {
                        self.note_torn(&text, tree.words(words).next());
                        continue;
                    }
                    words
                }
            };
            let command = self.command(file, &text, &tree, words);
            self.note_unknown(file, line.span, command.as_ref());
            let Some(command) = command else { continue };
            if command.is_end() {
                self.program
                    .unread
                    .extend(unread(lines, file, &text, &tree).map(|first| (command.at, first)));
                break;
            }
            self.execute(&command);
        }
        // Behind an `end`, too: it may stand among lines that are not there.
        unknown.for_each(|_| self.note_open(Open::Lines));
        self.open.pop();
    }

    fn execute(&mut self, command: &Command<'_>) {
        let Some(row) = directive::find(&command.name.value) else {
            // 3proxy takes an empty command for a comment.
            if !command.name.value.is_empty() {
                self.unknown(command);
            }
            return;
        };
        if !row.arguments.takes(command.arguments.len()) {
            // What 3proxy reads otherwise than it is written is another rule's matter.
            if !row.arguments.takes(command.as_glued()) {
                self.report(lints::argument_count::finding(command, row));
                match command.unassigned() {
                    Some(meant) if row.arguments.takes(meant.arguments.len()) => {
                        self.execute_as_meant(&meant, row);
                    }
                    _ if row.name == "auth" => self.auth_without_types(command),
                    _ => {}
                }
            }
            return;
        }
        self.note_place(command, row);
        self.note_comment(command, row);
        if let Some(handler) = BY_NAME.get(row.name) {
            handler(self, command);
        }
    }

    /// Keeps [`Program::unknown`]: what this line leaves open, if something in it is unknown.
    fn note_unknown(&mut self, file: FileId, line: Span, command: Option<&Command<'_>>) {
        let Some(source) = self.sources.get(file) else { return };
        let Some(unknown) = source.unknown.as_ref() else { return };
        let (holds, may_lack) = (unknown.holds(line), unknown.may_lack(line));
        if !holds && !may_lack {
            return;
        }
        let known = command.filter(|command| !unknown.holds(command.name.at.span));
        let row = known.and_then(|command| Some((command.at, directive::find(&command.name.value)?)));
        // A line that is not understood may have been any.
        let Some((at, row)) = row else { return self.note_open(Open::Lines) };
        let within = holds.then(|| template::open(source, row, &self.sources.words(at)));
        let whole = may_lack.then(|| template::open_if_there(row));
        within.into_iter().chain(whole).for_each(|open| self.note_open(open));
    }

    /// Notes what a line leaves open that is not split into words: nothing is told that only follows from its absence.
    fn note_torn(&mut self, text: &[u8], name: Option<Word>) {
        let row = name.and_then(|name| directive::find(&name.value(text)));
        self.note_open(row.map_or(Open::Lines, template::open_if_there));
    }

    fn note_open(&mut self, open: Open) {
        self.program.unknown.note(open, self.program.services.len());
    }

    /// Keeps [`Program::commands`] and [`Program::behind_services`].
    fn note_place(&mut self, command: &Command<'_>, row: &'static Directive) {
        if row.effect != Effect::Acl {
            self.program.commands.push(Executed { at: command.at, row });
        }
        match row.effect {
            // Long lists stand before a service: their memory is given back.
            Effect::Service => self.program.behind_services = Vec::new(),
            Effect::Setting | Effect::Acl if !self.program.services.is_empty() => {
                self.program.behind_services.push(Executed { at: command.at, row });
            }
            Effect::Setting | Effect::Acl | Effect::Global | Effect::Process => {}
        }
    }

    /// Reports a `#` that was meant as a comment: not where a password or any text may stand.
    fn note_comment(&mut self, command: &Command<'_>, row: &Directive) {
        let free =
            |index| row.parameter(index).is_some_and(|row| matches!(row.kind, Kind::Secret | Kind::Word));
        // Who quotes it means the word.
        let is_comment = |word: &Arg<'_>| self.sources.text(word.at).starts_with(b"#");
        let comment = (0..).zip(&command.arguments).find(|(_, word)| is_comment(word));
        if row.name == "users" {
            // Without a colon it is no account, and said to be none; in a file of users, all of its line is meant so.
            let account = comment.map(|(_, word)| word);
            let account =
                account.filter(|word| word.value.contains(&b':') && word.at.file == command.at.file);
            if let Some(account) = account {
                self.report(lints::trailing_comment::account(account));
            }
        } else if let Some((index, word)) = comment
            && !free(index)
            // A service refuses it, and so does `auth`, as any other word that is no option.
            && row.effect != Effect::Service
            && !(row.name == "auth" && self.program.process.plugins.is_empty())
        {
            self.report(lints::trailing_comment::finding(command, word));
        }
    }

    fn unknown(&mut self, command: &Command<'_>) {
        if self.program.process.plugins.is_empty() {
            self.report(lints::unknown_directive::finding(command));
            if let Some((meant, row)) = command.split_at_sign() {
                self.execute_as_meant(&meant, row);
            } else if let Some(row) = directive::meant(&command.name.value, command.arguments.len()) {
                self.execute_as_meant(command, row);
            }
        } else {
            // A plugin may have brought it.
            self.program.unmodelled.push(command.at);
        }
    }

    /// Runs a command that 3proxy refuses as the one that is meant: otherwise much would be found that only follows from how it is written.
    fn execute_as_meant(&mut self, command: &Command<'_>, row: &Directive) {
        match row.name {
            // No file is opened that the configuration does not name for 3proxy, too. It may hold any line.
            "include" => self.note_open(Open::Lines),
            // Behind it no command would be unknown.
            "plugin" => {}
            _ => {
                let name = Arg { value: row.name.as_bytes().into(), at: command.name.at, value_start: None };
                self.execute(&Command { at: command.at, name, arguments: command.arguments.clone() });
            }
        }
    }

    /// Reads the file that an `include` names.
    fn include(&mut self, command: &Command<'_>) {
        let Some(argument) = command.argument(0) else { return };
        if !self.options.includes {
            // It may hold any line.
            return self.note_open(Open::Lines);
        }
        let named = PathBuf::from(argument.text().to_string());
        let path = self.found_at(&named);
        if self.open.contains(&path) {
            return self.report(lints::include_cycle::finding(argument.at, &path));
        }
        if self.open.len() >= DEEPEST_INCLUDE {
            return self.report(lints::include_cycle::too_deep(argument.at));
        }
        if !self.takes(More::File, argument.at) {
            return;
        }
        match sources::read(self.files, &path) {
            Ok(text) if !self.takes(More::Text(text.len()), argument.at) => {}
            Ok(text) => self.config(Source::config(path, text, Some(command.at), &self.options)),
            Err(error) => {
                self.program.history.unread.push(argument.at);
                self.report(lints::include_missing::finding(argument.at, &named, &path, &error.to_string()));
            }
        }
    }

    /// Where a file is that is named now. Behind a `chroot`, all paths start in its folder; the options may give absolute ones another root.
    fn found_at(&self, path: &Path) -> PathBuf {
        let chroot = self.program.process.chroot.first().and_then(|chroot| chroot.value.first());
        let path = match chroot {
            Some(root) => PathBuf::from(root.to_string()).join(inside(path)),
            None => path.to_owned(),
        };
        let path = match &self.options.root {
            Some(root) if path.has_root() => root.join(inside(&path)),
            _ => path,
        };
        // One file has one name, however it is written.
        path.strip_prefix(".").map(Path::to_owned).unwrap_or(path)
    }

    /// Keeps a finding. One of a word that 3proxy refuses takes the place of the word's traps.
    fn report(&mut self, finding: Finding) {
        if finding.refused {
            self.drop_traps_of(&finding);
        }
        self.findings.push(finding);
    }

    /// What is wrong with a word needs no second saying.
    fn drop_traps_of(&mut self, finding: &Finding) {
        let is_told = |word| finding.at == word || finding.labels.iter().any(|label| label.at == word);
        while self.program.traps.pop_if(|trapped| is_told(trapped.word)).is_some() {}
    }

    fn finish(mut self) -> Compiled {
        self.finish_acl();
        self.finish_carried_targets();
        self.finish_log();
        if self.program.services.is_empty() {
            self.program.behind_services.clear();
        }
        Compiled { sources: self.sources, program: Arc::new(self.program), findings: self.findings }
    }
}

/// A path from the root folder on: a `..` at its start leads nowhere there.
fn inside(path: &Path) -> PathBuf {
    let is_no_step = |step: &Component<'_>| matches!(step, Component::RootDir | Component::ParentDir);
    path.components().skip_while(is_no_step).collect()
}

/// The first line among `lines` that begins with the name of a command. What else stands behind an `end` may be notes.
fn unread(mut lines: impl Iterator<Item = Line>, file: FileId, text: &[u8], tree: &Tree) -> Option<Loc> {
    lines.find_map(|line| {
        let LineKind::Directive(words) = line.kind else { return None };
        let (first, last) = (tree.words(words).next()?, tree.words(words).last()?);
        directive::find(&first.value(text))?;
        Some(Loc { file, span: first.span.to(last.span) })
    })
}

#[cfg(test)]
mod tests;
