//! The documentation of a rule, as users read it.
use super::Rule;

impl Rule {
    /// The first sentence of its documentation.
    #[must_use]
    pub fn summary(&self) -> &'static str {
        let paragraph = self.docs.split("\n\n").next().unwrap_or(self.docs);
        paragraph.trim()
    }

    /// Whether it has a fix, safe or not: then its documentation shows the fixed example.
    #[must_use]
    pub fn has_fix(&self) -> bool {
        self.docs.contains("```3proxy,fixed")
    }

    /// Its documentation without a heading, as Markdown: what is claimed of an example is for the test that runs it.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        for line in self.docs.lines() {
            let line = line.strip_prefix(' ').unwrap_or(line);
            let fence = line.strip_prefix("```3proxy,").map(|claim| match claim.strip_prefix("file=") {
                Some(name) => format!("`{name}`:\n\n```"),
                None => "```".to_owned(),
            });
            text.push_str(&for_people(fence.as_deref().unwrap_or(line)));
            text.push('\n');
        }
        if self.of_3proxy {
            text.push_str("\n`cfgc run` behaves differently, so this rule is off if `cfgc.toml` says `target = \"cfgc\"`.\n");
        }
        let listed = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            names.join(", ")
        };
        if !self.aliases.is_empty() {
            let names = listed(self.aliases);
            let old =
                if self.aliases.len() == 1 { "the old name still works" } else { "the old names still work" };
            text.extend(["\nIt replaces ", &names, "; ", old, " in comments, arguments and settings.\n"]);
        }
        if !self.parts.is_empty() {
            let names = listed(self.parts);
            text.extend([
                "\nIt replaces ",
                &names,
                "; in comments, arguments and settings, an old name still works for its part of this rule.\n",
            ]);
        }
        if self.refused {
            text.push_str("\n3proxy itself refuses such a file, so this rule can't be allowed.\n");
        }
        text
    }
}

/// A line of documentation with words for what it can't show: a test puts in the thing itself.
fn for_people(line: &str) -> String {
    let mut text = line.to_owned();
    let words = [
        ("{NUL}", "<NUL>"),
        ("{BOM}", "<BOM>"),
        ("{CR}", "<CR>"),
        ("{LATIN1}", "<\u{fc} in Latin-1>"),
        ("{EOF}", "<end of file>"),
    ];
    for (mark, word) in words {
        text = text.replace(mark, word);
    }
    while let Some((before, rest)) = text.split_once("{REP:") {
        let Some(((repeated, times), behind)) =
            rest.split_once('}').and_then(|(inside, behind)| Some((inside.rsplit_once(':')?, behind)))
        else {
            break;
        };
        text = format!("{before}<`{repeated}` {times} times>{behind}");
    }
    text
}
