//! Ports, operations and hosts among the users.
use std::collections::{BTreeSet, HashSet};

use super::{RULE, misplaced};
use crate::{
    analysis::lists,
    fix::{Fix, Safety},
    lints::{
        Lint,
        columns::{OPERATIONS, PORTS, SOURCES, TARGETS, USERS, columns, is_address, is_operation, is_port},
        unknown_user_in_acl::{asks_users, knows_others},
        user_list_under_iponly::{hides_users, names_users},
    },
    program::{
        Program,
        acl::{Action, Matcher},
    },
    sources::{Loc, Sources},
};

/// The longest word that is cited.
const CITED: usize = 60;

/// Reports entries whose users are of another column, where no type of the chain may know such a user.
pub(super) fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let strays = Strays::new(program);
    let unsure = !program.history.unread.is_empty() || !program.process.plugins.is_empty();
    if strays.columns.is_empty() || unsure {
        return;
    }
    let nameless = lists::entries_but(program, names_users, hides_users);
    // Without any user that is what is wrong there.
    let knows = |service: &_| !program.users.is_empty() && asks_users(service);
    let named = lists::entries_but(program, knows_others, knows);
    let found = nameless.chain(named).filter_map(|entry| Some((entry, strays.column(&entry.ace.matcher)?)));
    let mut told = HashSet::new();
    let mut found: Vec<_> = found
        .filter(|(entry, _)| told.insert(entry.ace.at))
        .map(|(entry, column)| {
            (entry.ace.at, entry.ace.action == Action::Deny, Some(entry.service.at), column)
        })
        .collect();
    // A limit is for all services.
    if !program.services.is_empty() && !program.services.iter().any(|service| knows_others(service)) {
        let limits = program.limits.lines();
        found.extend(limits.filter_map(|line| Some((line.at, false, None, strays.column(line.matcher)?))));
    }
    for (at, denies, service, column) in found {
        report(lint, (at, denies), service, column);
    }
}

/// What tells words of other columns from users.
pub(crate) struct Strays {
    /// The columns whose words some entry has for users, but for those that users of `users` lines look like: where some are called so,
    /// others may be.
    columns: BTreeSet<usize>,
}

impl Strays {
    pub(crate) fn new(program: &Program) -> Self {
        let entries = program.acls.aces.iter().map(|ace| &ace.matcher);
        let lines = entries.chain(program.limits.lines().map(|line| line.matcher));
        let mut columns: BTreeSet<usize> = lines.filter_map(of_column).collect();
        if !columns.is_empty() {
            for column in program.users.iter().filter_map(|user| kind(user.name.as_bytes())) {
                columns.remove(&column);
            }
        }
        Self { columns }
    }

    /// The column whose words an entry has for users. `None`: they may be users.
    pub(crate) fn column(&self, matcher: &Matcher) -> Option<usize> {
        if self.columns.is_empty() {
            return None;
        }
        of_column(matcher).filter(|column| self.columns.contains(column))
    }
}

/// The column that all of an entry's users look like words of.
fn of_column(matcher: &Matcher) -> Option<usize> {
    let mut names = matcher.users.iter().flatten();
    let column = kind(names.next()?)?;
    names.all(|name| kind(name) == Some(column)).then_some(column)
}

/// The column that a name looks like a word of.
fn kind(name: &[u8]) -> Option<usize> {
    if is_service_port(name) {
        Some(PORTS)
    } else if is_operation(name) {
        Some(OPERATIONS)
    } else if is_network(name) {
        Some(SOURCES)
    } else {
        is_host(name).then_some(TARGETS)
    }
}

/// A network that 3proxy does not read: with a mask, or not written in full. One that it reads is told wherever it stands.
fn is_network(name: &[u8]) -> bool {
    let dots = name.iter().filter(|byte| **byte == b'.').count();
    let known = |byte: &u8| byte.is_ascii_digit() || b"./-".contains(byte);
    dots > 1 && name.iter().all(known) && !is_address(name)
}

/// A port of a service that is known by it, or a range that can't be one of weekdays: customers have greater numbers.
fn is_service_port(name: &[u8]) -> bool {
    const KNOWN: [&[u8]; 6] = [b"1080", b"3128", b"3306", b"3389", b"8080", b"8443"];
    is_port(name)
        && (name.contains(&b'-') && name.len() > 3 || matches!(name.len(), 2..4) || KNOWN.contains(&name))
}

/// A name with a top-level domain that no person's name ends with.
fn is_host(name: &[u8]) -> bool {
    const TOP: [&[u8]; 7] = [b"com", b"net", b"org", b"edu", b"gov", b"info", b"biz"];
    let is_label = |label: &[u8]| {
        !label.is_empty() && label.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
    };
    let labels = || name.split(|byte| *byte == b'.');
    let last = labels().next_back().unwrap_or_default().to_ascii_lowercase();
    labels().count() > 1
        && labels().all(is_label)
        && (TOP.contains(&last.as_slice()) || name.starts_with(b"www."))
}

fn report(lint: &mut Lint<'_>, (at, denies): (Loc, bool), service: Option<Loc>, column: usize) {
    let columns = columns(lint.sources, at);
    let place = columns.first().copied().unwrap_or(at);
    let word = String::from_utf8_lossy(lint.sources.text(place)).into_owned();
    // A network that is none where it belongs either is not moved there.
    let mut moved =
        if column == SOURCES { None } else { misplaced::moved(lint.sources, &columns, USERS, column, &word) };
    // What it refuses it says; whom it lets in besides, it does not.
    if denies {
        moved = moved.map(|fix| Fix { safety: Safety::Safe, ..fix });
    }
    let finding = RULE
        .finding(place, format!("`{word}` is in the user column, so it is compared with user names"))
        .label("no user has this name")
        .note(misplaced::COLUMNS)
        .help(help(lint.sources, at, if column == SOURCES { "10.0.0.0/8" } else { &word }, column))
        .fix(moved);
    lint.report(match service {
        Some(service) => finding.also(service, "no client of this service has such a name"),
        None => finding,
    });
}

/// Says how a word is written in its column.
pub(super) fn help(sources: &Sources, at: Loc, word: &str, column: usize) -> String {
    let (what, example) = match column {
        SOURCES => ("sources", "SOURCES"),
        TARGETS => ("targets", "TARGETS"),
        PORTS => ("target ports", "PORTS"),
        _ => ("operations", "OPERATIONS"),
    };
    let word = if word.len() <= CITED { word } else { example };
    let stars = "* ".repeat(column);
    // Limits have other words before their columns.
    match sources.directive(at).map(|row| row.name).filter(|name| ["allow", "deny"].contains(name)) {
        None => format!("write it in the column of {what}: `{stars}{word}`"),
        Some(verb) => format!("write it in the column of {what}: `{verb} {stars}{word}`"),
    }
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::{check, findings};

    const RULE: &str = "acl-column-mixup";

    /// What is written, and what the fix makes of it.
    #[test]
    fn words_of_other_columns_are_moved_there() {
        for (written, meant) in [
            ("deny 25", "deny * * * 25"),
            ("deny 25,110,6000-7000", "deny * * * 25,110,6000-7000"),
            ("allow 80,443", "allow * * * 80,443"),
            ("allow 80,443 *", "allow * * * 80,443"),
            ("deny CONNECT", "deny * * * * CONNECT"),
            ("deny HTTPS,FTP", "deny * * * * HTTPS,FTP"),
            ("deny *.example.com", "deny * * *.example.com"),
            ("deny *ads.*", "deny * * *ads.*"),
            ("allow 192.168.1.*", "allow * 192.168.1.0/24"),
            ("deny ads.example.com", "deny * * ads.example.com"),
            ("deny facebook.com,www.example.de", "deny * * facebook.com,www.example.de"),
        ] {
            for head in ["auth iponly\n", "users alice:CL:x\nauth strong\n", ""] {
                let text = |line: &str| format!("{head}{line}\nallow *\nproxy -i192.168.0.1\n");
                let found = findings(RULE, &text(written));
                let [finding] = found.as_slice() else { panic!("{written}: {found:#?}") };
                let mended = finding.fix.as_ref().unwrap().apply(finding.at.file, text(written).as_bytes());
                assert_eq!(String::from_utf8(mended).unwrap(), text(meant), "{written}");
                let help = finding.help.as_deref().unwrap();
                assert!(help.ends_with(&format!("`{meant}`")), "{written}: {help}");
                // That is the cause of what else could be said.
                for rule in ["user-list-under-iponly", "unknown-user-in-acl"] {
                    check(rule, &text(written));
                }
            }
        }
    }

    #[test]
    fn a_network_that_3proxy_does_not_read_is_one_of_sources() {
        for word in ["192.168.1.0/255.255.255.0", "192.168.1", "10.0.0.1-20"] {
            let text = format!("auth iponly\nallow {word}\nproxy -i192.168.0.1\n");
            let found = findings(RULE, &text);
            assert!(
                found[0].help.as_deref().unwrap().ends_with("sources: `allow * 10.0.0.0/8`"),
                "{found:#?}"
            );
            check("user-list-under-iponly", &text);
        }
    }

    #[test]
    fn limits_of_such_words_are_found() {
        for (line, meant) in [
            ("bandlimin 64000 *.example.com", "* * *.example.com"),
            ("bandlimin 64000 80,443", "* * * 80,443"),
            ("connlim 10 60 www.example.com", "* * www.example.com"),
        ] {
            let text = format!("users a:CL:x\nauth strong\nallow a\n{line}\nproxy -i192.168.0.1\n");
            let found = findings(RULE, &text);
            let [finding] = found.as_slice() else { panic!("{line}: {found:#?}") };
            assert!(finding.help.as_deref().unwrap().ends_with(&format!("`{meant}`")), "{finding:#?}");
            check("unknown-user-in-acl", &text);
            check(RULE, &text.replace("auth strong", "auth useronly").replace("*.", "x."));
        }
    }

    #[test]
    fn whoever_may_be_a_user_is_one() {
        for lines in [
            "users 25:CL:x\nauth strong\nallow 25\nproxy",
            "users 17:CL:x\nauth strong\nallow 17,18\nproxy",
            "users a.example.com:CL:x\nauth strong\nallow b.example.com\nproxy",
            "auth useronly\nallow 25\nproxy",
            "nserver 192.0.2.53\nauth dnsname\nallow host.example.com\nproxy",
            "radius secret-of-sixteen-bytes 192.0.2.5\nauth radius\nallow 25\nproxy",
            "users a:CL:x\nauth strong\nallow 10001,john.doe,carol@example.com\nproxy",
            "users a:CL:x\nauth strong\nallow a,25\nproxy",
            "plugin x.so start\nauth my\nallow 25\nproxy",
            "users a:CL:x\ninclude missing\nauth strong\nallow 25\nproxy",
        ] {
            check(RULE, &format!("{lines}\n"));
        }
    }
}
