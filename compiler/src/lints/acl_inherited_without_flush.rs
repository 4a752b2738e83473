//! `acl-inherited-without-flush`
use std::collections::BTreeMap;

use super::{
    rule::{Lint, rule},
    shadowed::{explain, level, tells},
};
use crate::{
    analysis::{lists::Copies, shadow::Shadowed},
    finding::Finding,
    fix::{Fix, Safety},
    program::{Program, acl::ListId},
    sources::{Loc, Sources},
};

mod own_users;

rule! {
    /// An earlier service's access list already decides what these entries match: a `flush` is missing.
    ///
    /// A service gets a copy of the list so far, and the list goes on: the entries for the next service are added after those of
    /// the one before. A later entry is never asked about what those decide.
    ///
    /// ```3proxy,fires
    /// users alice:CL:wonderland bob:CL:builder
    /// auth strong
    /// allow alice
    /// deny *
    /// proxy
    /// allow bob
    /// socks
    /// ```
    ///
    /// Here `deny *` refuses `bob`. Begin a new list:
    ///
    /// ```3proxy,fixed
    /// users alice:CL:wonderland bob:CL:builder
    /// auth strong
    /// allow alice
    /// deny *
    /// proxy
    /// flush
    /// allow bob
    /// socks
    /// ```
    ///
    /// The fix is not applied by default, because it removes the inherited entries from the services that follow.
    ///
    /// A list that grows from service to service is right where each entry is asked:
    ///
    /// ```3proxy,clean
    /// users alice:CL:wonderland bob:CL:builder
    /// auth strong
    /// allow alice
    /// proxy
    /// allow bob
    /// socks
    /// ```
    /// But where each has an external address of its own, the users of one are hardly meant to leave by the address of another:
    ///
    /// ```3proxy,fires
    /// users alice:CL:wonderland bob:CL:builder
    /// auth strong
    /// allow alice
    /// proxy -p3101 -e192.0.2.1
    /// allow bob
    /// proxy -p3102 -e192.0.2.2
    /// ```
    ///
    /// ```3proxy,fixed
    /// users alice:CL:wonderland bob:CL:builder
    /// auth strong
    /// allow alice
    /// proxy -p3101 -e192.0.2.1
    /// flush
    /// allow bob
    /// proxy -p3102 -e192.0.2.2
    /// ```
    "acl-inherited-without-flush",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let copies = Copies::of(program);
    let mut groups: BTreeMap<(ListId, u32), (Finding, usize)> = BTreeMap::new();
    for shadowed in lint.shadowed().iter().filter(|shadowed| tells(program, shadowed)) {
        let Some((len, service)) = copies.left_by(shadowed) else { continue };
        match groups.get_mut(&(shadowed.list, len)) {
            None => {
                let found = finding(program, shadowed, service);
                let found = found.fix(flush(lint.sources, program, shadowed.list, len));
                groups.insert((shadowed.list, len), (found, 0));
            }
            Some((found, more)) => {
                found.level = found.level.max(level(program, shadowed));
                *more += 1;
            }
        }
    }
    for (found, more) in groups.into_values() {
        lint.report(match more {
            0 => found,
            1 => found.note("The same is true of one more entry after it."),
            _ => found.note(format!("The same is true of {more} more entries after it.")),
        });
    }
    own_users::check(lint);
}

fn finding(program: &Program, shadowed: &Shadowed, service: Loc) -> Finding {
    let at = program.acls.ace(shadowed.entry).map(|own| own.at).unwrap_or_default();
    let mut finding = RULE
        .finding(
            at,
            "this entry is never reached: an earlier service's list continues here and decides first",
        )
        .label("never reached")
        .also(service, "a service line does not end the list, so the entries after it are added to it")
        .help("write `flush` before the entries that are for the next service");
    finding.level = level(program, shadowed);
    explain(finding, program, shadowed)
}

/// Begins a new list with the entry at `place`.
fn flush(sources: &Sources, program: &Program, list: ListId, place: u32) -> Option<Fix> {
    let id = program.acls.lists.get(list.0 as usize)?.get(place as usize)?;
    let at = program.acls.ace(*id)?.at;
    Fix::insert_above(sources, "begin a new list", Safety::Unsafe, at, "flush")
}

#[cfg(test)]
mod tests {
    use crate::{
        finding::Level,
        lints::tests::{check, findings},
    };

    #[test]
    fn the_list_of_the_service_before_goes_on() {
        check(
            "acl-inherited-without-flush",
            r"
internal 127.0.0.1
allow *
proxy
deny * * 10.0.0.0/8
#^ never reached
deny * * 192.168.0.0/16
allow * 10.0.0.0/8
socks
flush
deny *
proxy -p3129
proxy -p3130
allow *
#^ never reached
socks -p1081
",
        );
    }

    #[test]
    fn a_fault_within_one_list_is_none_of_inheritance() {
        check(
            "acl-inherited-without-flush",
            "internal 127.0.0.1\nallow * 10.0.0.1\nproxy\nallow *\ndeny * * bad.example\nsocks\n",
        );
        check("unreachable-entry", "internal 127.0.0.1\nallow *\nproxy\ndeny * * bad.example\nsocks\n");
    }

    #[test]
    fn a_growing_list_for_many_services_is_deliberate() {
        let lines = (0..40).map(|user| format!("allow user{user}\nsocks -p{}\n", 2000 + user));
        check("acl-inherited-without-flush", &format!("auth useronly\n{}", lines.collect::<String>()));
    }

    #[test]
    fn the_worst_of_a_group_counts() {
        for (lines, level) in [
            ("allow *\nproxy\nallow * 10.0.0.1\ndeny * 10.0.0.2\nsocks", Level::Deny),
            ("allow *\nproxy\nallow * 10.0.0.1\nsocks", Level::Warn),
        ] {
            let found = findings("acl-inherited-without-flush", &format!("internal 127.0.0.1\n{lines}\n"));
            assert_eq!(found.iter().map(|finding| finding.level).collect::<Vec<_>>(), [level], "{lines}");
        }
    }
}
