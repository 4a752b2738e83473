//! What rules say of entries that others shadow.
use crate::{
    analysis::shadow::{Shadow, Shadowed},
    finding::{Finding, Level},
    program::{
        Program,
        acl::{Ace, Action},
    },
};

/// Whether an entry would do something else than those that shadow it, or is one of a list that lets everybody pass before it.
pub(super) fn tells(program: &Program, shadowed: &Shadowed) -> bool {
    let ace = |shadow: &Shadow| program.acls.ace(shadow.entry);
    let open = |ace: &Ace| ace.action == Action::Allow && ace.matcher.lists_nothing();
    let limited = program.acls.ace(shadowed.entry).is_some_and(|own| !own.matcher.lists_nothing());
    !shadowed.alike || limited && shadowed.by.iter().filter_map(ace).any(open)
}

/// How bad it is that an entry is shadowed: a `deny` that names what it refuses was certainly meant to refuse it.
pub(super) fn level(program: &Program, shadowed: &Shadowed) -> Level {
    let named = program.acls.ace(shadowed.entry).is_some_and(|own| !own.matcher.lists_nothing());
    if named && shadowed.passing(program).is_some() { Level::Deny } else { Level::Warn }
}

/// At most this many of the entries that shadow one are shown.
const SHOWN: usize = 3;

/// Points at those that decide before it, and shows a request.
pub(super) fn explain(mut finding: Finding, program: &Program, shadowed: &Shadowed) -> Finding {
    let alone = shadowed.by.len() == 1;
    for shadow in shadowed.by.iter().take(SHOWN) {
        let Some(ace) = program.acls.ace(shadow.entry) else { continue };
        let what = match (ace.action, alone) {
            (Action::Allow, true) => "allows all of its requests first",
            (Action::Allow, false) => "allows some of its requests first",
            (Action::Deny, true) => "refuses all of its requests first",
            (Action::Deny, false) => "refuses some of its requests first",
        };
        finding = finding.also(ace.at, what);
    }
    if shadowed.by.len() > SHOWN {
        finding = finding
            .note(format!("Together, {} entries decide all requests that it matches.", shadowed.by.len()));
    }
    if shadowed.but_bind {
        finding = finding.note("Only a BIND may reach it, because that skips entries with parents.");
    }
    match shadowed.passing(program) {
        Some(shadow) => finding.note(format!("For example, {} passes.", shadow.witness)),
        None => finding,
    }
}
