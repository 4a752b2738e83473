//! A log file that is opened before the user changes.
use grammar::{
    directive::Effect,
    value::{Rotation, rotation},
};

use super::rule::{Lint, rule};

rule! {
    /// A log that is opened before `setuid` belongs to the user that 3proxy was started as.
    ///
    /// The first file opens, as root. When the next one is due, by its rotation, the new user may not be able to create it, and nothing
    /// is logged any more.
    ///
    /// ```3proxy,fires
    /// log /var/log/3proxy/3proxy.log D
    /// setuid 65534
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right, if the user may write in that folder:
    ///
    /// ```3proxy,clean
    /// setgid 65534
    /// setuid 65534
    /// log /var/log/3proxy/3proxy.log D
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "log-before-setuid",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    reads: Order,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let rotates = |at| {
        let words = lint.sources.values(at);
        let file = words.get(1).is_some_and(|(_, name)| !matches!(name.first(), Some(b'@' | b'&')));
        let letter = words.get(2).map(|(_, letter)| rotation(letter));
        file && letter.is_some_and(|letter| letter != Rotation::Never)
    };
    let mut log = None;
    let mut found = None;
    let mut has_services = false;
    for ran in &program.commands {
        match (ran.row.name, log) {
            ("log", _) if rotates(ran.at) => log = Some(ran.at),
            // One that follows opens its files as the new user.
            ("log", _) => log = None,
            ("setuid", Some(at)) => found = found.or(Some((at, ran.at, has_services))),
            _ => has_services |= ran.row.effect == Effect::Service,
        }
    }
    if let Some((log, user, is_behind)) = found {
        // Behind the services no `log` is theirs.
        let help = if is_behind {
            "give that user the folder: `chown -R USER FOLDER`"
        } else {
            "move `log` below `setuid`, and give that user the folder: `chown -R USER FOLDER`"
        };
        lint.report(
            RULE.finding(log, "this log is opened before `setuid`, and its next file after it")
                .label("opened as the user that started 3proxy")
                .also(user, "the next file is created by this user")
                .help(help),
        );
    }
}
