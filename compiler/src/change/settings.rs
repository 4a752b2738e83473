//! Settings of services and of the whole process, compared by what they mean: where a line stands does not matter.
use std::{
    collections::{BTreeMap, HashMap},
    hash::Hash,
};

use super::{Setting, UserChange, pairs::pairs};
use crate::{
    Compiled,
    program::{
        Program, Set,
        acl::Matcher,
        auth::{AuthCache, Chain, Password, Radius, User},
        limits::{Bandwidth, ConnectionRate, CounterFile, Limit, Limits, Traffic},
        log::{LogFiles, ServiceLog},
        process::{Process, Timeouts},
        resolve::{Resolver, StaticRecord},
        service::{External, MappedTarget, Service, ServiceOptions},
        tls::{Tls, TlsSide},
    },
    sources::{Loc, Sources},
};

/// Compares every field of a struct, each in the way named before its directive or option.
macro_rules! fields {
    ($found:ident, $old:expr, $new:expr, $of:ident { $($field:ident: $how:ident $name:literal),* $(,)? }) => {
        // Names every field: one that is added has to be compared.
        let $of { $($field),* } = $old;
        $($found.extend(self::$how($name, $field, &$new.$field));)*
    };
}

/// What differs between two versions of a service, its list and its place aside.
pub(super) fn service(old: &Service, new: &Service) -> Vec<Setting> {
    let mut found = Vec::new();
    fields!(found, old, new, Service {
        at: ignored "", kind: ignored "", listen: ignored "", acl: ignored "",
        external: external "external", chain: chain "auth", auth_cache: auth_cache "authcache",
        maxconn: set "maxconn", backlog: set "backlog", log: log "log", tls: tls "ssl",
        target: target "target", options: options "", force: set "force",
    });
    found
}

fn options(_: &'static str, old: &ServiceOptions, new: &ServiceOptions) -> Vec<Setting> {
    let mut found = Vec::new();
    fields!(found, old, new, ServiceOptions {
        family: optional "-4/-6", anonymous: optional "-a", need_user: optional "-u", buffer_size: optional "-b",
        half_close: optional "-C", grace: optional "-g", splice: optional "-s", single: optional "-s",
        udp_auth: optional "-U", proxy_protocol: flag "-H", silent: flag "-t", transparent: flag "-T",
        no_starttls: flag "-x", server_starttls: optional "-X", daemon: flag "-d",
        require_certificate: optional "-c", target_port: optional "-P", default_host: optional "-h",
        connect_back: optional "-r", connect_back_listen: optional "-R", listen_device: optional "-Di",
        external_device: optional "-De", listen_namespace: optional "-ni", external_namespace: optional "-ne",
        internal_nat: optional "-Ni", external_nat: optional "-Ne", fake_answer: optional "-F",
        stack_size: optional "-S", listen_socket: optional "-ol", client_socket: optional "-oc",
        server_socket: optional "-os", connect_back_socket: optional "-or",
    });
    found
}

fn external(name: &'static str, old: &External, new: &External) -> Vec<Setting> {
    set(name, &old.v4, &new.v4).into_iter().chain(set(name, &old.v6, &new.v6)).collect()
}

fn chain(name: &'static str, old: &Chain, new: &Chain) -> Option<Setting> {
    let kinds = |chain: &Chain| chain.value.iter().map(|step| step.kind).collect::<Vec<_>>();
    (kinds(old) != kinds(new)).then_some(Setting { name, old: old.at, new: new.at })
}

fn auth_cache(name: &'static str, old: &Option<AuthCache>, new: &Option<AuthCache>) -> Option<Setting> {
    let value =
        |cache: &Option<AuthCache>| cache.map(|AuthCache { fields, seconds, at: _ }| (fields, seconds));
    let at = |cache: &Option<AuthCache>| cache.and_then(|cache| cache.at);
    (value(old) != value(new)).then(|| Setting { name, old: at(old), new: at(new) })
}

fn log(_: &'static str, old: &ServiceLog, new: &ServiceLog) -> Vec<Setting> {
    let mut found = Vec::new();
    fields!(found, old, new, ServiceLog {
        target: set "log", format: optional "logformat", dump_server: set "logdump", dump_client: set "logdump",
    });
    found
}

fn target(name: &'static str, old: &Option<MappedTarget>, new: &Option<MappedTarget>) -> Option<Setting> {
    let value =
        |target: &Option<MappedTarget>| target.as_ref().map(|target| (target.host.clone(), target.port));
    let at = |target: &Option<MappedTarget>| target.as_ref().map(|target| target.at);
    (value(old) != value(new)).then(|| Setting { name, old: at(old), new: at(new) })
}

fn tls(_: &'static str, old: &Tls, new: &Tls) -> Vec<Setting> {
    let mut found = Vec::new();
    fields!(found, old, new, Tls {
        serve: flag "ssl_serv", connect: flag "ssl_cli", intercept: flag "ssl_mitm", kernel: flag "ssl_ktls",
        server: tls_side "ssl_server", client: tls_side "ssl_client", sni: optional "ssl_client_sni",
        alpn: sets "ssl_client_alpn", client_mode: set "ssl_client_mode",
        certificate_cache: optional "ssl_certcache",
    });
    found
}

fn tls_side(name: &'static str, old: &TlsSide, new: &TlsSide) -> Vec<Setting> {
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
    } = old;
    let words = [
        (certificate, &new.certificate),
        (key, &new.key),
        (ca_file, &new.ca_file),
        (ca_key, &new.ca_key),
        (ca_dir, &new.ca_dir),
        (ca_store, &new.ca_store),
        (ciphersuites, &new.ciphersuites),
        (cipher_list, &new.cipher_list),
        (min_version, &new.min_version),
        (max_version, &new.max_version),
    ];
    let differing = words.into_iter().filter_map(|(old, new)| optional(name, old, new));
    differing.chain(flag(name, verify, &new.verify)).collect()
}

/// What differs in what acts on the whole process.
pub(super) fn process(old: &Compiled, new: &Compiled) -> Vec<Setting> {
    let (one, other) = (&old.program, &new.program);
    let mut found = Vec::new();
    found.extend(resolver(&one.resolver, &other.resolver));
    found.extend(radius(one.radius.as_ref(), other.radius.as_ref()));
    found.extend(set("authcache", &one.auth_cache_size, &other.auth_cache_size));
    found.extend(whole_process(&one.process, &other.process));
    let filters = (&one.process.filters, &other.process.filters);
    found.extend(lines("pcre", (&old.sources, filters.0), (&new.sources, filters.1)));
    found.extend(limits(&one.limits, &other.limits));
    found
}

fn whole_process(old: &Process, new: &Process) -> Vec<Setting> {
    let mut found = Vec::new();
    fields!(found, old, new, Process {
        timeouts: timeouts "timeouts", parent_retries: optional "parentretries", monitors: sets "monitor",
        daemon: flag "daemon", pid_file: optional "pidfile", setuid: sets "setuid", setgid: sets "setgid",
        chroot: sets "chroot", system: sets "system", plugins: sets "plugin", filters: ignored "",
        config: optional "config", writable: flag "writable", stack_size: optional "stacksize",
        filter_max_size: optional "filtermaxsize", max_segment: optional "maxseg", service: flag "service",
        log_files: log_files "",
    });
    found
}

fn log_files(_: &'static str, old: &LogFiles, new: &LogFiles) -> Vec<Setting> {
    let mut found = Vec::new();
    fields!(found, old, new, LogFiles {
        keep: set "rotate", archiver: optional "archiver", delimiter: optional "delimchar", log_lines: ignored "",
    });
    found
}

fn timeouts(name: &'static str, old: &Timeouts, new: &Timeouts) -> Option<Setting> {
    let value = |timeouts: &Timeouts| Timeouts { at: None, ..*timeouts };
    (value(old) != value(new)).then_some(Setting { name, old: old.at, new: new.at })
}

fn resolver(old: &Resolver, new: &Resolver) -> Vec<Setting> {
    let mut found = Vec::new();
    fields!(found, old, new, Resolver {
        servers: sets "nserver", ignored_servers: ignored "", auth_server: optional "authnserver",
        cache: optional "nscache", cache6: optional "nscache6", records: records "nsrecord",
        mode: set "fakeresolve", dialer: optional "dialer",
    });
    found
}

fn records(name: &'static str, old: &[StaticRecord], new: &[StaticRecord]) -> Vec<Setting> {
    let keys = |records: &[StaticRecord]| {
        let key =
            |record: &StaticRecord| ((record.name.clone(), record.address, record.before_cache), record.at);
        records.iter().map(key).collect::<Vec<_>>()
    };
    sequence(name, &keys(old), &keys(new))
}

fn radius(old: Option<&Radius>, new: Option<&Radius>) -> Option<Setting> {
    let value = |radius: &Radius| (radius.secret.clone(), radius.servers.clone());
    let at = |radius: Option<&Radius>| radius.map(|radius| radius.at);
    (old.map(value) != new.map(value)).then(|| Setting { name: "radius", old: at(old), new: at(new) })
}

fn limits(old: &Limits, new: &Limits) -> Vec<Setting> {
    let Limits { bandwidth_in, bandwidth_out, connections, traffic, counter_file } = old;
    let bandwidth = |lines: &[Limit<_>]| keyed(lines, |limit: &Bandwidth| limit.bits_per_second);
    let rate = |lines: &[Limit<_>]| keyed(lines, |limit: &ConnectionRate| (limit.connections, limit.seconds));
    let quota = |lines: &[Traffic]| {
        let key = |line: &Traffic| {
            let limit =
                line.limit.limit.as_ref().map(|quota| (quota.number, quota.rotation as u8, quota.bytes));
            ((line.direction as u8, limit, line.limit.matcher.clone(), line.limit.weight), line.limit.at)
        };
        lines.iter().map(key).collect::<Vec<_>>()
    };
    let file =
        |file: &Option<CounterFile>| file.as_ref().map(|file| (file.path.clone(), file.report.clone()));
    let at = |file: &Option<CounterFile>| file.as_ref().map(|file| file.at);
    let moved = file(counter_file) != file(&new.counter_file);
    let counter = Setting { name: "counter", old: at(counter_file), new: at(&new.counter_file) };
    let mut found = sequence("bandlimin", &bandwidth(bandwidth_in), &bandwidth(&new.bandwidth_in));
    found.extend(sequence("bandlimout", &bandwidth(bandwidth_out), &bandwidth(&new.bandwidth_out)));
    found.extend(sequence("connlim", &rate(connections), &rate(&new.connections)));
    found.extend(sequence("count", &quota(traffic), &quota(&new.traffic)));
    found.extend(moved.then_some(counter));
    found
}

/// Lines of a limit list, each with what it means.
fn keyed<T, K>(lines: &[Limit<T>], limit: impl Fn(&T) -> K) -> Vec<((Option<K>, Matcher, i32), Loc)> {
    let key =
        |line: &Limit<T>| ((line.limit.as_ref().map(&limit), line.matcher.clone(), line.weight), line.at);
    lines.iter().map(key).collect()
}

/// Users that were added, removed, or got another password; of entries with one name the last counts.
pub(super) fn users(old: &Program, new: &Program) -> Vec<UserChange> {
    let table = |program: &Program| {
        let last = |User { name, at, password }: &User| (name.clone(), (*at, password.clone()));
        program.users.iter().map(last).collect::<BTreeMap<_, (Loc, Password)>>()
    };
    let (old, new) = (table(old), table(new));
    let change = |name: &grammar::Text, old: Option<Loc>, new: Option<Loc>| UserChange {
        name: name.to_string(),
        old,
        new,
    };
    let gone = old.iter().filter_map(|(name, (at, password))| match new.get(name) {
        None => Some(change(name, Some(*at), None)),
        Some((new_at, new)) => (new != password).then(|| change(name, Some(*at), Some(*new_at))),
    });
    let added = new.iter().filter(|(name, _)| !old.contains_key(*name));
    gone.chain(added.map(|(name, (at, _))| change(name, None, Some(*at)))).collect()
}

fn ignored<T: ?Sized>(_: &'static str, _: &T, _: &T) -> Option<Setting> {
    None
}

fn set<T: PartialEq>(name: &'static str, old: &Set<T>, new: &Set<T>) -> Option<Setting> {
    (old.value != new.value).then_some(Setting { name, old: old.at, new: new.at })
}

fn optional<T: PartialEq>(name: &'static str, old: &Option<Set<T>>, new: &Option<Set<T>>) -> Option<Setting> {
    let differ = old.as_ref().map(|set| &set.value) != new.as_ref().map(|set| &set.value);
    let at = |set: &Option<Set<T>>| set.as_ref().and_then(|set| set.at);
    differ.then(|| Setting { name, old: at(old), new: at(new) })
}

fn flag(name: &'static str, old: &Option<Loc>, new: &Option<Loc>) -> Option<Setting> {
    (old.is_some() != new.is_some()).then_some(Setting { name, old: *old, new: *new })
}

fn sets<T: Hash + Eq + Clone>(name: &'static str, old: &[Set<T>], new: &[Set<T>]) -> Vec<Setting> {
    let keys = |sets: &[Set<T>]| {
        sets.iter().map(|set| (set.value.clone(), set.at.unwrap_or_default())).collect::<Vec<_>>()
    };
    sequence(name, &keys(old), &keys(new))
}

/// Lines that mean what is written in them.
fn lines(name: &'static str, old: (&Sources, &[Loc]), new: (&Sources, &[Loc])) -> Vec<Setting> {
    let keys = |(sources, lines): (&Sources, &[Loc])| {
        lines.iter().map(|at| (sources.text(*at).to_vec(), *at)).collect::<Vec<_>>()
    };
    sequence(name, &keys(old), &keys(new))
}

/// What left a list in which order matters, and what came in.
fn sequence<K: Hash + Eq>(name: &'static str, old: &[(K, Loc)], new: &[(K, Loc)]) -> Vec<Setting> {
    let mut numbers: HashMap<&K, u32> = HashMap::new();
    let mut all = Vec::with_capacity(old.len() + new.len());
    for (key, _) in old.iter().chain(new) {
        let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        all.push(*numbers.entry(key).or_insert(next));
    }
    let (old_numbers, new_numbers) = all.split_at(old.len());
    let partners = pairs(old_numbers, new_numbers);
    let kept: std::collections::HashSet<usize> = partners.iter().flatten().copied().collect();
    let gone = old.iter().zip(&partners).filter(|(_, partner)| partner.is_none());
    let came = new.iter().enumerate().filter(|(at, _)| !kept.contains(at));
    gone.map(|((_, at), _)| Setting { name, old: Some(*at), new: None })
        .chain(came.map(|(_, (_, at))| Setting { name, old: None, new: Some(*at) }))
        .collect()
}
