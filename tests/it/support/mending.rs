//! What holds of every fix: it adds no finding, and what it changes stands in the lines that it edits.
//!
//! One exception: of a line that 3proxy refuses nothing is read, so a safe fix of one may bring findings that are less bad than that.
//!
//! A safe fix makes its lines do what they say. So whatever is otherwise afterwards (a service, a setting of one, a user, what becomes
//! of a request) comes from a line that was edited: of a request, one of the two entries that decided it, before and after, is edited
//! itself or has a parent that is. All other lines mean what they meant.
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use compiler::{
    Compiled, change,
    change::SettingChange,
    compile,
    finding::{Finding, Level},
    fix::{self, Made, Mended, Safety},
    program::acl::AceId,
    sources::{Files, Loc, MemoryFiles},
};

/// How many fixes of one configuration are looked at one by one.
const MOST: usize = 40;

/// Makes all fixes of the configuration at `path` in several ways, and fails when something does not hold. Says how many there were.
pub(crate) fn hold(path: &Path, files: &MemoryFiles) -> usize {
    let before = shown(path, files);
    for allowed in [Safety::Safe, Safety::Unsafe] {
        let mended = fix::mend(files, &|files| shown(path, files), &[], allowed);
        let refused =
            |compiled: &Compiled| compiled.findings.iter().filter(|finding| finding.refused).count();
        let may_bring = refused(&mended.compiled) < refused(&before);
        no_new_findings(&before, &mended.compiled, may_bring, "all of them");
        // What 3proxy refuses is mended first, whatever is found of its lines then: one of these may be mended again.
        if before.findings.iter().all(|finding| !finding.refused) {
            one_cause_is_mended_once(path, files, &mended, allowed);
        }
        if mended.made.is_empty() {
            assert!(mended.changed.is_empty(), "something changed, and no fix was made");
        }
        let after =
            with(files, mended.changed.iter().map(|(path, changed)| (path.clone(), changed.after.clone())));
        let again = fix::mend(&after, &|files| shown(path, files), &[], allowed);
        assert!(again.made.is_empty(), "a second run still mends {:?}", again.made);
        let compile = |files: &dyn Files| shown(path, files);
        let promised = fix::preview(&after, &compile, &compile(&after), &[], allowed).unwrap();
        assert!(promised.made.is_empty(), "after all fixes, these are promised: {:?}", promised.made);
    }
    let fixes = before.findings.iter().filter(|finding| finding.fix.is_some());
    let safe = |finding: &&Finding| finding.fix.as_ref().is_some_and(|fix| fix.safety == Safety::Safe);
    for finding in fixes.clone().filter(safe).take(MOST) {
        changes_only_its_lines(path, files, &before, finding);
    }
    fixes.count()
}

/// No fix was made without which the others would have left nothing more to find: its finding would have gone with theirs.
/// Several of one rule are each made for what stands at its place: of three lists begun, the outer two may show as much.
fn one_cause_is_mended_once(path: &Path, files: &MemoryFiles, mended: &Mended, allowed: Safety) {
    let found = |mended: &Mended| mended.compiled.findings.iter().map(|finding| finding.count).sum::<u32>();
    let alike = |made: &Made| {
        mended.made.iter().filter(|other| other.rule == made.rule && other.title == made.title).count()
    };
    for made in mended.made.iter().filter(|made| alike(made) == 1).take(MOST) {
        let without = fix::mend(
            files,
            &|files| {
                let mut compiled = shown(path, files);
                let Compiled { sources, findings, .. } = &mut compiled;
                for finding in findings.iter_mut().filter(|finding| finding.rule == made.rule) {
                    let here = sources.line_column(finding.at).line == made.line;
                    if here && finding.fix.as_ref().is_some_and(|fix| fix.title == made.title) {
                        finding.fix = None;
                    }
                }
                compiled
            },
            &[],
            allowed,
        );
        let others_alone = without.made.len() < mended.made.len()
            && without.made.iter().all(|other| mended.made.contains(other));
        assert!(
            !(others_alone && found(&without) <= found(mended)),
            "{made:?} was made for nothing beside {:?}",
            without.made
        );
    }
}

/// With the findings that are shown.
fn shown(path: &Path, files: &dyn Files) -> Compiled {
    let mut compiled = compile(path, files);
    compiled.findings.retain(|finding| finding.level != Level::Allow);
    compiled
}

fn with(files: &MemoryFiles, texts: impl Iterator<Item = (PathBuf, Vec<u8>)>) -> MemoryFiles {
    let mut files = files.clone();
    texts.for_each(|(path, text)| files.insert(path, text));
    files
}

#[track_caller]
fn no_new_findings(before: &Compiled, after: &Compiled, may_bring: bool, what: &str) {
    let count = |compiled: &Compiled, rule| {
        compiled
            .findings
            .iter()
            .filter(|finding| finding.rule == rule)
            .map(|finding| finding.count)
            .sum::<u32>()
    };
    let is_borne = |finding: &&Finding| may_bring && finding.level < Level::Deny;
    for finding in after.findings.iter().filter(|finding| !is_borne(finding)) {
        let (old, new) = (count(before, finding.rule), count(after, finding.rule));
        assert!(new <= old, "{what}: `{}` finds {new} after {old}: {}", finding.rule, finding.message);
    }
}

/// Lines of files, from 1, that a fix edits, and where a line was put in: what is behind it counts as edited too.
struct Edited {
    lines: BTreeSet<(PathBuf, u32)>,
    behind: Option<(PathBuf, u32)>,
}

impl Edited {
    fn of(compiled: &Compiled, finding: &Finding) -> Self {
        let mut edited = Self { lines: BTreeSet::new(), behind: None };
        for edit in finding.fix.iter().flat_map(|fix| &fix.edits) {
            let (path, line) = place(compiled, edit.at);
            let lines = |text: &[u8]| text.iter().filter(|byte| **byte == b'\n').count();
            if lines(compiled.sources.text(edit.at)) != lines(edit.text.as_bytes()) {
                edited.behind = Some((path.clone(), line));
            }
            edited.lines.insert((path, line));
        }
        edited
    }

    /// Whether a place is in an edited line, or in a file that one brings in.
    fn covers(&self, compiled: &Compiled, at: Loc) -> bool {
        let above = |at: &Loc| compiled.sources.get(at.file).and_then(|source| source.included_at);
        std::iter::successors(Some(at), above).any(|at| {
            let (path, line) = place(compiled, at);
            let is_behind = |(of, first): &(PathBuf, u32)| *of == path && line >= *first;
            self.behind.as_ref().is_some_and(is_behind) || self.lines.contains(&(path, line))
        })
    }

    /// The lines of entries that are edited, or have a parent that is.
    fn entries(&self, compiled: &Compiled) -> Vec<(PathBuf, u32)> {
        let acls = &compiled.program.acls;
        let edited = acls.aces.iter().filter(|entry| {
            self.covers(compiled, entry.at)
                || acls.parents(entry).iter().any(|parent| self.covers(compiled, parent.at))
        });
        edited.map(|entry| place(compiled, entry.at)).collect()
    }
}

fn place(compiled: &Compiled, at: Loc) -> (PathBuf, u32) {
    let path = compiled.sources.get(at.file).map(|source| source.path.clone()).unwrap_or_default();
    (path, compiled.sources.line_column(at).line)
}

/// Makes one fix alone, and sees what changes.
pub(crate) fn changes_only_its_lines(path: &Path, files: &MemoryFiles, before: &Compiled, finding: &Finding) {
    let Some(fix) = &finding.fix else { return };
    let mut fixed = files.clone();
    for (file, source) in before.sources.iter() {
        if fix.edits.iter().any(|edit| edit.at.file == file) {
            fixed.insert(&source.path, fix.apply(file, &source.text));
        }
    }
    let after = compile(path, &fixed);
    let edited = Edited::of(before, finding);
    let changes = change::compare(before, &after);
    let what = format!("`{}` of `{}`", fix.title, finding.rule);
    let of_line = |old: Option<Loc>, new: Option<Loc>| {
        old.is_some_and(|at| edited.covers(before, at)) || new.is_some_and(|at| edited.covers(&after, at))
    };
    let service =
        |compiled: &Compiled, index: usize| compiled.program.services.get(index).map(|service| service.at);
    // Where a service is edited, the comparison may take another one for it.
    let of_service = |compiled: &Compiled| {
        compiled.program.services.iter().any(|service| edited.covers(compiled, service.at))
    };
    let is_service = of_service(before) || of_service(&after);
    for opened in &changes.opened {
        assert!(
            is_service || of_line(None, service(&after, *opened)),
            "{what} opens a service of another line"
        );
    }
    for closed in &changes.closed {
        assert!(
            is_service || of_line(service(before, *closed), None),
            "{what} closes a service of another line"
        );
    }
    let changed = changes.changed.iter();
    for (of, settings) in changed
        .map(|one| ((one.old, one.new), &one.settings))
        .chain([((usize::MAX, usize::MAX), &changes.settings)])
    {
        for SettingChange { name, old, new } in settings {
            let is_its_own = of_line(service(before, of.0), service(&after, of.1));
            assert!(
                is_service || is_its_own || of_line(*old, *new),
                "{what} changes `{name}` of another line"
            );
        }
    }
    for user in &changes.users {
        assert!(of_line(user.old, user.new), "{what} changes the user `{}`", user.name);
    }
    // An entry counts as edited in both versions: it may have got its first parent.
    let entries = [edited.entries(before), edited.entries(&after)].concat();
    for list in &changes.lists {
        for class in &list.classes {
            let line = |compiled: &Compiled, entry: Option<AceId>| {
                Some(place(compiled, compiled.program.acls.ace(entry?)?.at))
            };
            let lines = [line(before, class.old.0), line(&after, class.new.0)];
            let known = lines.iter().flatten().any(|line| entries.contains(line));
            assert!(known, "{what} changes what other entries decide");
        }
    }
}
