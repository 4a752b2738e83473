//! Commands behind `end`.
use super::rule::{Lint, rule};

rule! {
    /// Lines after `end` are not read.
    ///
    /// 3proxy silently stops reading the file there. Notes after it do no harm; commands after it have no effect.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// proxy -i192.168.0.1
    /// end
    /// socks -i192.168.0.1
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// proxy -i192.168.0.1
    /// socks -i192.168.0.1
    /// end
    /// This is how it was set up.
    /// ```
    "after-end",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    for (end, first) in lint.program.unread.clone() {
        let name = String::from_utf8_lossy(lint.sources.text(first)).into_owned();
        let name = name.split_ascii_whitespace().next().unwrap_or_default();
        lint.report(
            RULE.finding(first, format!("`{name}` comes after `end`, so 3proxy does not read it"))
                .label("nothing after `end` has an effect")
                .also(end, "reading stops here")
                .help("move `end` to the end of the file, or start the lines after it with `#`"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::{check, check_with};

    #[test]
    fn the_first_command_is_named_and_notes_are_not() {
        check("after-end", "proxy\nend\nSome notes\n# more\nallow *\n#^ `allow` comes after\ndeny *\n");
        check("after-end", "proxy\nend\nSome notes\n  allow *\n\"open\n");
    }

    #[test]
    fn an_end_ends_its_own_file_only() {
        check_with("after-end", "include a\nproxy\n", &[("a", "auth iponly\nend\n")]);
    }
}
