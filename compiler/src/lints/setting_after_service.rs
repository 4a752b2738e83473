//! Settings behind the last service.
use std::collections::HashSet;

use grammar::{
    directive::{Effect, Kind},
    syntax::LineKind,
};

use super::rule::{Lint, rule};
use crate::{
    fix::Fix,
    program::{Executed, acl::Action, log::LogTarget},
    sources::{Loc, Sources},
};

rule! {
    /// A setting after the last service has no effect.
    ///
    /// 3proxy runs the file from top to bottom, and a service starts with a copy of the settings in effect at its line.
    /// A chain, a list, an address or a log that follows comes too late: the proxy below is open to everyone.
    ///
    /// ```3proxy,fires
    /// users "alice:CL:correct horse"
    /// proxy -i192.168.0.1
    /// auth strong
    /// allow alice
    /// ```
    ///
    /// Settings first, service last:
    ///
    /// ```3proxy,fixed
    /// users "alice:CL:correct horse"
    /// auth strong
    /// allow alice
    /// proxy -i192.168.0.1
    /// ```
    ///
    /// The fix is not applied by default, because it changes what the service does.
    ///
    /// What all services share may be anywhere (`users`, limits, name servers), and so may settings for a later service:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// proxy -i192.168.0.1
    /// auth strong
    /// flush
    /// allow alice
    /// socks -i192.168.0.1
    /// users "alice:CL:correct horse"
    /// bandlimin 1000000 alice
    /// flush
    /// ```
    ///
    /// What only switches off again for later services is harmless there, as the end of a block that generators write:
    ///
    /// ```3proxy,clean
    /// users "alice:CL:correct horse"
    /// ssl_server_cert server.crt
    /// ssl_server_key server.key
    /// ssl_serv
    /// auth strong
    /// allow alice
    /// proxy -i192.168.0.1
    /// ssl_noserv
    /// auth none
    /// flush
    /// ```
    "setting-after-service",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    aliases: ["setting-after-last-service"],
    parts: ["authcache-after-service", "maxconn-before-service", "tls-setting-after-service"],
    reads: Behind,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let Some(last) = lint.program.services.last() else { return };
    // 3proxy has one log file for all services: a later `log` renames what an earlier one opened.
    let logs = lint.program.unknown.lines
        || lint.program.services.iter().any(|service| service.log.target.value != LogTarget::Nowhere);
    // A fix would have to cite what it moves, and half of a list is worse than none.
    let secret = lint.program.behind_services.iter().any(|command| holds_secret(lint.sources, command));
    let first = first_of_the_last(lint).filter(|_| !secret);
    let unflushed = before_flush(lint);
    for (name, lines) in settings(lint, logs) {
        let [at, rest @ ..] = lines.as_slice() else { continue };
        let (what, it) = match rest {
            [] => (format!("`{name}`"), format!("`{name}`")),
            _ => ("this access list".to_owned(), "the list".to_owned()),
        };
        let mut finding = RULE
            .finding(*at, format!("{what} comes after the last service, so no service uses it"))
            .part(part(name))
            .label("has no effect here")
            .also(last.at, "the last service starts here, with a copy of what was set above")
            .help(format!("move {it} above the service that it is meant for"));
        if let Some(end) = rest.last() {
            finding = finding.also(*end, format!("the last of its {} lines", lines.len()));
        }
        let title = "move it above the service";
        // Above a `flush` it would be for services that it was not meant for.
        let is_above = lines.last().is_some_and(|last| unflushed.contains(last));
        // 3proxy refuses a parent that follows a `deny`.
        let follows_deny = || {
            let ace = last.acl.and_then(|acl| lint.program.acls.ace(acl.last));
            name == "parent" && ace.is_none_or(|ace| ace.action == Action::Deny)
        };
        let fix = first
            .filter(|_| is_above && !follows_deny())
            .and_then(|first| Fix::move_above(lint.sources, title, &lines, first));
        lint.report(finding.fix(fix));
    }
}

/// The rule that was for this command alone.
fn part(command: &str) -> Option<&'static str> {
    match command {
        "authcache" => Some("authcache-after-service"),
        "maxconn" => Some("maxconn-before-service"),
        _ => command.starts_with("ssl_").then_some("tls-setting-after-service"),
    }
}

/// Commands that put back what a configuration starts with.
const RESETS: [&str; 6] =
    ["noforce", "ssl_nocli", "ssl_noclient", "ssl_nomitm", "ssl_noserv", "ssl_noserver"];

/// The commands between the last service and the first `flush` behind it.
fn before_flush(lint: &Lint<'_>) -> HashSet<Loc> {
    let behind = lint.program.behind_services.iter();
    behind.take_while(|command| command.row.name != "flush").map(|command| command.at).collect()
}

/// What stands behind the last service, by what it sets: the lines of the access list are one.
fn settings(lint: &Lint<'_>, logs: bool) -> Vec<(&'static str, Vec<Loc>)> {
    let mut settings: Vec<(&str, Vec<Loc>)> = Vec::new();
    let mut list: Option<usize> = None;
    let behind = &lint.program.behind_services;
    let has_list = behind.iter().any(|command| command.row.effect == Effect::Acl);
    for command in behind {
        let Executed { at, row } = command;
        let is_flush = row.name == "flush";
        if is_flush && list.is_none() || row.name == "log" && logs || switches_off(lint, command, has_list) {
            continue;
        }
        let of_list = is_flush || row.effect == Effect::Acl;
        match list.filter(|_| of_list).and_then(|list| settings.get_mut(list)) {
            Some((_, lines)) => lines.push(*at),
            None => {
                list = if of_list { Some(settings.len()) } else { list };
                settings.push((row.name, vec![*at]));
            }
        }
    }
    settings
}

/// Whether the line only takes back what an earlier one set for the services above it. An `auth none` with a list behind the last
/// service, if there is one (`has_list`), is for a service and came too late as well.
fn switches_off(lint: &Lint<'_>, command: &Executed, has_list: bool) -> bool {
    let values = lint.sources.values(command.at);
    match values.split_first().map(|(_, arguments)| arguments) {
        Some([(_, kind)]) if command.row.name == "auth" => **kind == *b"none" && !has_list,
        Some([]) => RESETS.contains(&command.row.name),
        _ => false,
    }
}

/// The first of the services that stand together, with no other command between them, at the end of the script.
fn first_of_the_last(lint: &Lint<'_>) -> Option<Loc> {
    let mut services = lint.program.services.iter().rev().map(|service| service.at);
    let mut first = services.next()?;
    let tree = &lint.sources.get(first.file)?.tree;
    let index = |at: Loc| tree.line_at(at.span.start).unwrap_or_default();
    for earlier in services {
        let mut between = (index(earlier) + 1..index(first)).filter_map(|index| tree.line(index));
        let stops = between.any(|line| matches!(line.kind, LineKind::Directive(_)));
        if stops || earlier.file != first.file {
            break;
        }
        first = earlier;
    }
    Some(first)
}

/// Whether a password or shared secret stands in the line.
fn holds_secret(sources: &Sources, Executed { at, row }: &Executed) -> bool {
    let words = sources.words(*at);
    (0..words.len().saturating_sub(1))
        .any(|argument| row.parameter(argument).is_some_and(|parameter| parameter.kind == Kind::Secret))
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::{check, check_with, findings};

    #[test]
    fn each_setting_is_named() {
        check(
            "setting-after-service",
            r"
proxy -p3388
socks -p3389
auth cache strong
#^ `auth` comes after the last service
users user1:CL:pass1
allow user1
#^ this access list comes after
external 192.0.2.9
#^ `external` comes after
maxconn 256
#^ `maxconn` comes after
flush
deny *
",
        );
    }

    #[test]
    fn a_fix_moves_nothing_over_a_flush() {
        for (lines, fixed) in [
            ("allow a", true),
            ("allow a\nallow b\nauth strong", true),
            ("flush\nallow a", false),
            ("flush\nmaxconn 5", false),
            ("allow a\nflush\nallow b", false),
        ] {
            let found = findings("setting-after-service", &format!("allow *\nproxy\n{lines}\n"));
            assert!(!found.is_empty(), "{lines}");
            assert!(found.iter().all(|finding| finding.fix.is_some() == fixed), "{lines}: {found:#?}");
        }
    }

    #[test]
    fn a_parent_is_not_moved_behind_a_deny() {
        for (last, fixed) in [("allow a", true), ("deny *", false)] {
            let text = format!("allow b\n{last}\nproxy\nparent 1000 extip 192.0.2.1 0\n");
            let found = findings("setting-after-service", &text);
            let [finding] = found.as_slice() else { panic!("{last}: {found:#?}") };
            assert_eq!(finding.fix.is_some(), fixed, "{last}");
        }
    }

    #[test]
    fn what_switches_off_is_harmless() {
        for reset in [
            "noforce",
            "ssl_nocli",
            "ssl_noclient",
            "ssl_nomitm",
            "ssl_noserv",
            "ssl_noserver",
            "auth none",
            "flush",
        ] {
            check("setting-after-service", &format!("proxy\n{reset}\n"));
            check("setting-after-service", &format!("proxy\n{reset}\nssl_noserv\nauth none\nflush\n"));
        }
        check(
            "setting-after-service",
            r"
proxy
ssl_noserv
ssl_serv
#^ `ssl_serv` comes after
force
#^ `force` comes after
",
        );
        // Whoever writes a list wants it used: with this chain.
        check(
            "setting-after-service",
            "\nproxy\nauth none\n#^ `auth` comes after\nallow *\n#^ `allow` comes after\n",
        );
    }

    #[test]
    fn a_second_log_renames_the_first() {
        check("setting-after-service", "log /var/log/a D\nproxy\nlog /var/log/b D\n");
        check(
            "setting-after-service",
            "proxy\nlog /var/log/b D\n#^ `log` comes after the last service\nlogformat L%U\n#^ `logformat`\n",
        );
    }

    #[test]
    fn a_password_is_not_cited_by_the_fix() {
        check(
            "setting-after-service",
            r"
proxy
allow *
#^ this access list comes after the last service
parent 1000 http 192.0.2.1 3128 user hunter2
",
        );
        let text = "proxy\nallow *\nparent 1000 http 192.0.2.1 3128 user hunter2\n";
        let found = findings("setting-after-service", text);
        assert!(!format!("{found:?}").contains("hunter2"), "{found:#?}");
    }

    #[test]
    fn a_fragment_without_a_service_is_not_judged() {
        check("setting-after-service", "auth strong\nallow alice\n");
    }

    #[test]
    fn the_order_is_that_of_the_script_not_of_the_file() {
        check_with("setting-after-service", "include a\nproxy\n", &[("a", "auth strong\n")]);
        check_with(
            "setting-after-service",
            "include a\nallow alice\n#^ `allow` comes after\n",
            &[("a", "proxy\n")],
        );
    }
}
