//! Comments in a file of users, which has none.
use std::collections::BTreeMap;

use super::{
    rule::{Lint, rule},
    user_words,
};
use crate::{
    finding::{Finding, Level},
    program::trap::Trap,
    sources::Loc,
};

rule! {
    /// A line of a file of users is meant as a comment, but each of its words is read as an account.
    ///
    /// `$file` brings in the words of a file, whatever line they are in and whatever comes before them. A word without a colon makes no
    /// account, so such a line does no harm by itself; but `# alice:CL:secret` leaves alice her account, and `# admins:` makes one without a
    /// password.
    ///
    /// ```3proxy,file=users
    /// # the office
    /// alice:CL:wonderland
    /// # bob:CL:builder
    /// ```
    ///
    /// ```3proxy,fires
    /// users $users
    /// auth strong
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Take out what is not meant, and write comments in the configuration:
    ///
    /// ```3proxy,file=users
    /// alice:CL:wonderland
    /// ```
    ///
    /// ```3proxy,clean
    /// # the office
    /// users $users
    /// auth strong
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "comment-in-user-file",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let accounts = lint.program.users.iter().map(|user| (user.at, 1));
    let dropped = lint.program.traps.iter().filter(|trapped| matches!(trapped.trap, Trap::User(_)));
    let mut lines: BTreeMap<(Loc, &'static str), u32> = BTreeMap::new();
    for (at, makes) in accounts.chain(dropped.map(|trapped| (trapped.word, 0))) {
        if let Some(line) = user_words::comment(lint.sources, at) {
            *lines.entry(line).or_default() += makes;
        }
    }
    for ((line, label), accounts) in lines {
        lint.report(finding(line, label, accounts));
    }
}

fn finding(line: Loc, label: &'static str, accounts: u32) -> Finding {
    let mut finding = RULE
        .finding(line, match accounts {
            0 => "a file of users has no comments: each word of this line is read as an account, and none is one",
            1 => "a file of users has no comments: this line makes an account all the same",
            _ => "a file of users has no comments: this line makes accounts all the same",
        })
        .label(label)
        .help("remove the line from the file; a comment can be above the `users` line");
    if accounts == 0 {
        finding.level = Level::Warn;
    }
    finding
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::{finding::Level, sources::MemoryFiles};

    #[test]
    fn what_a_commented_line_still_does_is_told() {
        use Level::{Deny, Warn};
        for (file, expected) in [
            ("alice:CL:x\nbob:CL:y\n", &[][..]),
            ("# the office\nalice:CL:x\n", &[(1, Warn)]),
            ("; the office\n\n  # and more\nalice:CL:x\n", &[(1, Warn), (3, Warn)]),
            ("alice:CL:x\n# bob:CL:y\n", &[(2, Deny)]),
            ("alice:CL:x\n#bob:CL:y\n", &[(2, Deny)]),
            ("alice:CL:x\n# admins: carol\n", &[(2, Deny)]),
            (
                "// the office\nREM and more\n-- and more\nrem\nalice:CL:x\n",
                &[(1, Warn), (2, Warn), (3, Warn), (4, Warn)],
            ),
            ("//bob:CL:y\nalice:CL:x\n", &[(1, Deny)]),
            // A password may have such a sign, and a name may begin so.
            ("alice:CL:#x\nbob#:CL:;\n", &[]),
            ("remy:CL:x\n--bob:CL:y\n", &[]),
        ] {
            let mut files = MemoryFiles::default();
            files.insert("users", file);
            files.insert("3proxy.cfg", "users $users\nauth strong\nproxy -i127.0.0.1\n");
            let compiled = crate::compile(Path::new("3proxy.cfg"), &files);
            let found = compiled.findings.iter().filter(|finding| finding.rule == "comment-in-user-file");
            for finding in found.clone() {
                let line = String::from_utf8_lossy(compiled.sources.text(finding.at)).to_ascii_uppercase();
                let mark = finding.label.split('`').nth(1).unwrap();
                assert!(line.starts_with(mark), "{}: {line}", finding.label);
            }
            let found: Vec<_> =
                found.map(|finding| (compiled.sources.line_column(finding.at).line, finding.level)).collect();
            assert_eq!(found, expected, "{file}");
            assert!(compiled.findings.iter().all(|finding| finding.rule != "user-dropped"), "{file}");
        }
    }
}
