//! Kinds of lists, and the requests that their parts are for.
use std::fmt::Write;

use compiler::{
    program::acl::Operation,
    table::{Request, WeekTime},
};

/// A kind of list.
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    /// How long it is made: entries, or values of the one entry.
    pub(crate) lengths: &'static [u32],
    /// The entries of a list of that length.
    pub(crate) list: fn(u32) -> String,
    /// The values of the one entry, if it is not the entries that are counted.
    pub(crate) values: Option<fn(u32) -> String>,
    /// The request that its nth entry or value is for.
    pub(crate) ask: fn(u32) -> Ask,
}

/// A request's values.
#[derive(Default)]
pub(crate) struct Ask {
    user: Option<String>,
    source: Option<[u8; 4]>,
    host: String,
    address: [u8; 4],
    port: u16,
}

const LENGTHS: &[u32] = &[10, 1_000, 100_000];

pub(crate) const SHAPES: &[Shape] = &[
    Shape {
        name: "a: one entry, addresses",
        lengths: LENGTHS,
        list: ONE_ENTRY,
        values: Some(|length| {
            values(length, |at| if at % 2 == 0 { network(at) } else { dotted(inside(at)) })
        }),
        ask: |at| Ask { address: inside(at), ..Ask::default() },
    },
    Shape {
        name: "b: one entry, host patterns",
        lengths: LENGTHS,
        list: ONE_ENTRY,
        values: Some(|length| {
            values(length, |at| match at % 3 {
                0 => format!("host{at}.example.com"),
                1 => format!("*.zone{at}.example.net"),
                _ => format!("*track{at}er*"),
            })
        }),
        ask: |at| Ask {
            host: match at % 3 {
                0 => format!("host{at}.example.com"),
                1 => format!("www.zone{at}.example.net"),
                _ => format!("a.track{at}er.example.org"),
            },
            address: [203, 0, 113, 1],
            ..Ask::default()
        },
    },
    Shape {
        name: "c: users, each with an extip",
        lengths: LENGTHS,
        list: |length| each(length, |at| format!("allow user{at}\nparent 1000 extip 192.0.2.1 0")),
        values: None,
        ask: |at| Ask { user: Some(format!("user{at}")), ..Ask::default() },
    },
    Shape {
        name: "d: target networks",
        lengths: LENGTHS,
        list: |length| each(length, |at| format!("allow * * {}", network(at))),
        values: None,
        ask: |at| Ask { address: inside(at), ..Ask::default() },
    },
    Shape {
        name: "e: target names",
        lengths: LENGTHS,
        list: |length| each(length, |at| format!("allow * * *.n{at}.example.com")),
        values: None,
        ask: |at| Ask { host: format!("www.n{at}.example.com"), address: [203, 0, 113, 1], ..Ask::default() },
    },
    Shape {
        name: "f: random in all fields",
        lengths: &[10, 1_000, 10_000],
        list: |length| each(length, random),
        values: None,
        ask: |at| {
            let mut numbers = Numbers(u64::from(at));
            Ask {
                user: Some(format!("user{}", numbers.below(1_000))),
                source: Some([10, numbers.below(256) as u8, 1, 1]),
                host: format!("www.n{}.example.com", numbers.below(1_000)),
                address: [198, 18, numbers.below(256) as u8, 1],
                port: numbers.pick(&[80, 443, 8080, 25]),
            }
        },
    },
    Shape {
        name: "g: realistic",
        lengths: &[50],
        list: realistic,
        values: None,
        ask: |at| Ask {
            user: Some(format!("user{}", at % 20)),
            source: Some([10, 0, (at % 16) as u8, 9]),
            host: format!("www.site{}.example", at % 30),
            address: [198, 51, 100, (at % 250) as u8],
            port: 443,
        },
    },
];

/// The usual: what is closed for all, guests, groups with sites of their own, the rest.
fn realistic(length: u32) -> String {
    each(length, |at| match at {
        0 => "deny * * 127.0.0.0/8,10.0.0.0/8,169.254.0.0/16,172.16.0.0/12,192.168.0.0/16,::1".into(),
        1 => "deny * * * 25,135-139,445".into(),
        2 => "deny * * *.ads.example,*tracker*,*.banners.example".into(),
        49 => "allow * 10.0.0.0/8 * 80,443 HTTP,HTTPS,CONNECT".into(),
        _ => match at % 5 {
            0 => format!("deny user{at} * *.site{at}.example"),
            1 => format!("allow user{at},user{} 10.0.{at}.0/24", at + 1),
            2 => format!("allow * 10.0.{at}.0/24 *.site{at}.example,site{at}.example 80,443"),
            3 => format!("deny * * 198.51.{at}.0/24"),
            _ => format!("allow user{at} * * 443 CONNECT,HTTPS 1-5 09:00:00-18:00:00"),
        },
    })
}

/// An entry that lists something in any of its fields.
fn random(at: u32) -> String {
    let mut numbers = Numbers(u64::from(at) << 20);
    let maybe = |numbers: &mut Numbers, text: String| if numbers.below(2) == 0 { text } else { "*".into() };
    let user = format!("user{}", numbers.below(1_000));
    let source = format!("10.{}.0.0/16", numbers.below(256));
    let target = match numbers.below(2) {
        0 => format!("*.n{}.example.com", numbers.below(1_000)),
        _ => format!("198.18.{}.0/24", numbers.below(256)),
    };
    let port = numbers.pick(&["80", "443", "1-1023", "8080"]);
    let operation = numbers.pick(&["CONNECT", "HTTP", "HTTPS,CONNECT"]);
    let day = numbers.pick(&["1-5", "0,6", "1"]);
    let fields = [user, source, target, port.into(), operation.into(), day.into()];
    let fields = fields.map(|field| maybe(&mut numbers, field)).join(" ");
    let action = numbers.pick(&["allow", "deny"]);
    // One that lists nothing would end the list for all.
    if fields.starts_with("* * *") { format!("{action} nobody") } else { format!("{action} {fields}") }
}

/// SplitMix64.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % end
    }

    /// One of `values`.
    fn pick<T: Copy + Default>(&mut self, values: &[T]) -> T {
        values.get(self.below(values.len() as u64) as usize).copied().unwrap_or_default()
    }
}

/// An entry whose values stand in an included file: a line holds no more than 65,535 bytes.
const ONE_ENTRY: fn(u32) -> String = |_| "deny * * $values\nallow *\n".into();

fn values(length: u32, item: impl Fn(u32) -> String) -> String {
    (0..length).map(item).collect::<Vec<_>>().join(",")
}

fn each(length: u32, entry: impl Fn(u32) -> String) -> String {
    let mut text = String::new();
    for at in 0..length {
        let _ = writeln!(text, "{}", entry(at));
    }
    text
}

/// Networks of four addresses, of 10.0.0.0/8 as long as there are.
fn network(at: u32) -> String {
    let [a, b, c, d] = inside(at);
    format!("{a}.{b}.{c}.{}/30", d - 1)
}

fn inside(at: u32) -> [u8; 4] {
    let [_, b, c, d] = ((at & 0x3f_ffff) << 2).to_be_bytes();
    [10, b, c, d + 1]
}

fn dotted([a, b, c, d]: [u8; 4]) -> String {
    format!("{a}.{b}.{c}.{d}")
}

impl Ask {
    pub(crate) fn request(&self) -> Request<'_> {
        Request {
            user: self.user.as_deref().map(str::as_bytes),
            source: self.source.unwrap_or([172, 16, 1, 1]).into(),
            host: Some(self.host.as_bytes()).filter(|host| !host.is_empty()),
            address: Some(self.address.into()),
            port: self.port,
            operation: Operation::Connect,
            time: WeekTime { day: 1, second: 36_000 },
            weight: 0,
            redirected: false,
        }
    }
}
