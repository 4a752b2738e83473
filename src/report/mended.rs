//! Which fixes were made, in words.
use std::collections::BTreeMap;

use compiler::fix::{Made, Mended, Withheld};

use super::{printable, thousands};

/// How many of one rule in one file are told one by one.
const ONE_BY_ONE: usize = 8;

/// A line for each fix, or for many of one rule.
pub(super) fn lines(mended: &Mended) -> Vec<String> {
    let mut rules: BTreeMap<_, Vec<&Made>> = BTreeMap::new();
    for made in &mended.made {
        rules.entry((&made.path, made.rule)).or_default().push(made);
    }
    let mut lines = Vec::new();
    for made in rules.into_values() {
        match &made[..] {
            [first, .., last] if made.len() > ONE_BY_ONE => {
                let more = thousands(made.len() - 1);
                lines.push(format!("fixed{} (and {more} more, up to line {})", told(first), last.line));
            }
            few => lines.extend(few.iter().map(|made| format!("fixed{}", told(made)))),
        }
    }
    lines.extend(withheld(mended));
    lines
}

/// A line for each fix that was not made.
pub(crate) fn withheld(mended: &Mended) -> Vec<String> {
    let mut lines: Vec<_> = mended.withheld.iter().take(ONE_BY_ONE).map(not_made).collect();
    if let Some(more @ 1..) = mended.withheld.len().checked_sub(ONE_BY_ONE) {
        lines.push(format!("not fixed: {} more", thousands(more)));
    }
    lines
}

fn told(made: &Made) -> String {
    let Made { rule, title, safety: _, path, line } = made;
    format!("[{rule}]: {}:{line}: {}", printable(&path.display().to_string()), printable(title))
}

fn not_made(Withheld { fix, brings, elsewhere }: &Withheld) -> String {
    let place = elsewhere.as_ref().map(|path| format!(" in `{}`", printable(&path.display().to_string())));
    let why = match &brings[..] {
        [] => "it would not help".to_owned(),
        rules => {
            format!("then `{}` would find more{}", rules.join("`, `"), place.unwrap_or_default())
        }
    };
    format!("not fixed{}: {why}", told(fix))
}
