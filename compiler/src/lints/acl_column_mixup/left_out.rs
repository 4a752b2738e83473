//! A column that is left out, so that what comes behind it stands one column or two before its own.
use grammar::{Span, value};

use super::{RULE, broken_list::COLUMNS, misplaced};
use crate::{
    finding::Finding,
    fix::{Edit, Fix, Safety},
    lints::{
        clock,
        columns::{OPERATIONS, PORTS, all_items, is_operation, is_port},
    },
    sources::Loc,
};

/// What of an entry stands before its column.
pub(crate) struct LeftOut<'a> {
    /// The column where 3proxy refuses the first word.
    column: usize,
    /// How many are left out.
    count: usize,
    /// The words from there on, each with what is to be written in its own column.
    words: Vec<(Loc, &'a [u8], String)>,
}

impl<'a> LeftOut<'a> {
    /// Of an entry, whose columns these are. `None`: 3proxy refuses none of them for that, or not all of them fit.
    pub(crate) fn first(columns: &[(Loc, &'a [u8])]) -> Option<Self> {
        let refused = |column: usize, is_refused: fn(&[u8]) -> bool| {
            columns.get(column).is_some_and(|(_, word)| is_refused(word)).then_some(column)
        };
        let column = refused(PORTS, |word| value::ports(word).is_err())
            .or_else(|| refused(OPERATIONS, |word| value::operations(word).is_err()))?;
        let rest = columns.get(column..)?;
        (1..COLUMNS.len() - column).find_map(|count| {
            let word = |(index, (at, word)): (usize, &(Loc, &'a [u8]))| {
                Some((*at, *word, written(column + count + index, word)?))
            };
            let words = rest.iter().enumerate().map(word).collect::<Option<_>>()?;
            Some(Self { column, count, words })
        })
    }

    /// Whether `word` stands behind what is left out.
    pub(crate) fn moves(&self, word: Loc) -> bool {
        self.words.first().is_some_and(|(at, ..)| at.file == word.file && at.span.start <= word.span.start)
    }

    /// What to say of it.
    pub(crate) fn finding(&self) -> Option<Finding> {
        let (at, text, _) = self.words.first()?;
        let name = |column: usize| COLUMNS.get(column).copied().unwrap_or_default();
        let meant = name(self.column + self.count);
        let left_out = match self.count {
            1 => format!("the column of {} is left out", name(self.column)),
            _ => format!("the columns of {} and {} are left out", name(self.column), name(self.column + 1)),
        };
        let cited = String::from_utf8_lossy(text);
        let stars = "* ".repeat(self.count);
        let rest: Vec<&str> = self.words.iter().map(|(.., written)| written.as_str()).collect();
        let title = if self.count == 1 { "write `*` for it" } else { "write `*` for each of them" };
        Some(
            RULE.finding(*at, format!("{left_out}: `{cited}` stands there"))
                .label(format!("looks like {meant}"))
                .note(misplaced::COLUMNS)
                .note("3proxy refuses the file, since the column can't hold this.")
                .help(format!("{title}: `{stars}{}`", rest.join(" ")))
                .fix(Fix { title: title.into(), safety: Safety::Safe, edits: self.edits(&stars) }),
        )
    }

    fn edits(&self, stars: &str) -> Vec<Edit> {
        let mut edits = Vec::new();
        if let Some((Loc { file, span }, ..)) = self.words.first() {
            let before = Loc { file: *file, span: Span::new(span.start, span.start) };
            edits.push(Edit { at: before, text: stars.to_owned() });
        }
        let changed = self.words.iter().filter(|(_, word, written)| *word != written.as_bytes());
        edits.extend(changed.map(|(at, _, written)| Edit { at: *at, text: written.clone() }));
        edits
    }
}

/// How a word is written in a column that certainly is its own. `None`: it may be another one's.
fn written(column: usize, word: &[u8]) -> Option<String> {
    let word = str::from_utf8(word).ok()?;
    let as_it_is = |fits: bool| fits.then(|| word.to_owned());
    if word == "*" {
        return as_it_is(true);
    }
    match COLUMNS.get(column).copied()? {
        "target ports" => as_it_is(all_items(word.as_bytes(), is_port)),
        "operations" => as_it_is(all_items(word.as_bytes(), is_operation)),
        "weekdays" => {
            let days: Vec<String> = word.split(',').map(clock::weekdays).collect::<Option<_>>()?;
            Some(days.join(","))
        }
        "periods" => clock::periods(word),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::{compile, fix::Fix, sources::MemoryFiles};

    #[test]
    fn what_stands_before_its_column_is_one_finding_and_goes_there() {
        for command in
            ["allow", "deny", "bandlimin 64000", "connlim 10 60", "redirect 192.0.2.1 80", "noconnlim"]
        {
            for (columns, expected) in [
                ("1-5 9:00-18:00", "* 1-5 09:00:00-18:00:00"),
                ("1-5 09:00:00-18:00:00", "* 1-5 09:00:00-18:00:00"),
                ("6", "* 6"),
                ("Mon-Fri", "* 1-5"),
                ("1-5 *", "* 1-5 *"),
                ("09:00:00-18:00:00", "* * 09:00:00-18:00:00"),
            ] {
                let text = |columns: &str| {
                    format!(
                        "auth iponly\n{command} * 10.0.0.0/8 192.0.2.0/24 * {columns}\nallow * 10.0.0.0/8\nproxy -i10.0.0.1\n"
                    )
                };
                one_finding(&text(columns), &text(expected));
            }
        }
        let text = |columns: &str| format!("auth iponly\nallow * 10.0.0.0/8 * {columns}\nproxy -i10.0.0.1\n");
        for (columns, expected) in
            [("HTTP,HTTPS", "* HTTP,HTTPS"), ("HTTP 1-5 9:00-18:00", "* HTTP 1-5 09:00:00-18:00:00")]
        {
            one_finding(&text(columns), &text(expected));
        }
    }

    #[track_caller]
    fn one_finding(text: &str, expected: &str) {
        let mut files = MemoryFiles::default();
        files.insert("main", text);
        let told = compile(Path::new("main"), &files).findings;
        let told: Vec<_> = told.iter().filter(|one| one.refused || one.rule == "acl-column-mixup").collect();
        let [finding] = told[..] else { panic!("{text}{told:#?}") };
        assert!(finding.refused, "{text}");
        let fixed = |fix: &Fix| String::from_utf8(fix.apply(finding.at.file, text.as_bytes())).unwrap();
        assert_eq!(finding.fix.as_deref().map(fixed).as_deref(), Some(expected));
    }

    #[test]
    fn what_fits_no_column_is_told_as_before() {
        for columns in ["* 25", "* HTPP", "* 1-5 HTTP", "* 80 1-5", "* 6 1 1 1 1", "http 1-5"] {
            let text = format!("auth iponly\nallow * 10.0.0.0/8 * {columns}\nproxy -i10.0.0.1\n");
            let mut files = MemoryFiles::default();
            files.insert("main", text.as_str());
            let told = compile(Path::new("main"), &files).findings;
            assert!(told.iter().any(|one| one.rule == "invalid-value"), "{columns}: {told:#?}");
        }
    }
}
