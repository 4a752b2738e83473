//! `redundant-entry`
use std::collections::BTreeSet;

use super::{
    rule::{Lint, rule},
    shadowed::tells,
};
use crate::{
    analysis::{lists::Copies, shadow::MOST_ALIKE},
    program::acl::{Ace, AceId, AclRef},
};

rule! {
    /// Without this entry, the list would have the same effect.
    ///
    /// Either earlier entries decide all that it matches in the same way, or the entries after it do.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// deny * * *.bad.example
    /// deny * * www.bad.example
    /// allow * 10.0.0.0/8
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// deny * * 127.0.0.0/8
    /// deny *
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// What is refused first and allowed later is needed:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// deny * * *.bad.example
    /// allow * 10.0.0.0/8
    /// deny *
    /// proxy -i10.0.0.1
    /// ```
    "redundant-entry",
    level: Allow,
    group: Style,
    since: "0.1.0",
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    for shadowed in lint.shadowed().iter().filter(|shadowed| !tells(program, shadowed)) {
        let Some(own) = program.acls.ace(shadowed.entry) else { continue };
        let mut finding = RULE
            .finding(own.at, "earlier entries decide all requests that this one matches, in the same way")
            .label("decides nothing")
            .help("remove this entry");
        for ace in shadowed.by.iter().take(2).filter_map(|shadow| program.acls.ace(shadow.entry)) {
            finding = finding.also(ace.at, "does the same first");
        }
        lint.report(finding);
    }
    let copies = Copies::of(program);
    let mut told: BTreeSet<AceId> = BTreeSet::new();
    // Only the longest copy of a list has its end; an entry that a shorter one ends with is needed there.
    for list in lint.asked_lists().iter().rev() {
        for (ace, end) in before_the_end(lint, &copies, list.acl) {
            if told.len() < MOST_ALIKE && told.insert(ace.0) {
                lint.report(
                    RULE.finding(
                        ace.1,
                        "the last entry of the list decides all requests that this one matches, in the same way",
                    )
                    .label("changes nothing")
                    .also(end, "does the same")
                    .help("remove this entry"),
                );
            }
        }
    }
}

type Redundant = ((AceId, crate::sources::Loc), crate::sources::Loc);

/// The entries that stand right before one for all requests which does the same.
fn before_the_end(lint: &Lint<'_>, copies: &Copies, acl: AclRef) -> Vec<Redundant> {
    let acls = &lint.program.acls;
    let Some(last) = acls.ace(acl.last).filter(|last| is_plain(last) && last.matcher.lists_nothing()) else {
        return Vec::new();
    };
    let ids = acls.lists.get(acl.list.0 as usize).map_or(&[][..], Vec::as_slice);
    let before = ids.get(..acl.len.saturating_sub(1) as usize).unwrap_or_default();
    let alike = before.iter().enumerate().rev().take_while(|(place, id)| {
        acls.ace(**id).is_some_and(|ace| is_plain(ace) && ace.action == last.action)
            && !copies.end_behind(acl.list, *place)
    });
    alike.filter_map(|(_, id)| Some(((*id, acls.ace(*id)?.at), last.at))).collect()
}

/// It does nothing but let pass or refuse.
const fn is_plain(ace: &Ace) -> bool {
    !ace.redirects() && !ace.nolog && ace.weight == 0
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn what_changes_something_is_needed() {
        for lines in [
            "deny * 10.0.0.1\nallow * 10.0.0.0/8\nproxy",
            "allow * 10.0.0.1\nparent 1000 socks5 192.0.2.1 1080\nallow *\nproxy",
            "allow * 10.0.0.1\nnolog\nallow *\nproxy",
            "allow * 10.0.0.1\nproxy\nallow *\nsocks",
            "deny * 10.0.0.1\nproxy",
        ] {
            check("redundant-entry", &format!("internal 127.0.0.1\n{lines}\n"));
        }
    }

    #[test]
    fn what_changes_nothing_is_not() {
        check(
            "redundant-entry",
            r"
internal 127.0.0.1
deny * 10.0.0.1
allow * 192.168.0.0/16
allow * 192.168.1.1
#^ earlier entries decide all requests
allow * 192.168.0.0/16
#^ earlier entries decide all requests
deny * 10.0.0.2
#^ the last entry of the list decides
deny * 10.0.0.3
#^ the last entry of the list decides
deny *
proxy
",
        );
    }
}
