//! Services that share a port: whether they are meant to, and whether a client can tell them apart.
use grammar::value::{SocketOption, SocketOptions};

use crate::program::{Program, acl::AclRef, service::Service};

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
