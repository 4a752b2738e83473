//! An allowance by an old name of a rule.
use super::rule::{Rule, rule};
use crate::{
    finding::Finding,
    fix::{Fix, Safety},
    sources::Loc,
};

rule! {
    /// A comment allows a rule by an old name.
    ///
    /// The comment counts as before. `--allow`, `--warn`, `--deny`, `cfgc.toml` and `cfgc explain` take old names, too. The name of a rule that
    /// another has replaced is still valid: it means that part of the other.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// # cfgc: allow(deny-all-missing) closed for the holidays
    /// deny * * *.example
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// ```3proxy,fixed
    /// auth iponly
    /// # cfgc: allow(implicit-deny-surprise) closed for the holidays
    /// deny * * *.example
    /// proxy -i127.0.0.1
    /// ```
    "old-rule-name",
    level: Warn,
    group: Style,
    since: "0.1.0",
    from lowering,
}

pub(crate) fn finding(at: Loc, old: &str, rule: &Rule) -> Finding {
    let name = rule.name;
    RULE.finding(at, format!("the rule `{old}` is now called `{name}`"))
        .help(format!("write `{name}`"))
        .fix(Fix::replace(format!("write `{name}`"), Safety::Safe, at, name))
}

/// The same where a comment for the same line names the rule besides; `listed` is the old name with its comma, if others are in its comment.
pub(crate) fn beside(at: Loc, old: &str, rule: &Rule, listed: Option<Loc>) -> Finding {
    let name = rule.name;
    let finding =
        RULE.finding(at, format!("the rule `{old}` is now called `{name}`, which is allowed here besides"));
    match listed {
        Some(listed) => finding.help(format!("remove `{old}`")).fix(Fix::replace(
            format!("remove `{old}`"),
            Safety::Safe,
            listed,
            "",
        )),
        // Its reason goes with it, and nobody but who wrote it knows whether that is the other's.
        None => finding.help("remove this comment, or put its reason into the other one"),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::{
        compile,
        fix::{Safety, mend},
        sources::{Files, MemoryFiles},
    };

    const NEW: &str = "implicit-deny-surprise";

    /// A comment that would name nothing any more is left to whoever wrote its reason.
    #[test]
    fn two_comments_for_one_line_name_a_rule_once() {
        let old = "deny-all-missing";
        for (comments, expected) in [
            ([old, NEW], [old, NEW]),
            ([NEW, old], [NEW, old]),
            ([old, old], [NEW, old]),
            ([&*format!("{old}, open-proxy"), NEW], ["open-proxy", NEW]),
        ] {
            let text = |[first, second]: [&str; 2]| {
                format!(
                    "auth iponly\n# cfgc: allow({first}) one\n# cfgc: allow({second}) two\ndeny * * *.example\n\
                     proxy -i127.0.0.1\n"
                )
            };
            let mut files = MemoryFiles::default();
            files.insert("3proxy.cfg", text(comments));
            let compile = |files: &dyn Files| {
                let mut compiled = compile(Path::new("3proxy.cfg"), files);
                compiled.findings.retain(|finding| finding.rule == "old-rule-name");
                compiled
            };
            let mended = mend(&files, &compile, &[], Safety::Safe);
            let after = mended.changed.get(Path::new("3proxy.cfg")).map(|changed| changed.after.clone());
            let after = after.unwrap_or_else(|| text(comments).into_bytes());
            assert_eq!(String::from_utf8(after).unwrap(), text(expected));
        }
    }

    /// Each rule is named once, wherever its old names stood.
    #[test]
    fn the_fix_leaves_no_duplicate() {
        let old = "deny-all-missing";
        for (names, expected) in [
            (old.to_owned(), NEW.to_owned()),
            (format!("{old}, {NEW}"), NEW.to_owned()),
            (format!("{NEW},{old}"), NEW.to_owned()),
            (format!("{old}, {old}"), NEW.to_owned()),
            (format!("open-proxy, {old} , {NEW}"), format!("open-proxy , {NEW}")),
            (format!("{NEW}, {old}, open-proxy"), format!("{NEW}, open-proxy")),
        ] {
            let mut files = MemoryFiles::default();
            let text = |names: &str| {
                format!(
                    "auth iponly\n# cfgc: allow({names}) so it is\ndeny * * *.example\nproxy -i127.0.0.1\n"
                )
            };
            files.insert("3proxy.cfg", text(&names));
            let compile = |files: &dyn Files| {
                let mut compiled = compile(Path::new("3proxy.cfg"), files);
                compiled.findings.retain(|finding| finding.rule == "old-rule-name");
                compiled
            };
            let mended = mend(&files, &compile, &[], Safety::Safe);
            let changed = mended.changed.get(Path::new("3proxy.cfg")).unwrap();
            assert_eq!(String::from_utf8_lossy(&changed.after), text(&expected));
        }
    }
}
