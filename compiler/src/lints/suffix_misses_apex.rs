//! `suffix-misses-apex`
use std::collections::HashSet;

use super::{
    columns::columns,
    rule::{Lint, rule},
};
use crate::program::acl::{Ace, Action, NamePattern};

rule! {
    /// `*.example.com` does not match `example.com` itself.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// deny * * *.bad.example
    /// allow * 10.0.0.0/8
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// To name a domain with all that is below it:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// deny * * bad.example,*.bad.example
    /// allow * 10.0.0.0/8
    /// proxy -i10.0.0.1
    /// ```
    "suffix-misses-apex",
    level: Allow,
    group: Correctness,
    since: "0.1.0",
    check: check,
}

/// At most this many entries are told.
const MOST: usize = 1000;

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let mut told = 0;
    for list in lint.asked_lists().iter() {
        let mut open: Vec<(&Ace, &[u8])> = Vec::new();
        for (_, ace) in program.acls.entries(list.acl) {
            open.extend(missing(ace).map(|domain| (ace, domain)));
        }
        if open.is_empty() {
            continue;
        }
        // Another entry may name it.
        let names = program.acls.entries(list.acl).flat_map(|(_, ace)| exact(ace));
        let named: HashSet<(Action, &[u8])> = names.collect();
        open.retain(|(ace, domain)| !named.contains(&(ace.action, *domain)));
        let mut last = None;
        for (ace, domain) in open {
            if last.replace(ace.at) == Some(ace.at) || told == MOST {
                continue;
            }
            told += 1;
            let domain = String::from_utf8_lossy(domain);
            let place = columns(lint.sources, ace.at).get(2).copied().unwrap_or(ace.at);
            lint.report(
                RULE.finding(place, format!("`*.{domain}` does not match `{domain}` itself"))
                    .help(format!("write `{domain},*.{domain}` if both are meant")),
            );
        }
    }
}

/// The domains of which an entry has all names below, but not the domain right beside them.
fn missing(ace: &Ace) -> impl Iterator<Item = &[u8]> {
    let names = || ace.matcher.targets.iter().flat_map(|targets| targets.names.iter());
    let before = std::iter::once(None).chain(names().map(Some));
    let behind = names().skip(1).map(Some).chain([None]);
    let beside = before.zip(names()).zip(behind);
    beside.filter_map(|((before, name), behind)| match name {
        NamePattern::Suffix(text) => {
            let domain = text.strip_prefix(b".").filter(|domain| domain.contains(&b'.'))?;
            let is = |other: Option<NamePattern<'_>>| other == Some(NamePattern::Exact(domain));
            (!is(before) && !is(behind)).then_some(domain)
        }
        _ => None,
    })
}

fn exact(ace: &Ace) -> impl Iterator<Item = (Action, &[u8])> {
    let names = ace.matcher.targets.iter().flat_map(|targets| targets.names.iter());
    names.filter_map(|name| match name {
        NamePattern::Exact(text) => Some((ace.action, text)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn the_domain_may_be_named_elsewhere() {
        check(
            "suffix-misses-apex",
            r"
internal 127.0.0.1
deny * * *.a.example,b.example,*.b.example,*.example
#        ^ `*.a.example` does not match
deny * * *.c.example,x.example,c.example
deny * * *.d.example
deny * * d.example
allow * * *.e.example
#         ^ `*.e.example` does not match
deny * * e.example
proxy
",
        );
    }
}
