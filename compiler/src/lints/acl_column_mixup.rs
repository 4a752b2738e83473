//! A value in the wrong column of an access-control entry.
use std::collections::HashSet;

use grammar::value;

use super::{
    address_read_as_name::network,
    columns::{SOURCES, TARGETS, USERS, columns, is_address},
    rule::{Lint, rule},
};
use crate::{
    finding::Level,
    fix::{Edit, Fix, Safety},
    program::{Program, acl::Matcher},
    sources::{Loc, Sources},
};

pub(crate) mod broken_list;
pub(crate) mod left_out;
mod misplaced;
mod own_network;
pub(crate) mod stray;

rule! {
    /// A value is in the wrong column of an entry, where it is compared with something else.
    ///
    /// The columns are users, sources, targets, target ports, operations, weekdays, periods. 3proxy accepts any word as a user name
    /// and almost any for a target, so a value that slipped into these columns is accepted, and the entry does something else.
    ///
    /// An address in the user column is compared with user names:
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow 192.168.0.0/24
    /// proxy -i192.168.0.1
    /// ```
    ///
    /// Write `*` for the users:
    ///
    /// ```3proxy,fixed
    /// auth iponly
    /// allow * 192.168.0.0/24
    /// proxy -i192.168.0.1
    /// ```
    ///
    /// A space inside a list moves the rest of it to the next column. This entry lets the first address reach the second:
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 192.168.0.5, 192.168.0.6
    /// proxy -i192.168.0.1
    /// ```
    ///
    /// ```3proxy,fixed
    /// auth iponly
    /// allow * 192.168.0.5,192.168.0.6
    /// proxy -i192.168.0.1
    /// ```
    ///
    /// A port or an operation among the targets is compared with host names:
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// deny * * 25
    /// allow *
    /// proxy -i192.168.0.1
    /// ```
    ///
    /// ```3proxy,fixed
    /// auth iponly
    /// deny * * * 25
    /// allow *
    /// proxy -i192.168.0.1
    /// ```
    ///
    /// Ports, operations or hosts among the users are compared with user names, too:
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// deny 25
    /// allow *
    /// proxy -i192.168.0.1
    /// ```
    ///
    /// ```3proxy,fixed
    /// auth iponly
    /// deny * * * 25
    /// allow *
    /// proxy -i192.168.0.1
    /// ```
    ///
    /// 3proxy refuses an entry of which a column in between is left out:
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 192.168.0.0/24 * * 1-5 9:00-18:00
    /// proxy -i192.168.0.1
    /// ```
    ///
    /// ```3proxy,fixed
    /// auth iponly
    /// allow * 192.168.0.0/24 * * * 1-5 09:00:00-18:00:00
    /// proxy -i192.168.0.1
    /// ```
    ///
    /// A user may be named like an address, if `users` lists that name, and a trailing comma is harmless:
    ///
    /// ```3proxy,clean
    /// users 192.168.0.5:CL:secret
    /// auth strong
    /// allow 192.168.0.5
    /// allow alice,bob, 192.168.0.0/24 *.example.com 80,443
    /// proxy -i192.168.0.1
    /// ```
    "acl-column-mixup",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let users = program.users.iter().map(|user| user.name.as_bytes());
    let named: HashSet<&[u8]> = users.filter(|name| is_address(name)).collect();
    let mut seen = None;
    for (at, matcher) in entries(program) {
        // A later version of an entry has the line of the first.
        if seen.replace(at) == Some(at) {
            continue;
        }
        let list = || matcher.users.iter().flatten();
        if let Some(pattern) = list().find(|name| name.contains(&b'*')) {
            pattern_as_user(lint, at, pattern);
        }
        let mut addresses = list().filter(|name| is_address(name) && !named.contains(name));
        let mut is_shifted = false;
        if let Some(address) = addresses.next() {
            let others = list().count() > 1 + addresses.count();
            // Where the users' column is left out, the ports stand one too early as well.
            is_shifted = !others && misplaced::has_ports(matcher);
            address_as_user(lint, at, address, others, is_shifted);
        }
        // Of an entry that 3proxy refuses, lowering has said what breaks it.
        if !matcher.is_refused() && may_be_broken(lint.sources.text(at)) {
            broken_list::check(lint, at);
        }
        if !is_shifted {
            misplaced::target(lint, at, matcher);
        }
    }
    misplaced::check(lint);
    // These rest on the whole list, and on who may ask it.
    if !program.unknown.lines && !program.unknown.values {
        own_network::check(lint);
        stray::check(lint);
    }
}

/// Every line with the columns of an entry.
fn entries(program: &Program) -> impl Iterator<Item = (Loc, &Matcher)> {
    let limits = &program.limits;
    let of_acls = program.acls.aces.iter().map(|ace| (ace.at, &ace.matcher));
    of_acls
        .chain(limits.bandwidth_in.iter().map(|line| (line.at, &line.matcher)))
        .chain(limits.bandwidth_out.iter().map(|line| (line.at, &line.matcher)))
        .chain(limits.connections.iter().map(|line| (line.at, &line.matcher)))
        .chain(limits.traffic.iter().map(|line| (line.limit.at, &line.limit.matcher)))
}

/// Whether a comma stands beside a blank, or beside a quote: that may stand between them.
fn may_be_broken(line: &[u8]) -> bool {
    let parts = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'"';
    let mut pairs = line.iter().zip(line.iter().skip(1));
    pairs.any(|(left, right)| *left == b',' && parts(right) || parts(left) && *right == b',')
}

fn address_as_user(lint: &mut Lint<'_>, at: Loc, address: &[u8], others: bool, is_shifted: bool) {
    let columns = columns(lint.sources, at);
    let place = columns.first().copied().unwrap_or(at);
    let address = String::from_utf8_lossy(address);
    let mut finding = RULE
        .finding(place, format!("`{address}` is in the user column, so it is compared with user names"))
        .label("no user has this name")
        .note("The columns are: users, sources, targets, target ports, operations, weekdays, periods.");
    if others {
        finding = finding.help("give the addresses an entry of their own, with `*` for the users");
    } else {
        finding = finding.help("insert `*` for the users: `allow * ADDRESS`").fix(insert_star(
            lint.sources,
            &columns,
            is_shifted,
        ));
    }
    // Users that are not known yet may be called so.
    let unknown = lint.program.unknown.users;
    if unknown && value::address(address.as_bytes()).is_some() {
        finding.level = Level::Warn;
    }
    lint.report(finding);
}

fn pattern_as_user(lint: &mut Lint<'_>, at: Loc, pattern: &[u8]) {
    let columns = columns(lint.sources, at);
    let place = columns.first().copied().unwrap_or(at);
    let pattern = String::from_utf8_lossy(pattern);
    let finding = RULE
        .finding(
            place,
            format!("`{pattern}` is in the user column, where a `*` inside a name is not a wildcard"),
        )
        .label("no user has this name")
        .note(misplaced::COLUMNS);
    // Where targets are listed in their column, it is meant for users.
    let has_targets = columns.get(TARGETS).is_some_and(|targets| lint.sources.text(*targets) != b"*");
    lint.report(if has_targets {
        finding.help("list the users by their full names: users can't be matched by patterns")
    } else if pattern.contains('.') {
        // `10.0.*` is a network, of clients.
        let network = network(&pattern);
        let column = if network.is_some() { SOURCES } else { TARGETS };
        let word = String::from_utf8_lossy(lint.sources.text(place)).into_owned();
        let word = network.filter(|_| word == *pattern).unwrap_or(word);
        finding.help(stray::help(lint.sources, at, &word, column)).fix(misplaced::moved(
            lint.sources,
            &columns,
            USERS,
            column,
            &word,
        ))
    } else {
        finding.help("if it is a target, write `*` for the users and the sources: `allow * * TARGET`")
    });
}

/// Moves the first column to the second, and puts `*` in its place: with those behind it, if all of them are shifted.
fn insert_star(sources: &Sources, columns: &[Loc], is_shifted: bool) -> Option<Fix> {
    let users = *columns.first()?;
    let before = Loc { file: users.file, span: grammar::Span::new(users.span.start, users.span.start) };
    let title = "insert `*` for the users";
    match columns.get(1) {
        _ if is_shifted => Some(Fix::replace(title, Safety::Safe, before, "* ")),
        None => Some(Fix::replace(title, Safety::Safe, before, "* ")),
        Some(second) if sources.text(*second) == b"*" => {
            let address = String::from_utf8(sources.text(users).to_vec()).ok()?;
            let edits = vec![Edit { at: users, text: "*".to_owned() }, Edit { at: *second, text: address }];
            Some(Fix { title: title.into(), safety: Safety::Safe, edits })
        }
        // All columns move, which may be more than was meant.
        Some(_) => Some(Fix::replace(title, Safety::Unsafe, before, "* ")),
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        fix::Fix,
        lints::tests::{check, findings},
    };

    /// What each finding's fix makes of a line.
    #[track_caller]
    fn mends(line: &str, wanted: Option<&str>) {
        let found = findings("acl-column-mixup", line);
        let [finding] = found.as_slice() else { panic!("{line}: {found:#?}") };
        let fixed = |fix: &Fix| String::from_utf8(fix.apply(finding.at.file, line.as_bytes())).unwrap();
        assert_eq!(finding.fix.as_deref().map(fixed).as_deref(), wanted, "{line}");
    }

    #[test]
    fn the_whole_list_is_joined() {
        mends(
            "deny * * 10.0.0.0/8, 192.168.0.0/16, 172.16.0.0/12 80",
            Some("deny * * 10.0.0.0/8,192.168.0.0/16,172.16.0.0/12 80"),
        );
        mends("allow a * *.a.example, *.b.example 443", Some("allow a * *.a.example,*.b.example 443"));
        mends("allow alice, bob,carol , dave", Some("allow alice,bob,carol,dave"));
    }

    #[test]
    fn columns_that_all_stand_one_too_early_are_one_finding() {
        mends("allow 10.0.0.0/8 * 80,443", Some("allow * 10.0.0.0/8 * 80,443"));
        mends("allow 10.0.0.0/8 * 80,443 *", Some("allow * 10.0.0.0/8 * 80,443 *"));
        mends("allow 10.0.0.0/8 * *", Some("allow * 10.0.0.0/8 *"));
    }

    #[test]
    fn what_stands_in_the_wrong_column_is_moved() {
        mends("deny * * 10.0.0.0/8 192.168.0.0/16", Some("deny * * 10.0.0.0/8,192.168.0.0/16"));
        mends("deny * * * 10.1.2.3", Some("deny * * 10.1.2.3 *"));
        mends("deny * * a.example 10.1.2.3", None);
        mends("deny * * 10.0.0.0/8 10.1.2.3,80", None);
        mends("deny * * 25", Some("deny * * * 25"));
        mends("deny * * \"25\"", Some("deny * * * \"25\""));
        mends("allow a * 80,443 *", Some("allow a * * 80,443"));
        mends("allow a * 1-1023 * HTTP", None);
        mends("allow * * CONNECT", Some("allow * * * * CONNECT"));
        mends("allow * * HTTP,HTTPS *", Some("allow * * * * HTTP,HTTPS"));
        mends("allow * * * * * 9:00-18:00", Some("allow * * * * * * 09:00:00-18:00:00"));
        mends("allow * * * * * 1-5,09:00:00-18:00:00", Some("allow * * * * * 1-5 09:00:00-18:00:00"));
        mends("allow * * * * * 22:00-6:00,1-5", None);
        mends("allow * * * * * 9:00-18:00 *", Some("allow * * * * * * 09:00:00-18:00:00"));
        mends("allow * * * * * 9:00-18:00 09:00:00-18:00:00", None);
    }

    #[test]
    fn values_in_the_wrong_column() {
        check(
            "acl-column-mixup",
            r"
deny * * 25
#        ^ `25` is in the target column
bandlimin 64000 * * 80,443
#                   ^ `80,443` is in the target column
allow * * HTTPS
#         ^ `HTTPS` is in the target column
deny * * 10.0.0.0/8 2001:db8::/32
#                   ^ `2001:db8::/32` is in the port column
allow * * * * * 9:00-18:00
#               ^ `9:00-18:00` is in the weekday column
allow * * 1e100.example,25.example,163.com,connect,99999
allow * * connect
allow * * * 25
allow * * * 80.443
allow * * * * * Mon-Fri,6
",
        );
    }

    #[test]
    fn addresses_in_the_user_column() {
        check(
            "acl-column-mixup",
            r"
allow 192.0.2.7 * * 80
#     ^ `192.0.2.7` is in the user column
deny user1,2001:db8::/32
#    ^ `2001:db8::/32` is in the user column
allow 10.0.0.1-10.0.0.9 192.0.2.0/24
#     ^ `10.0.0.1-10.0.0.9` is in
bandlimin 64000 10.0.0.1
#               ^ `10.0.0.1` is in the user column
connlim 10 1 * 10.0.0.1
allow user1,-
allow *.example.com,user2
#     ^ `*.example.com` is in the user column
",
        );
    }

    #[test]
    fn lists_broken_by_a_space() {
        check(
            "acl-column-mixup",
            r"
allow * 192.0.2.1, 192.0.2.2
#                  ^ a space breaks the list of sources
allow * * 192.0.2.1 ,192.0.2.2
#                   ^ a space breaks the list of targets
allow * * * * HTTP, HTTPS
#                   ^ a space breaks the list of operations
allow user1, 192.0.2.1, * 80,
",
        );
    }

    #[test]
    fn the_clients_own_network_as_target() {
        check(
            "acl-column-mixup",
            r"
auth iponly
allow * * 192.168.1.0/24
#         ^ clients from anywhere may reach `192.168.1.0/24`
proxy -i192.168.1.1
flush
allow * * 192.168.1.0/24 80
socks -i192.168.1.1
flush
allow * * 192.168.1.0/24
deny * * 10.0.0.0/8
allow * 192.168.1.0/24
tlspr -i192.168.1.1
",
        );
    }
}
