//! A user with a password, whom no list lets in.
use std::collections::HashSet;

use super::{
    columns,
    rule::{Lint, rule},
    user_words,
};
use crate::{
    analysis::lists,
    program::{acl::Action, auth::AuthType, service::Service},
    sources::FileId,
};

rule! {
    /// A user has a password, but no list lets that user in.
    ///
    /// Every `allow` lists users, and this one is not among them.
    ///
    /// ```3proxy,fires
    /// users alice:CL:wonderland bob:CL:builder
    /// auth strong
    /// allow alice
    /// proxy
    /// ```
    ///
    /// Name all users, or write `*` for any:
    ///
    /// ```3proxy,clean
    /// users alice:CL:wonderland bob:CL:builder
    /// auth strong
    /// allow alice,bob
    /// proxy
    /// ```
    "user-never-admitted",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    reads: Users,
    check: check,
}

/// At most this many names that nobody has are compared with each user.
const MOST: usize = 64;

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    if !program.history.unread.is_empty() {
        return;
    }
    let mut admitted: HashSet<&[u8]> = HashSet::new();
    let asks = |service: &Service| service.chain.value.iter().any(|step| step.kind == AuthType::Strong);
    let mut asking = program.services.iter().filter(|service| asks(service));
    let Some(service) = asking.clone().next() else { return };
    // Everybody passes there.
    if asking.any(|service| service.deciding_list().is_none()) {
        return;
    }
    let entries = lists::entries(program, |service| asks(service).then_some(()));
    for ace in entries.map(|entry| entry.ace).filter(|ace| ace.action == Action::Allow) {
        let Some(names) = &ace.matcher.users else { return };
        // Whom it was to let in is not known.
        if ace.matcher.is_refused() || names.iter().any(columns::is_no_user) {
            return;
        }
        admitted.extend(names.iter());
        // `alice;bob` has a finding of its own.
        admitted.extend(names.iter().flat_map(user_words::parts));
        admitted.extend(names.iter().filter_map(user_words::unquoted));
        // So has a name with what `users` says of it.
        admitted.extend(names.iter().filter_map(|name| name.split(|byte| b":@".contains(byte)).next()));
    }
    // And so have one that is misspelt, and a pattern.
    let defined: HashSet<&[u8]> = program.users.iter().map(|user| user.name.as_bytes()).collect();
    let others = admitted.iter().copied().filter(|name| !defined.contains(name));
    let others: Vec<&[u8]> = others.take(MOST).collect();
    // A list of users in a file of its own may serve others, too.
    let own = program.users.iter().filter(|user| user.at.file == FileId(0));
    let mut told = HashSet::new();
    let is_admitted = |name: &[u8]| {
        admitted.contains(name) || user_words::unquoted(name).is_some_and(|name| admitted.contains(name))
    };
    let is_meant = |name: &[u8]| others.iter().any(|other| user_words::means(other, name));
    let named = own.filter(|user| !user.name.is_empty());
    for user in named.filter(|user| !is_admitted(user.name.as_bytes()) && !is_meant(user.name.as_bytes())) {
        if told.insert(&user.name) && !user_words::continues(lint.sources, user.at) {
            lint.report(
                RULE.finding(user.at, format!("no list allows user `{}`", user.name))
                    .label("this password gives no access")
                    .also(
                        service.at,
                        "every `allow` of the services that ask for passwords lists other users",
                    )
                    .help("list the user in an `allow`, or remove the user"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::{check, check_with};

    #[test]
    fn who_may_be_let_in_somewhere_is_admitted() {
        for text in [
            "users a:CL:x b:CL:y\nauth strong\nallow a\nproxy\nflush\nallow b\nsocks\n",
            "users a:CL:x b:CL:y\nauth strong\nallow a\nproxy\nflush\nsocks\n",
            "users a:CL:x b:CL:y\nauth strong\ndeny b\nallow *\nproxy\n",
            "users a:CL:x b:CL:y\nauth iponly\nallow a\nproxy\n",
            "users a:CL:x b:CL:y\nauth strong none\nallow a\nproxy\n",
            "users a: CL: x\nauth strong\nallow a\nproxy\n",
            "users a:CL:x b:CL:y\nauth strong\nallow a * * https\nproxy\n",
            "users a:CL:x b:CL:y\nauth strong\nallow a;b\nproxy\n",
            "users a:CL:x Bob:CL:y\nauth strong\nallow a,bob\nproxy\n",
            "users a:CL:x robert:CL:y\nauth strong\nallow a,robrt\nproxy\n",
            "users a:CL:x bob1:CL:y bob2:CL:z\nauth strong\nallow a,bob*\nproxy\n",
            "users a:CL:x bob:CL:y\nauth strong\nallow a,bob:CL:y\nproxy\n",
        ] {
            check("user-never-admitted", text);
        }
        let users = [("u", "a:CL:x b:CL:y")];
        check_with("user-never-admitted", "users $u\nauth strong\nallow a\nproxy\n", &users);
    }

    #[test]
    fn another_number_is_another_user() {
        check(
            "user-never-admitted",
            "users user1:CL:x user2:CL:y\n#                ^ `user2`\nauth strong\nallow user1,user3\nproxy\n",
        );
    }

    #[test]
    fn each_user_is_told_once() {
        check(
            "user-never-admitted",
            "users a:CL:x b:CL:y c:CL:z b:CL:y\n#            ^ `b`\n#                   ^ `c`\nauth strong\nallow a\nproxy\nsocks\ndeny c\nproxy -p2\n",
        );
    }
}
