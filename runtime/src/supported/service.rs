//! What of a service is not executed yet.
use compiler::{
    program::{
        Set,
        auth::{AuthType, CacheField, CacheFields},
        log::{LogTarget, ServiceLog},
        service::{ListenAddress, Service, ServiceKind, ServiceOptions, SocketOptions},
    },
    sources::Loc,
};

use super::{Refused, place};
use crate::socket;

pub(super) fn check(service: &Service, refused: &mut Refused) {
    let Service {
        at,
        kind,
        listen,
        external: _,
        acl: _,
        chain,
        auth_cache,
        maxconn: _,
        backlog: _,
        log,
        tls,
        target,
        options,
        force,
    } = service;
    if !is_executed(*kind) {
        refused.at(*at, kind.name());
    }
    if matches!(listen.address.value, ListenAddress::Unix(_)) {
        refused.at(listen.address.at.unwrap_or(*at), "unix:");
    }
    if let Some(target) = target
        && target.host.as_bytes().starts_with(b"unix:")
    {
        refused.at(target.at, "unix:");
    }
    for step in chain.value.iter() {
        let executed = match step.kind {
            AuthType::Radius => false,
            AuthType::None
            | AuthType::IpOnly
            | AuthType::UserOnly
            | AuthType::DnsName
            | AuthType::Strong
            | AuthType::Cache
            | AuthType::CacheAcl => true,
        };
        if !executed {
            refused.at(step.at.unwrap_or(*at), step.kind.name());
        }
    }
    if let Some(cache) = auth_cache
        && chain.value.iter().any(|step| step.kind.is_cache())
        && !names_the_client(cache.fields)
    {
        refused.at(cache.at.unwrap_or(*at), "`authcache` without `ip`, `user` or `pass`");
    }
    // The other settings say how one of these is done.
    for (name, at) in [("ssl_serv", tls.serve), ("ssl_cli", tls.connect), ("ssl_mitm", tls.intercept)] {
        refused.set(name, at);
    }
    if force.value {
        // It is in force without a line, too: but who writes it counts on it.
        refused.set("force", force.at);
    }
    self::log(log, *at, refused);
    self::options(*kind, options, refused);
}

/// Whether an entry says of whom it is.
fn names_the_client(fields: CacheFields) -> bool {
    [CacheField::Ip, CacheField::User, CacheField::Pass].into_iter().any(|field| fields.has(field))
}

const fn is_executed(kind: ServiceKind) -> bool {
    match kind {
        ServiceKind::Proxy
        | ServiceKind::Socks
        | ServiceKind::Tcppm
        | ServiceKind::Udppm
        | ServiceKind::Tlspr
        | ServiceKind::Auto
        | ServiceKind::Dnspr => true,
        ServiceKind::Pop3p
        | ServiceKind::Imapp
        | ServiceKind::Smtpp
        | ServiceKind::Ftppr
        | ServiceKind::Admin => false,
    }
}

/// The log of the service at `at`.
fn log(log: &ServiceLog, at: Loc, refused: &mut Refused) {
    let ServiceLog { target, format: _, dump_server, dump_client } = log;
    let name = match target.value {
        LogTarget::Nowhere | LogTarget::Stdout | LogTarget::File { .. } => None,
        LogTarget::Syslog(_) => Some("log @"),
        LogTarget::Sql(_) => Some("log &"),
        LogTarget::Radius => Some("log radius"),
    };
    if let Some(name) = name {
        refused.at(target.at.unwrap_or(at), name);
    }
    for dump in [dump_server, dump_client] {
        if dump.value != 0 {
            refused.set("logdump", dump.at);
        }
    }
}

fn options(kind: ServiceKind, options: &ServiceOptions, refused: &mut Refused) {
    let ServiceOptions {
        family: _,
        anonymous: _,
        need_user: _,
        // Buffers are as large as is good.
        buffer_size: _,
        half_close: _,
        grace,
        splice,
        // Of UDP services and `admin`.
        single: _,
        // Of `socks`.
        udp_auth: _,
        proxy_protocol,
        silent: _,
        transparent: _,
        // Of mail proxies.
        no_starttls: _,
        server_starttls,
        daemon,
        // Of TLS and `tlspr`.
        require_certificate: _,
        // Of mail and FTP proxies and `tlspr`, these two.
        target_port: _,
        default_host: _,
        connect_back,
        connect_back_listen,
        listen_device,
        external_device,
        listen_namespace,
        external_namespace,
        internal_nat: _,
        external_nat: _,
        // Of `dnspr`.
        fake_answer: _,
        stack_size: _,
        listen_socket,
        client_socket,
        server_socket,
        // Of `-r` and `-R`.
        connect_back_socket: _,
    } = options;
    let mut set = |what: &'static str, at| refused.set(what, at);
    // A wait of no time is none.
    set("-g", grace.filter(|grace| grace.value.delay_ms > 0).and_then(|grace| grace.at));
    set("-s", splice.filter(|splice| splice.value.mode != 0).and_then(|splice| splice.at));
    // A datagram has no beginning.
    set("-H", proxy_protocol.filter(|_| kind.takes_datagrams()));
    set("-d", *daemon);
    set("-r", place(connect_back));
    set("-R", place(connect_back_listen));
    set("-Di", place(listen_device));
    set("-De", place(external_device));
    set("-ni", place(listen_namespace));
    set("-ne", place(external_namespace));
    if matches!(kind, ServiceKind::Tlspr | ServiceKind::Auto) {
        set("-X", place(server_starttls));
    }
    let lists = [listen_socket, client_socket, server_socket];
    lists.into_iter().flatten().for_each(|list| socket_options(list, refused));
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
