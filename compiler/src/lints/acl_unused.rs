//! `acl-unused`
use super::rule::{Lint, rule};
use crate::program::acl::AceId;

rule! {
    /// A `flush` throws entries away before any service has copied them.
    ///
    /// A service copies the list in effect at its line. Entries between a service and the next `flush` belong to no service; often they
    /// were meant for the service above them.
    ///
    /// ```3proxy,fires
    /// users alice:CL:wonderland admin:CL:hatter
    /// auth strong
    /// proxy -i10.0.0.1
    /// allow alice
    /// flush
    /// allow admin
    /// admin -i10.0.0.1
    /// ```
    ///
    /// The list first, then its service:
    ///
    /// ```3proxy,clean
    /// users alice:CL:wonderland admin:CL:hatter
    /// auth strong
    /// allow alice
    /// proxy -i10.0.0.1
    /// flush
    /// allow admin
    /// admin -i10.0.0.1
    /// ```
    "acl-unused",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    reads: Order,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let place = |id: Option<&AceId>| id.and_then(|id| program.acls.ace(*id)).map(|ace| ace.at);
    for flush in program.flushes.iter().filter(|_| !program.services.is_empty()) {
        let unused = program.acls.unused(flush);
        let Some(first) = place(unused.first()) else { continue };
        let mut finding = RULE
            .finding(first, "no service uses this entry: it is discarded before a service copies the list")
            .label("used by no service");
        if let (Some(last), true) = (place(unused.last()), unused.len() > 1) {
            finding = finding.also(last, format!("the last of {} such entries", unused.len()));
        }
        finding = finding.also(flush.at, "discarded here");
        let before =
            |at| program.services.iter().rev().map(|service| service.at).find(|service| *service < at);
        if let Some(service) = before(first).filter(|_| flush.copied > 0 || is_first(lint, flush.list)) {
            finding = finding.also(service, "this service already has its copy");
        }
        lint.report(
            finding.help("move the entries above the service that they are meant for, or remove them"),
        );
    }
}

/// Whether no service copied anything of a list.
fn is_first(lint: &Lint<'_>, list: Option<crate::program::acl::ListId>) -> bool {
    list.is_some() && !lint.program.services.iter().any(|service| service.acl.map(|acl| acl.list) == list)
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn what_a_service_copied_is_used() {
        check(
            "acl-unused",
            r"
internal 127.0.0.1
flush
allow * 10.0.0.1
#^ no service uses this entry
deny *
flush
allow * 10.0.0.0/8
proxy
allow * 10.1.0.0/16
#^ no service uses this entry
flush
allow *
nolog
socks
",
        );
        check("acl-unused", "allow alice\nflush\n");
    }
}
