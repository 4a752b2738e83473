//! Targets that no host can have for a name.
use grammar::value::TargetTrap;

use super::rule::{Misread, rule};
use crate::{finding::Finding, fix::Safety, program::trap::Trap};

rule! {
    /// A target is a host or an address, not a URL and not a host with a port.
    ///
    /// 3proxy compares the whole item with the name of the host; with a `:` or `/` in it, or a dot before or after it, it never matches.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// deny * * ads.example:443
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// deny * * ads.example.
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// ```3proxy,fixed
    /// auth iponly
    /// deny * * ads.example
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// deny * * ads.example 443
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "target-is-no-name",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    trap: Trap::Target(TargetTrap::NeverAName) => finding,
}

fn finding(item: Misread<'_>) -> Finding {
    let cited = item.cited();
    let finding = RULE.finding(item.at, format!("no host has the name `{cited}`")).label("never matches");
    let closed = cited.trim_end_matches('.');
    if cited.starts_with('.') && !closed.is_empty() {
        let fix = item.replaced("write `*` before the dot", Safety::Unsafe, format!("*{closed}"));
        finding.help(format!("write `*{closed}` for all names with this ending")).fix(fix)
    } else if closed.len() < cited.len() && !matches!(closed, "" | "*") {
        let fix = item.replaced("take the last dot out", Safety::Unsafe, closed);
        finding
            .note("The dot at the end of a name that a client asks for is dropped before it is compared.")
            .help(format!("write `{closed}`"))
            .fix(fix)
    } else if cited.starts_with('$') {
        finding
            .note("Within quotes, `$` has no special meaning, so no file is read.")
            .help("write the `$` of a file before the quotes, or without any: `$\"/etc/3proxy/list\"`")
    } else {
        finding.help("write only the host here, and the port in the next field")
    }
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn no_name_begins_with_a_dot() {
        check(
            "target-is-no-name",
            r"
internal 127.0.0.1
deny * * .bad.example,*.bad.example,*.worse.*,bad.example
#        ^ no host has the name `.bad.example`
deny * * .ads.*
#        ^ no host has the name `.ads.*`
deny * * worst.example.,www.*,*.worst.example.
#        ^ no host has the name `worst.example.`
#                             ^ no host has the name `*.worst.example.`
allow *
proxy
",
        );
    }
}
