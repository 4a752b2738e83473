//! Long files of several kinds.
use std::fmt::Write;

/// A kind of file.
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    pub(crate) lines: usize,
    /// One of so many lines, about.
    pub(crate) text: fn(usize) -> String,
}

const LOCAL: &str = "internal 127.0.0.1\nauth iponly\n";

pub(crate) const SHAPES: [Shape; 8] = [
    Shape {
        name: "users",
        lines: 100_000,
        text: |lines| {
            list("internal 127.0.0.1\nauth useronly\n", lines, |n| {
                format!("allow user{n} * * 80,443 HTTP,CONNECT")
            })
        },
    },
    Shape {
        name: "users, reachable",
        lines: 100_000,
        text: |lines| list("auth useronly\n", lines, |n| format!("allow user{n} * * 80,443")),
    },
    Shape { name: "networks", lines: 100_000, text: |lines| list(LOCAL, lines, network) },
    Shape {
        name: "names",
        lines: 100_000,
        text: |lines| list(LOCAL, lines, |n| format!("deny * * *.site{n}.example,site{n}.example")),
    },
    Shape {
        name: "users with parents",
        lines: 100_000,
        text: |lines| {
            list("internal 127.0.0.1\nauth strong\n", lines / 2, |n| {
                format!("allow user{n}\nparent 1000 extip 10.{}.{}.{} 0", n >> 16, n >> 8 & 255, n & 255)
            })
        },
    },
    // Generated files of one service for each port and address, with a list that grows.
    Shape {
        name: "28,000 services",
        lines: 31_000,
        text: |lines| {
            let mut text = list(LOCAL, lines / 10, network);
            for n in 0..lines - lines / 10 {
                let _ = writeln!(text, "proxy -p{} -e10.0.{}.{}", 1024 + n, n >> 8 & 255, n & 255);
            }
            text
        },
    },
    Shape {
        name: "faulty entries",
        lines: 100_000,
        text: |lines| list(LOCAL, lines, |n| format!("allow user{n} * * 443-80 * Mon-Fri")),
    },
    Shape {
        name: "no commands",
        lines: 100_000,
        text: |lines| list(LOCAL, lines, |n| format!("frobnicate {n}")),
    },
];

fn network(n: usize) -> String {
    format!("allow * 10.{}.{}.0/24 * *", n / 256 % 256, n % 256)
}

/// A configuration with `lines` entries and one service.
fn list(head: &str, lines: usize, line: fn(usize) -> String) -> String {
    let mut text = head.to_owned();
    for number in 0..lines {
        let _ = writeln!(text, "{}", line(number));
    }
    text.push_str("deny *\nproxy\n");
    text
}
