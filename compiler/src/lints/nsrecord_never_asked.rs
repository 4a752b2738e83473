//! A static record that no client asks for.
use std::borrow::Cow;

use grammar::value::{self, NamePattern};

use super::rule::{Lint, rule};
use crate::{
    finding::{Finding, Level},
    fix::{Edit, Fix, Safety},
    sources::Loc,
};

rule! {
    /// No client asks for the name of a static record.
    ///
    /// A record is for one name: there are no patterns. An address is not looked up at all.
    ///
    /// ```3proxy,fires
    /// nserver 192.0.2.53
    /// nscache 65536
    /// nsrecord 192.0.2.1 www.example.com
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// The name comes first, then its address:
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
    /// A name with a dot behind it is found only if the client writes the dot too, which hardly any does; this is only a warning.
    ///
    /// ```3proxy,fires
    /// nserver 192.0.2.53
    /// nscache 65536
    /// nsrecord www.example.com. 192.0.2.1
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
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
    /// nsrecord _dns.example.com 192.0.2.1
    /// nsrecord router 192.168.0.1
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "nsrecord-never-asked",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    for ran in program.commands.iter().filter(|ran| ran.row.name == "nsrecord") {
        let words = lint.sources.values(ran.at);
        let [_, name, address] = words.as_slice() else { continue };
        let is_plain = |(at, value): &(Loc, Cow<'_, [u8]>)| lint.sources.text(*at) == value.as_ref();
        if let Some(finding) = finding(name, address, is_plain(name) && is_plain(address)) {
            lint.report(finding);
        }
    }
}

type Word<'a> = (Loc, Cow<'a, [u8]>);

/// `is_plain`: what stands in the text is what the words say.
fn finding((at, name): &Word<'_>, (second, address): &Word<'_>, is_plain: bool) -> Option<Finding> {
    let (at, cited) = (*at, String::from_utf8_lossy(name));
    if value::address(name).is_some() {
        let finding = RULE
            .finding(at, format!("`{cited}` is an address, which is never looked up"))
            .label("the name stands here");
        if value::address(address).is_some() {
            return Some(finding.help("write the name that clients ask for, then its address"));
        }
        let title = "write the name first, then its address";
        let swapped = || {
            let (name, address) = (str::from_utf8(name).ok()?, str::from_utf8(address).ok()?);
            let edits =
                vec![Edit { at, text: address.to_owned() }, Edit { at: *second, text: name.to_owned() }];
            Some(Fix { title: title.into(), safety: Safety::Safe, edits })
        };
        return Some(finding.help(title).fix(is_plain.then(swapped).flatten()));
    }
    // A marker of a template, or a file that stands for the name.
    if name.is_empty() || name.contains(&b'$') {
        return None;
    }
    if name.contains(&b'*') {
        let finding = RULE.finding(at, format!("no client asks for `{cited}`: a record has no wildcard"));
        return Some(finding.label("never found").help("write a record for each name"));
    }
    let closed = cited.trim_end_matches('.');
    if NamePattern::Exact(closed.as_bytes()).is_of_no_host() {
        let finding = RULE.finding(at, format!("no client asks for `{cited}`, which is no name of a host"));
        return Some(finding.label("never found").help("write the name alone"));
    }
    if closed.len() == cited.len() {
        return None;
    }
    let mut finding = RULE
        .finding(at, format!("only clients that ask for `{cited}`, with the dot, get this record"))
        .label("most ask without the dot")
        .help(format!("write `{closed}`"))
        .fix(is_plain.then(|| Fix::replace("take the last dot out", Safety::Unsafe, at, closed)));
    finding.level = Level::Warn;
    Some(finding)
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::findings;

    #[test]
    fn only_names_that_clients_ask_for_are_found() {
        for (record, is_found) in [
            ("*.example.com 10.0.0.1", true),
            (".example.com 10.0.0.1", true),
            ("http://example.com 10.0.0.1", true),
            ("example.com:80 10.0.0.1", true),
            ("10.0.0.1 10.0.0.2", true),
            ("2001:db8::1 www.example.com", true),
            ("example.com. 10.0.0.1", true),
            ("example.com 10.0.0.1", false),
            ("EXAMPLE.com 10.0.0.1", false),
            ("b\u{fc}cher.example 10.0.0.1", false),
            ("1e100.example 10.0.0.1", false),
        ] {
            let text = format!("nserver 192.0.2.53\nnscache 65536\nnscache6 65536\nnsrecord {record}\n");
            let found = findings("nsrecord-never-asked", &text);
            assert_eq!(found.len(), usize::from(is_found), "{record}: {found:#?}");
        }
    }
}
