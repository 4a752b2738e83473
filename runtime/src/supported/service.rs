//! What of a service is not executed yet.
use compiler::program::{
    Set,
    auth::{AuthType, CacheField, CacheFields},
    log::LogTarget,
    service::{ListenAddress, Options, Service, ServiceKind, SocketOptions},
};

use super::Refused;
use crate::socket;

pub(super) fn check(service: &Service, refused: &mut Refused) {
    if let Some(kind) = unexecuted(service.kind) {
        refused.at(service.at, kind);
    }
    if matches!(service.listen.address.value, ListenAddress::Unix(_)) {
        refused.at(service.listen.address.at.unwrap_or(service.at), "unix:");
    }
    if let Some(target) = &service.target
        && target.host.as_bytes().starts_with(b"unix:")
    {
        refused.at(target.at, "unix:");
    }
    for step in service.chain.value.iter() {
        let name = match step.kind {
            AuthType::DnsName => "dnsname",
            AuthType::Radius => "radius",
            _ => continue,
        };
        refused.at(step.at.unwrap_or(service.at), name);
    }
    if let Some(cache) = service.auth_cache
        && service.chain.value.iter().any(|step| matches!(step.kind, AuthType::Cache | AuthType::CacheAcl))
        && !names_the_client(cache.fields)
    {
        refused.at(cache.at.unwrap_or(service.at), "authcache without ip, user or pass");
    }
    for (name, at) in [
        ("ssl_serv", service.tls.serve),
        ("ssl_cli", service.tls.connect),
        ("ssl_mitm", service.tls.intercept),
    ] {
        refused.set(name, at);
    }
    if service.force.value {
        // It is in force without a line, too: but who writes it counts on it.
        refused.set("force", service.force.at);
    }
    log(service, refused);
    options(service.kind, &service.options, refused);
}

/// Whether an entry says of whom it is.
fn names_the_client(fields: CacheFields) -> bool {
    [CacheField::Ip, CacheField::User, CacheField::Pass].into_iter().any(|field| fields.has(field))
}

const fn unexecuted(kind: ServiceKind) -> Option<&'static str> {
    Some(match kind {
        ServiceKind::Proxy | ServiceKind::Socks | ServiceKind::Tcppm => return None,
        ServiceKind::Udppm => "udppm",
        ServiceKind::Tlspr => "tlspr",
        ServiceKind::Auto => "auto",
        ServiceKind::Pop3p => "pop3p",
        ServiceKind::Imapp => "imapp",
        ServiceKind::Smtpp => "smtpp",
        ServiceKind::Ftppr => "ftppr",
        ServiceKind::Admin => "admin",
        ServiceKind::Dnspr => "dnspr",
    })
}

fn log(service: &Service, refused: &mut Refused) {
    let target = &service.log.target;
    let name = match target.value {
        LogTarget::Nowhere | LogTarget::Stdout | LogTarget::File { .. } => None,
        LogTarget::Syslog(_) => Some("log @"),
        LogTarget::Sql(_) => Some("log &"),
        LogTarget::Radius => Some("log radius"),
    };
    if let Some(name) = name {
        refused.at(target.at.unwrap_or(service.at), name);
    }
    for dump in [service.log.dump_server, service.log.dump_client] {
        if dump.value != 0 {
            refused.set("logdump", dump.at);
        }
    }
}

fn options(kind: ServiceKind, options: &Options, refused: &mut Refused) {
    let mut set = |what: &'static str, at| refused.set(what, at);
    // A wait of no time is none.
    set("-g", options.grace.as_ref().filter(|grace| grace.value.delay_ms > 0).and_then(|grace| grace.at));
    set("-s", options.splice.as_ref().filter(|splice| splice.value.mode != 0).and_then(|splice| splice.at));
    set("-H", options.proxy_protocol);
    set("-d", options.daemon);
    set("-r", place(&options.connect_back));
    set("-R", place(&options.connect_back_listen));
    set("-Di", place(&options.listen_device));
    set("-De", place(&options.external_device));
    set("-ni", place(&options.listen_namespace));
    set("-ne", place(&options.external_namespace));
    if kind == ServiceKind::Socks {
        set("-U", place(&options.udp_auth));
        set("-Ni", place(&options.internal_nat));
    }
    let lists = [&options.listen_socket, &options.client_socket, &options.server_socket];
    lists.into_iter().flatten().for_each(|list| socket_options(list, refused));
}

fn place<T>(option: &Option<Set<T>>) -> Option<compiler::sources::Loc> {
    option.as_ref().and_then(|option| option.at)
}

fn socket_options(list: &Set<SocketOptions>, refused: &mut Refused) {
    for option in &list.value.0 {
        if !socket::is_executed(*option)
            && let Some(at) = list.at
        {
            refused.at(at, option.name());
        }
    }
}
