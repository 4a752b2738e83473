//! What means the same is found, however it is written.
use super::{Example, RULES, compiled, examples};

/// Rules that are about how something is written, and need not find it in quotes.
const OF_WRITING: [&str; 9] = [
    "backslash-continuation",
    "comma-behind-password",
    "crlf",
    "non-utf8",
    "nul-byte",
    "single-quotes",
    "smart-punctuation",
    "trailing-comment",
    "unfinished-splice",
];

/// The text with each argument in quotes, where a line has none and names no file.
fn quoted(text: &str) -> String {
    let line = |line: &str| {
        if line.starts_with(['#', ' ', '\t']) || line.contains(['"', '$']) {
            return line.to_owned();
        }
        let mut words = line.split_ascii_whitespace();
        let name = words.next().unwrap_or_default();
        words.fold(name.to_owned(), |line, word| format!("{line} \"{word}\""))
    };
    text.lines().map(|text| line(text) + "\n").collect()
}

#[test]
fn quotes_hide_nothing() {
    let mut tried = 0;
    let mut silent = Vec::new();
    for rule in RULES.iter().filter(|rule| !OF_WRITING.contains(&rule.name)) {
        let mut others = Vec::new();
        for (number, Example { claim, text }) in (0..).zip(examples(rule.docs)) {
            if let Some(path) = claim.strip_prefix("file=") {
                others.push((path.to_owned(), text));
                continue;
            }
            // A list that is cut in two by quotes is cut on purpose.
            let is_cut = rule.name == "acl-column-mixup" && text.contains(", ");
            if claim != "fires" || is_cut || text.len() > 2_000 {
                continue;
            }
            if compiled(rule, &quoted(&text), others.clone()).1.is_empty() {
                silent.push(format!("{} ({number})", rule.name));
            }
            tried += 1;
        }
    }
    assert!(silent.is_empty(), "{}", silent.join(", "));
    assert!(tried > 200, "{tried}");
}

#[test]
fn what_stands_in_an_included_file_is_found_there() {
    // What is not a line, or is no fault of a list that others may use, too.
    const OF_THE_FILE: [&str; 3] = ["empty-configuration", "non-utf8", "user-never-admitted"];
    let mut silent = Vec::new();
    for rule in RULES.iter().filter(|rule| !OF_THE_FILE.contains(&rule.name)) {
        let mut others = Vec::new();
        for (number, Example { claim, text }) in (0..).zip(examples(rule.docs)) {
            if let Some(path) = claim.strip_prefix("file=") {
                others.push((path.to_owned(), text));
                continue;
            }
            if claim != "fires" {
                continue;
            }
            let files = others.iter().cloned().chain([("inner.cfg".to_owned(), text)]).collect();
            if compiled(rule, "include inner.cfg\n", files).1.is_empty() {
                silent.push(format!("{} ({number})", rule.name));
            }
        }
    }
    assert!(silent.is_empty(), "{}", silent.join(", "));
}
