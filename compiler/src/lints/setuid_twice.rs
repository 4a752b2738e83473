//! A second user.
use super::{
    privileges::{argument, gives_up},
    rule::{Lint, rule},
};
use crate::program::Executed;

rule! {
    /// A second `setuid` fails, because the first has given up the privilege to change the user.
    ///
    /// 3proxy then refuses the file.
    ///
    /// ```3proxy,fires
    /// setuid 65534
    /// setuid 1000
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// setgid 1000
    /// setuid 1000
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "setuid-twice",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let place = |name: &str| if name == "setuid" { 0 } else { 1 };
    let users = lint.program.commands.iter().filter(|ran| gives_up(lint, ran));
    // Quotes change nothing of a name.
    let user = |ran: &Executed| -> Option<Vec<u8>> {
        let word = argument(lint, ran, place(ran.row.name))?;
        Some(word.iter().copied().filter(|byte| *byte != b'"').collect())
    };
    let users: Vec<_> = users.filter_map(|ran| Some((ran, user(ran)?))).collect();
    let Some((first, before)) = users.first() else { return };
    // Of a second `chroot`, and of root, other rules tell.
    let mut behind = users.iter().filter(|(ran, _)| ran.row.name == "setuid" && ran.at != first.at);
    let Some((second, _)) = behind.find(|(_, user)| are_others(before, user) && user != b"0") else { return };
    let name = first.row.name;
    lint.report(
        RULE.finding(
            second.at,
            format!("`setuid` comes after `{name}`, which has given up the privilege that it needs"),
        )
        .label("fails here")
        .also(first.at, "already changes the user")
        .help("write the user that is meant in one of them, and remove the other `setuid`"),
    );
}

/// Whether two users are certainly not the same: a name may have any number.
fn are_others(one: &[u8], other: &[u8]) -> bool {
    let is_number = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
    let is_word = |text: &[u8]| text.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(byte));
    one != other && is_word(one) && is_word(other) && is_number(one) == is_number(other)
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn only_another_user_fails() {
        let rest = "auth iponly\nallow *\nproxy -i127.0.0.1\n";
        for (lines, fires) in [
            ("setuid 1\nsetuid 2", true),
            ("setuid nobody\nsetgid 1\nsetuid proxy", true),
            ("chroot /x 1 1\nsetuid 2", true),
            ("setuid 1\nsetuid 1", false),
            ("setuid 1\nsetuid 0", false),
            ("setuid nobody\nsetuid 65534", false),
            ("setuid 65534\nsetuid \"65534\"", false),
            ("chroot /x\nsetuid 2", false),
            ("chroot /x nobody nogroup\nsetuid nobody", false),
            ("setgid 1\nsetgid 2\nsetuid 2", false),
        ] {
            let mark = if fires { "#^ has given up the privilege\n" } else { "" };
            check("setuid-twice", &format!("{lines}\n{mark}{rest}"));
        }
    }
}
