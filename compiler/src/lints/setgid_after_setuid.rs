//! `setgid` behind `setuid`.
use super::{
    privileges::{argument, gives_up},
    rule::{Lint, rule},
};
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
    // The group that it is already may be set again.
    let (mut user, mut group) = (None, None);
    let mut found = Vec::new();
    for ran in &lint.program.commands {
        let sets = match ran.row.name {
            "setgid" => argument(lint, ran, 0),
            "chroot" => argument(lint, ran, 2),
            _ => None,
        };
        match user {
            Some(before) if ran.row.name == "setgid" && sets != group => found.push((ran.at, before)),
            _ => group = sets.or(group),
        }
        if user.is_none() && gives_up(lint, ran) {
            user = Some(ran);
        }
    }
    for (at, before) in found {
        let name = before.row.name;
        let title = format!("move `setgid` above `{name}`");
        lint.report(
            RULE.finding(
                at,
                format!("`setgid` comes after `{name}`, which has given up the privilege that it needs"),
            )
            .label("fails here")
            .also(before.at, "gives up the privilege")
            .help(title.clone())
            .fix(Fix::move_above(lint.sources, title, &[at], before.at)),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn a_chroot_with_a_user_gives_up_the_privilege_too() {
        let rest = "auth iponly\nallow *\nproxy -i127.0.0.1\n";
        for (lines, fires) in [
            ("chroot /x 1", true),
            ("chroot /x 1 2", true),
            ("chroot /x", false),
            ("chroot /x 1 1", false),
            ("setgid 1\nsetuid 1", false),
            ("setgid 2\nsetuid 1", true),
        ] {
            let mark = if fires { "#^ has given up the privilege\n" } else { "" };
            check("setgid-after-setuid", &format!("{lines}\nsetgid 1\n{mark}{rest}"));
        }
    }
}
