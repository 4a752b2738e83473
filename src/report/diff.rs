//! What changes between two configurations, for people and for programs.
mod hidden;
mod json;
mod words;

use std::io::{self, Write};

use compiler::{
    Compiled,
    change::{Changes, Class, ListChange, ServiceChange, SettingChange, UserChange},
    query::describe,
    redact,
    sources::Loc,
};

pub(crate) use hidden::hide;
pub(crate) use json::json;
use words::Version;

use super::printable;

/// How many classes of a list are printed; programs get all.
const CLASSES: usize = 100;
/// How many services of a list are named.
const SERVICES: usize = 4;

/// Both configurations.
#[derive(Clone, Copy)]
pub(crate) struct Versions<'a> {
    pub(crate) old: &'a Compiled,
    pub(crate) new: &'a Compiled,
}

impl<'a> Versions<'a> {
    fn before(self) -> Version<'a> {
        Version(self.old)
    }

    fn after(self) -> Version<'a> {
        Version(self.new)
    }
}

/// Names of users, unless their lines hide these words.
struct Names<'a> {
    old: redact::Redactors<'a>,
    new: redact::Redactors<'a>,
}

impl<'a> Names<'a> {
    fn of(versions: Versions<'a>) -> Self {
        let [old, new] = [versions.old, versions.new].map(|version| redact::Redactors::of(&version.sources));
        Self { old, new }
    }

    fn name(&self, user: &UserChange) -> String {
        let of = |lines: &redact::Redactors<'_>, at: Option<Loc>, name: &str| match at {
            Some(at) => lines.shown(at, name),
            None => name.to_owned(),
        };
        of(&self.new, user.new, &of(&self.old, user.old, &user.name))
    }
}

/// Prints what changes: `+` is new, `-` is gone, `~` is another.
pub(crate) fn text(out: &mut dyn Write, versions: Versions<'_>, changes: &Changes) -> io::Result<()> {
    services(out, versions, changes)?;
    if !changes.settings.is_empty() {
        writeln!(out, "settings")?;
        settings(out, "  ", versions, &changes.settings)?;
    }
    if !changes.users.is_empty() {
        writeln!(out, "users")?;
    }
    let users = Names::of(versions);
    for user in &changes.users {
        let name = users.name(user);
        let (name, old) = (printable(&name), user.old.map(|at| versions.before().line(at)));
        let new = user.new.map(|at| versions.after().line(at));
        match (old, new) {
            (None, Some(new)) => writeln!(out, "  + `{name}` ({new})")?,
            (Some(old), None) => writeln!(out, "  - `{name}` ({old})")?,
            (old, new) => {
                let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
                writeln!(out, "  ~ `{name}` ({old} → {new}): another password")?;
            }
        }
    }
    for change in &changes.lists {
        list(out, versions, change)?;
    }
    if !changes.uncompared.is_empty() {
        let names = names(versions, &changes.uncompared);
        writeln!(out, "the access lists of {names} differ, but it would take too long to say how")?;
    }
    if changes.is_empty() {
        writeln!(out, "nothing changes")?;
    }
    Ok(())
}

fn services(out: &mut dyn Write, versions: Versions<'_>, changes: &Changes) -> io::Result<()> {
    let Changes { opened, closed, changed, .. } = changes;
    if !opened.is_empty() || !closed.is_empty() || !changed.is_empty() {
        writeln!(out, "services")?;
    }
    for (sign, version, services) in [("-", versions.before(), closed), ("+", versions.after(), opened)] {
        for at in services {
            let line = version.0.program.services.get(*at).map(|service| version.line(service.at));
            writeln!(out, "  {sign} {} ({})", service(version, *at), line.unwrap_or_default())?;
        }
    }
    for ServiceChange { old: _, new, settings: differing } in changed {
        writeln!(out, "  ~ {}", service(versions.after(), *new))?;
        settings(out, "      ", versions, differing)?;
    }
    Ok(())
}

fn service(Version(compiled): Version<'_>, at: usize) -> String {
    printable(&describe(&compiled.sources, &compiled.program, at)).into_owned()
}

fn settings(
    out: &mut dyn Write,
    indent: &str,
    versions: Versions<'_>,
    settings: &[SettingChange],
) -> io::Result<()> {
    for setting in settings {
        let text = |version: Version<'_>, at: Option<Loc>| at.map(|at| version.source(at));
        let whole = setting.old.is_some()
            && text(versions.before(), setting.old) == text(versions.after(), setting.new);
        let show = |version: Version<'_>, at: Loc| {
            // Where the word that set it is the same, the difference is beside it.
            let source = if whole { version.whole(at) } else { version.source(at) };
            // A word alone does not say what it is for; an option does.
            let named = whole || setting.name.starts_with('-') || source.starts_with(setting.name);
            let name = if named { String::new() } else { format!("{} ", setting.name) };
            format!("{name}`{source}` ({})", version.line(at))
        };
        let old = setting.old.map(|at| show(versions.before(), at));
        let new = setting.new.map(|at| show(versions.after(), at));
        match (old, new) {
            (Some(old), Some(new)) => writeln!(out, "{indent}~ {old} → {new}")?,
            (Some(old), None) => writeln!(out, "{indent}- {old}")?,
            (None, Some(new)) => writeln!(out, "{indent}+ {new}")?,
            (None, None) => writeln!(out, "{indent}~ {}", setting.name)?,
        }
    }
    Ok(())
}

/// `socks:1080, proxy:3128 and 5 more`.
fn names(versions: Versions<'_>, services: &[(usize, usize)]) -> String {
    let named: Vec<String> =
        services.iter().take(SERVICES).map(|(_, new)| service(versions.after(), *new)).collect();
    let more = services.len().saturating_sub(SERVICES);
    let and = if more > 0 { format!(" and {more} more") } else { String::new() };
    named.join(", ") + &and
}

fn list(out: &mut dyn Write, versions: Versions<'_>, change: &ListChange) -> io::Result<()> {
    writeln!(out, "requests to {}", names(versions, &change.services))?;
    let mut title = "";
    for class in change.classes.iter().take(CLASSES) {
        if std::mem::replace(&mut title, words::title(class)) != words::title(class) {
            writeln!(out, "  {title}")?;
        }
        self::class(out, versions, change, class)?;
    }
    let rest = change.classes.len().saturating_sub(CLASSES);
    match (rest, change.more) {
        (0, false) => {}
        (0, true) if change.classes.is_empty() => {
            writeln!(
                out,
                "  these lists differ so much that it would take too long to say which are decided otherwise"
            )?;
        }
        (0, true) => writeln!(out, "  there are more: these are the first {}", change.classes.len())?,
        (_, false) => writeln!(out, "  and {rest} more: `--json` shows them")?,
        (_, true) => writeln!(out, "  and more than {rest} more: `--json` shows {rest} of them")?,
    }
    if change.undecided > 0 {
        writeln!(
            out,
            "  of {} pairs of entries it would take too long to say whether a request meets them",
            change.undecided
        )?;
    }
    if change.weights {
        writeln!(
            out,
            "  weights that entries with parents leave to later entries of a BIND were not followed"
        )?;
    }
    Ok(())
}

fn class(out: &mut dyn Write, versions: Versions<'_>, change: &ListChange, class: &Class) -> io::Result<()> {
    let ([old, new], other) = words::verdicts([versions.before(), versions.after()], class);
    let other = other.map(|other| format!(": {other}")).unwrap_or_default();
    let verdicts = format!("{old} → {new}{other}");
    let but = if class.complete { "" } else { " but for what entries before decide" };
    for (at, requests) in class.requests.iter().enumerate() {
        let requests = words::requests(requests, &change.operations);
        let end =
            if at + 1 < class.requests.len() { ", or".to_owned() } else { format!("{but}: {verdicts}") };
        writeln!(out, "    {}{end}", printable(&requests))?;
    }
    writeln!(out, "      {}", printable(&words::witness(class)))
}
