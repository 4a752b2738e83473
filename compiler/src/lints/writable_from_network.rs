//! A configuration that can be rewritten from other machines.
use super::{
    reach::beyond_this_machine,
    rule::{Lint, rule},
    strangers::{Decider, open_without_target},
};
use crate::{
    finding::Finding,
    program::{
        acl::{Acls, Action, AddressRange, Operation},
        service::{Service, ServiceKind},
    },
    sources::Loc,
};

rule! {
    /// Anyone whom the admin page admits can rewrite this file, also from other machines.
    ///
    /// With `writable` the page shows the file with its passwords and takes a new one, over plain HTTP. A new file may open the
    /// proxy, send its traffic elsewhere, or run commands (`system`, `plugin`) as the user that 3proxy runs as. Users of the
    /// proxy should not be able to do that.
    ///
    /// ```3proxy,fires
    /// writable
    /// users "alice:CL:correct horse"
    /// auth strong
    /// allow alice
    /// proxy -i192.168.0.1
    /// admin -i192.168.0.1 -p8081
    /// ```
    ///
    /// Show the page on this machine only, or remove `writable`:
    ///
    /// ```3proxy,clean
    /// writable
    /// users "alice:CL:correct horse"
    /// auth strong
    /// allow alice
    /// proxy -i192.168.0.1
    /// admin -i127.0.0.1 -p8081
    /// ```
    "writable-from-network",
    level: Warn,
    group: Security,
    since: "0.1.0",
    reads: Admission,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let Some(writable) = program.process.writable else { return };
    let is_page = |service: &Service| service.kind == ServiceKind::Admin;
    let decider = Decider::new(lint, is_page);
    let shown = program.services.iter().enumerate().find(|(at, service)| {
        let certified = service.tls.serve.is_some() && service.tls.server.verify.is_some();
        // One that is open to strangers has a finding of its own.
        is_page(service)
            && !certified
            && beyond_this_machine(service).is_some()
            && admits_others(&program.acls, service)
            && open_without_target(&decider, *at, Operation::Admin).is_none()
    });
    if let Some((_, service)) = shown {
        lint.report(finding(writable, service));
    }
}

/// Whether the list of the page may let clients of other machines in.
fn admits_others(acls: &Acls, service: &Service) -> bool {
    let Some(acl) = service.asked_list() else { return true };
    let is_far = |range: &AddressRange| !(range.first.is_loopback() && range.last.is_loopback());
    acls.entries(acl).any(|(_, ace)| {
        let matcher = &ace.matcher;
        ace.action == Action::Allow
            && !matcher.is_refused()
            && matcher.operations.is_none_or(|listed| listed.has(Operation::Admin))
            && matcher.sources.as_deref().is_none_or(|sources| sources.iter().any(is_far))
    })
}

fn finding(writable: Loc, service: &Service) -> Finding {
    let mut finding = RULE
        .finding(
            writable,
            "anyone whom the admin page admits can rewrite this file, also from other machines",
        )
        .label("allows the page to write")
        .also(service.at, "can be reached from other machines");
    let password = service.chain.value.iter().find(|step| step.kind.asks_password());
    if let Some(at) = password.filter(|_| service.acl.is_none()).and_then(|step| step.at) {
        finding = finding.also(at, "its access list is empty, so it admits every user");
    }
    finding.help("listen on this machine only (`-i127.0.0.1`), or remove `writable`")
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn pages_that_a_password_guards_are_told_of() {
        check(
            "writable-from-network",
            r"
users alice:CL:x
auth strong
flush
writable
#^ anyone whom the admin page admits can rewrite this file
admin -p8081
",
        );
        for quiet in [
            "auth none\nwritable\nadmin -p8081\n",
            "auth iponly\nallow * 127.0.0.1\nwritable\nadmin -i127.0.0.1\n",
            "auth strong\nallow a\nadmin -p8081\n",
            "auth iponly\nallow * 127.0.0.1\nwritable\nadmin -p8081\n",
            "auth strong\ndeny *\nwritable\nadmin -p8081\n",
            "auth strong\nallow a\nwritable\nproxy\n",
        ] {
            check("writable-from-network", quiet);
        }
    }
}
