//! `auth-overwritten`
use grammar::syntax::LineKind;

use super::rule::{Lint, rule};
use crate::{
    finding::{Finding, Level},
    program::{
        auth::{AuthType, Chain},
        history::Overwritten,
    },
    sources::{Loc, Sources},
};

rule! {
    /// A second `auth` line replaces the first, which no service has copied.
    ///
    /// The types of two lines are not combined: only those of the last line are asked. The proxy below asks for no password.
    ///
    /// ```3proxy,fires
    /// users alice:CL:wonderland
    /// auth strong
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// allow alice
    /// proxy
    /// ```
    ///
    /// Both types in one line are asked in turn:
    ///
    /// ```3proxy,clean
    /// users alice:CL:wonderland
    /// auth iponly strong
    /// allow - 10.0.0.0/8
    /// allow alice
    /// proxy
    /// ```
    ///
    /// Chains of different services do no harm, nor does one that asks for more:
    ///
    /// ```3proxy,clean
    /// users alice:CL:wonderland
    /// auth none
    /// auth strong
    /// allow alice
    /// proxy
    /// auth iponly
    /// tcppm 2525 mail.example.com 25
    /// ```
    "auth-overwritten",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    reads: Order,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    for overwritten in &program.history.overwritten_chains {
        let used = program.services.iter().any(|service| service.chain.at == overwritten.new.at);
        if let Some(finding) = finding(overwritten, lint.sources).filter(|_| used) {
            lint.report(finding);
        }
    }
}

/// `None`: no type is lost that asks anything, or a default is replaced.
fn finding(Overwritten { old, new }: &Overwritten<Chain>, sources: &Sources) -> Option<Finding> {
    let kept = |kind: AuthType| new.value.iter().any(|step| step.kind == kind);
    let lost: Vec<AuthType> =
        old.value.iter().map(|step| step.kind).filter(|kind| kind.is_real() && !kept(*kind)).collect();
    let (at, by) = (old.at?, new.at?);
    let weaker = lost.iter().any(|kind| kind.asks_password())
        && !new.value.iter().any(|step| step.kind.asks_password());
    // What stands further up, or in another file, may be a default that is meant to be replaced.
    let together = adjacent(sources, at, by);
    if lost.is_empty() || !together && !weaker {
        return None;
    }
    let words =
        |kinds: &mut dyn Iterator<Item = AuthType>| kinds.map(AuthType::name).collect::<Vec<_>>().join(" ");
    let name = words(&mut lost.iter().copied());
    let both = words(&mut lost.iter().copied().chain(new.value.iter().map(|step| step.kind)));
    let mut finding = RULE
        .finding(at, format!("`{name}` is never asked: a later `auth` line replaces this one"))
        .label("no service has this chain")
        .also(by, "only these types are asked")
        .help(if new.value.iter().any(|step| step.kind == AuthType::None) {
            // Both in one line would let everybody in.
            "remove one of the two lines".to_owned()
        } else {
            format!("write both in one line (`auth {both}`), or remove this one")
        });
    if !together || !weaker {
        finding.level = Level::Warn;
    }
    Some(finding)
}

/// Whether no other command stands between two lines.
fn adjacent(sources: &Sources, first: Loc, second: Loc) -> bool {
    let Some(tree) = sources.get(first.file).map(|source| &source.tree) else { return false };
    let line = |at: Loc| tree.line_at(at.span.start).unwrap_or_default();
    let mut between = (line(first) + 1..line(second)).filter_map(|index| tree.line(index));
    first.file == second.file && !between.any(|line| matches!(line.kind, LineKind::Directive(_)))
}

#[cfg(test)]
mod tests {
    use crate::{
        finding::Level,
        lints::tests::{check, check_with, findings},
    };

    #[test]
    fn a_chain_that_was_copied_or_lost_nothing_is_not_overwritten() {
        for text in [
            "auth strong\nproxy\nauth iponly\nsocks\n",
            "auth strong\nauth strong\nproxy\n",
            "auth strong\nauth cache strong\nproxy\n",
            "auth cache strong\nauth strong\nproxy\n",
            "auth none\nauth iponly\nproxy\n",
            "proxy\nauth strong\nauth iponly\n",
            "auth iponly\nmaxconn 100\nauth strong\nproxy\n",
        ] {
            check("auth-overwritten", text);
        }
        let default = [("default", "auth iponly\n")];
        check_with("auth-overwritten", "include default\nauth strong\nproxy\n", &default);
    }

    #[test]
    fn the_loss_of_a_password_denies() {
        for (text, level) in [
            ("auth strong\nauth iponly\nproxy\n", Level::Deny),
            ("auth radius\nauth none\nproxy\n", Level::Deny),
            ("auth iponly\nauth strong\nproxy\n", Level::Warn),
            ("auth strong\n# or\nauth radius\nproxy\n", Level::Warn),
            ("auth strong\nmaxconn 100\nauth iponly\nproxy\n", Level::Warn),
        ] {
            let found = findings("auth-overwritten", text);
            assert_eq!(found.iter().map(|finding| finding.level).collect::<Vec<_>>(), [level], "{text}");
        }
    }
}
