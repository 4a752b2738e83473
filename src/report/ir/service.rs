//! Services, with the settings that they copied.
use compiler::program::{
    auth::{AuthCache, AuthStep},
    service::{self, Listen, ListenAddress},
};
use serde::Serialize;

use super::{ListRef, Places, Setting, value};

#[derive(Serialize)]
pub(super) struct Service {
    at: String,
    kind: &'static str,
    /// `None`: empty, so that everything passes.
    list: Option<ListRef>,
    chain: Vec<Step>,
    cache: Option<Cache>,
    target: Option<MappedTarget>,
    settings: Vec<Setting>,
}

#[derive(Serialize)]
struct Step {
    r#type: &'static str,
    at: Option<String>,
}

#[derive(Serialize)]
struct Cache {
    fields: Vec<&'static str>,
    seconds: u32,
    at: Option<String>,
}

#[derive(Serialize)]
struct MappedTarget {
    host: String,
    port: u16,
    at: String,
}

pub(super) fn of(places: Places<'_>, service: &service::Service) -> Service {
    let service::Service {
        at,
        kind,
        listen: Listen { address, port },
        acl,
        chain,
        auth_cache,
        target,
        // Among its settings.
        external: _,
        maxconn: _,
        backlog: _,
        log: _,
        tls: _,
        options: _,
        force: _,
    } = service;
    let mut settings = vec![
        places.set("listen address", address, |at, address| match address {
            ListenAddress::Ip(address) => value::address(address),
            ListenAddress::Unix(path) => places.text(at, path),
        }),
        places.set("listen port", port, |_, port| (*port).into()),
    ];
    settings.extend(service.settings().iter().map(|setting| places.setting(setting)));
    Service {
        at: places.of(*at),
        kind: kind.name(),
        list: acl.map(Into::into),
        chain: chain.value.iter().map(|step| self::step(places, step)).collect(),
        cache: auth_cache.map(|AuthCache { fields, at, seconds }| Cache {
            fields: fields.iter().map(|field| field.name()).collect(),
            seconds,
            at: at.map(|at| places.of(at)),
        }),
        target: target.as_ref().map(|service::MappedTarget { host, port, at }| MappedTarget {
            host: places.shown(*at, &host.to_string()),
            port: *port,
            at: places.of(*at),
        }),
        settings,
    }
}

fn step(places: Places<'_>, AuthStep { kind, at }: &AuthStep) -> Step {
    Step { r#type: kind.name(), at: at.map(|at| places.of(at)) }
}
