//! Two static records of one name.
use std::collections::HashMap;

use super::rule::{Lint, rule};

rule! {
    /// A name has one static record of each family: the last one counts.
    ///
    /// ```3proxy,fires
    /// nserver 192.0.2.53
    /// nscache 65536
    /// nsrecord www.example.com 192.0.2.1
    /// nsrecord www.example.com 192.0.2.2
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
    "nsrecord-repeated",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let kept = lint.program.resolver.records.iter().filter(|record| !record.before_cache);
    let mut last = HashMap::new();
    let mut found = Vec::new();
    for record in kept {
        let key = (record.name.as_bytes(), record.address.is_ipv6());
        // One that is written twice says nothing else.
        if let Some(before) = last.insert(key, record).filter(|before| before.address != record.address) {
            found.push((before, record.at));
        }
    }
    for (before, after) in found {
        let finding = RULE
            .finding(before.at, format!("this record is replaced: `{}` has another one below", before.name))
            .label("has no effect")
            .also(after, "replaces it")
            .help("remove one of them: a name has one address of each family");
        lint.report(finding);
    }
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::findings;

    #[test]
    fn only_the_last_of_several_is_not_replaced() {
        for (records, replaced) in [
            (["a 10.0.0.1", "a 10.0.0.2", "a 10.0.0.3"], 2),
            (["a 10.0.0.1", "b 10.0.0.2", "a 10.0.0.1"], 0),
            (["a 10.0.0.1", "A 10.0.0.2", "b 10.0.0.2"], 0),
            (["a 10.0.0.1", "b 10.0.0.2", "a 0.0.0.0"], 1),
        ] {
            let lines: String = records.iter().map(|record| format!("nsrecord {record}\n")).collect();
            let text = format!("nserver 192.0.2.53\nnscache 65536\n{lines}proxy\n");
            assert_eq!(findings("nsrecord-repeated", &text).len(), replaced, "{records:?}");
        }
    }
}
