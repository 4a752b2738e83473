//! `setgid` behind `setuid`.
use super::rule::{Lint, rule};
use crate::fix::Fix;

rule! {
    /// `setgid` after `setuid` fails, because the privilege to change the group is gone.
    ///
    /// 3proxy then refuses the file, unless it is started as that user anyway.
    ///
    /// ```3proxy,fires
    /// setuid 65534
    /// setgid 65534
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,fixed
    /// setgid 65534
    /// setuid 65534
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// chroot /var/lib/3proxy 65534 65534
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "setgid-after-setuid",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    reads: Sequence,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let mut user = None;
    let mut found = Vec::new();
    for ran in &lint.program.commands {
        match (ran.row.name, user) {
            ("setuid", None) => user = Some(ran.at),
            ("setgid", Some(before)) => found.push((ran.at, before)),
            _ => {}
        }
    }
    for (at, before) in found {
        let title = "move `setgid` above `setuid`";
        lint.report(
            RULE.finding(at, "`setgid` comes after `setuid`, which has given up the privilege that it needs")
                .label("fails here")
                .also(before, "gives up the privilege")
                .help(title)
                .fix(Fix::move_above(lint.sources, title, &[at], before)),
        );
    }
}
