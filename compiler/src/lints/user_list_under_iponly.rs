//! `user-list-under-iponly`
use std::collections::BTreeMap;

use super::{
    acl_column_mixup::stray::Strays,
    columns,
    rule::{Lint, rule},
};
use crate::{
    analysis::lists::{self, Entry},
    finding::Finding,
    program::{
        acl::{Ace, Action},
        auth::AuthType,
        service::Service,
    },
    sources::Loc,
};

rule! {
    /// An entry lists users, but no type of the chain tells the list a name.
    ///
    /// `iponly` hides the user name from the access list, whatever the client sends. So an `allow` with users admits nobody, and a
    /// `deny` with users refuses nobody. Without an `auth` line the chain is `iponly`.
    ///
    /// ```3proxy,fires
    /// users alice:CL:wonderland
    /// auth iponly
    /// allow alice
    /// proxy
    /// ```
    ///
    /// Ask for the name and the password:
    ///
    /// ```3proxy,clean
    /// users alice:CL:wonderland
    /// auth strong
    /// allow alice
    /// proxy
    /// ```
    ///
    /// `-` is the client without a name, and entries of an earlier service do no harm where nobody has a name:
    ///
    /// ```3proxy,clean
    /// users alice:CL:wonderland
    /// auth strong
    /// allow alice
    /// proxy
    /// auth iponly
    /// allow - 10.0.0.0/8
    /// socks
    /// ```
    "user-list-under-iponly",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    check: check,
}

/// The entries of one chain that nobody matches.
struct Void<'a> {
    first: &'a Ace,
    entries: usize,
    service: &'a Service,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    if !program.process.plugins.is_empty() {
        return;
    }
    let mut void: BTreeMap<Option<Loc>, Void<'_>> = BTreeMap::new();
    let unnamed = lists::entries_but(program, names_users, hides_users);
    let strays = Strays::new(program);
    let is_void = |ace: &Ace| is_void(ace) && strays.column(&ace.matcher).is_none();
    for Entry { ace, service, .. } in unnamed.filter(|entry| is_void(entry.ace)) {
        void.entry(service.chain.at).and_modify(|void| void.entries += 1).or_insert(Void {
            first: ace,
            entries: 1,
            service,
        });
    }
    for void in void.values() {
        lint.report(finding(void));
    }
}

pub(super) fn names_users(service: &Service) -> bool {
    service.chain.value.iter().any(|step| step.kind.names_user())
}

/// `none` asks no list at all: that is another rule's.
pub(super) fn hides_users(service: &Service) -> bool {
    service.chain.value.iter().all(|step| step.kind == AuthType::IpOnly)
}

/// Whether an entry lists names, and none that a client without a name has. What is no name has a finding of its own.
fn is_void(ace: &Ace) -> bool {
    let names = || ace.matcher.users.iter().flatten();
    names().next().is_some() && !names().any(|name| name == b"-") && !names().all(columns::is_no_user)
}

fn finding(void: &Void<'_>) -> Finding {
    let Void { first, entries, service } = void;
    let what = match first.action {
        Action::Allow => "admits nobody",
        Action::Deny => "refuses nobody",
    };
    let mut finding = RULE
        .finding(first.at, format!("this entry {what}: it lists users, but no user name is known here"))
        .label("compares user names");
    finding = match service.chain.value.first().and_then(|step| step.at) {
        Some(at) => finding.also(at, "`iponly` hides the name that a client gives"),
        None => finding.note(
            "There is no `auth` line, so the chain is `iponly`, which hides the name that a client gives.",
        ),
    };
    finding = finding.also(service.at, "in this service");
    if *entries > 1 {
        finding = finding.note(format!("{entries} entries under this chain list users."));
    }
    // Such an entry with `*` for the users would be for everybody.
    let instead = match (first.action, first.matcher.lists_users_at_most()) {
        (_, false) => "`*` for the users",
        (Action::Allow, true) => "list the clients' addresses: `allow * 192.168.0.0/16`",
        (Action::Deny, true) => "what is refused in its column: `deny * SOURCES TARGETS PORTS`",
    };
    finding
        .help(format!("write `auth strong` above the service to ask for names and passwords, or {instead}"))
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::{check, findings};

    #[test]
    fn one_finding_for_a_chain() {
        check(
            "user-list-under-iponly",
            r"
deny mallory
#^ refuses nobody
allow alice,bob
proxy
flush
auth iponly
allow alice
#^ admits nobody
socks
",
        );
    }

    /// `deny *` would refuse everybody, and `allow *` let everybody in.
    #[test]
    fn no_entry_that_lists_users_alone_is_to_be_for_everybody() {
        for (line, is_for_all) in [
            ("deny bob", true),
            ("allow bob", true),
            ("deny bob 10.0.0.1", false),
            ("allow bob * * 25", false),
        ] {
            let found = findings("user-list-under-iponly", &format!("auth iponly\n{line}\nallow *\nproxy\n"));
            let help = found[0].help.as_deref().unwrap();
            assert_eq!(help.contains("`*` for the users"), !is_for_all, "{line}: {help}");
        }
    }

    #[test]
    fn what_may_match_or_has_another_finding_is_left_alone() {
        for text in [
            "auth iponly\nallow 10.0.0.1\nproxy\n",
            "auth none\nallow alice\nproxy\n",
            "auth cache iponly\nallow alice\nproxy\n",
            "auth iponly strong\nallow alice\nproxy\n",
            "auth iponly\nallow alice,-\nproxy\n",
            "auth iponly\nallow alice\nproxy\nauth useronly\nsocks\n",
            "plugin x.so start\nauth my\nallow alice\nproxy\n",
        ] {
            check("user-list-under-iponly", text);
        }
    }
}
