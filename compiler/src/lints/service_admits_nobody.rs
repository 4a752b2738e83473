//! Services that refuse every client.
use std::collections::{BTreeMap, HashMap};

use super::{
    arriving::Clients,
    listeners::is_placed,
    rule::{Lint, rule},
};
use crate::{
    finding::{Finding, Level},
    program::{
        Program,
        acl::{Ace, AclRef, Action, ListId, Operation, Operations, Parent, PortRange},
        auth::{AuthStep, AuthType},
        service::{Service, ServiceKind},
    },
};

rule! {
    /// No request of this service can pass: it refuses every client.
    ///
    /// A list that is meant for one kind of service may allow nothing at another. SOCKS does not know the protocol inside a connection,
    /// and the admin page is asked for by `ADMIN` alone:
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 192.168.0.0/16 * 80,443 HTTP,HTTPS
    /// proxy -i192.168.0.1
    /// socks -i192.168.0.1
    /// ```
    ///
    /// Give each its own entries:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 192.168.0.0/16 * 80,443 HTTP,HTTPS
    /// proxy -i192.168.0.1
    /// flush
    /// allow * 192.168.0.0/16 * 80,443 CONNECT
    /// socks -i192.168.0.1
    /// ```
    ///
    /// Clients of a port mapper, of `tlspr` and of `dnspr` have no way to give a name, so `strong` refuses them all:
    ///
    /// ```3proxy,fires
    /// users "alice:CL:correct horse"
    /// auth strong
    /// allow alice
    /// tcppm -i192.168.0.1 2525 mail.example.com 25
    /// ```
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// tcppm -i192.168.0.1 2525 mail.example.com 25
    /// ```
    ///
    /// And the ports of an entry are those of targets. A port mapper has one:
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 192.168.0.0/16 * 2525
    /// tcppm -i192.168.0.1 2525 mail.example.com 25
    /// ```
    /// Nor does a client of another machine come to a loopback address, or one with a loopback address to any other. This is only a
    /// warning, because the system can be told to pass such connections on:
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 203.0.113.0/24
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 203.0.113.0/24
    /// proxy -i203.0.113.1
    /// flush
    /// allow * 127.0.0.0/8
    /// proxy -i127.0.0.1
    /// ```
    "service-admits-nobody",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    reads: Services,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    // A plugin may know other clients.
    if !program.process.plugins.is_empty() {
        return;
    }
    let mut lists = Lists::default();
    let closed =
        program.services.iter().filter_map(|service| Some((service, lists.closed(program, service)?)));
    let closed: Vec<_> = closed.collect();
    if closed.is_empty() {
        return;
    }
    let mut others = Others::new(lint);
    let mut found = Vec::new();
    for (service, why) in closed {
        if !others.tell(program, service, &why) {
            found.push(finding(service, &why));
        }
    }
    for finding in found {
        lint.report(finding);
    }
}

/// Why nobody passes.
enum Why<'a> {
    /// This type asks for a name, and so does every other of the chain.
    NoName(&'a AuthStep),
    /// The list has this `allow`, and no other that matches more.
    List(&'a Ace, Never),
}

/// Why an entry matches no request of a service.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Never {
    /// The service can't be asked for its operations.
    Operation,
    /// The service's target has another port.
    Port,
    /// It lists clients that don't come to the address on which the service listens.
    Source,
    /// It lists users, and no name gets there.
    User,
    /// An entry above it refuses everything.
    Refused,
}

/// At most this many services above one are looked at.
const ABOVE: usize = 4096;

/// What is asked of a list: for which kind of service, for which port of its target, for which clients, and without a name.
type Asked = (ListId, ServiceKind, Option<u16>, Clients, bool);

/// How far a list was searched for an entry that lets a request pass.
#[derive(Clone, Copy)]
enum Search {
    /// None of so many does; this is the first that allows something, and why it matches nothing. Behind one that refuses everything
    /// none does.
    None { searched: u32, first: Option<(u32, Never)>, is_closed: bool },
    /// One does.
    Found,
}

/// Lists that grow from service to service are searched once.
#[derive(Default)]
struct Lists(HashMap<Asked, Search>);

impl Lists {
    /// Why nobody passes a service; `None`: somebody may.
    fn closed<'a>(&mut self, program: &'a Program, service: &'a Service) -> Option<Why<'a>> {
        let mut why = None;
        for step in service.chain.value.iter() {
            let asks = matches!(step.kind, AuthType::Strong | AuthType::UserOnly);
            let reason = match step.kind {
                AuthType::None | AuthType::CacheAcl => return None,
                _ if asks && !service.learns_names() => Why::NoName(step),
                kind => {
                    let nameless = kind == AuthType::IpOnly;
                    let (ace, never) = self.never(program, service, service.acl?, nameless)?;
                    Why::List(ace, never)
                }
            };
            // What a list says is nearer to what was meant than what a type does.
            if why.is_none() || matches!(reason, Why::List(..)) {
                why = Some(reason);
            }
        }
        why
    }

    /// The first `allow` of a list, if none matches any request of a service. A list without any is another rule's.
    fn never<'a>(
        &mut self,
        program: &'a Program,
        service: &Service,
        acl: AclRef,
        nameless: bool,
    ) -> Option<(&'a Ace, Never)> {
        let port = service.target.as_ref().map(|target| target.port);
        let clients = Clients::of(service);
        let asked = (acl.list, service.kind, port, clients, nameless);
        let start = Search::None { searched: 0, first: None, is_closed: false };
        let search = self.0.entry(asked).or_insert(start);
        let ids = program.acls.lists.get(acl.list.0 as usize)?;
        while let Search::None { searched, first, is_closed } = *search
            && searched < acl.len
        {
            let ace = ids.get(searched as usize).and_then(|id| program.acls.ace(*id))?;
            let never =
                if is_closed { Some(Never::Refused) } else { never_matches(ace, service, clients, nameless) };
            let first = match (ace.action, never) {
                (Action::Deny, _) => first,
                (Action::Allow, Some(never)) => first.or(Some((searched, never))),
                (Action::Allow, None) => {
                    *search = Search::Found;
                    break;
                }
            };
            let is_closed = is_closed || refuses_all(ace, nameless);
            *search = Search::None { searched: searched + 1, first, is_closed };
        }
        let Search::None { first: Some((place, never)), .. } = *search else { return None };
        let ace = ids.get(place as usize).and_then(|id| program.acls.ace(*id))?;
        Some((ace, never))
    }
}

/// Whether an entry refuses every request, or each that has no name; `-` stands for none.
fn refuses_all(ace: &Ace, nameless: bool) -> bool {
    let has_dash = || ace.matcher.users.iter().flatten().any(|name| name == b"-");
    ace.action == Action::Deny
        && ace.matcher.lists_users_at_most()
        && (ace.matcher.users.is_none() || nameless && has_dash())
}

/// Why an entry matches no request of a service; `None`: it may.
fn never_matches(ace: &Ace, service: &Service, clients: Clients, nameless: bool) -> Option<Never> {
    let matcher = &ace.matcher;
    let can = service.kind.operations();
    if matcher.is_refused() {
        return None;
    }
    if matcher.operations.is_some_and(|listed| !can.iter().any(|operation| listed.has(*operation))) {
        return Some(Never::Operation);
    }
    let ports = matcher.ports.as_deref().unwrap_or_default();
    if let Some(target) = service.target.as_ref().filter(|_| !ports.is_empty()) {
        // A range that has no port has a finding of its own.
        let other =
            |PortRange { first, last }: &PortRange| first <= last && !(*first..=*last).contains(&target.port);
        if ports.iter().all(other) {
            return Some(Never::Port);
        }
    }
    if matcher.sources.as_deref().is_some_and(|sources| clients.are_none_of(sources)) {
        return Some(Never::Source);
    }
    // `dnsname` finds a name out, and a cache may know one from another service.
    let names = matcher.users.as_ref().filter(|_| nameless);
    names.is_some_and(|names| !names.iter().any(|name| name == b"-")).then_some(Never::User)
}

/// For each list what the services that ask it can be asked for, by entry.
fn operations(lint: &Lint<'_>) -> BTreeMap<ListId, Vec<Operations>> {
    let asked = lint.asked_lists();
    let lists = asked.iter().map(|list| {
        let can = list.entries(lint.program).map(|(_, _, can)| can).collect();
        (list.acl.list, can)
    });
    lists.collect()
}

/// What other rules say of lists: how much of each their services copy.
struct Others {
    /// What services can be asked for, by entry.
    possible: BTreeMap<ListId, Vec<Operations>>,
    /// How many entries are copied by a service of which some type learns a name.
    named: HashMap<ListId, u32>,
    /// How many by one above the service that is judged, without a target, that listens on this port.
    listening: HashMap<(ListId, u16), u32>,
    /// How many services are counted there.
    above: usize,
}

impl Others {
    fn new(lint: &Lint<'_>) -> Self {
        let mut named: HashMap<ListId, u32> = HashMap::new();
        for service in lint.program.services.iter().filter(|service| names_users(service)) {
            if let Some(acl) = service.acl {
                let most = named.entry(acl.list).or_default();
                *most = acl.len.max(*most);
            }
        }
        Self { possible: operations(lint), named, listening: HashMap::new(), above: 0 }
    }

    /// Whether another rule says the same of the chain, or of every entry that it concerns. Services are asked for in order.
    fn tell(&mut self, program: &Program, service: &Service, why: &Why<'_>) -> bool {
        let Why::List(_, never) = why else { return false };
        let Some(acl) = service.acl else { return false };
        let mut allows =
            (0..).zip(program.acls.entries(acl)).filter(|(_, (_, ace))| ace.action == Action::Allow);
        match never {
            // `operation-impossible-for-service`, which leaves out lists with local redirections.
            Never::Operation => self.tell_operation(program, service, acl),
            // `port-of-the-service`.
            Never::Port => {
                self.listen_above(program, service);
                allows.all(|(place, (_, ace))| {
                    let [port] = ace.matcher.ports.as_deref().unwrap_or_default() else { return false };
                    self.listening.get(&(acl.list, port.first)).is_some_and(|most: &u32| *most > place)
                })
            }
            // `user-list-under-iponly`, unless a service that learns names has the entry: it has the first at least.
            Never::User => {
                let most = self.named.get(&acl.list).copied().unwrap_or_default();
                !names_users(service) && allows.next().is_none_or(|(place, _): (u32, _)| place >= most)
            }
            // `unreachable-entry` says it of the entry, which another service may reach.
            Never::Refused | Never::Source => false,
        }
    }

    /// Counts the services above this one. Those behind it don't change what is found here.
    fn listen_above(&mut self, program: &Program, service: &Service) {
        while let Some(other) = program.services.get(self.above).filter(|other| other.at != service.at) {
            self.above += 1;
            if let Some(acl) = other.acl.filter(|_| other.target.is_none() && is_placed(program, other)) {
                let most = self.listening.entry((acl.list, other.listen.port.value)).or_default();
                *most = acl.len.max(*most);
            }
        }
    }

    fn tell_operation(&self, program: &Program, service: &Service, acl: AclRef) -> bool {
        let has = move |other: &Service, place: usize| {
            other.acl.is_some_and(|other| other.list == acl.list && other.len as usize > place)
        };
        let mut allows =
            program.acls.entries(acl).enumerate().filter(|(_, (_, ace))| ace.action == Action::Allow);
        // If it is not known what stands behind a service, those above it decide whether the other rule is silent.
        let is_known = program.unknown.known_services.is_none();
        let above = || program.services.iter().take_while(|other| other.at != service.at).take(ABOVE);
        let asks = |other: &Service| other.chain.value.first().is_none_or(|step| step.kind != AuthType::None);
        let can = self.possible.get(&acl.list).map_or(&[][..], Vec::as_slice);
        let local = |ace: &Ace| program.acls.parents(ace).iter().any(Parent::is_local);
        let told = |(place, (_, ace)): (usize, (_, &Ace))| {
            let (Some(listed), Some(can)) = (ace.matcher.operations, can.get(place)) else {
                return false;
            };
            let meets = |can: &[Operation]| can.iter().any(|one| listed.has(*one));
            if is_known {
                !Operation::ALL.iter().any(|one| listed.has(*one) && can.has(*one))
            } else {
                let mut above = above().filter(|other| has(other, place) && asks(other));
                !above.any(|other| meets(other.kind.operations()))
            }
        };
        !program.acls.entries(acl).any(|(_, ace)| local(ace)) && allows.all(told)
    }
}

/// Whether some type of its chain learns a name.
fn names_users(service: &Service) -> bool {
    service.chain.value.iter().any(|step| step.kind.names_user())
}

fn finding(service: &Service, why: &Why<'_>) -> Finding {
    let kind = service.kind.name();
    let finding = RULE.finding(service.at, "no request passes this service");
    match why {
        Why::NoName(step) => {
            let name = step.kind.name();
            let told = |finding: Finding| match step.at {
                Some(at) => finding.also(at, format!("`{name}` refuses clients that give none")),
                None => finding,
            };
            if service.kind.learns_names() {
                return told(finding.label(format!("with `-u` this `{kind}` takes no name"))).help(
                    "remove `-u`, or write `auth iponly` above the service and list the clients' addresses",
                );
            }
            let told = told(finding.label(format!("clients of `{kind}` have no way to give a name")));
            told.help(
                "write `auth iponly` above it, and list the clients' addresses: `allow * 192.168.0.0/16`",
            )
        }
        Why::List(ace, Never::Operation) => finding
            .label(format!("`{kind}` never gets requests for the operations that its list allows"))
            .also(ace.at, "the first entry that allows something")
            .help("write `flush` above the service, and a list of its own"),
        Why::List(ace, Never::Port) => {
            let port = service.target.as_ref().map_or(0, |target| target.port);
            finding
                .label(format!("its target's port is {port}, and its list allows others only"))
                .also(ace.at, "compares the target's port, not the one that the service listens on")
                .help(format!("write {port} in the entry, or leave the port out"))
        }
        Why::List(ace, Never::Source) => {
            let told = finding
                .label(Clients::of(service).label())
                .also(ace.at, "lists other clients")
                .help("list the clients that come to this address, or listen (`-i`) on the one to which the listed clients come");
            Finding { level: Level::Warn, ..told }
        }
        Why::List(ace, Never::User) => {
            let told = finding
                .label("its list allows only users, but no user name is known there")
                .also(ace.at, "compares user names");
            told.help("write `flush` above it, and a list of addresses: `allow * 192.168.0.0/16`")
        }
        Why::List(ace, Never::Refused) => finding
            .label("its list refuses everything before it allows something")
            .also(ace.at, "comes too late")
            .help("move the entry that refuses everything to the end of the list"),
    }
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::{check, findings};

    const USERS: &str = "users a:CL:x\ninternal 127.0.0.1\n";

    #[test]
    fn a_name_may_be_found_out_or_remembered() {
        for lines in [
            "nserver 192.0.2.53\nauth dnsname\nallow host.example.com\ntcppm 5555 192.0.2.4 666",
            "authcache ip 60\nauth cache strong\nallow a\nproxy\ntcppm 5555 192.0.2.4 666",
        ] {
            let text = format!("{USERS}{lines}\n");
            assert!(findings("service-admits-nobody", &text).is_empty(), "{lines}");
        }
    }

    #[test]
    fn every_way_to_admit_nobody_is_found() {
        for lines in [
            "auth iponly\nallow * * * 80 HTTP\nallow * * * 443 HTTPS\nproxy\nsocks",
            "auth strong\nallow a * * 80 HTTP\nproxy\nadmin",
            "auth strong\ntcppm 5555 192.0.2.4 666",
            "auth useronly\nallow *\ntcppm 5555 192.0.2.4 666",
            "auth strong\nallow a\ntlspr",
            "auth useronly strong\nudppm 5555 192.0.2.4 666",
            "auth iponly strong\nallow a\ndnspr",
            "auth iponly\nallow * * * 21192\nudppm 21192 192.0.2.4 1192",
            "auth iponly\ndeny * * * 1\nallow * * * 80,100-200\ntcppm 2000 192.0.2.4 25",
            "auth strong\nallow a\nproxy\nauth iponly\ntcppm 2000 192.0.2.4 25",
            "auth cache strong\nauthcache user,pass 60\nallow * * * * HTTP\nproxy\nsocks",
            "auth strong\nallow a\nsocks -u",
            "auth iponly\ndeny -,bob\nallow *\nproxy",
            "auth iponly\ndeny * * 10.0.0.1\ndeny * * *\nallow * 127.0.0.0/8\nproxy",
            "auth iponly\nallow * 10.0.0.0/8\nallow * 203.0.113.7,192.168.0.0/16\nproxy",
            "auth iponly strong\nallow * 10.0.0.0/8\nproxy",
            "internal 192.168.0.1\nauth iponly\nallow * 127.0.0.1\nproxy",
        ] {
            let found = findings("service-admits-nobody", &format!("{USERS}{lines}\n"));
            assert_eq!(found.len(), 1, "{lines}: {found:#?}");
        }
    }

    #[test]
    fn whoever_may_pass_is_let_be() {
        for lines in [
            "auth none\nallow a\ntcppm 2000 192.0.2.4 25",
            "auth iponly\nallow * * * 20-30\ntcppm 2000 192.0.2.4 25",
            "auth iponly\nallow -,a\ntcppm 2000 192.0.2.4 25",
            "auth strong iponly\nallow *\ntcppm 2000 192.0.2.4 25",
            "auth dnsname\nallow *\ntcppm 2000 192.0.2.4 25",
            "auth iponly\ntcppm 2000 192.0.2.4 25",
            "auth strong\nallow * * * 80 HTTP\nallow * * * 80 CONNECT\nproxy\nsocks",
            // Closed on purpose.
            "deny *\nadmin",
            "plugin p.so start\nauth strong\ntcppm 2000 192.0.2.4 25",
        ] {
            check("service-admits-nobody", &format!("{USERS}{lines}\n"));
        }
    }

    #[test]
    fn what_another_rule_says_is_not_said_again() {
        for lines in [
            "internal 127.0.0.1\nauth iponly\nallow * * * 80 HTTP\nsocks",
            "users a:CL:x\ninternal 127.0.0.1\nauth iponly\nallow a\ntcppm 2000 192.0.2.4 25",
        ] {
            check("service-admits-nobody", &format!("{lines}\n"));
        }
    }
}
