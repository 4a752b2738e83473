//! What is shared by all services.
use compiler::{
    cite::shown,
    program::{
        auth::{self, Password},
        limits::{self, Bandwidth, ConnectionRate, CounterFile, Direction, Limit, Traffic},
        log::LogFiles,
        process::{Process, Timeouts},
        resolve::{self, NameServer, ResolverMode, StaticRecord},
        trap::{self, Trapped},
    },
};
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    Places, Setting,
    value::{self, Fields},
};

#[derive(Serialize)]
pub(super) struct User {
    at: String,
    name: String,
    /// How the password is kept.
    form: &'static str,
    password: &'static str,
}

#[derive(Serialize)]
pub(super) struct Radius {
    at: String,
    secret: &'static str,
    servers: Vec<RadiusServer>,
}

#[derive(Serialize)]
struct RadiusServer {
    address: String,
    local: Option<String>,
}

#[derive(Serialize)]
pub(super) struct Limits {
    bandwidth_in: Vec<Line>,
    bandwidth_out: Vec<Line>,
    connections: Vec<Line>,
    traffic: Vec<Line>,
    counter: Option<Setting>,
}

/// A line of a limit list.
#[derive(Serialize)]
struct Line {
    at: String,
    /// `None`: a `no…` line, which ends the list for who matches.
    limit: Option<Value>,
    #[serde(flatten)]
    fields: Fields,
    weight: i32,
}

#[derive(Serialize)]
pub(super) struct Resolver {
    mode: Setting,
    settings: Vec<Setting>,
    records: Vec<Record>,
    ignored_servers: Vec<String>,
}

#[derive(Serialize)]
struct Record {
    at: String,
    name: String,
    address: String,
    /// No `nscache` stands before it, so it is kept nowhere.
    before_cache: bool,
}

/// A part of the text that 3proxy reads otherwise than it is written.
#[derive(Serialize)]
pub(super) struct Trap {
    at: String,
    word: String,
    what: &'static str,
}

pub(super) fn user(places: Places<'_>, auth::User { at, name, password }: &auth::User) -> User {
    let form = match password {
        Password::Clear(_) => "clear",
        Password::Crypt(_) => "crypt",
        Password::Nt(_) => "nt",
    };
    User { at: places.of(*at), name: places.shown(*at, &name.to_string()), form, password: "***" }
}

pub(super) fn radius(places: Places<'_>, radius: &auth::Radius) -> Radius {
    let auth::Radius { at, secret: _, servers } = radius;
    let servers = servers.iter().map(|auth::RadiusServer { address, local }| RadiusServer {
        address: address.to_string(),
        local: local.map(|local| local.to_string()),
    });
    Radius { at: places.of(*at), secret: "***", servers: servers.collect() }
}

pub(super) fn limits(places: Places<'_>, limits: &limits::Limits) -> Limits {
    let limits::Limits { bandwidth_in, bandwidth_out, connections, traffic, counter_file } = limits;
    let bandwidth = |Bandwidth { bits_per_second }: &Bandwidth| json!({ "bits_per_second": bits_per_second });
    let rate = |ConnectionRate { connections, seconds }: &ConnectionRate| json!({ "connections": connections, "seconds": seconds });
    let quota = |Traffic { direction, limit }: &Traffic| {
        let direction = match direction {
            Direction::In => "in",
            Direction::Out => "out",
            Direction::All => "all",
        };
        line(places, limit, |limits::Quota { number, comment, rotation, bytes }| {
            json!({
                "direction": direction,
                "number": number,
                "comment": value::text(comment),
                "rotation": value::rotation(*rotation),
                "bytes": bytes,
            })
        })
    };
    Limits {
        bandwidth_in: bandwidth_in.iter().map(|limit| line(places, limit, bandwidth)).collect(),
        bandwidth_out: bandwidth_out.iter().map(|limit| line(places, limit, bandwidth)).collect(),
        connections: connections.iter().map(|limit| line(places, limit, rate)).collect(),
        traffic: traffic.iter().map(quota).collect(),
        counter: counter_file.as_ref().map(|CounterFile { at, path, report }| {
            let report = report.as_ref().map(
                |(rotation, path)| json!({ "rotation": value::rotation(*rotation), "path": value::text(path) }),
            );
            let value = json!({ "path": value::text(path), "report": report });
            Setting { name: "counter", value, at: Some(places.of(*at)) }
        }),
    }
}

fn line<T>(places: Places<'_>, line: &Limit<T>, told: impl FnOnce(&T) -> Value) -> Line {
    let Limit { at, limit, matcher, weight } = line;
    Line {
        at: places.of(*at),
        limit: limit.as_ref().map(told),
        fields: Fields::of(places, *at, matcher),
        weight: *weight,
    }
}

pub(super) fn resolver(places: Places<'_>, resolver: &resolve::Resolver) -> Resolver {
    let resolve::Resolver { servers, ignored_servers, auth_server, cache, cache6, records, mode, dialer } =
        resolver;
    let server =
        |NameServer { address, tcp }: &NameServer| json!({ "address": address.to_string(), "tcp": tcp });
    let mut settings: Vec<Setting> = servers.iter().map(|set| places.set("nserver", set, server)).collect();
    settings.extend(places.optional("authnserver", auth_server.as_ref(), server));
    settings.extend(places.optional("nscache", cache.as_ref(), value::number));
    settings.extend(places.optional("nscache6", cache6.as_ref(), value::number));
    settings.extend(places.optional("dialer", dialer.as_ref(), value::text));
    let mode = places.set("mode", mode, |mode| {
        let name = match mode {
            ResolverMode::System => "system",
            ResolverMode::Servers => "servers",
            ResolverMode::Fake => "fake",
        };
        name.into()
    });
    let records = records.iter().map(|StaticRecord { at, name, address, before_cache }| Record {
        at: places.of(*at),
        name: shown(name.to_string().as_bytes()),
        address: address.to_string(),
        before_cache: *before_cache,
    });
    Resolver { mode, settings, records: records.collect(), ignored_servers: places.each(ignored_servers) }
}

pub(super) fn process(places: Places<'_>, process: &Process) -> Vec<Setting> {
    let Process {
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
        log_files,
    } = process;
    let mut settings = vec![self::timeouts(places, timeouts)];
    let lists = [("monitor", monitors), ("setuid", setuid), ("setgid", setgid), ("system", system)];
    settings.extend(
        lists
            .into_iter()
            .flat_map(|(name, sets)| sets.iter().map(move |set| places.set(name, set, value::text))),
    );
    let words = [("chroot", chroot), ("plugin", plugins)];
    settings.extend(words.into_iter().flat_map(|(name, sets)| {
        sets.iter().map(move |set| places.set(name, set, |words| value::texts(words)))
    }));
    let flags = [("daemon", daemon), ("writable", writable), ("service", service)];
    settings.extend(flags.into_iter().filter_map(|(name, at)| places.flag(name, *at)));
    settings.extend(filters.iter().filter_map(|at| places.flag("pcre", Some(*at))));
    let texts = [("pidfile", pid_file), ("config", config)];
    settings
        .extend(texts.into_iter().filter_map(|(name, set)| places.optional(name, set.as_ref(), value::text)));
    let numbers = [("stacksize", stack_size), ("filtermaxsize", filter_max_size), ("maxseg", max_segment)];
    settings.extend(
        numbers.into_iter().filter_map(|(name, set)| places.optional(name, set.as_ref(), value::number)),
    );
    settings.extend(places.optional("parentretries", parent_retries.as_ref(), value::number));
    settings.extend(self::log_files(places, log_files));
    settings
}

fn timeouts(places: Places<'_>, timeouts: &Timeouts) -> Setting {
    let Timeouts {
        at,
        byte_short,
        byte_long,
        string_short,
        string_long,
        connection_short,
        connection_long,
        dns,
        chain,
        connect,
        connect_back,
        linger,
    } = timeouts;
    let value = json!({
        "byte_short": byte_short,
        "byte_long": byte_long,
        "string_short": string_short,
        "string_long": string_long,
        "connection_short": connection_short,
        "connection_long": connection_long,
        "dns": dns,
        "chain": chain,
        "connect": connect,
        "connect_back": connect_back,
        "linger": linger,
    });
    Setting { name: "timeouts", value, at: at.map(|at| places.of(at)) }
}

fn log_files(places: Places<'_>, log_files: &LogFiles) -> Vec<Setting> {
    let LogFiles { keep, archiver, delimiter, log_lines } = log_files;
    let mut settings = vec![places.set("rotate", keep, value::number)];
    settings.extend(places.optional("archiver", archiver.as_ref(), |words| value::texts(words)));
    settings.extend(
        places.optional("delimchar", delimiter.as_ref(), |byte| char::from(*byte).to_string().into()),
    );
    settings.extend(log_lines.iter().filter_map(|at| places.flag("log line", Some(*at))));
    settings
}

pub(super) fn trap(places: Places<'_>, Trapped { at, word, trap }: &Trapped) -> Trap {
    use trap::Trap as Read;
    let what = match trap {
        Read::Source(_) => "source",
        Read::Target(_) => "target",
        Read::Ports(_) => "ports",
        Read::Weekdays(_) => "weekdays",
        Read::Periods(_) => "periods",
        Read::EmptyList => "empty-list",
        Read::ExtraWords => "extra-words",
        Read::Cache(_) => "cache-fields",
        Read::User(_) => "user",
        Read::Number(_) => "number",
        Read::Port(_) => "port",
        Read::LogFormat(_) => "log-format",
        Read::Socket(_) => "socket-options",
        Read::Endpoint(_) => "endpoint",
        Read::ListenAddress => "listen-address",
        Read::ListenForgotten => "listen-address-forgotten",
        Read::ListenName => "listen-name",
        Read::ExternalName => "external-name",
        Read::NatAddress => "nat-address",
        Read::Rotation => "rotation",
        Read::QuotaPeriod => "quota-period",
        Read::Family => "family",
        Read::RadiusPort => "radius-port",
        Read::SecretCut => "secret-cut",
        Read::Grace(_) => "grace",
        Read::OtherService => "other-service",
        Read::TlsVersion => "tls-version",
    };
    Trap { at: places.of(*at), word: places.of(*word), what }
}
