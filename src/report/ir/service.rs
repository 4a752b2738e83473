//! Services, with the settings that they copied.
use compiler::{
    cite::shown,
    program::{
        Set,
        auth::{AuthCache, AuthStep},
        log::{LogTarget, ServiceLog},
        service::{
            self, External, Family, Grace, Listen, ListenAddress, ServiceOptions, SocketOptions, Splice,
        },
        tls::{Tls, TlsSide},
    },
};
use grammar::Text;
use serde::Serialize;
use serde_json::{Value, json};

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
        external: External { v4, v6 },
        acl,
        chain,
        auth_cache,
        maxconn,
        backlog,
        log,
        tls,
        target,
        options,
        force,
    } = service;
    let mut settings = vec![
        places.set("listen address", address, |address| match address {
            ListenAddress::Ip(address) => value::address(address),
            ListenAddress::Unix(path) => value::text(path),
        }),
        places.set("listen port", port, value::number),
        places.set("external IPv4", v4, |address| address.to_string().into()),
        places.set("external IPv6", v6, |address| address.to_string().into()),
        places.set("maxconn", maxconn, value::number),
        places.set("backlog", backlog, value::number),
        places.set("force", force, value::number),
    ];
    settings.extend(log_settings(places, log));
    settings.extend(tls_settings(places, tls));
    settings.extend(option_settings(places, options));
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
            host: shown(host.to_string().as_bytes()),
            port: *port,
            at: places.of(*at),
        }),
        settings,
    }
}

fn step(places: Places<'_>, AuthStep { kind, at }: &AuthStep) -> Step {
    Step { r#type: kind.name(), at: at.map(|at| places.of(at)) }
}

fn log_settings(places: Places<'_>, log: &ServiceLog) -> Vec<Setting> {
    let ServiceLog { target, format, dump_server, dump_client } = log;
    let mut settings = vec![places.set("log", target, |target| match target {
        LogTarget::Nowhere => Value::Null,
        LogTarget::Stdout => json!({ "to": "stdout" }),
        LogTarget::File { path, rotation } => {
            json!({ "to": "file", "path": value::text(path), "rotation": value::rotation(*rotation) })
        }
        LogTarget::Syslog(ident) => json!({ "to": "syslog", "ident": value::text(ident) }),
        LogTarget::Sql(_) => json!({ "to": "odbc", "source": "***" }),
        LogTarget::Radius => json!({ "to": "radius" }),
    })];
    settings.extend(places.optional("logformat", format.as_ref(), value::text));
    settings.push(places.set("logdump server", dump_server, value::number));
    settings.push(places.set("logdump client", dump_client, value::number));
    settings
}

fn tls_settings(places: Places<'_>, tls: &Tls) -> Vec<Setting> {
    let Tls { serve, connect, intercept, kernel, server, client, sni, alpn, client_mode, certificate_cache } =
        tls;
    let flags = [("ssl_serv", serve), ("ssl_cli", connect), ("ssl_mitm", intercept), ("ssl_ktls", kernel)];
    let mut settings: Vec<Setting> =
        flags.into_iter().filter_map(|(name, at)| places.flag(name, *at)).collect();
    settings.extend(tls_side(places, server, &SERVER));
    settings.extend(tls_side(places, client, &CLIENT));
    settings.extend(places.optional("ssl_client_sni", sni.as_ref(), value::text));
    settings.extend(alpn.iter().map(|name| places.set("ssl_client_alpn", name, value::text)));
    settings.extend(places.optional("ssl_certcache", certificate_cache.as_ref(), value::text));
    if client_mode.at.is_some() {
        settings.push(places.set("ssl_client_mode", client_mode, value::number));
    }
    settings
}

/// The directives of a side, in the order of its fields.
const SERVER: [&str; 11] = [
    "ssl_server_cert",
    "ssl_server_key",
    "ssl_server_ca_file",
    "ssl_server_ca_key",
    "ssl_server_ca_dir",
    "ssl_server_ca_store",
    "ssl_server_ciphersuites",
    "ssl_server_cipher_list",
    "ssl_server_min_proto_version",
    "ssl_server_max_proto_version",
    "ssl_server_verify",
];
const CLIENT: [&str; 11] = [
    "ssl_client_cert",
    "ssl_client_key",
    "ssl_client_ca_file",
    "ssl_client_ca_key",
    "ssl_client_ca_dir",
    "ssl_client_ca_store",
    "ssl_client_ciphersuites",
    "ssl_client_cipher_list",
    "ssl_client_min_proto_version",
    "ssl_client_max_proto_version",
    "ssl_client_verify",
];

fn tls_side(places: Places<'_>, side: &TlsSide, names: &[&'static str; 11]) -> Vec<Setting> {
    let TlsSide {
        certificate,
        key,
        ca_file,
        ca_key,
        ca_dir,
        ca_store,
        ciphersuites,
        cipher_list,
        min_version,
        max_version,
        verify,
    } = side;
    let texts: [&Option<Set<Text>>; 10] = [
        certificate,
        key,
        ca_file,
        ca_key,
        ca_dir,
        ca_store,
        ciphersuites,
        cipher_list,
        min_version,
        max_version,
    ];
    let [.., verify_name] = names;
    let texts = names.iter().zip(texts);
    let mut settings: Vec<Setting> =
        texts.filter_map(|(name, set)| places.optional(name, set.as_ref(), value::text)).collect();
    settings.extend(places.flag(verify_name, *verify));
    settings
}

fn option_settings(places: Places<'_>, options: &ServiceOptions) -> Vec<Setting> {
    let ServiceOptions {
        family,
        anonymous,
        need_user,
        buffer_size,
        half_close,
        grace,
        splice,
        single,
        udp_auth,
        proxy_protocol,
        silent,
        transparent,
        no_starttls,
        server_starttls,
        daemon,
        require_certificate,
        target_port,
        default_host,
        connect_back,
        connect_back_listen,
        listen_device,
        external_device,
        listen_namespace,
        external_namespace,
        internal_nat,
        external_nat,
        fake_answer,
        stack_size,
        listen_socket,
        client_socket,
        server_socket,
        connect_back_socket,
    } = options;
    let numbers = [
        ("-a", anonymous),
        ("-u", need_user),
        ("-b", buffer_size),
        ("-C", half_close),
        ("-s single", single),
        ("-U", udp_auth),
        ("-c", require_certificate),
        ("-S", stack_size),
    ];
    let flags =
        [("-H", proxy_protocol), ("-t", silent), ("-T", transparent), ("-x", no_starttls), ("-d", daemon)];
    let texts = [
        ("-X", server_starttls),
        ("-h", default_host),
        ("-r", connect_back),
        ("-R", connect_back_listen),
        ("-Di", listen_device),
        ("-De", external_device),
        ("-ni", listen_namespace),
        ("-ne", external_namespace),
    ];
    let addresses = [("-Ni", internal_nat), ("-Ne", external_nat), ("-F", fake_answer)];
    let sockets = [
        ("-ol", listen_socket),
        ("-oc", client_socket),
        ("-os", server_socket),
        ("-or", connect_back_socket),
    ];
    let settings = shaped(places, family.as_ref(), grace.as_ref(), splice.as_ref());
    let port = places.optional("-P", target_port.as_ref(), value::number);
    let settings = settings.into_iter().chain([port]);
    let settings =
        settings.chain(numbers.map(|(name, set)| places.optional(name, set.as_ref(), value::number)));
    let settings = settings.chain(flags.map(|(name, at)| places.flag(name, *at)));
    let settings = settings.chain(texts.map(|(name, set)| places.optional(name, set.as_ref(), value::text)));
    let settings =
        settings.chain(addresses.map(|(name, set)| places.optional(name, set.as_ref(), value::address)));
    let settings = settings.chain(sockets.map(|(name, set)| places.optional(name, set.as_ref(), socket)));
    settings.flatten().collect()
}

/// Options whose value is more than one word.
fn shaped(
    places: Places<'_>,
    family: Option<&Set<Family>>,
    grace: Option<&Set<Grace>>,
    splice: Option<&Set<Splice>>,
) -> [Option<Setting>; 3] {
    [
        places.optional("family", family, |family| family_name(*family).into()),
        places.optional("-g", grace, |Grace { bytes, reads, delay_ms }| {
            json!({ "bytes": bytes, "reads": reads, "delay_ms": delay_ms })
        }),
        places.optional("-s splice", splice, |Splice { mode, min, streak, small }| {
            json!({ "mode": mode, "min": min, "streak": streak, "small": small })
        }),
    ]
}

fn socket(SocketOptions(options): &SocketOptions) -> Value {
    options.iter().map(|option| option.name()).collect()
}

const fn family_name(family: Family) -> &'static str {
    match family {
        Family::Default => "default",
        Family::V4 => "4",
        Family::V6 => "6",
        Family::V4ThenV6 => "46",
        Family::V6ThenV4 => "64",
    }
}
