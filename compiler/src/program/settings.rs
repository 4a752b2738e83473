//! The settings of a service and of the whole process, each with its name in the language: `cfgc diff` compares these lists and
//! `cfgc ir` tells them.
//!
//! Every struct is taken apart with all its fields named: one that is added does not compile until it is listed here, or left out on
//! purpose.
use std::net::IpAddr;

use grammar::Text;

use super::{
    Set,
    log::{LogFiles, LogTarget, ServiceLog},
    process::{Process, Timeouts},
    resolve::{NameServer, Resolver, ResolverMode},
    service::{External, Family, Grace, Service, ServiceOptions, SocketOptions, Splice},
    tls::{Tls, TlsSide},
};
use crate::sources::Loc;

/// A setting, with the place that set it; `None`: nothing did, it is the default.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// The directive or option.
    pub name: &'static str,
    /// What it is called where one directive or option sets several things; mostly the same.
    pub label: &'static str,
    /// Its value.
    pub value: Value<'a>,
    /// What set it.
    pub at: Option<Loc>,
    /// It is one of several lines that add up, in their order.
    pub adds_up: bool,
}

/// The value of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is named as what it holds")]
pub enum Value<'a> {
    Switch(bool),
    Number(i64),
    Byte(u8),
    Text(&'a Text),
    Texts(&'a [Text]),
    Address(IpAddr),
    Family(Family),
    Grace(&'a Grace),
    Splice(&'a Splice),
    SocketOptions(&'a SocketOptions),
    Log(&'a LogTarget),
    NameServer(NameServer),
    /// Without their place.
    Timeouts(Timeouts),
    /// The arguments of a line about filters, as they are written.
    Filter(&'a [Text]),
}

macro_rules! values {
    ($($type:ty: $value:ident => $made:expr),* $(,)?) => {
        $(impl<'a> From<&'a $type> for Value<'a> {
            fn from($value: &'a $type) -> Self {
                $made
            }
        })*
    };
}

values! {
    bool: value => Value::Switch(*value),
    i32: value => Value::Number((*value).into()),
    u32: value => Value::Number((*value).into()),
    u16: value => Value::Number((*value).into()),
    u8: value => Value::Byte(*value),
    Text: value => Value::Text(value),
    Vec<Text>: value => Value::Texts(value),
    IpAddr: value => Value::Address(*value),
    std::net::Ipv4Addr: value => Value::Address((*value).into()),
    std::net::Ipv6Addr: value => Value::Address((*value).into()),
    Family: value => Value::Family(*value),
    Grace: value => Value::Grace(value),
    Splice: value => Value::Splice(value),
    SocketOptions: value => Value::SocketOptions(value),
    LogTarget: value => Value::Log(value),
    NameServer: value => Value::NameServer(*value),
}

/// Collects settings.
#[derive(Default)]
struct Settings<'a>(Vec<Setting<'a>>);

impl<'a> Settings<'a> {
    fn add(&mut self, name: &'static str, value: Value<'a>, at: Option<Loc>) {
        self.0.push(Setting { name, label: name, value, at, adds_up: false });
    }

    /// One that has a value always.
    fn set<T>(&mut self, name: &'static str, set: &'a Set<T>)
    where
        Value<'a>: From<&'a T>,
    {
        self.add(name, (&set.value).into(), set.at);
    }

    fn optional<T>(&mut self, name: &'static str, set: &'a Option<Set<T>>)
    where
        Value<'a>: From<&'a T>,
    {
        if let Some(set) = set {
            self.set(name, set);
        }
    }

    /// One that is there or not.
    fn flag(&mut self, name: &'static str, at: Option<Loc>) {
        if at.is_some() {
            self.add(name, Value::Switch(true), at);
        }
    }

    /// Lines that add up.
    fn each<T>(&mut self, name: &'static str, sets: &'a [Set<T>])
    where
        Value<'a>: From<&'a T>,
    {
        let lines = sets.iter().map(|Set { value, at }| Setting {
            name,
            label: name,
            value: value.into(),
            at: *at,
            adds_up: true,
        });
        self.0.extend(lines);
    }

    /// Calls what was added last by a name of its own.
    fn labelled(&mut self, label: &'static str, add: impl FnOnce(&mut Self)) {
        let before = self.0.len();
        add(self);
        self.0.iter_mut().skip(before).for_each(|setting| setting.label = label);
    }
}

impl Service {
    /// Its settings, but for where it listens, whom it lets in and where a port mapper leads: these have forms of their own.
    #[must_use]
    pub fn settings(&self) -> Vec<Setting<'_>> {
        let Self {
            at: _,
            kind: _,
            listen: _,
            external: External { v4, v6 },
            acl: _,
            chain: _,
            auth_cache: _,
            maxconn,
            backlog,
            log,
            tls,
            target: _,
            options,
            force,
        } = self;
        let mut found = Settings::default();
        found.labelled("external IPv4", |found| found.set("external", v4));
        found.labelled("external IPv6", |found| found.set("external", v6));
        found.set("maxconn", maxconn);
        found.set("backlog", backlog);
        found.set("force", force);
        found.log(log);
        found.tls(tls);
        found.options(options);
        found.0
    }
}

impl<'a> Settings<'a> {
    fn log(&mut self, log: &'a ServiceLog) {
        let ServiceLog { target, format, dump_server, dump_client } = log;
        self.set("log", target);
        self.optional("logformat", format);
        self.labelled("logdump server", |found| found.set("logdump", dump_server));
        self.labelled("logdump client", |found| found.set("logdump", dump_client));
    }

    fn tls(&mut self, tls: &'a Tls) {
        let Tls {
            serve,
            connect,
            intercept,
            kernel,
            server,
            client,
            sni,
            alpn,
            client_mode,
            certificate_cache,
        } = tls;
        self.flag("ssl_serv", *serve);
        self.flag("ssl_cli", *connect);
        self.flag("ssl_mitm", *intercept);
        self.flag("ssl_ktls", *kernel);
        self.tls_side(server, &SERVER_SIDE);
        self.tls_side(client, &CLIENT_SIDE);
        self.optional("ssl_client_sni", sni);
        self.each("ssl_client_alpn", alpn);
        self.set("ssl_client_mode", client_mode);
        self.optional("ssl_certcache", certificate_cache);
    }

    fn tls_side(&mut self, side: &'a TlsSide, names: &TlsNames) {
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
        self.optional(names.certificate, certificate);
        self.optional(names.key, key);
        self.optional(names.ca_file, ca_file);
        self.optional(names.ca_key, ca_key);
        self.optional(names.ca_dir, ca_dir);
        self.optional(names.ca_store, ca_store);
        self.optional(names.ciphersuites, ciphersuites);
        self.optional(names.cipher_list, cipher_list);
        self.optional(names.min_version, min_version);
        self.optional(names.max_version, max_version);
        self.flag(names.verify, *verify);
    }

    fn options(&mut self, options: &'a ServiceOptions) {
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
        self.family(family.as_ref());
        self.optional("-a", anonymous);
        self.optional("-u", need_user);
        self.optional("-b", buffer_size);
        self.optional("-C", half_close);
        self.optional("-g", grace);
        self.labelled("-s splice", |found| found.optional("-s", splice));
        self.labelled("-s single", |found| found.optional("-s", single));
        self.optional("-U", udp_auth);
        self.flag("-H", *proxy_protocol);
        self.flag("-t", *silent);
        self.flag("-T", *transparent);
        self.flag("-x", *no_starttls);
        self.optional("-X", server_starttls);
        self.flag("-d", *daemon);
        self.optional("-c", require_certificate);
        self.optional("-P", target_port);
        self.optional("-h", default_host);
        self.optional("-r", connect_back);
        self.optional("-R", connect_back_listen);
        self.optional("-Di", listen_device);
        self.optional("-De", external_device);
        self.optional("-ni", listen_namespace);
        self.optional("-ne", external_namespace);
        self.optional("-Ni", internal_nat);
        self.optional("-Ne", external_nat);
        self.optional("-F", fake_answer);
        self.optional("-S", stack_size);
        self.optional("-ol", listen_socket);
        self.optional("-oc", client_socket);
        self.optional("-os", server_socket);
        self.optional("-or", connect_back_socket);
    }

    /// Each value is an option of its own.
    fn family(&mut self, family: Option<&Set<Family>>) {
        let Some(Set { value, at }) = family else { return };
        let name = match value {
            Family::Default | Family::V4 => "-4",
            Family::V6 => "-6",
            Family::V4ThenV6 => "-46",
            Family::V6ThenV4 => "-64",
        };
        self.labelled("family", |found| found.add(name, Value::Family(*value), *at));
    }
}

/// The directives of a side of TLS.
struct TlsNames {
    certificate: &'static str,
    key: &'static str,
    ca_file: &'static str,
    ca_key: &'static str,
    ca_dir: &'static str,
    ca_store: &'static str,
    ciphersuites: &'static str,
    cipher_list: &'static str,
    min_version: &'static str,
    max_version: &'static str,
    verify: &'static str,
}

macro_rules! tls_names {
    ($side:literal) => {
        TlsNames {
            certificate: concat!("ssl_", $side, "_cert"),
            key: concat!("ssl_", $side, "_key"),
            ca_file: concat!("ssl_", $side, "_ca_file"),
            ca_key: concat!("ssl_", $side, "_ca_key"),
            ca_dir: concat!("ssl_", $side, "_ca_dir"),
            ca_store: concat!("ssl_", $side, "_ca_store"),
            ciphersuites: concat!("ssl_", $side, "_ciphersuites"),
            cipher_list: concat!("ssl_", $side, "_cipher_list"),
            min_version: concat!("ssl_", $side, "_min_proto_version"),
            max_version: concat!("ssl_", $side, "_max_proto_version"),
            verify: concat!("ssl_", $side, "_verify"),
        }
    };
}

const SERVER_SIDE: TlsNames = tls_names!("server");
const CLIENT_SIDE: TlsNames = tls_names!("client");

impl Process {
    /// Its settings.
    #[must_use]
    pub fn settings(&self) -> Vec<Setting<'_>> {
        let Self {
            timeouts,
            parent_retries,
            monitors,
            daemon,
            pid_file,
            setuid,
            setgid,
            chroot,
            system,
            plugins,
            filters,
            config,
            writable,
            stack_size,
            filter_max_size,
            max_segment,
            service,
            // Services have copied what these lines set.
            log_files: LogFiles { keep, archiver, delimiter, log_lines: _ },
        } = self;
        let mut found = Settings::default();
        found.add("timeouts", Value::Timeouts(Timeouts { at: None, ..*timeouts }), timeouts.at);
        found.each("monitor", monitors);
        found.each("setuid", setuid);
        found.each("setgid", setgid);
        found.each("system", system);
        found.each("chroot", chroot);
        found.each("plugin", plugins);
        found.flag("daemon", *daemon);
        found.flag("writable", *writable);
        found.flag("service", *service);
        found.0.extend(filters.iter().map(|filter| Setting {
            name: filter.name,
            label: filter.name,
            value: Value::Filter(&filter.words),
            at: Some(filter.at),
            adds_up: true,
        }));
        found.optional("pidfile", pid_file);
        found.optional("config", config);
        found.optional("stacksize", stack_size);
        found.optional("filtermaxsize", filter_max_size);
        found.optional("maxseg", max_segment);
        found.optional("parentretries", parent_retries);
        found.set("rotate", keep);
        found.optional("archiver", archiver);
        found.optional("delimchar", delimiter);
        found.0
    }
}

impl Resolver {
    /// Its settings, but for the records.
    #[must_use]
    pub fn settings(&self) -> Vec<Setting<'_>> {
        let Self { servers, ignored_servers: _, auth_server, cache, cache6, records: _, mode, dialer } = self;
        let mut found = Settings::default();
        found.each("nserver", servers);
        found.optional("authnserver", auth_server);
        found.optional("nscache", cache);
        found.optional("nscache6", cache6);
        found.optional("dialer", dialer);
        // The other modes say whether there are servers.
        found.flag("fakeresolve", mode.at.filter(|_| mode.value == ResolverMode::Fake));
        found.0
    }
}
