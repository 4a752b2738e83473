//! A number over everything that decides, and nothing else.
//!
//! It is for what is kept over a reload; so far nothing is (the runtime forgets everybody). Indexes of entries and lists are of one
//! load only: what is kept must not be found by them.
//!
//! Places are left out: a comment more changes nothing. So the parts that carry their place are
//! taken apart here by hand; a field that is forgotten would let a cache outlive a change, so patterns name every field.
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::program::{
    Program,
    acl::{Ace, AceId, AclRef, Acls, Parent, ParentHost},
    auth::{AuthCache, Password, Radius, RadiusServer, User},
    limits::{Limit, Limits, Traffic},
    service::Service,
};

/// The number of a Program.
pub(super) fn of(program: &Program) -> u64 {
    let mut hash = DefaultHasher::new();
    let lists = prefixes(&program.acls);
    program.services.len().hash(&mut hash);
    for service in &program.services {
        add_service(service, program, &lists, &mut hash);
    }
    program.users.len().hash(&mut hash);
    for User { at: _, name, password } in &program.users {
        name.hash(&mut hash);
        add_password(password, &mut hash);
    }
    if let Some(Radius { at: _, secret, servers }) = &program.radius {
        secret.expose().hash(&mut hash);
        for RadiusServer { address, local } in servers {
            (address, local).hash(&mut hash);
        }
    }
    add_limits(&program.limits, &mut hash);
    hash.finish()
}

/// For each list and each length of it, the number of that prefix: services that share a list are cheap.
fn prefixes(acls: &Acls) -> Vec<Vec<u64>> {
    let list = |ids: &Vec<AceId>| {
        let mut hash = DefaultHasher::new();
        let aces = ids.iter().filter_map(|id| acls.ace(*id));
        std::iter::once(0)
            .chain(aces.map(|ace| {
                add_ace(ace, acls, &mut hash);
                hash.finish()
            }))
            .collect()
    };
    acls.lists.iter().map(list).collect()
}

fn add_service(service: &Service, program: &Program, lists: &[Vec<u64>], hash: &mut DefaultHasher) {
    let Service {
        at: _,
        kind,
        listen,
        // Where it goes and what is written of it decides nothing.
        external: _,
        acl,
        chain,
        auth_cache,
        maxconn: _,
        backlog: _,
        log: _,
        tls: _,
        target,
        options,
        force: _,
    } = service;
    kind.hash(hash);
    (&listen.address.value, listen.port.value).hash(hash);
    acl.is_some().hash(hash);
    if let Some(AclRef { list, len, last }) = acl {
        let before = len.saturating_sub(1) as usize;
        lists.get(list.0 as usize).and_then(|prefixes| prefixes.get(before)).hash(hash);
        if let Some(ace) = program.acls.ace(*last) {
            add_ace(ace, &program.acls, hash);
        }
    }
    chain.value.len().hash(hash);
    for step in chain.value.iter() {
        step.kind.hash(hash);
    }
    auth_cache.is_some().hash(hash);
    if let Some(AuthCache { fields, at: _, seconds }) = auth_cache {
        (fields, seconds).hash(hash);
    }
    target.is_some().hash(hash);
    if let Some(target) = target {
        (&target.host, target.port).hash(hash);
    }
    options.need_user.map(|set| set.value).hash(hash);
    options.family.map(|set| set.value).hash(hash);
}

fn add_ace(ace: &Ace, acls: &Acls, hash: &mut DefaultHasher) {
    let Ace { at: _, action, matcher, parents: _, nolog, weight } = ace;
    (action, matcher, nolog, weight).hash(hash);
    acls.parents(ace).len().hash(hash);
    for parent in acls.parents(ace) {
        let Parent { at: _, weight, kind, secure, host, port, user, password } = parent;
        (weight, kind, secure, port, user).hash(hash);
        password.as_ref().map(grammar::Secret::expose).hash(hash);
        add_host(host, hash);
    }
}

fn add_host(host: &ParentHost, hash: &mut DefaultHasher) {
    match host {
        ParentHost::Address(address) => (0, address).hash(hash),
        ParentHost::Prefix(address, length) => (1, address, length).hash(hash),
        ParentHost::Name(name) => (2, name).hash(hash),
        ParentHost::Unix(path) => (3, path).hash(hash),
    }
}

fn add_password(password: &Password, hash: &mut DefaultHasher) {
    let (form, secret) = match password {
        Password::Clear(secret) => (0, secret),
        Password::Crypt(secret) => (1, secret),
        Password::Nt(secret) => (2, secret),
    };
    (form, secret.expose()).hash(hash);
}

fn add_limits(limits: &Limits, hash: &mut DefaultHasher) {
    let Limits { bandwidth_in, bandwidth_out, connections, traffic, counter_file: _ } = limits;
    for line in bandwidth_in {
        add_limit(line, hash);
        line.limit.map(|limit| limit.bits_per_second).hash(hash);
    }
    hash.write_u8(b'o');
    for line in bandwidth_out {
        add_limit(line, hash);
        line.limit.map(|limit| limit.bits_per_second).hash(hash);
    }
    hash.write_u8(b'c');
    for line in connections {
        add_limit(line, hash);
        line.limit.map(|limit| (limit.connections, limit.seconds)).hash(hash);
    }
    hash.write_u8(b't');
    for Traffic { direction, limit } in traffic {
        std::mem::discriminant(direction).hash(hash);
        add_limit(limit, hash);
        limit.limit.as_ref().map(|quota| (quota.number, quota.rotation, quota.bytes)).hash(hash);
    }
}

fn add_limit<T>(line: &Limit<T>, hash: &mut DefaultHasher) {
    let Limit { at: _, limit: _, matcher, weight } = line;
    (matcher, weight).hash(hash);
}
