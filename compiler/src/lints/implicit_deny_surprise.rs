//! `implicit-deny-surprise`
use super::rule::{Lint, rule};
use crate::program::{acl::Action, auth::AuthType};

rule! {
    /// A list that only denies lets nobody pass.
    ///
    /// A request that no entry matches is refused. So a list of `deny` entries needs an `allow` for the rest.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// deny * * *.bad.example
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// deny * * *.bad.example
    /// allow * 10.0.0.0/8
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// A `deny *` says that nobody may pass:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// deny *
    /// proxy -i10.0.0.1
    /// ```
    "implicit-deny-surprise",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    aliases: ["deny-all-missing"],
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    for list in lint.asked_lists().iter() {
        let first = program
            .acls
            .entries(list.acl)
            .position(|(_, ace)| ace.action == Action::Allow || ace.matcher.lists_nothing());
        let denied = list.copies.iter().find(|(at, acl)| {
            // What the list refuses another type of the chain may let pass.
            let chain = program.services.get(*at).map(|service| &service.chain.value);
            let none = chain.is_some_and(|chain| chain.iter().any(|step| step.kind == AuthType::None));
            !none && first.is_none_or(|first| acl.len as usize <= first)
        });
        let Some((service, acl)) = denied.and_then(|(at, acl)| Some((program.services.get(*at)?, acl)))
        else {
            continue;
        };
        if let Some(last) = program.acls.ace(acl.last) {
            lint.report(
                RULE.finding(last.at, "every request is refused, because no entry of this list allows one")
                    .label("the last entry; requests that no entry matches are refused after it")
                    .also(service.at, "by this service")
                    .help("write an `allow` for the rest after it, such as `allow * 10.0.0.0/8`"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn each_copy_of_a_list_is_a_list() {
        check(
            "implicit-deny-surprise",
            r"
internal 127.0.0.1
deny * 10.0.0.1
deny * 10.0.0.2
#^ every request is refused
proxy
allow *
socks
flush
deny * 10.0.0.1
allow alice
proxy -p3129
auth strong none
flush
deny mallory
proxy -p3130
",
        );
    }
}
