//! `fakeresolve-order`
use super::rule::{Lint, rule};
use crate::{
    finding::Finding,
    fix::Fix,
    options::Runner,
    program::history::{Faked, Overwritten},
    sources::Loc,
};

rule! {
    /// `fakeresolve` is in a place where it affects too much, or nothing.
    ///
    /// From its line on every name is 127.0.0.2, the name of a parent, too (not for `cfgc run`). So the parents come first:
    ///
    /// ```3proxy,fires
    /// fakeresolve
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// parent 1000 socks5+ parent.example.com 1080
    /// proxy
    /// ```
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// parent 1000 socks5+ parent.example.com 1080
    /// fakeresolve
    /// proxy
    /// ```
    ///
    /// A name server after it switches it off:
    ///
    /// ```3proxy,fires
    /// fakeresolve
    /// nserver 192.0.2.53
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// parent 1000 socks5+ 192.0.2.10 1080
    /// proxy
    /// ```
    ///
    /// ```3proxy,fixed
    /// nserver 192.0.2.53
    /// fakeresolve
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// parent 1000 socks5+ 192.0.2.10 1080
    /// proxy
    /// ```
    "fakeresolve-order",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    if let Some(unfaked) = &program.history.unfaked {
        let finding = switched_off(lint, unfaked);
        lint.report(finding);
    }
    // `cfgc run` never makes up a parent's address.
    let faked_parents = program.history.faked_parents.iter().filter(|_| lint.options.runner != Runner::Cfgc);
    for parent in faked_parents.copied().collect::<Vec<_>>() {
        lint.report(faked(parent));
    }
}

fn faked(Faked { at, by }: Faked) -> Finding {
    RULE.finding(at, "this parent's name is resolved to 127.0.0.2, because `fakeresolve` is above it")
        .label("its name is not resolved")
        .also(by, "fakes every name from here on")
        .help("move `fakeresolve` below the parents, or write the parent's address")
}

fn switched_off(lint: &Lint<'_>, Overwritten { old, new }: &Overwritten<Loc>) -> Finding {
    RULE.finding(*old, "`fakeresolve` has no effect, because a later `nserver` switches it off")
        .label("names are still resolved")
        .also(*new, "asks this server from here on")
        .help("move `fakeresolve` below the `nserver` lines")
        .fix(moved(lint, *old))
}

/// Moves the `nserver` lines that follow above a `fakeresolve`.
fn moved(lint: &Lint<'_>, line: Loc) -> Option<Fix> {
    let behind = lint.program.commands.iter().skip_while(|command| command.at != line);
    let servers: Vec<Loc> =
        behind.filter(|command| command.row.name == "nserver").map(|command| command.at).collect();
    Fix::move_above(lint.sources, "move the name servers above it", &servers, line)
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn what_is_in_force_at_the_end_counts() {
        for text in [
            "fakeresolve\nnserver 192.0.2.53\nfakeresolve\nproxy\n",
            "nserver 192.0.2.53\nfakeresolve\nproxy\n",
            "fakeresolve\nallow *\nparent 1000 socks5+ 192.0.2.1 1080\nproxy\n",
            "fakeresolve\nnserver 192.0.2.53\nnserver 192.0.2.54\nfakeresolve\nproxy\n",
        ] {
            check("fakeresolve-order", text);
        }
    }

    #[test]
    fn each_parent_is_told_once() {
        check(
            "fakeresolve-order",
            r"
fakeresolve
allow *
parent 500 socks5+ a.example.com 1080
#^ resolved to 127.0.0.2
parent 500 socks5+ 192.0.2.1 1080
proxy
socks
redirect b.example.com 3128
#^ resolved to 127.0.0.2
auto
",
        );
    }
}
