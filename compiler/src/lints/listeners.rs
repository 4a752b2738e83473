//! Where services listen, whether those on one port are meant to share it, and whether a client can tell them apart.
use grammar::value::{SocketOption, SocketOptions};

use crate::program::{Program, acl::AclRef, service::Service};

/// The services of which it is known where they listen. Of others — 3proxy refuses the line, or reads its port or address otherwise than it
/// is written — no rule says anything that rests on it.
pub(super) fn placed(program: &Program) -> impl Iterator<Item = &Service> + Clone {
    program.services.iter().map(|service| &**service).filter(|service| is_placed(program, service))
}

/// Whether a service is one of them.
pub(super) fn is_placed(program: &Program, service: &Service) -> bool {
    !program.history.unplaced.contains(&service.at)
}

/// Whether they share a port as both say, and it does not matter which of them a client meets.
pub(super) fn on_purpose(program: &Program, one: &Service, other: &Service) -> bool {
    shares(one) && shares(other) && alike(program, one, other)
}

/// Whether a service says that it shares its port.
fn shares(service: &Service) -> bool {
    let options: Option<&SocketOptions> = service.options.listen_socket.as_ref().map(|set| &set.value);
    options.is_some_and(|options| options.0.contains(&SocketOption::ReusePort))
}

/// Whether a client can't tell them apart.
pub(super) fn alike(program: &Program, one: &Service, other: &Service) -> bool {
    let same_exit = one.external.v4.value == other.external.v4.value
        && one.external.v6.value == other.external.v6.value
        || shares(one) && shares(other);
    let types = |service: &Service| service.chain.value.iter().map(|step| step.kind).collect::<Vec<_>>();
    let targets =
        |service: &Service| service.target.as_ref().map(|target| (target.host.clone(), target.port));
    same_exit
        && one.kind == other.kind
        && types(one) == types(other)
        && targets(one) == targets(other)
        && same_list(program, one, other)
}

fn same_list(program: &Program, one: &Service, other: &Service) -> bool {
    let (Some(one), Some(other)) = (one.acl, other.acl) else { return one.acl == other.acl };
    let decides = |list| {
        program.acls.entries(list).map(|(_, ace)| (ace.action, &ace.matcher, program.acls.parents(ace)))
    };
    let last = |list: AclRef| {
        program.acls.ace(list.last).map(|ace| (ace.action, &ace.matcher, program.acls.parents(ace)))
    };
    // Of one list, only the last entry can have changed.
    one == other
        || one.len == other.len
            && last(one) == last(other)
            && (one.list == other.list || decides(one).eq(decides(other)))
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::findings;

    /// What is said of where services listen, and a line beside which it is said.
    const RULES: [(&str, &str, &str); 7] = [
        ("port-conflict-any", "", "proxy -i192.168.0.1 -p3128"),
        ("duplicate-listener", "", "socks -p3128"),
        ("privileged-port-after-setuid", "setuid 65534\n", "proxy -p81"),
        ("port-of-the-service", "allow * * * 3129\n", "proxy -p3129"),
        ("parent-to-itself", "parent 1000 http 127.0.0.1 3130\n", "proxy -p3130"),
        ("parent-to-itself", "", "tcppm 25 127.0.0.1 25"),
        ("reuseport-random-extip", "", "proxy -p3128 -e192.0.2.1"),
    ];

    #[test]
    fn where_a_service_listens_whose_line_is_refused_is_not_known() {
        for (rule, above, line) in RULES {
            let found = |line: &str| {
                let text = format!("auth iponly\nallow *\n{above}{line}\nallow a\nproxy -p3128\n");
                findings(rule, &text).len()
            };
            assert_eq!(found(line), 1, "{rule}");
            let (name, options) = line.split_once(' ').unwrap();
            for refused in [
                format!("{line} 8080"),
                format!("{name} -Q {options}"),
                format!("{name} -i127.0.0.01x {options}"),
                line.replace("-p", "-p="),
                line.replace("-p", "-p "),
            ] {
                assert!(refused == line || found(&refused) == 0, "{rule}: {refused}");
            }
        }
        // What stands apart from its option is meant.
        assert!(findings("open-proxy", "auth none\nproxy -i 127.0.0.1\n").is_empty());
        assert!(!findings("open-proxy", "auth none\nproxy -p 3129\n").is_empty());
    }
}
