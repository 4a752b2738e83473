//! `open-proxy`
use std::net::{IpAddr, Ipv4Addr};

use super::rule::{Lint, rule};
use crate::{
    finding::{Finding, Level},
    policy::witness::{OFFICE_HOURS, Target, Witness},
    program::{
        Program,
        acl::Operation,
        auth::{AuthStep, AuthType},
        service::{ListenAddress, Service, ServiceKind},
    },
    table::{Table, Verdict, WeekTime, oracle::Walk},
};

mod strangers;

pub(super) use strangers::{Stranger, Strangers};

rule! {
    /// Anyone who reaches this service may use it, from any address, without a password.
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
    check: check,
}

/// What a service's list says of a request.
pub(super) type Decide<'a> = &'a dyn Fn(usize, &Witness) -> Verdict;

/// Lists are walked if the services that are asked hold so many times the entries that there are. Of many services with
/// long lists in common each would walk them: then it pays to compile them.
const WALKED: usize = 2;

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let walk = |at: usize, witness: &Witness| {
        let list = program.services.get(at).and_then(|service| service.acl);
        Walk { acls: &program.acls, list }.decide(&witness.request())
    };
    let compiled = |at: usize, witness: &Witness| lint.policy().decide(at, &witness.request());
    let asked = program.services.iter().filter(|service| reach(service).is_some());
    let entries: usize = asked.filter_map(|service| service.acl).map(|acl| acl.len as usize).sum();
    let decide: Decide<'_> = if entries <= WALKED * program.acls.aces.len() { &walk } else { &compiled };
    let mut strangers = Strangers::new(lint.options.runner);
    let exposed = lint.program.services.iter().enumerate().filter_map(|(at, service)| {
        let reach = reach(service)?;
        let (step, stranger) = open(&mut strangers, decide, program, at)?;
        Some(finding(program, service, reach, step, &stranger))
    });
    for finding in exposed.collect::<Vec<_>>() {
        lint.report(finding);
    }
}

/// Who can connect to a service that does not listen on this machine only.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Anyone.
    World,
    /// Those in a private network, and whoever is forwarded to it.
    Network,
}

/// Who can reach a service that forwards to targets of the client's choice; `None`: nobody, or it does not.
pub(super) fn reach(service: &Service) -> Option<Reach> {
    let options = &service.options;
    let forwards = match service.kind {
        ServiceKind::Proxy
        | ServiceKind::Socks
        | ServiceKind::Auto
        | ServiceKind::Tlspr
        | ServiceKind::Ftppr => true,
        _ => is_mail(service.kind) && options.default_host.is_none(),
    };
    let certified = service.tls.serve.is_some()
        && (options.require_certificate.is_some() || service.tls.server.verify.is_some());
    if !forwards || certified || options.connect_back.is_some() {
        return None;
    }
    beyond_this_machine(service)
}

/// Who can connect to a service; `None`: this machine only.
pub(super) fn beyond_this_machine(service: &Service) -> Option<Reach> {
    match &service.listen.address.value {
        ListenAddress::Unix(_) => None,
        ListenAddress::Ip(address) => match address.to_canonical() {
            address if address.is_loopback() => None,
            IpAddr::V4(address) if address.is_private() || address.is_link_local() || is_shared(address) => {
                Some(Reach::Network)
            }
            IpAddr::V6(address) if address.is_unique_local() || address.is_unicast_link_local() => {
                Some(Reach::Network)
            }
            _ => Some(Reach::World),
        },
    }
}

const fn is_mail(kind: ServiceKind) -> bool {
    matches!(kind, ServiceKind::Pop3p | ServiceKind::Imapp | ServiceKind::Smtpp)
}

/// 100.64.0.0/10, behind a carrier's translation.
const fn is_shared(address: Ipv4Addr) -> bool {
    let [first, second, ..] = address.octets();
    first == 100 && second & 0xc0 == 64
}

/// The step of the chain that lets strangers pass without a secret, and one whom it does.
pub(super) fn open<'a>(
    strangers: &mut Strangers,
    decide: Decide<'_>,
    program: &'a Program,
    at: usize,
) -> Option<(&'a AuthStep, Stranger)> {
    let service = program.services.get(at)?;
    service.chain.value.iter().find_map(|step| {
        let user = match step.kind {
            AuthType::None | AuthType::IpOnly => None,
            // Any name will do, or the one that its address has.
            AuthType::UserOnly | AuthType::DnsName => Some(&b"anyone.example.net"[..]),
            AuthType::Strong | AuthType::Radius | AuthType::Cache | AuthType::CacheAcl => return None,
        };
        if step.kind == AuthType::None {
            let from = [Ipv4Addr::new(203, 0, 113, 7).into(); MOST];
            let witness = stranger(service.kind, user, &from, |_| true)?;
            return Some((step, Stranger { witness, entry: None }));
        }
        let passes = |witness: &Witness| decide(at, witness).passes();
        let sampled = stranger(service.kind, user, strangers.sampled(service), passes).map(|witness| {
            let entry = decide(at, &witness).entry;
            Stranger { witness, entry }
        });
        sampled.or_else(|| strangers.find(program, service, step.kind)).map(|stranger| (step, stranger))
    })
}

/// From so many of the addresses that are tried requests must pass.
const MOST: usize = 3;

/// A request of somebody from somewhere to anywhere, if such requests pass: from most of some unrelated addresses, and to each
/// of some unrelated targets, so that a list of known clients or known targets is not taken for an open door.
fn stranger(
    kind: ServiceKind,
    user: Option<&[u8]>,
    from: &[IpAddr],
    passes: impl Fn(&Witness) -> bool,
) -> Option<Witness> {
    const NIGHT: WeekTime = WeekTime { day: 0, second: 3 * 60 * 60 };
    let targets =
        [(&b"www.example.net"[..], [198, 51, 100, 80]), (&b"cdn.example.org"[..], [151, 101, 65, 140])];
    let targets =
        targets.map(|(name, address)| Target { host: Some(name.to_vec()), address: Some(address.into()) });
    for (operation, port) in attempts(kind) {
        for time in [OFFICE_HOURS, NIGHT] {
            let ask = |from: &IpAddr, target: &Target| Witness {
                user: user.map(<[u8]>::to_vec),
                source: *from,
                target: target.clone(),
                port: *port,
                operation: *operation,
                time,
            };
            let mut open = from.iter().filter(|from| targets.iter().all(|target| passes(&ask(from, target))));
            if let (Some(first), Some(_)) = (open.next(), open.nth(MOST - 2)) {
                return targets.first().map(|target| ask(first, target));
            }
        }
    }
    None
}

/// What is worth trying on a kind of service.
const fn attempts(kind: ServiceKind) -> &'static [(Operation, u16)] {
    use Operation::{Connect, FtpGet, HttpConnect, HttpGet};
    match kind {
        ServiceKind::Proxy => &[(HttpConnect, 443), (HttpGet, 80)],
        ServiceKind::Auto => &[(HttpConnect, 443), (Connect, 443), (HttpGet, 80)],
        ServiceKind::Ftppr => &[(Connect, 21), (FtpGet, 21)],
        ServiceKind::Pop3p => &[(Connect, 110)],
        ServiceKind::Imapp => &[(Connect, 143)],
        ServiceKind::Smtpp => &[(Connect, 25)],
        _ => &[(Connect, 443), (Connect, 80)],
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
            "anyone may use this service: it asks for no password and takes clients from any address"
        }
        Reach::Network => {
            "whoever reaches this service may use it: it asks for no password and takes any address"
        }
    };
    let mut finding = RULE.finding(service.at, message).label("open");
    // A private address is no open door by itself, but a forwarded port makes it one; a mail proxy speaks mail only.
    if reach == Reach::Network || is_mail(service.kind) {
        finding.level = Level::Warn;
    }
    if let Some(ace) = entry.and_then(|id| program.acls.ace(id)) {
        finding = finding.also(ace.at, "this entry lets strangers pass");
    }
    finding = match step.at {
        Some(at) if step.kind == AuthType::None => finding.also(at, "`none` asks nothing"),
        Some(at) if entry.is_none() => finding.also(at, "the access list is empty, so everyone passes"),
        Some(at) => finding.also(at, format!("`{}` asks for no password", step.kind.name())),
        None if entry.is_none() => {
            finding.note("There is no `auth` line and no access list, so everyone passes.")
        }
        None => finding.note("There is no `auth` line, so the access list decides alone."),
    };
    if let Some(password) = service.chain.value.iter().find(|step| step.kind.asks_password()) {
        let name = password.kind.name();
        finding =
            finding.note(format!("So nobody needs the password that `{name}` of the same chain asks for."));
    }
    if let Some(at) = service.listen.address.at {
        finding = finding.also(at, "it listens here");
    }
    finding.note(format!("For example {witness} passes.")).help(
        "name the clients (`allow * 10.0.0.0/8`), ask for passwords (`auth strong` with `users`), or listen on this machine only (`-i127.0.0.1`)",
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
