//! Random policies and requests: the indexed tables against the plain walk.
//!
//! The numbers come from a generator (a test, a long run) or from a fuzzer's bytes. Values are few, so that entries match often.
use std::{fmt::Write, net::IpAddr, path::Path};

use compiler::{
    policy::{LimitList, Policy},
    program::{
        acl::Operation,
        limits::{Direction, Limit},
    },
    sources::MemoryFiles,
    table::{Request, Subject, Table, WeekTime, oracle, oracle::Walk},
};

/// Where choices come from.
pub(crate) trait Numbers {
    /// The next number below `end`, which is not 0.
    fn below(&mut self, end: usize) -> usize;
}

/// Numbers without end from a seed (SplitMix64).
pub(crate) struct Seeded(pub(crate) u64);

impl Numbers for Seeded {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(mixed ^ (mixed >> 31)) * end as u128) >> 64) as usize
    }
}

const USERS: [&str; 6] = ["bob", "alice", "Bob", "-", "eve", "mallory"];
const NETWORKS: [&str; 16] = [
    "10.0.0.0/8",
    "10.0.0.1",
    "10.0.0.2-10.1.0.1",
    "10.1.0.0/16",
    "0.0.0.0/0",
    "127.0.0.0/8",
    "192.0.2.0/24",
    "192.0.2.128/25",
    "192.0.2.7",
    "255.255.255.255",
    "::/0",
    "2001:db8::/32",
    "2001:db8::7",
    "::ffff:10.0.0.0/104",
    "::1",
    "0.0.0.0",
];
const ADDRESSES: [&str; 14] = [
    "10.0.0.1",
    "10.0.0.2",
    "10.1.0.1",
    "10.200.0.1",
    "127.0.0.1",
    "192.0.2.7",
    "192.0.2.200",
    "255.255.255.255",
    "::1",
    "2001:db8::7",
    "2001:db8:1::1",
    "::ffff:10.0.0.1",
    "::ffff:0.0.0.0",
    "0.0.0.0",
];
const PATTERNS: [&str; 16] = [
    "a.test",
    "*.a.test",
    "*a.test",
    "*.test",
    "test",
    "b.*",
    "a*",
    "*a*",
    "*.a.*",
    "*tes*",
    "*st*",
    "*b.a.test*",
    "x",
    "*x",
    "*x*",
    "**",
];
const HOSTS: [&str; 14] = [
    "a.test",
    "A.Test.",
    "test",
    "b.a.test",
    "c.b.a.test",
    "x",
    "",
    ".",
    "a.testing",
    "xa",
    "fast.example",
    "10.0.0.1",
    "::1",
    "b.x",
];
const PORTS: [&str; 8] = ["80", "443", "80,443", "1-1023", "1024-65535", "443-80", "0", "25,53,80-90"];
const ASKED_PORTS: [u16; 8] = [0, 25, 53, 80, 85, 443, 1024, 65535];
const OPERATIONS: [&str; 8] =
    ["CONNECT", "BIND", "UDPASSOC", "HTTP", "HTTPS", "FTP,CONNECT", "HTTP_GET,UDPASSOC", "DNSRESOLVE,ADMIN"];
const DAYS: [&str; 5] = ["1-5", "0", "6,7", "3", "0-6"];
const PERIODS: [&str; 5] =
    ["00:00:00-12:00:00", "09:00:00-18:00:00", "23:59:59-24:00:00", "18:00:00-09:00:00", "12:00:00-12:00:01"];
const SECONDS: [u32; 7] = [0, 32_399, 32_400, 43_200, 43_201, 64_800, 86_399];
const LIMITS: [&str; 10] = [
    "bandlimin 1000",
    "bandlimout 2000",
    "nobandlimin",
    "nobandlimout",
    "connlim 5 60",
    "noconnlim",
    "countin 1 D 10",
    "countout 2 D 10",
    "countall 3 D 10",
    "nocountin",
];

fn one<'a>(numbers: &mut impl Numbers, of: &[&'a str]) -> &'a str {
    of[numbers.below(of.len())]
}

/// What entries of a policy are like.
#[derive(Clone, Copy)]
struct Style {
    /// Some have weights.
    weights: bool,
    /// They list one value each for most fields, so that few match a request: long lists are gone through to their end.
    narrow: bool,
}

/// Nothing, or some of these.
fn list(numbers: &mut impl Numbers, of: &[&str], often: usize, style: Style) -> String {
    if style.narrow && numbers.below(8) != 0 {
        return one(numbers, of).into();
    }
    if numbers.below(often) != 0 {
        return "*".into();
    }
    (0..=numbers.below(3)).map(|_| one(numbers, of)).collect::<Vec<_>>().join(",")
}

/// The fields of an entry.
fn fields(numbers: &mut impl Numbers, style: Style) -> String {
    let targets: Vec<&str> = PATTERNS.into_iter().chain(NETWORKS).collect();
    let usual = Style { narrow: false, ..style };
    let mut text = [
        list(numbers, &USERS, 2, style),
        list(numbers, &NETWORKS, 3, style),
        list(numbers, &targets, 2, style),
        // So many different ports that there is a list for each.
        match style.narrow {
            true if numbers.below(2) == 0 => (1 + numbers.below(99)).to_string(),
            _ => list(numbers, &PORTS, 4, style),
        },
        list(numbers, &OPERATIONS, 4, usual),
        list(numbers, &DAYS, 8, usual),
        list(numbers, &PERIODS, 8, usual),
    ]
    .join(" ");
    if style.weights && numbers.below(2) == 0 {
        let _ = write!(text, " {}", numbers.below(4));
    }
    text
}

/// A configuration of three services with one growing list, and limits.
fn configuration(numbers: &mut impl Numbers) -> String {
    let weights = numbers.below(4) == 0;
    let most = [4, 12, 24, 60, 4, 12, 24, 60, 60, 400][numbers.below(10)];
    let style = Style { weights, narrow: most > 24 && numbers.below(2) == 0 };
    let mut text = String::from("auth iponly\ncounter /tmp/counter\n");
    for service in ["socks -p1", "proxy -p2", "socks -p3"] {
        for _ in 0..numbers.below(most) {
            let action = one(numbers, &["allow", "deny"]);
            let _ = writeln!(text, "{action} {}", fields(numbers, style));
            if action == "allow" && numbers.below(4) == 0 {
                let parent = one(numbers, &["socks5 192.0.2.1 1080", "http 0.0.0.0 0"]);
                let _ = writeln!(text, "parent 1000 {parent}");
            }
        }
        let _ = writeln!(text, "{service}");
    }
    for _ in 0..numbers.below(most) {
        let limit = one(numbers, &LIMITS);
        let _ = writeln!(text, "{limit} {}", fields(numbers, style));
    }
    text
}

/// A request.
fn ask(numbers: &mut impl Numbers) -> Request<'static> {
    let address = |text: &str| text.parse::<IpAddr>().unwrap();
    let maybe = |numbers: &mut dyn FnMut(usize) -> usize| numbers(4) != 0;
    let mut below = |end| numbers.below(end);
    Request {
        user: maybe(&mut below).then(|| USERS[below(USERS.len())].as_bytes()),
        source: address(ADDRESSES[below(ADDRESSES.len())]),
        host: maybe(&mut below).then(|| HOSTS[below(HOSTS.len())].as_bytes()),
        address: maybe(&mut below).then(|| address(ADDRESSES[below(ADDRESSES.len())])),
        port: ASKED_PORTS[below(ASKED_PORTS.len())],
        operation: Operation::ALL[below(Operation::ALL.len())],
        time: WeekTime { day: below(7) as u8, second: SECONDS[below(SECONDS.len())] },
        weight: if below(8) == 0 { below(4) as i32 } else { 0 },
        redirected: below(4) == 0,
    }
}

/// Compiles a random policy, asks it and the walk `requests` random requests, and says how many decisions were compared.
///
/// # Panics
/// When table and walk disagree. Says about what.
pub(crate) fn compare(numbers: &mut impl Numbers, requests: usize) -> u64 {
    let text = configuration(numbers);
    let mut files = MemoryFiles::default();
    files.insert("3proxy.cfg", text.as_bytes());
    let program = compiler::compile(Path::new("3proxy.cfg"), &files).program;
    let policy = Policy::compile(&program);
    let mut decisions = 0;
    for number in 0..requests {
        let request = ask(numbers);
        for (at, service) in program.services.iter().enumerate() {
            let walk = Walk { acls: &program.acls, list: service.acl };
            let (table, walked) = (policy.decide(at, &request), walk.decide(&request));
            assert!(table == walked, "{table:?}, but walked {walked:?}\n{at}: {request:?}\n{text}");
            decisions += 1;
            // These cost more, and a few of them find as much.
            if number % 16 == 0 {
                let both = (policy.depends_on(at, &request), policy.preauthorize(at, &request));
                let walked = (walk.depends_on(&request), walk.preauthorize(&request));
                assert!(both == walked, "{both:?}, but walked {walked:?}\n{at}: {request:?}\n{text}");
            }
        }
        if number % 16 == 0 {
            compare_limits(&policy, &request, &text);
        }
    }
    decisions
}

fn compare_limits(policy: &Policy, request: &Request<'_>, text: &str) {
    let limits = &policy.program().limits;
    let traffic = |wanted: Direction| {
        let lines = limits.traffic.iter();
        lines
            .map(move |line| Some(&line.limit).filter(|_| [wanted, Direction::All].contains(&line.direction)))
    };
    let of = |list| policy.limits(list, request);
    let walked = [
        (LimitList::BandwidthIn, walk(limits.bandwidth_in.iter().map(Some), request, 10)),
        (LimitList::BandwidthOut, walk(limits.bandwidth_out.iter().map(Some), request, 10)),
        (LimitList::Connections, walk(limits.connections.iter().map(Some), request, usize::MAX)),
        (LimitList::TrafficIn, walk(traffic(Direction::In), request, usize::MAX)),
        (LimitList::TrafficOut, walk(traffic(Direction::Out), request, usize::MAX)),
    ];
    for (list, walked) in walked {
        assert!(of(list) == walked, "{list:?}: {:?}, but walked {walked:?}\n{request:?}\n{text}", of(list));
    }
}

/// The lines that apply: those that match, at most `most`, up to one that ends the walk. `None`: a line that does not count here.
fn walk<'a, T: 'a>(
    lines: impl Iterator<Item = Option<&'a Limit<T>>>,
    request: &Request<'_>,
    most: usize,
) -> Vec<usize> {
    let subject = Subject::new(request);
    let matches = |line: &Limit<T>| {
        oracle::matches(&line.matcher, &subject) && (line.weight == 0 || line.weight >= subject.weight)
    };
    let matching =
        lines.enumerate().filter_map(|(at, line)| line.filter(|line| matches(line)).map(|line| (at, line)));
    matching.take_while(|(_, line)| line.limit.is_some()).map(|(at, _)| at).take(most).collect()
}
