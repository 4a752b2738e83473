//! Cost of a hit in the authentication cache, and what an entry takes, against plain moka with keys of the same size, in one run.
//!
//! `cargo bench --bench cache`. Rounds of both alternate, times are of the processor; the best round of each counts. It fails when a
//! bound of the design is broken. Under `cargo test` a small cache is asked once.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
use std::{
    fs,
    hint::black_box,
    net::{IpAddr, SocketAddr},
    path::Path,
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use compiler::{
    policy::Policy,
    program::{
        acl::Operation,
        auth::{AuthCache, AuthType},
    },
    sources::MemoryFiles,
};
use grammar::Secret;
use moka::sync::Cache;
use runtime::{
    Credentials, TargetName,
    cache::{Identities, Key, Known, Subject},
};

/// The most that a hit, and an entry, may cost, as a multiple of what they cost with plain moka.
const BOUND: f64 = 1.2;
const ROUNDS: u32 = 7;

/// A cache under a configuration, and clients that it knows.
struct Ours {
    identities: Arc<Identities>,
    policy: Policy,
    settings: AuthCache,
    target: TargetName,
}

fn main() -> ExitCode {
    let measured = std::env::args().any(|argument| argument == "--bench");
    let entries: u32 = if measured { 1_000_000 } else { 100 };
    let clients: Vec<Credentials> = (0..entries).map(client).collect();
    let Some(ours) = Ours::new(entries) else { return ExitCode::FAILURE };
    let before = resident();
    clients.iter().for_each(|client| ours.put(client));
    assert_eq!(ours.identities.len(), u64::from(entries), "nobody is left out");
    let our_bytes = (resident() - before) / f64::from(entries);

    let before = resident();
    let plain: Cache<[u8; 32], [u64; 3]> =
        Cache::builder().max_capacity(entries.into()).time_to_live(Duration::from_secs(600)).build();
    (0..entries).for_each(|number| plain.insert(plain_key(number), [u64::from(number); 3]));
    plain.run_pending_tasks();
    let plain_bytes = (resident() - before) / f64::from(entries);

    let asked = entries.min(200_000);
    // The same order for both: far from each other, so that nothing is near in memory.
    let place = |nth: u32| (u64::from(nth) * 611_953 % u64::from(entries)) as u32;
    // What a request brings has just been read: it lies in the order in which it is asked for.
    let requests: Vec<Credentials> = (0..asked).map(|nth| client(place(nth))).collect();
    let known = || requests.iter().filter(|client| ours.hit(client)).count();
    let plain_known = || (0..asked).filter(|nth| plain.get(&plain_key(place(*nth))).is_some()).count();
    let mut best = [f64::INFINITY; 2];
    for _ in 0..ROUNDS {
        best = [best[0].min(seconds(known, asked)), best[1].min(seconds(plain_known, asked))];
    }
    let per_hit = best.map(|seconds| seconds / f64::from(asked) * 1e9);
    let key = seconds(|| requests.iter().filter(|client| ours.key(client).is_some()).count(), asked);
    let ours_alone = alone(&requests, |client| ours.hit(client));
    let places: Vec<u32> = (0..asked).map(place).collect();
    let plain_alone = alone(&places, |number| plain.get(&plain_key(*number)).is_some());
    println!("{entries} entries, {asked} hits a round");
    println!(
        "a hit: {:.0} ns, of plain moka {:.0} ns: {:.2} times; making the key is {:.0} ns of it",
        per_hit[0],
        per_hit[1],
        per_hit[0] / per_hit[1],
        key / f64::from(asked) * 1e9
    );
    println!(
        "an entry: {our_bytes:.0} bytes, of plain moka {plain_bytes:.0}: {:.2} times",
        our_bytes / plain_bytes
    );
    println!(
        "of {asked} hits {} allocate nothing; the rest is moka's housekeeping, which some of the others do: {} allocations, with plain moka {}",
        ours_alone.0, ours_alone.1, plain_alone.1
    );
    // Housekeeping is due after 64 hits or 0.3 seconds. What a hit allocated itself, each of them would.
    let housekeeping = u64::from(asked) - ours_alone.0;
    let sound = per_hit[0] <= BOUND * per_hit[1]
        && our_bytes <= BOUND * plain_bytes
        && housekeeping <= u64::from(asked) / 32;
    ExitCode::from(u8::from(measured && !sound))
}

/// How many hits allocate nothing, and what all others allocate.
fn alone<T>(clients: &[T], hit: impl Fn(&T) -> bool) -> (u64, u64) {
    let counts = clients.iter().map(|client| {
        let counted = allocation_counter::measure(|| {
            black_box(hit(client));
        });
        counted.count_total
    });
    counts.fold((0, 0), |(none, all), count| (none + u64::from(count == 0), all + count))
}

impl Ours {
    fn new(entries: u32) -> Option<Self> {
        let mut files = MemoryFiles::default();
        let text = format!(
            "radius secret 127.0.0.1\nauthcache user,pass 600 {entries}\nauth cache radius\nallow *\nproxy\n"
        );
        files.insert("3proxy.cfg", text);
        let program = compiler::compile(Path::new("3proxy.cfg"), &files).program;
        Some(Self {
            identities: Identities::of(&program, None),
            policy: Policy::compile(&program),
            settings: program.services.first()?.auth_cache?,
            target: TargetName::Name("www.example.com".into()),
        })
    }

    fn key(&self, client: &Credentials) -> Option<Key> {
        let service = self.policy.program().services.first()?;
        let subject = Subject {
            chain: &service.chain.value,
            client: IpAddr::from([10, 0, 0, 1]),
            credentials: Some(client),
            acl: None,
            target: &self.target,
            address: None,
            port: 443,
            operation: Operation::Connect,
            service: SocketAddr::from(([127, 0, 0, 1], 3128)),
        };
        self.identities.key(self.settings, &subject)
    }

    fn put(&self, client: &Credentials) {
        let known = Known {
            user: client.user.as_ref().into(),
            client: IpAddr::from([10, 0, 0, 1]),
            by: AuthType::Radius,
        };
        if let Some(key) = self.key(client) {
            self.identities.put(&self.policy, key, known);
        }
    }

    fn hit(&self, client: &Credentials) -> bool {
        self.key(client).is_some_and(|key| self.identities.get(&self.policy, self.settings, &key).is_some())
    }
}

fn client(number: u32) -> Credentials {
    let text = |what: &str| format!("{what}{number}").into_bytes();
    Credentials { user: text("user").into(), password: Some(Secret::from(&text("password")[..])) }
}

fn plain_key(number: u32) -> [u8; 32] {
    let mut key = [7; 32];
    key[..4].copy_from_slice(&number.to_be_bytes());
    key
}

/// Processor seconds of `work`, which must find `wanted`.
fn seconds(work: impl Fn() -> usize, wanted: u32) -> f64 {
    let started = processor_seconds();
    assert_eq!(black_box(work()), wanted as usize, "a hit was a miss");
    processor_seconds() - started
}

fn processor_seconds() -> f64 {
    let told = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    told.split(' ').next().and_then(|nanoseconds| nanoseconds.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}

/// Bytes of memory in use.
fn resident() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<f64>().ok()).unwrap_or(0.0) * 1024.0
}
