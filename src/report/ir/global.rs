//! What is shared by all services.
use compiler::program::{
    auth::{self, Password},
    limits::{self, Bandwidth, ConnectionRate, CounterFile, Direction, Limit, Traffic},
    process::Process,
    resolve::{self, ResolverMode, StaticRecord},
    trap::{self, Trapped},
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
                "comment": places.text(Some(limit.at), comment),
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
                |(rotation, path)| json!({ "rotation": value::rotation(*rotation), "path": places.text(Some(*at), path) }),
            );
            let value = json!({ "path": places.text(Some(*at), path), "report": report });
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
    let resolve::Resolver {
        ignored_servers,
        records,
        mode,
        // Among its settings.
        servers: _,
        auth_server: _,
        cache: _,
        cache6: _,
        dialer: _,
    } = resolver;
    let settings = resolver.settings();
    // It is told beside them.
    let settings = settings.iter().filter(|setting| setting.name != "fakeresolve");
    let settings = settings.map(|setting| places.setting(setting)).collect();
    let mode = places.set("mode", mode, |_, mode| {
        let name = match mode {
            ResolverMode::System => "system",
            ResolverMode::Servers => "servers",
            ResolverMode::Fake => "fake",
        };
        name.into()
    });
    let records = records.iter().map(|StaticRecord { at, name, address, before_cache }| Record {
        at: places.of(*at),
        name: places.shown(*at, &name.to_string()),
        address: address.to_string(),
        before_cache: *before_cache,
    });
    Resolver { mode, settings, records: records.collect(), ignored_servers: places.each(ignored_servers) }
}

pub(super) fn process(places: Places<'_>, process: &Process) -> Vec<Setting> {
    let settings = process.settings();
    let log_lines = process.log_files.log_lines.iter().filter_map(|at| places.flag("log line", Some(*at)));
    settings.iter().map(|setting| places.setting(setting)).chain(log_lines).collect()
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
