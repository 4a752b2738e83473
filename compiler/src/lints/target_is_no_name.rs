//! Targets that no host can have for a name.
use grammar::value::TargetTrap;

use super::rule::{Lint, rule};
use crate::{fix::Safety, program::trap::Trap};

rule! {
    /// A target is a host or an address, not a URL and not a host with a port.
    ///
    /// 3proxy compares the whole item with the name of the host; with a `:` or `/` in it, or a dot before it, it never matches.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// deny * * ads.example:443
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
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    for (item, trap) in lint.traps() {
        if trap == Trap::Target(TargetTrap::NeverAName) {
            let cited = item.cited();
            let finding =
                RULE.finding(item.at, format!("no host is called `{cited}`")).label("never matches");
            lint.report(if cited.starts_with('.') {
                let fix = item.replaced("write `*` before the dot", Safety::Unsafe, format!("*{cited}"));
                finding.help(format!("write `*{cited}` for all names that end so")).fix(fix)
            } else {
                finding.help("write the host alone here, and a port in the field behind it")
            });
        }
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
#        ^ no host is called `.bad.example`
deny * * .ads.*
#        ^ no host is called `.ads.*`
allow *
proxy
",
        );
    }
}
