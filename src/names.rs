//! Names that users write for what cfgc finds: of rules and their groups, of checks of `cfgc doctor`, of findings of `cfgc run`; and what
//! was meant by a name that nothing has.
use anyhow::{Error, Result, anyhow, bail};
use compiler::{
    finding::Level,
    lints::{self, Group, Rule},
};
use grammar::directive::{closest, did_you_mean};
use runtime::findings::{EXPLAINED, Explained};

use crate::{doctor::checks, report::complain};

/// Names every rule.
pub(crate) const ALL: &str = "all";

/// What a name stands for that `cfgc explain` knows.
pub(crate) enum Named {
    /// A rule of `cfgc check`.
    Rule(&'static Rule),
    /// A group of these.
    Group(Group),
    /// Those that have this word in their names.
    Word(Vec<&'static Rule>),
    /// A check of `cfgc doctor`.
    Check(&'static Explained),
    /// A finding that only `cfgc run` makes.
    Run(&'static Explained),
}

/// What is called `name`.
pub(crate) fn find(name: &str) -> Result<Named> {
    if let Some(rule) = lints::find(name) {
        return Ok(Named::Rule(rule));
    }
    if let Some(group) = Group::ALL.into_iter().find(|group| group.name() == name) {
        return Ok(Named::Group(group));
    }
    let called = |all: &[&'static Explained]| all.iter().find(|one| one.name == name).copied();
    let of_run = || EXPLAINED.iter().find(|one| one.name == name);
    let others = || {
        let groups = Group::ALL.into_iter().map(Group::name);
        let checks = checks::ALL.iter().map(|check| check.name);
        groups.chain(checks).chain(EXPLAINED.iter().map(|one| one.name))
    };
    let other = called(checks::ALL).map(Named::Check).or_else(|| of_run().map(Named::Run));
    let several = || Some(named_so(name)).filter(|rules| !rules.is_empty()).map(Named::Word);
    let meant = || similar_rule(name).or_else(|| nearest(name, others()));
    other.or_else(several).ok_or_else(|| unknown("rule", name, meant()))
}

/// Refuses a name that stands for no rule and no group of rules.
pub(crate) fn rules(name: &str) -> Result<()> {
    if name == ALL {
        return Ok(());
    }
    match find(name) {
        Ok(Named::Rule(_) | Named::Group(_)) => Ok(()),
        Ok(Named::Check(_)) => bail!("`{name}` is a check of `cfgc doctor`, not a rule"),
        Ok(Named::Run(_)) => {
            bail!(
                "`{name}` can't be allowed: cfgc would not do what the configuration says; remove the setting, or run it with 3proxy"
            )
        }
        Err(_) if name.contains(',') => {
            bail!("there is no rule `{name}`: give the option once for each rule")
        }
        Ok(Named::Word(_)) | Err(_) => {
            let groups = Group::ALL.into_iter().map(Group::name).chain([ALL]);
            Err(unknown("rule", name, nearest(name, groups).or_else(|| similar_rule(name))))
        }
    }
}

/// Refuses a name that no check of `cfgc doctor` has.
pub(crate) fn check(name: &str) -> Result<()> {
    match find(name) {
        Ok(Named::Check(_)) => Ok(()),
        Ok(Named::Rule(_)) => bail!("`{name}` is a rule of `cfgc check`, not a check of `cfgc doctor`"),
        Ok(Named::Group(_)) => {
            bail!("`{name}` is a group of rules of `cfgc check`, not a check of `cfgc doctor`")
        }
        Ok(Named::Run(_)) => bail!("`{name}` is reported by `cfgc run`; it is not a check of `cfgc doctor`"),
        Ok(Named::Word(_)) | Err(_) => {
            Err(unknown("check", name, nearest(name, checks::ALL.iter().map(|check| check.name))))
        }
    }
}

/// The names that have a level: of rules and of their groups, and that of all.
pub(crate) fn of_levels() -> Vec<&'static str> {
    let rules = lints::all().iter().map(|rule| rule.name);
    Group::ALL.into_iter().map(Group::name).chain([ALL]).chain(rules).collect()
}

/// The names that `cfgc explain` knows.
pub(crate) fn explained() -> Vec<&'static str> {
    let others = checks().into_iter().chain(EXPLAINED.iter().map(|one| one.name));
    of_levels().into_iter().filter(|name| *name != ALL).chain(others).collect()
}

/// The names of the checks of `cfgc doctor`.
pub(crate) fn checks() -> Vec<&'static str> {
    checks::ALL.iter().map(|check| check.name).collect()
}

/// What to say of an old name of a rule.
pub(crate) fn renamed(name: &str) -> Option<String> {
    let rule = lints::find(name).filter(|rule| rule.aliases.contains(&name))?;
    Some(format!("the rule `{name}` is now called `{}`", rule.name))
}

/// What to say of a rule that is to have this level, if it finds only what 3proxy itself refuses.
pub(crate) fn stays_denied(name: &str, level: Level) -> Option<String> {
    let rule = lints::find(name).filter(|rule| rule.refused && level != Level::Deny)?;
    Some(format!("`{}` stays denied: 3proxy itself refuses what it finds", rule.name))
}

/// Says so.
pub(crate) fn tell_renamed(name: &str) {
    if let Some(renamed) = renamed(name) {
        complain(&renamed);
    }
}

/// What may have been meant by a word that is none of `known`, or all that it could be.
pub(crate) fn guess(written: &str, known: &[&'static str], what: &str) -> String {
    nearest(written, known.iter().copied())
        .map_or_else(|| format!("the {what} are `{}`", known.join("`, `")), did_you_mean)
}

fn unknown(what: &str, name: &str, meant: Option<&str>) -> Error {
    let help = meant.map_or_else(|| "`cfgc explain` lists all".to_owned(), did_you_mean);
    anyhow!("there is no {what} `{name}`: {help}")
}

/// The rules that have this word in their names.
fn named_so(word: &str) -> Vec<&'static Rule> {
    let has_it = |rule: &&Rule| rule.name.split('-').any(|part| part == word);
    lints::all().iter().copied().filter(has_it).collect()
}

fn similar_rule(name: &str) -> Option<&'static str> {
    lints::similar(name).map(|rule| rule.name)
}

fn nearest(name: &str, known: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    closest(name.as_bytes(), known)
}

#[cfg(test)]
mod tests {
    use compiler::lints::{self, Group};
    use runtime::findings::EXPLAINED;

    use super::{check, find, rules};
    use crate::doctor::checks;

    #[test]
    fn a_name_stands_for_one_thing() {
        let mut names: Vec<&str> = lints::all().iter().map(|rule| rule.name).collect();
        names.extend(Group::ALL.into_iter().map(Group::name).chain(["all"]));
        names.extend(checks::ALL.iter().chain(&EXPLAINED.iter().collect::<Vec<_>>()).map(|one| one.name));
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    /// What is said of a name by `explain`, by `--allow`, and by `doctor --allow`.
    #[test]
    fn a_name_is_refused_with_what_was_meant() {
        for (name, explain, rule, doctor) in [
            ("indented_directive", "`indented-directive`?", "`indented-directive`?", "lists all"),
            ("qqqqqqqqqq", "`cfgc explain` lists all", "`cfgc explain` lists all", "lists all"),
            ("open-proxy,user-dropped", "lists all", "once for each rule", "lists all"),
            ("securty", "did you mean `security`?", "did you mean `security`?", "lists all"),
            ("security", "", "", "is a group of rules of `cfgc check`, not a check of `cfgc doctor`"),
            ("cacheacl", "", "did you mean `cacheacl-extip-without-ext`?", "lists all"),
            (
                "open-file",
                "`open-files`?",
                "lists all",
                "there is no check `open-file`: did you mean `open-files`?",
            ),
            ("open-files", "", "is a check of `cfgc doctor`, not a rule", ""),
            (
                "not-executed",
                "",
                "can't be allowed: cfgc would not do what the configuration says; remove the setting, or run it with 3proxy",
                "not a check of `cfgc doctor`",
            ),
            ("open-proxy", "", "", "is a rule of `cfgc check`, not a check of `cfgc doctor`"),
            ("all", "lists all", "", "lists all"),
        ] {
            let said = [find(name).map(drop), rules(name), check(name)]
                .map(|result| result.err().map(|error| error.to_string()).unwrap_or_default());
            for (said, end) in said.iter().zip([explain, rule, doctor]) {
                assert!(said.ends_with(end) && said.is_empty() == end.is_empty(), "{name}: {said:?}");
            }
        }
    }
}
