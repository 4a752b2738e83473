//! `admin-exposed`
use super::{
    reach::{Reach, beyond_this_machine},
    rule::{Lint, rule},
    strangers::{Decider, open_without_target},
};
use crate::{
    finding::{Finding, Level},
    program::{
        acl::{Ace, Operation},
        auth::{AuthStep, AuthType},
        service::{Service, ServiceKind},
    },
};

rule! {
    /// The admin page can be reached from other machines without a password.
    ///
    /// It shows the traffic counters and the users' names, and with `writable` the whole configuration, which it can then change.
    ///
    /// ```3proxy,fires
    /// auth none
    /// admin -p8081
    /// ```
    ///
    /// Show it on this machine only, to known addresses, or to users with a password:
    ///
    /// ```3proxy,clean
    /// auth none
    /// admin -p8081 -i127.0.0.1
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// admin -p8082
    /// users alice:CL:wonderland
    /// auth strong
    /// flush
    /// allow alice
    /// admin -p8083
    /// ```
    "admin-exposed",
    level: Deny,
    group: Security,
    since: "0.1.0",
    reads: Admission,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let is_page = |service: &Service| service.kind == ServiceKind::Admin;
    let decider = Decider::new(lint, is_page);
    let exposed = program.services.iter().enumerate().filter(|(_, service)| is_page(service));
    let exposed = exposed.filter_map(|(at, service)| {
        let certified = service.tls.serve.is_some() && service.tls.server.verify.is_some();
        let reach = beyond_this_machine(service).filter(|_| !certified)?;
        let (step, entry) = open_without_target(&decider, at, Operation::Admin)?;
        let ace = entry.and_then(|id| program.acls.ace(id));
        // An entry that lets everyone in since its targets are not compared has a finding of its own.
        let compared = ace.is_none_or(|ace| ace.matcher.targets.is_none());
        compared.then(|| finding(lint, service, reach, step, ace))
    });
    for finding in exposed.collect::<Vec<_>>() {
        lint.report(finding);
    }
}

fn finding(lint: &Lint<'_>, service: &Service, reach: Reach, step: &AuthStep, ace: Option<&Ace>) -> Finding {
    let message = match reach {
        Reach::World => {
            "anyone can open the admin page: it asks for no password and accepts clients from any address"
        }
        Reach::Network => {
            "anyone who can reach the admin page can open it: it asks for no password and accepts any address"
        }
    };
    let mut finding = RULE.finding(service.at, message).label("open");
    if reach == Reach::Network {
        finding.level = Level::Warn;
    }
    finding = match (step.at, ace) {
        (_, Some(ace)) => finding.also(ace.at, "this entry allows anyone"),
        (Some(at), None) if step.kind == AuthType::None => finding.also(at, "`none` asks nothing"),
        (Some(at), None) => finding.also(at, "the access list is empty, so every client is allowed"),
        (None, None) => {
            let told = finding.lacking("auth");
            told.note("There is no `auth` line and no access list, so every client is allowed.")
        }
    };
    if let Some(at) = lint.program.process.writable {
        finding = finding.also(at, "and anyone who opens it can change this file");
    }
    // Under `none` no list is asked.
    finding.help(if step.kind == AuthType::None {
        "listen on this machine only (`-i127.0.0.1`), or write `auth iponly` and list the clients (`allow * 192.168.0.0/16`)"
    } else {
        "listen on this machine only (`-i127.0.0.1`), or list the clients (`allow * 192.168.0.0/16`)"
    })
}

#[cfg(test)]
mod tests {
    use crate::{
        finding::Level,
        lints::tests::{check, findings},
    };

    #[test]
    fn every_way_to_be_exposed_is_found_once() {
        check(
            "admin-exposed",
            "admin\n#^ anyone can open\nauth strong none\nadmin -p81\n#^ anyone\nauth iponly\nallow *\nwritable\nadmin -p82\n#^ anyone\nproxy\n",
        );
        let found = findings("admin-exposed", "admin -i192.168.0.1\n");
        assert_eq!(found.iter().map(|finding| finding.level).collect::<Vec<_>>(), [Level::Warn]);
    }

    #[test]
    fn a_page_that_asks_or_knows_its_clients_is_not_exposed() {
        for text in [
            "admin -i127.0.0.1\n",
            "auth iponly\nallow * 203.0.113.7\nadmin\n",
            "users a:CL:x\nauth strong\nadmin\n",
            "auth iponly\nallow * * 127.0.0.1\nadmin\n",
            "auth iponly\ndeny *\nadmin\n",
        ] {
            check("admin-exposed", text);
        }
    }
}
