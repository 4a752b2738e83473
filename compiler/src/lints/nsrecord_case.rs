//! A static record in capitals.
use super::rule::{Lint, rule};
use crate::fix::{Fix, Safety};

rule! {
    /// 3proxy finds a static record only if the client asks for exactly these letters, capitals included.
    ///
    /// Browsers ask in lower case.
    ///
    /// ```3proxy,fires
    /// nserver 192.0.2.53
    /// nscache 65536
    /// nsrecord Intranet.Example.com 192.0.2.1
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
    /// nsrecord intranet.example.com 192.0.2.1
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// ```3proxy,clean
    /// nserver 192.0.2.53
    /// nscache 65536
    /// nsrecord intranet.example.com 192.0.2.1
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "nsrecord-case",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    reads: Line,
    of_3proxy: true,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    for record in &program.resolver.records {
        if !record.name.as_bytes().iter().any(u8::is_ascii_uppercase) {
            continue;
        }
        let lower = record.name.to_string().to_ascii_lowercase();
        let word = lint.sources.values(record.at).into_iter().nth(1);
        let at = word.map_or(record.at, |(at, _)| at);
        let title = format!("write `{lower}`");
        // A word with quotes or a `$file` is not what stands there.
        let plain = lint.sources.text(at) == record.name.as_bytes();
        lint.report(
            RULE.finding(
                at,
                format!("only clients that ask for `{}`, capitals included, get this record", record.name),
            )
            .help(title.clone())
            .fix(plain.then(|| Fix::replace(title, Safety::Unsafe, at, lower))),
        );
    }
}
