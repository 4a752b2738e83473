//! `parent-plus-without-fakeresolve`
use super::rule::{Lint, rule};
use crate::program::{
    acl::{Parent, ParentKind},
    resolve::ResolverMode,
};

rule! {
    /// A parent gets host names, but 3proxy still resolves them first.
    ///
    /// It needs the address for its access list. So each name is asked for here, too: that takes time, tells the name servers of this
    /// machine where clients go, and fails for names that only the parent can resolve. `fakeresolve` leaves names to the parent.
    ///
    /// ```3proxy,fires
    /// nserver 192.0.2.53
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// parent 1000 socks5+ 192.0.2.10 1080
    /// proxy
    /// ```
    ///
    /// Use instead, if no entry compares addresses of targets:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// parent 1000 socks5+ 192.0.2.10 1080
    /// fakeresolve
    /// proxy
    /// ```
    "parent-plus-without-fakeresolve",
    level: Allow,
    group: Performance,
    since: "0.1.0",
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    if program.resolver.mode.value == ResolverMode::Fake {
        return;
    }
    let told = |parent: &&Parent| {
        let name = matches!(
            parent.kind,
            ParentKind::Http | ParentKind::ConnectName | ParentKind::Socks4Name | ParentKind::Socks5Name
        );
        name && !parent.is_local()
    };
    let Some(parent) = program.acls.parents.iter().find(told) else { return };
    let finding = RULE
        .finding(parent.at, "the names sent to this parent are resolved here first")
        .label("resolves names itself")
        .help("write `fakeresolve` above the services, if no entry compares addresses of targets");
    lint.report(finding);
}
