//! The texts of a configuration: the file itself and what it includes.
use std::{
    borrow::Cow,
    collections::BTreeMap,
    fmt, io,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use grammar::{
    LineColumn, LineIndex, Span,
    directive::{self, Directive},
    syntax::{LineKind, Tree, Word, Words},
};

use crate::{options::CompileOptions, template::UnknownText};

/// The only way by which anything here reads a file.
///
/// Paths come as they are written: on the command line, or in an `include` or `$file`. 3proxy opens a relative one from
/// its working directory, not from the folder of the file that names it; an implementation over the disk does the same
/// by opening it as given.
pub trait Files {
    /// The bytes of the file at `path`.
    ///
    /// # Errors
    /// What the system says; a finding will repeat it.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// What is the same for all paths that lead to one file.
    fn place(&self, path: &Path) -> PathBuf {
        path.to_owned()
    }
}

/// The longest text, in bytes. Nobody means more, and with all that it includes spans and tables can address it.
pub const LONGEST: usize = 1 << 30;

/// Reads a text, if it is not longer than a configuration may be.
///
/// # Errors
/// What [`Files::read`] says, or that the file is too long.
pub(crate) fn read(files: &dyn Files, path: &Path) -> io::Result<Vec<u8>> {
    let text = files.read(path)?;
    if text.len() > LONGEST {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is longer than 1 GiB"));
    }
    Ok(text)
}

/// Files that exist in memory only: an editor's buffers, standard input, tests.
#[derive(Clone, Default)]
pub struct MemoryFiles(BTreeMap<PathBuf, Vec<u8>>);

impl MemoryFiles {
    /// Puts `text` at `path`, in place of what stood there.
    pub fn insert(&mut self, path: impl Into<PathBuf>, text: impl Into<Vec<u8>>) {
        self.0.insert(path.into(), text.into());
    }
}

impl Files for MemoryFiles {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.0.get(path).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// Prints paths only: texts hold passwords.
impl fmt::Debug for MemoryFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Index into [`Sources`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// A place in one of the texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Loc {
    /// Which text.
    pub file: FileId,
    /// Where in it.
    pub span: Span,
}

impl Loc {
    /// Whether `other` lies in it.
    #[must_use]
    pub fn contains(self, other: Self) -> bool {
        self.file == other.file && self.span.start <= other.span.start && other.span.end <= self.span.end
    }
}

/// Every text that was read.
#[derive(Debug, Default)]
pub struct Sources {
    files: Vec<Source>,
}

/// One text. A file that is included twice stands here twice: each has its own include chain.
pub struct Source {
    /// As written in the `include` or `$file` that named it, or on the command line.
    pub path: PathBuf,
    /// Its bytes.
    pub text: Arc<[u8]>,
    /// Its lines and words; those of a `$file` are one line of words.
    pub tree: Arc<Tree>,
    /// Its line starts, found when the first finding needs one.
    lines: Arc<OnceLock<LineIndex>>,
    /// What is unknown of it: it is a template, or what it names was not read.
    pub(crate) unknown: Option<UnknownText>,
    /// It is a list of words, brought in by a `$file`.
    pub spliced: bool,
    /// The directive or word that brought it in; `None` for the configuration itself.
    pub included_at: Option<Loc>,
}

/// Prints no text: it holds passwords.
impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut source = f.debug_struct("Source");
        source.field("path", &self.path).field("included_at", &self.included_at).finish_non_exhaustive()
    }
}

impl Source {
    /// Parses a configuration file, or a template for one, read as `options` say.
    pub(crate) fn config(
        path: PathBuf,
        text: Vec<u8>,
        included_at: Option<Loc>,
        options: &CompileOptions,
    ) -> Self {
        let text: Arc<[u8]> = text.into();
        let unknown = UnknownText::read(&path, &text, options);
        let tree = Arc::new(grammar::parse(unknown.as_ref().map_or(&text, |unknown| &unknown.script)));
        Self { path, text, tree, lines: Arc::default(), unknown, spliced: false, included_at }
    }

    /// What is run: its text, with what is unknown masked.
    pub(crate) fn script(&self) -> &Arc<[u8]> {
        self.unknown.as_ref().map_or(&self.text, |unknown| &unknown.script)
    }

    /// Parses a `$file`.
    pub(crate) fn list(path: PathBuf, text: Vec<u8>, included_at: Loc) -> Self {
        let tree = Arc::new(grammar::parse_words(&text));
        Self {
            path,
            text: text.into(),
            tree,
            lines: Arc::default(),
            unknown: None,
            spliced: true,
            included_at: Some(included_at),
        }
    }

    /// Line and column of an offset.
    #[must_use]
    pub fn line_column(&self, offset: u32) -> LineColumn {
        self.lines.get_or_init(|| LineIndex::new(&self.text)).line_column(offset)
    }

    /// The same text, brought in at another place.
    pub(crate) fn again(&self, included_at: Loc) -> Self {
        Self {
            path: self.path.clone(),
            text: Arc::clone(&self.text),
            tree: Arc::clone(&self.tree),
            lines: Arc::clone(&self.lines),
            unknown: None,
            spliced: self.spliced,
            included_at: Some(included_at),
        }
    }
}

impl Sources {
    /// Adds a text.
    pub(crate) fn add(&mut self, source: Source) -> FileId {
        self.files.push(source);
        FileId(u32::try_from(self.files.len() - 1).unwrap_or(u32::MAX))
    }

    /// A text.
    #[must_use]
    pub fn get(&self, file: FileId) -> Option<&Source> {
        self.files.get(file.0 as usize)
    }

    /// Every text, in the order in which they were read.
    pub fn iter(&self) -> impl Iterator<Item = (FileId, &Source)> {
        self.files.iter().zip(0..).map(|(source, id)| (FileId(id), source))
    }

    /// The words of the line in which a place starts, as written: `$file` words are not followed.
    #[must_use]
    pub fn words(&self, at: Loc) -> Vec<Word> {
        self.line_words(at).map(|(source, words)| source.tree.words(words).collect()).unwrap_or_default()
    }

    /// The command of that line, as it is run.
    pub(crate) fn command(&self, at: Loc) -> Cow<'_, [u8]> {
        let first = self.line_words(at).and_then(|(source, words)| {
            source.tree.words(words).next().map(|word| word.value(source.script()))
        });
        first.unwrap_or_default()
    }

    /// What that line does: of a misspelt command what is certainly meant, as it is run.
    pub(crate) fn directive(&self, at: Loc) -> Option<&'static Directive> {
        let name = self.command(at);
        let arguments = || self.line_words(at).map_or(0, |(_, words)| words.len().saturating_sub(1));
        directive::find(&name).or_else(|| directive::meant(&name, arguments()))
    }

    /// The words of that line about the one that holds `at`: those next to it at least.
    pub(crate) fn words_about(&self, at: Loc) -> impl Iterator<Item = Word> {
        let words = self.line_words(at);
        words.into_iter().flat_map(move |(source, words)| source.tree.words_about(words, at.span.start))
    }

    fn line_words(&self, at: Loc) -> Option<(&Source, Words)> {
        let source = self.get(at.file)?;
        match source.tree.line(source.tree.line_at(at.span.start)?)?.kind {
            LineKind::Directive(words) | LineKind::Bad(_, words) => Some((source, words)),
            LineKind::Blank | LineKind::Comment | LineKind::Indented => None,
        }
    }

    /// The words of that line, each with its value: quotes removed, `$file`s not followed.
    pub(crate) fn values(&self, at: Loc) -> Vec<(Loc, Cow<'_, [u8]>)> {
        let Some(source) = self.get(at.file) else { return Vec::new() };
        let place = |word: &Word| Loc { file: at.file, span: word.span };
        self.words(at).iter().map(|word| (place(word), word.value(&source.text))).collect()
    }

    /// The bytes at a place.
    #[must_use]
    pub fn text(&self, at: Loc) -> &[u8] {
        self.get(at.file).map_or(&[], |source| at.span.of(&source.text))
    }

    /// Line and column of a place's start.
    #[must_use]
    pub fn line_column(&self, at: Loc) -> LineColumn {
        self.get(at.file)
            .map_or(LineColumn { line: 1, column: 1 }, |source| source.line_column(at.span.start))
    }
}
