//! `open-proxy`
use super::{
    reach::{Reach, is_mail, reach},
    rule::{Lint, rule},
    strangers::{Decider, Stranger, Strangers},
};
use crate::{
    finding::{Finding, Level},
    program::{
        Program,
        auth::{AuthStep, AuthType},
        service::Service,
    },
};

rule! {
    /// Anyone who can reach this service can use it, from any address, without a password.
    ///
    /// Open proxies are found within hours and used to send spam, to attack others and to hide; the owner of the address answers
    /// for it. Limit the clients' addresses, ask for passwords, or listen on an address that only clients reach.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow *
    /// proxy
    /// ```
    ///
    /// Without an `auth` line and with an empty list a service is open, too:
    ///
    /// ```3proxy,fires
    /// socks -p1080
    /// ```
    ///
    /// Limited to the clients' addresses, to users with a password, or to this machine:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8,192.168.0.0/16
    /// proxy
    /// flush
    /// users alice:CL:wonderland
    /// auth strong
    /// allow alice
    /// socks
    /// flush
    /// auth none
    /// proxy -p3129 -i127.0.0.1
    /// tcppm 2525 mail.example.com 25
    /// ```
    "open-proxy",
    level: Deny,
    group: Security,
    since: "0.1.0",
    reads: Admission,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let decider = Decider::new(lint, |service| reach(service).is_some());
    let mut strangers = Strangers::new(lint.options.runner);
    let exposed = program.services.iter().enumerate().filter_map(|(at, service)| {
        let reach = reach(service)?;
        let (step, stranger) = strangers.open(&decider, at)?;
        Some(finding(program, service, reach, step, &stranger))
    });
    for finding in exposed.collect::<Vec<_>>() {
        lint.report(finding);
    }
}

fn finding(
    program: &Program,
    service: &Service,
    reach: Reach,
    step: &AuthStep,
    Stranger { witness, entry }: &Stranger,
) -> Finding {
    let message = match reach {
        Reach::World => {
            "anyone can use this service: it asks for no password and accepts clients from any address"
        }
        Reach::Network => {
            "anyone who can reach this service can use it: it asks for no password and accepts any address"
        }
    };
    let mut finding = RULE.finding(service.at, message).label("open");
    // A private address is no open door by itself, but a forwarded port makes it one; a mail proxy speaks mail only.
    if reach == Reach::Network || is_mail(service.kind) {
        finding.level = Level::Warn;
    }
    if let Some(ace) = entry.and_then(|id| program.acls.ace(id)) {
        finding = finding.also(ace.at, "this entry allows anyone");
    }
    finding = match step.at {
        Some(at) if step.kind == AuthType::None => finding.also(at, "`none` asks nothing"),
        Some(at) if entry.is_none() => {
            finding.also(at, "the access list is empty, so every client is allowed")
        }
        Some(at) => finding.also(at, format!("`{}` asks for no password", step.kind.name())),
        None if entry.is_none() => {
            let told = finding.lacking("auth");
            told.note("There is no `auth` line and no access list, so every client is allowed.")
        }
        None => finding.note("There is no `auth` line, so the access list decides alone."),
    };
    if let Some(password) = service.chain.value.iter().find(|step| step.kind.asks_password()) {
        let name = password.kind.name();
        finding = finding
            .note(format!("So no client needs the password that `{name}` of the same chain asks for."));
    }
    if let Some(at) = service.listen.address.at {
        finding = finding.also(at, "it listens here");
    }
    finding.note(format!("For example, {witness} passes.")).help(
        "list the clients (`allow * 10.0.0.0/8`), ask for passwords (`auth strong` with `users`), or listen on this machine only (`-i127.0.0.1`)",
    )
}

#[cfg(test)]
mod tests {
    use crate::{lints::tests::check, sources::MemoryFiles};

    #[test]
    fn lists_of_known_clients_or_targets_are_no_open_door() {
        for acl in [
            "allow * 203.0.113.7,45.33.32.0/24",
            "allow * * www.example.net",
            "allow * * *.example.net,10.0.0.0/8 443",
            "allow alice",
            "deny *",
            "deny * * * *\nallow *",
            "allow * * * * BIND",
            "allow * 203.0.0.0/8,45.0.0.0/8,94.0.0.0/16",
            "allow * * *.example.com,*.lan",
            "allow * * 203.0.113.0/24",
            "deny * * *.*\nallow *",
            "allow * 2001:db8::/32,fd00::/8",
            "deny * 0.0.0.0/1\ndeny * 128.0.0.0/1\nallow *",
            "deny * * * 1-65535\nallow *",
        ] {
            let config = format!("users alice:CL:x\nauth iponly strong\n{acl}\nproxy\nsocks\n");
            check("open-proxy", &config);
        }
    }

    #[test]
    fn every_way_to_be_open_is_found() {
        for open in [
            "auth none\nproxy",
            "auth strong none\nproxy",
            "auth iponly strong\nallow *\nproxy",
            "auth useronly\nallow *\nproxy",
            "deny * 10.0.0.0/8\nallow * 0.0.0.0/0\nsocks",
            "deny * * 127.0.0.0/8,10.0.0.0/8\nallow * * * 1-65535\nauto",
            "allow * * * * * 6,7\nproxy",
            "internal 203.0.113.5\nallow * * * 80-88 HTTP\nproxy",
            "proxy -i0.0.0.0",
            // Whoever says that he is one of those may.
            "auth useronly\nallow bob\nproxy",
            "allow * ::/0\nproxy -i::",
            "allow * 2000::/3\nproxy -i::",
            "allow * 0.0.0.0/0,::ffff:0:0/96\nproxy -i::",
            "allow *\nproxy -i2001:db8::1",
            "deny * * *.net,*.com\nallow *\nproxy",
            "allow * 0.0.0.0/1\nsocks",
            "allow * 128.0.0.0/2\nproxy",
            "allow * * * 1-79,81-442,444-65535\nproxy",
            "allow * * 0.0.0.0/1\nproxy",
            "allow * * *.com\nproxy",
            "deny * * www.example.net\ndeny * * * 443,80 * 1-5\nallow * * * * HTTP_POST\nproxy",
            "allow * 1.0.0.0-63.255.255.255\nallow * 64.0.0.0/8,65.0.0.0/8\nproxy",
        ] {
            let compiled = compile(open);
            let found = compiled.findings.iter().filter(|finding| finding.rule == "open-proxy").count();
            assert_eq!(found, 1, "{open}: {:#?}", compiled.findings);
        }
    }

    #[test]
    fn clients_are_judged_as_what_runs_it_does() {
        use crate::options::{CompileOptions, Runner};
        let found = |text: &str, runner| {
            let mut files = MemoryFiles::default();
            files.insert("3proxy.cfg", text);
            let options = CompileOptions { runner, ..CompileOptions::default() };
            let compiled = crate::compile_with(std::path::Path::new("3proxy.cfg"), &files, &options);
            compiled.findings.iter().any(|finding| finding.rule == "open-proxy")
        };
        for (text, by_3proxy, by_cfgc) in [
            ("auth iponly\nallow * 0.0.0.0/0\nproxy -i::\n", false, true),
            ("auth iponly\nallow * ::ffff:0:0/96\nproxy -i::\n", true, true),
            ("auth iponly\nallow * ::/0\nproxy -i::\n", true, true),
            ("auth iponly\nallow * ::/0\nproxy\n", false, false),
            ("auth iponly\nallow * 0.0.0.0/0\nproxy -i2001:db8::1\n", false, false),
            ("auth iponly\ndeny * ::ffff:0:0/96\ndeny * ::/0\nallow *\nproxy -i::\n", false, false),
            ("auth iponly\ndeny * 0.0.0.0/0\ndeny * 2000::/3\nallow *\nproxy -i::\n", true, false),
        ] {
            assert_eq!(found(text, Runner::ThreeProxy10), by_3proxy, "{text}");
            assert_eq!(found(text, Runner::Cfgc), by_cfgc, "{text}");
        }
    }

    #[test]
    fn a_private_address_is_a_warning() {
        let compiled = compile("internal 192.168.1.1\nproxy");
        let finding = compiled.findings.iter().find(|finding| finding.rule == "open-proxy").unwrap();
        assert_eq!(finding.level, crate::finding::Level::Warn);
    }

    fn compile(text: &str) -> crate::Compiled {
        let mut files = MemoryFiles::default();
        files.insert("3proxy.cfg", format!("{text}\n"));
        crate::compile(std::path::Path::new("3proxy.cfg"), &files)
    }
}
