//! Users in entries and limits whom nobody defines.
use std::{borrow::Cow, collections::HashSet};

use grammar::{
    Text,
    directive::{closest, did_you_mean},
    value::UserTrap,
};

use super::{
    acl_column_mixup::stray::Strays,
    columns, comma_behind_password,
    rule::{Lint, rule},
    user_words,
};
use crate::{
    analysis::lists,
    finding::Finding,
    program::{
        Program,
        acl::{Ace, Action},
        auth::{AuthType, Chain},
        service::Service,
        trap::Trap,
    },
    sources::Loc,
};

rule! {
    /// An entry names a user that no `users` line defines, so it never matches.
    ///
    /// Under `strong` only the users of `users` lines can log in. Names are compared as they are written: `Alice` is not `alice`.
    ///
    /// ```3proxy,fires
    /// users alice:CL:wonderland bob:CL:builder
    /// auth strong
    /// allow alice,Bob
    /// proxy
    /// ```
    ///
    /// Write the name as `users` does:
    ///
    /// ```3proxy,clean
    /// users alice:CL:wonderland bob:CL:builder
    /// auth strong
    /// allow alice,bob
    /// proxy
    /// ```
    ///
    /// Other types know other users:
    ///
    /// ```3proxy,clean
    /// users alice:CL:wonderland
    /// radius secret-of-sixteen-bytes 192.0.2.5
    /// auth strong radius
    /// allow alice,carol
    /// proxy
    /// ```
    "unknown-user-in-acl",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    reads: Users,
    check: check,
}

/// The most users among which a likely one is looked for.
const SEARCHED: usize = 1_000;

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let unsure = !program.history.unread.is_empty() || !program.process.plugins.is_empty();
    // Without any user that is what is wrong.
    if unsure || program.users.is_empty() {
        return;
    }
    let mut known: HashSet<&[u8]> = program.users.iter().map(|user| user.name.as_bytes()).collect();
    let dropped = dropped(lint);
    known.extend(program.users.iter().flat_map(|user| comma_behind_password::swallowed(lint.sources, user)));
    known.extend(dropped.iter().map(Text::as_bytes));
    let quoted: Vec<&[u8]> = known.iter().filter_map(|name| user_words::unquoted(name)).collect();
    known.extend(quoted);
    let mut told: HashSet<&[u8]> = HashSet::new();
    let mut places = columns::UserPlaces::default();
    let strays = Strays::new(program);
    let asked = lists::entries_but(program, knows_others, asks_users);
    for entry in asked.filter(|entry| strays.column(&entry.ace.matcher).is_none()) {
        let (ace, chain) = (entry.ace, &entry.service.chain);
        let names = ace.matcher.users.iter().flatten();
        let unknown = names.filter(|name| is_unknown(name, &known));
        for name in unknown {
            if !told.insert(name) {
                continue;
            }
            let at = places.of(lint.sources, ace.at, name);
            lint.report(finding(at, name, ace, chain).help(help(name, &known)));
        }
    }
    for (name, line) in unknown_in_limits(program, &known, &strays) {
        if told.insert(name) {
            let at = places.of(lint.sources, line, name);
            let message = format!("no `users` line defines `{}`", String::from_utf8_lossy(name));
            let finding = RULE.finding(at, message).label("so this line never applies to that user");
            lint.report(finding.help(help(name, &known)));
        }
    }
}

/// What to do about a name that is none of those that are known.
fn help(name: &[u8], known: &HashSet<&[u8]>) -> String {
    if user_words::parts(name).count() > 1 && user_words::parts(name).all(|part| known.contains(part)) {
        return "separate users with commas".to_owned();
    }
    let text = str::from_utf8(name).unwrap_or_default();
    if let Some((user, sources)) =
        text.split_once('@').filter(|(_, sources)| columns::is_address(sources.as_bytes()))
    {
        return format!("write the sources in their own field: `{user} {sources}`");
    }
    let alone = name.split(|byte| *byte == b':').next().filter(|alone| alone.len() < name.len());
    if let Some(alone) =
        alone.filter(|alone| known.contains(alone)).and_then(|alone| str::from_utf8(alone).ok())
    {
        return format!("write the name alone: `{alone}`");
    }
    let plain = known.iter().filter(|known| user_words::unquoted(known).is_none());
    let texts = plain.filter_map(|known| str::from_utf8(known).ok());
    match closest(name, texts.take(if known.len() > SEARCHED { 0 } else { SEARCHED })) {
        Some(near) => did_you_mean(near),
        None => "define the user, or remove the name".to_owned(),
    }
}

/// Names in limits that nobody has, if all services know the users of `users` lines only.
fn unknown_in_limits<'a>(
    program: &'a Program,
    known: &HashSet<&[u8]>,
    strays: &Strays,
) -> Vec<(&'a [u8], Loc)> {
    let mut services = program.services.iter().peekable();
    if services.peek().is_none() || !services.all(|service| asks_users(service)) {
        return Vec::new();
    }
    let lines = program.limits.lines();
    let lines = lines.filter(|line| !line.matcher.is_refused() && strays.column(line.matcher).is_none());
    let names = lines.flat_map(|line| line.matcher.users.iter().flatten().map(move |name| (name, line.at)));
    names.filter(|(name, _)| is_unknown(name, known)).collect()
}

/// Whether a name is none of those that are known, and nothing else is wrong with it.
fn is_unknown(name: &[u8], known: &HashSet<&[u8]>) -> bool {
    let is_quoted = || user_words::unquoted(name).is_some_and(|name| known.contains(name));
    name != b"-" && !known.contains(name) && !columns::is_no_user(name) && !is_quoted()
}

/// Names of `users` words that make no user: that has a finding of its own.
fn dropped(lint: &Lint<'_>) -> Vec<Text> {
    let traps = lint.traps().filter(|(part, trap)| {
        matches!(trap, Trap::User(UserTrap::NoColon | UserTrap::UnknownType | UserTrap::HashTooLong))
            && !user_words::continues(lint.sources, part.at)
    });
    let name = |word: Cow<'_, [u8]>| Text::from(word.split(|byte| *byte == b':').next().unwrap_or_default());
    traps.map(|(part, _)| name(part.unquoted())).collect()
}

/// Whether a type of a service's chain knows users that no `users` line names.
pub(super) fn knows_others(service: &Service) -> bool {
    let other = |kind| matches!(kind, AuthType::UserOnly | AuthType::DnsName | AuthType::Radius);
    service.chain.value.iter().any(|step| other(step.kind))
}

pub(super) fn asks_users(service: &Service) -> bool {
    !knows_others(service) && service.chain.value.iter().any(|step| step.kind == AuthType::Strong)
}

fn finding(at: Loc, name: &[u8], ace: &Ace, chain: &Chain) -> Finding {
    let what = match ace.action {
        Action::Allow => "lets nobody of that name in",
        Action::Deny => "refuses nobody of that name",
    };
    let name = String::from_utf8_lossy(name);
    let finding =
        RULE.finding(at, format!("no `users` line defines `{name}`")).label(format!("so this entry {what}"));
    match chain.value.iter().find(|step| step.kind == AuthType::Strong).and_then(|step| step.at) {
        Some(at) => finding.also(at, "knows only the users of `users` lines"),
        None => finding,
    }
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::{check, findings};

    #[test]
    fn users_at_another_separator_are_to_be_separated_with_commas() {
        for (names, help) in [
            ("alice;bob", "separate users with commas"),
            ("alice|bob", "separate users with commas"),
            ("alice;carol", "define the user, or remove the name"),
            ("alice:CL:x", "write the name alone: `alice`"),
        ] {
            let text = format!("users alice:CL:x bob:CL:y\nauth strong\nallow {names}\nproxy\n");
            let found = findings("unknown-user-in-acl", &text);
            let [finding] = found.as_slice() else { panic!("{names}: {found:#?}") };
            assert_eq!(finding.help.as_deref(), Some(help), "{names}");
        }
    }

    #[test]
    fn each_unknown_name_is_told_once() {
        check(
            "unknown-user-in-acl",
            r"
users alice:CL:x bob:CL:y
auth cache strong
deny alicia
#    ^ defines `alicia`
allow alice,-
allow alicia,zoe
#            ^ defines `zoe`
proxy
socks
",
        );
    }

    #[test]
    fn limits_of_unknown_users_are_told_where_all_users_are_known() {
        let text = |auth: &str| {
            format!(
                "users alice:CL:x\nauth {auth}\nallow alice\nbandlimin 10000 alice,bob\nconnlim 5 60 carol\ncountin 1 D 5 -\nproxy\n"
            )
        };
        assert_eq!(findings("unknown-user-in-acl", &text("strong")).len(), 2);
        assert_eq!(findings("unknown-user-in-acl", &text("useronly")).len(), 0);
    }

    #[test]
    fn what_another_rule_or_another_service_accounts_for_is_left_to_it() {
        for text in [
            "users alice:CL:x bob:cl:y\nauth strong\nallow alice,bob\nproxy\n",
            "users alice:CL:x,bob:CL:y,carol:NT:z\nauth strong\nallow alice,bob,carol\nproxy\n",
            "users alice:CL:x\nauth strong\nallow 10.0.0.1\nallow user*\nproxy\n",
            "auth strong\nallow alice\nproxy\n",
            "users alice\nauth strong\nallow bob\nproxy\n",
            "users alice:CL:x\ninclude missing\nauth strong\nallow bob\nproxy\n",
            "users alice:CL:x\nauth useronly\nallow bob\nproxy\nauth strong\nproxy -p2\n",
            "users alice:CL:x\nauth iponly\nallow bob\nproxy\n",
        ] {
            check("unknown-user-in-acl", text);
        }
    }
}
