//! A static record with nowhere to stand.
use super::rule::{Lint, rule};
use crate::{fix::Fix, sources::Loc};

rule! {
    /// A static record is kept in the cache of names: without one before it, it is dropped.
    ///
    /// `nsrecord` needs `nscache` before it, or `nscache6` for an IPv6 address.
    ///
    /// ```3proxy,fires
    /// nserver 192.0.2.53
    /// nsrecord www.example.com 192.0.2.1
    /// nscache 65536
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,fixed
    /// nserver 192.0.2.53
    /// nscache 65536
    /// nsrecord www.example.com 192.0.2.1
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// ```3proxy,clean
    /// nserver 192.0.2.53
    /// nscache 65536
    /// nscache6 65536
    /// nsrecord www.example.com 192.0.2.1
    /// nsrecord www.example.com 2001:db8::1
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "nsrecord-without-nscache",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    reads: Order,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let resolver = &program.resolver;
    let mut moved = [false; 2];
    // One whose size is no number that counts makes no cache.
    let void = |command: &str, cache: Option<Loc>| {
        let mut lines = program.commands.iter().filter(|ran| ran.row.name == command).map(|ran| ran.at);
        lines.find(|at| Some(*at) != cache)
    };
    let void = [
        void("nscache", resolver.cache.and_then(|size| size.at)),
        void("nscache6", resolver.cache6.and_then(|size| size.at)),
    ];
    for record in resolver.records.iter().filter(|record| record.before_cache) {
        let v6 = record.address.is_ipv6();
        let (command, cache) = if v6 { ("nscache6", resolver.cache6) } else { ("nscache", resolver.cache) };
        let mut finding = RULE
            .finding(record.at, format!("this record is dropped, because there is no `{command}` before it"))
            .label("has no effect");
        if let Some(void) = void.get(usize::from(v6)).copied().flatten().filter(|void| *void < record.at) {
            finding = finding.also(void, "makes no cache");
        }
        let at = cache.and_then(|size| size.at);
        lint.report(match at {
            Some(at) => {
                let title = format!("move `{command}` above its records");
                let moved = moved.get_mut(usize::from(v6));
                // The first record's fix is that of all.
                let first = moved.is_some_and(|moved| !std::mem::replace(moved, true));
                let fix = first.then(|| Fix::move_above(lint.sources, title.clone(), &[at], record.at));
                finding.also(at, "comes too late").help(title).fix(fix.flatten())
            }
            // Without one the cache is not asked either: see `nsrecord-without-nserver`.
            None if resolver.servers.is_empty() => {
                finding.help(format!("write `{command} 65536` above it, and an `nserver`"))
            }
            None => finding.help(format!("write `{command} 65536` above it")),
        });
    }
}
