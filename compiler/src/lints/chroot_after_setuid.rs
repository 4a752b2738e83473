//! `chroot` behind `setuid`.
use super::{
    privileges::{argument, gives_up},
    rule::{Lint, rule},
};
use crate::fix::Fix;

rule! {
    /// `chroot` after `setuid` fails, because the privilege to change the root folder is gone.
    ///
    /// 3proxy then refuses the file. Started as a user without that privilege, it refuses any `chroot`.
    ///
    /// ```3proxy,fires
    /// setgid 65534
    /// setuid 65534
    /// chroot /var/lib/3proxy
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,fixed
    /// setgid 65534
    /// chroot /var/lib/3proxy
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
    "chroot-after-setuid",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    reads: Sequence,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    // A second `chroot` does not change the folder.
    let commands = &lint.program.commands;
    let Some(place) = commands.iter().position(|ran| ran.row.name == "chroot") else { return };
    let (before, behind) = commands.split_at(place);
    let Some(user) = before.iter().position(|ran| gives_up(lint, ran)) else { return };
    let (Some(chroot), Some(given_up)) = (behind.first(), before.get(user)) else { return };
    // Its own user may be another one, and what stands between them may name a file.
    let between = before.get(user..).unwrap_or_default();
    let is_plain = between.iter().all(|ran| matches!(ran.row.name, "setuid" | "setgid"))
        && argument(lint, chroot, 1).is_none();
    let title = "move `chroot` above `setuid`";
    let fix = if is_plain { Fix::move_above(lint.sources, title, &[chroot.at], given_up.at) } else { None };
    let finding = RULE
        .finding(chroot.at, "`chroot` comes after `setuid`, which has given up the privilege that it needs")
        .label("fails here")
        .also(given_up.at, "gives up the privilege")
        .help(title)
        .fix(fix);
    lint.report(finding);
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::{check, findings};

    #[test]
    fn only_the_first_chroot_needs_the_privilege() {
        let rest = "auth iponly\nallow *\nproxy -i127.0.0.1\n";
        for lines in [
            "chroot /x\nsetuid 1",
            "chroot /x 1\nchroot /x",
            "chroot /x 1 1\nsetuid 1",
            "setgid 1\nchroot /x",
        ] {
            check("chroot-after-setuid", &format!("{lines}\n{rest}"));
        }
        for (lines, is_fixed) in [
            ("setuid 1\nchroot /x", true),
            ("setuid 1\nsetgid 1\nchroot /x", true),
            ("setuid 1\nlog /x/log D\nchroot /x", false),
            ("setuid 1\nchroot /x 2", false),
        ] {
            let found = findings("chroot-after-setuid", &format!("{lines}\n{rest}"));
            assert_eq!(found.iter().map(|one| one.fix.is_some()).collect::<Vec<_>>(), [is_fixed], "{lines}");
        }
    }
}
