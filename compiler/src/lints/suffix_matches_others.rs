//! `suffix-matches-others`
use super::{
    columns::columns,
    rule::{Lint, rule},
};
use crate::{
    finding::Level,
    program::acl::{Ace, Action, NamePattern},
};

rule! {
    /// `*example.com` matches `notexample.com`, too.
    ///
    /// Without a dot behind the `*` any name matches that ends so, and anyone may register one:
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8 *example.com
    /// deny *
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8 example.com,*.example.com
    /// deny *
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// In a `deny` it refuses more than it says, and the rule is silent unless asked for.
    "suffix-matches-others",
    level: Warn,
    group: Security,
    since: "0.1.0",
    reads: Line,
    check: check,
}

/// At most this many entries are told.
const MOST: usize = 1000;

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let lists = lint.asked_lists();
    let entries = lists.iter().flat_map(|list| program.acls.entries(list.acl));
    for (ace, domain) in entries.filter_map(|(_, ace)| Some((ace, open(ace)?))).take(MOST) {
        let domain = String::from_utf8_lossy(domain);
        let place = columns(lint.sources, ace.at).get(2).copied().unwrap_or(ace.at);
        let mut finding = RULE
            .finding(place, format!("`*{domain}` matches names such as `not{domain}`, too"))
            .help(format!("write `{domain},*.{domain}`"));
        if ace.action == Action::Deny {
            finding.level = Level::Allow;
        }
        lint.report(finding);
    }
}

/// A domain that an entry has with whatever stands before it.
fn open(ace: &Ace) -> Option<&[u8]> {
    let mut names = ace.matcher.targets.iter().flat_map(|targets| targets.names.iter());
    names.find_map(|name| match name {
        NamePattern::Suffix(text) => {
            let (first, _) =
                text.iter().position(|byte| *byte == b'.').and_then(|at| text.split_at_checked(at))?;
            let word = !first.is_empty() && first.iter().all(u8::is_ascii_alphanumeric);
            (word && first.iter().any(u8::is_ascii_alphabetic)).then_some(text)
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use crate::{finding::Level, lints::tests::findings};

    #[test]
    fn domains_without_a_dot_before_them() {
        for (line, found) in [
            ("allow * * *example.com", Some(Level::Warn)),
            ("allow * * a.test,*example.com", Some(Level::Warn)),
            ("deny * * *example.com", Some(Level::Allow)),
            ("allow * * *.example.com", None),
            ("allow * * *com", None),
            ("allow * * *-cdn.example.com", None),
            ("allow * * *1.2.3.4", None),
            ("allow * * *example.com*", None),
        ] {
            let text = format!("{line}\nallow *\nproxy -i127.0.0.1\n");
            let levels: Vec<Level> =
                findings("suffix-matches-others", &text).iter().map(|one| one.level).collect();
            assert_eq!(levels, Vec::from_iter(found), "{line}");
        }
    }
}
