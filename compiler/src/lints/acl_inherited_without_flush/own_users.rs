//! Services with users and an external address of their own, whose list goes on from one to the next.
use std::{
    collections::HashSet,
    net::{Ipv4Addr, Ipv6Addr},
};

use super::{RULE, flush};
use crate::{
    analysis::lists::AskedList,
    finding::Finding,
    fix::Fix,
    lints::Lint,
    program::{
        Program,
        acl::{Ace, Action},
        service::Service,
    },
    sources::Loc,
};

/// Reports lists by which users of one service are let in by the next ones. Services of one address may share its users; of several it
/// is not certain, so the finding warns.
pub(super) fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    for list in lint.asked_lists().iter().filter(|list| list.copies.len() > 1) {
        if let Some(finding) = leaks(lint, list, program) {
            lint.report(finding);
        }
    }
}

/// Services that follow each other, with one copy of a list and one external address.
struct Customer<'a> {
    /// How many entries the one before copied.
    from: u32,
    len: u32,
    exit: (Ipv4Addr, Ipv6Addr),
    service: &'a Service,
}

fn leaks(lint: &Lint<'_>, list: &AskedList, program: &Program) -> Option<Finding> {
    let customers = customers(list, program)?;
    let [first, second, ..] = customers.as_slice() else { return None };
    let mut names = HashSet::new();
    let mut exits = HashSet::new();
    let mut entries = program.acls.entries(list.acl).map(|(_, ace)| ace);
    for customer in &customers {
        // One that was there before is let in by both on purpose.
        let own = entries.by_ref().take((customer.len - customer.from) as usize);
        let are_own = |ace: &Ace| {
            is_of_users(ace) && ace.matcher.users.iter().flatten().all(|name| names.insert(name.to_vec()))
        };
        if !exits.insert(customer.exit) || !{ own }.all(are_own) {
            return None;
        }
    }
    let ace = |place: u32| {
        let ids = program.acls.lists.get(list.acl.list.0 as usize)?;
        program.acls.ace(*ids.get(place as usize)?)
    };
    let (theirs, own) = (ace(first.from)?, ace(second.from)?);
    let user = theirs.matcher.users.iter().flatten().next()?;
    let fixes = customers.iter().skip(1);
    let mut fixes = fixes.filter_map(|it| flush(lint.sources, program, list.acl.list, it.from));
    let fix = fixes.next().map(|first| {
        let edits = first.edits.into_iter().chain(fixes.flat_map(|fix| fix.edits)).collect();
        Fix { edits, ..first }
    });
    let finding = RULE
        .finding(
            own.at,
            "users of an earlier service, which has another external address, are admitted here, too",
        )
        .label("is added to their entries")
        .also(theirs.at, "these users")
        .also(second.service.at, "are let in by this service")
        .note(format!("For example, `{}` leaves by either address.", String::from_utf8_lossy(user)))
        .help("write `flush` before the entries that are for the next service")
        .fix(fix);
    Some(match customers.len() {
        2 => finding,
        3 => finding.note("The same is true of one more service after it."),
        more => finding.note(format!("The same is true of {} more services after it.", more - 2)),
    })
}

/// The services of a list, by what they copied of it. `None`: some share users, or have no address of their own.
fn customers<'a>(list: &AskedList, program: &'a Program) -> Option<Vec<Customer<'a>>> {
    let mut customers: Vec<Customer<'_>> = Vec::new();
    // The shortest copy last.
    for (at, acl) in list.copies.iter().rev() {
        let service = program.services.get(*at)?;
        let exit = (service.external.v4, service.external.v6);
        // `-e` stands in the service's line.
        let is_own = |at: Option<Loc>| at.is_some_and(|at| service.at.contains(at));
        let learns = service.learns_names() && service.chain.value.iter().all(|step| step.kind.names_user());
        if !learns || !is_own(exit.0.at) && !is_own(exit.1.at) {
            return None;
        }
        let exit = (exit.0.value, exit.1.value);
        match customers.last() {
            Some(last) if last.len == acl.len && last.exit == exit => {}
            Some(last) if last.len == acl.len => return None,
            last => customers.push(Customer {
                from: last.map_or(0, |last| last.len),
                len: acl.len,
                exit,
                service,
            }),
        }
    }
    Some(customers)
}

/// Whether an entry lets some users in, and does nothing else.
fn is_of_users(ace: &Ace) -> bool {
    let mut users = ace.matcher.users.iter().flatten().peekable();
    ace.action == Action::Allow
        && ace.matcher.lists_users_at_most()
        && !ace.redirects()
        && ace.weight == 0
        && users.peek().is_some()
        && users.all(|name| name != b"-")
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::{check, findings};

    const RULE: &str = "acl-inherited-without-flush";
    const HEAD: &str = "users a:CL:x b:CL:y c:CL:z\nauth strong\n";

    #[test]
    fn each_list_of_customers_is_one_finding() {
        let text = format!(
            "{HEAD}allow a\nproxy -p1 -e192.0.2.1\nsocks -p2 -e192.0.2.1\nallow b\nproxy -p3 -e192.0.2.2\nallow c\nproxy -p4 -e192.0.2.3\n"
        );
        let found = findings(RULE, &text);
        let [finding] = found.as_slice() else { panic!("{found:#?}") };
        let mended = finding.fix.as_ref().unwrap().apply(finding.at.file, text.as_bytes());
        let wanted = text.replace("allow b", "flush\nallow b").replace("allow c", "flush\nallow c");
        assert_eq!(String::from_utf8(mended).unwrap(), wanted);
        check(RULE, &wanted);
    }

    #[test]
    fn users_who_may_be_meant_for_both_are_left_alone() {
        for lines in [
            "allow a\nproxy -p1\nallow b\nproxy -p2",
            "allow a\nproxy -p1 -e192.0.2.1\nallow b\nproxy -p2",
            "allow a\nproxy -p1 -e192.0.2.1\nallow b\nproxy -p2 -e192.0.2.1",
            "allow a\nproxy -p1 -e192.0.2.1\nproxy -p2 -e192.0.2.2",
            "allow a\nproxy -p1 -e192.0.2.1\nproxy -p2 -e192.0.2.2\nallow b\nproxy -p3 -e192.0.2.3",
            "allow a\nproxy -p1 -e192.0.2.1\nallow a,b\nproxy -p2 -e192.0.2.2",
            "allow *\nproxy -p1 -e192.0.2.1\nallow *\nproxy -p2 -e192.0.2.2",
            "allow a 10.0.0.1\nproxy -p1 -e192.0.2.1\nallow b\nproxy -p2 -e192.0.2.2",
            "auth iponly\nallow a\nproxy -p1 -e192.0.2.1\nallow b\nproxy -p2 -e192.0.2.2",
            "external 192.0.2.1\nallow a\nproxy -p1\nexternal 192.0.2.2\nallow b\nproxy -p2",
        ] {
            check(RULE, &format!("{HEAD}{lines}\n"));
        }
    }
}
