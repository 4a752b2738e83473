//! Hosts that are denied by name alone.
use std::{borrow::Cow, net::IpAddr};

use super::{
    columns,
    rule::{Lint, rule},
};
use crate::{
    analysis::{
        lists::AskedList,
        witness::{Space, Target, Witness, values::LOOPBACK},
    },
    finding::Finding,
    policy::Policy,
    program::{
        Program,
        acl::{Ace, AceId, Action, Matcher, NamePattern},
        auth::AuthType,
        service::{Service, ServiceKind},
    },
};

rule! {
    /// A host that is denied by name is reached by its address.
    ///
    /// Names are compared with what the client asks for. Who asks for the address instead passes a `deny` that lists names alone:
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// deny * * *.bad.example
    /// allow * 10.0.0.0/8
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// Deny the addresses too, or all targets that are asked for by address. The list compares such an address as a name, too, so
    /// patterns for each last character match them all:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// deny * * *.bad.example
    /// deny * * *0,*1,*2,*3,*4,*5,*6,*7,*8,*9,*:*
    /// allow * 10.0.0.0/8
    /// proxy -i10.0.0.1
    /// ```
    "hostname-rule-bypassed-by-address",
    level: Warn,
    group: Security,
    since: "0.1.0",
    reads: Users,
    check: check,
}

/// At most this many entries of a list are tried, and at most this many requests for each.
const ENTRIES: usize = 8;
const REQUESTS: usize = 12;
const NAMES: usize = 3;

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let mut found = Vec::new();
    for list in lint.asked_lists().iter() {
        let chooses = list.services(program).any(|service| chooses(service.kind));
        let entries = || program.acls.entries(list.acl).enumerate();
        let refusals = || entries().filter(|(_, (_, ace))| ace.action == Action::Deny);
        if !chooses || lists_their_addresses(refusals().map(|(_, (_, ace))| &ace.matcher)) {
            continue;
        }
        let mut candidates =
            refusals().filter(|(_, (_, ace))| by_name(&ace.matcher)).take(ENTRIES).peekable();
        if candidates.peek().is_none() {
            continue;
        }
        let policy = lint.policy();
        found.extend(candidates.find_map(|(place, entry)| bypassed(program, policy, list, place, entry)));
    }
    for finding in found {
        lint.report(finding);
    }
}

/// Whether the clients of a service choose the target, and how they name it.
const fn chooses(kind: ServiceKind) -> bool {
    matches!(kind, ServiceKind::Proxy | ServiceKind::Socks | ServiceKind::Auto)
}

/// Whether names alone are listed.
fn by_name(matcher: &Matcher) -> bool {
    matcher.targets.as_ref().is_some_and(|targets| {
        // Ports in this column are no names.
        targets.addresses.is_empty()
            && !columns::names_no_host(targets)
            && targets.names.iter().any(is_of_hosts)
    })
}

/// Whether a pattern is for names that hosts have. Of others `target-is-no-name` tells that they never match.
fn is_of_hosts(pattern: NamePattern<'_>) -> bool {
    !is_of_addresses(pattern) && !pattern.is_of_no_host()
}

/// Whether a pattern is for the text of addresses: it has digits, dots and colons only.
fn is_of_addresses(pattern: NamePattern<'_>) -> bool {
    let (NamePattern::Exact(text)
    | NamePattern::Prefix(text)
    | NamePattern::Suffix(text)
    | NamePattern::Contains(text)) = pattern;
    text.iter().all(|byte| byte.is_ascii_digit() || b".:".contains(byte))
}

/// Whether what is denied by name may be denied by address as well: a network of hosts elsewhere is listed, or as many of their addresses
/// as names.
fn lists_their_addresses<'a>(refused: impl Iterator<Item = &'a Matcher>) -> bool {
    let (mut names, mut addresses) = (0, 0);
    for targets in refused.filter_map(|matcher| matcher.targets.as_deref()) {
        let public = || targets.addresses.iter().filter(|range| !is_special(range.first));
        if public().any(|range| range.first != range.last) {
            return true;
        }
        addresses += public().count();
        names += targets.names.iter().filter(|name| !is_of_addresses(*name)).count();
    }
    addresses > 0 && addresses >= names
}

/// Whether an address is none of a host elsewhere.
fn is_special(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => {
            let [first, ..] = address.octets();
            address.is_private() || address.is_loopback() || address.is_link_local() || first == 0
        }
        IpAddr::V6(address) => {
            address.is_loopback()
                || address.is_unspecified()
                || address.is_unique_local()
                || address.is_unicast_link_local()
        }
    }
}

/// Finds a request that the entry refuses by name and that passes by address.
fn bypassed(
    program: &Program,
    policy: &Policy,
    list: &AskedList,
    place: usize,
    (id, ace): (AceId, &Ace),
) -> Option<Finding> {
    let copies = list.copies.iter().take_while(|(_, acl)| acl.len as usize > place);
    let services = copies.filter_map(|(at, _)| Some((*at, program.services.get(*at)?)));
    let (at, service) = services.into_iter().find(|(_, service)| chooses(service.kind))?;
    let steps = service.chain.value.iter().map(|step| step.kind).filter(|step| step.is_real());
    let (refused, passing) =
        steps.into_iter().find_map(|step| witness(policy, list, (at, service), step, (id, ace)))?;
    Some(
        RULE.finding(ace.at, "what this entry denies by name can be reached by address")
            .label("compared with names only")
            .also(service.at, "clients of this service may ask for an address")
            .note(example(&refused, &passing))
            .help("deny the addresses as well, or allow only what is needed: see `cfgc explain hostname-rule-bypassed-by-address`"),
    )
}

/// The two requests, told. Of what is named `localhost` the address is known.
fn example(refused: &Witness, passing: &Witness) -> Cow<'static, str> {
    let condition = if passing.target.address == Some(LOOPBACK) { "" } else { ", if that is its address," };
    format!("For example, {refused} is refused, but {passing}{condition} passes.").into()
}

/// Two requests of one client: one that the entry refuses, and one for the address of the same host that passes.
fn witness(
    policy: &Policy,
    list: &AskedList,
    (at, service): (usize, &Service),
    step: AuthType,
    (id, ace): (AceId, &Ace),
) -> Option<(Witness, Witness)> {
    let acls = &policy.program().acls;
    let named: Vec<Witness> = Space::accepted(&ace.matcher, service, step, policy)
        .requests(REQUESTS * REQUESTS)
        .filter(|one| one.target.host.as_deref().is_some_and(|host| is_of_hosts(NamePattern::Exact(host))))
        .take(NAMES)
        .collect();
    let pair = |client: &Witness, target: &Target| {
        let passing = Witness { target: Target::literal(target.address?), ..client.clone() };
        let refused = Witness { target: target.clone(), ..client.clone() };
        let is_passed = policy.decide(at, &passing.request()).passes()
            && policy.decide(at, &refused.request()).entry == Some(id);
        is_passed.then_some((refused, passing))
    };
    // The entry may be for some clients only, and so may be those that let them pass.
    let own = named.iter().find_map(|refused| pair(refused, &refused.target));
    let allows = acls.entries(list.acl).filter(|(other, ace)| *other > id && ace.action == Action::Allow);
    own.or_else(|| {
        allows.take(ENTRIES).find_map(|(_, allow)| {
            let space = Space::accepted(&allow.matcher, service, step, policy);
            space
                .requests(REQUESTS)
                .find_map(|client| named.iter().find_map(|refused| pair(&client, &refused.target)))
        })
    })
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::{check, findings};

    #[test]
    fn only_what_is_reached_by_address_is_told_and_once_a_list() {
        check(
            "hostname-rule-bypassed-by-address",
            r"
internal 127.0.0.1
deny * * a.example
#^ reached by address
deny * * b.example
allow *
proxy
flush
deny * * a.example
allow * * *.example
proxy -p3129
flush
deny * * a.example
deny * * 192.0.2.0/24
allow *
proxy -p3130
flush
deny * * a.example
allow *
tlspr
flush
deny * * 25
allow *
proxy -p3131
flush
deny * * a.example,192.0.2.1
allow *
socks
flush
deny * * .a.example,http://b.example/x,c.example:443
allow *
proxy -p3133
flush
deny * * .a.example,b.example
#^ reached by address
allow *
proxy -p3134
flush
deny * * *1,*2,10.*
allow *
proxy -p3132
",
        );
    }

    /// A deny that is for some clients only is passed by these.
    #[test]
    fn a_deny_with_other_columns_is_passed_by_its_own_clients() {
        for (deny, passes) in [
            ("deny * 10.0.0.0/8 *.bad.example", true),
            ("deny alice * *.bad.example", true),
            ("deny * * *.bad.example 443", true),
            ("deny * 10.0.0.0/8 *.bad.example 8000 HTTPS", true),
            ("deny * 10.0.0.0/8 *.bad.example\ndeny * 10.0.0.0/8", false),
            ("deny * 10.0.0.0/8 *.bad.example,192.0.2.0/24", false),
        ] {
            let text = format!("users alice:CL:x\nauth strong\n{deny}\nallow *\nproxy\n");
            let found = findings("hostname-rule-bypassed-by-address", &text);
            assert_eq!(found.len(), usize::from(passes), "{deny}: {found:#?}");
        }
    }

    /// What is recommended is no fault of another rule.
    #[test]
    fn patterns_for_addresses_are_names_that_clients_ask_for() {
        let text = "auth iponly\ndeny * * *.bad.example\ndeny * * *0,*1,*2,*3,*4,*5,*6,*7,*8,*9,*:*\nallow * 10.0.0.0/8\nproxy -i10.0.0.1\n";
        for rule in ["target-is-no-name", "address-read-as-name", "wildcard-in-the-middle"] {
            check(rule, text);
        }
    }

    /// A name of the host itself has no other address, and one that is denied is not passed on.
    #[test]
    fn a_name_of_this_host_is_reached_by_its_loopback_address_alone() {
        let rule = "hostname-rule-bypassed-by-address";
        for name in ["localhost", "*.localhost", "LOCALHOST"] {
            let text = format!("auth iponly\ndeny * * {name}\nallow * 10.0.0.0/8\nproxy -i10.0.0.1\n");
            let found = findings(rule, &text);
            let notes: Vec<&str> =
                found.iter().flat_map(|finding| &finding.notes).map(|note| &**note).collect();
            let [note] = notes[..] else { panic!("{name}: {found:#?}") };
            assert!(note.contains(" 127.0.0.1:") && !note.contains("if that is its address"), "{note}");
            for denied in ["127.0.0.0/8", "127.0.0.0/8,::1", "127.0.0.1"] {
                check(rule, &text.replace("deny", &format!("deny * * {denied}\ndeny")));
                check(rule, &text.replace("allow", &format!("deny * * {denied}\nallow")));
            }
        }
        // Only what ends in it is one.
        check(
            rule,
            "deny * * 127.0.0.1\ndeny * * localhost.example\n#^ by address\nallow * 10.0.0.0/8\nproxy\n",
        );
    }
}
