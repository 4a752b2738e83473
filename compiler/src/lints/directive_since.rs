//! A command or service option that the target does not know.
use std::collections::HashSet;

use grammar::{
    directive::{self, Effect},
    option,
};

use super::rule::{Lint, rule};
use crate::{options::Runner, sources::Loc};

rule! {
    /// A 3proxy of the series that the file is for may not know this command or service option, and then refuses the file.
    ///
    /// The series is 1.0, or what `target` in `cfgc.toml` says. For 0.9 an option such as `-x` of a mail proxy is found, too.
    ///
    /// ```3proxy,fires
    /// ssl_ktls
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// ssl_client_verify
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "directive-since",
    level: Allow,
    group: Portability,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let oldest = match lint.options.runner {
        Runner::ThreeProxy09 => [0, 9, 0],
        Runner::ThreeProxy10 => [1, 0, 0],
        Runner::Cfgc => return,
    };
    let is_newer = |since: &str| version(since) > oldest;
    let commands: HashSet<&str> =
        directive::all().filter(|row| is_newer(row.since)).map(|row| row.name).collect();
    let options: Vec<&str> =
        option::all().iter().filter(|row| is_newer(row.since)).map(|row| row.flag).collect();
    let mut newer: Vec<(Loc, &str, &str)> = Vec::new();
    for ran in &lint.program.commands {
        if commands.contains(ran.row.name) {
            newer.push((ran.at, ran.row.name, ran.row.since));
        }
        // Files of very many services exist: most lines have none of these options, and their words need not be read.
        let text = lint.sources.text(ran.at);
        let has = |flag: &&str| text.windows(flag.len()).any(|part| part == flag.as_bytes());
        if ran.row.effect == Effect::Service && options.iter().any(has) {
            let words = lint.sources.values(ran.at).into_iter().skip(1);
            let rows = words.filter_map(|(at, word)| Some((at, option::find(&word)?.0)));
            let rows = rows.filter(|(_, row)| options.contains(&row.flag));
            newer.extend(rows.map(|(at, row)| (at, row.flag, row.since)));
        }
    }
    // Each command and option is told once.
    let mut told = HashSet::new();
    for (at, name, since) in newer.into_iter().filter(|(_, name, _)| told.insert(*name)) {
        lint.report(
            RULE.finding(at, format!("`{name}` requires 3proxy {since}: an older version refuses the file"))
                .help("check that every host has this version (`3proxy --version`), or remove the line"),
        );
    }
}

/// `1.0.1` as numbers; what is missing is 0.
fn version(text: &str) -> [u16; 3] {
    let mut parts = text.split('.').map(|part| part.parse().unwrap_or_default());
    let mut next = || parts.next().unwrap_or_default();
    [next(), next(), next()]
}

#[cfg(test)]
mod tests {
    use crate::{
        lints::tests::findings_for,
        options::Runner::{Cfgc, ThreeProxy09, ThreeProxy10},
    };

    #[test]
    fn options_are_looked_at_once_each() {
        let text = "auth iponly\nallow *\nsmtpp -x -i127.0.0.1\npop3p -x -t -i127.0.0.1\n";
        let told = |runner| {
            let found = findings_for(runner, "directive-since", text);
            found.into_iter().map(|finding| finding.message).collect::<Vec<_>>()
        };
        assert_eq!(told(ThreeProxy09), ["`-x` requires 3proxy 0.9.8: an older version refuses the file"]);
        assert_eq!((told(ThreeProxy10), told(Cfgc)), (Vec::new(), Vec::new()));
    }
}
