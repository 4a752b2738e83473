//! What the README and the pages of docs/ show is what the command prints.
//!
//! Behind each `<!-- cfgc … -->` in them stands a block with the output of that command, run in `tests/cases/readme`.
//! `UPDATE=1 cargo test --test it readme` writes the blocks.
use crate::support::{cfgc, repo};

#[test]
fn shown_output_is_real() {
    for page in ["README.md", "docs/policy-tests.md"] {
        let path = repo::root().join(page);
        let text = std::fs::read_to_string(&path).unwrap();
        let fresh = with_output(&text);
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&path, &fresh).unwrap();
        } else {
            assert!(
                text == fresh,
                "{page} shows other output than the command's: UPDATE=1 writes it\n{fresh}"
            );
        }
    }
}

/// A page with every block written anew.
fn with_output(text: &str) -> String {
    let mut fresh = String::new();
    let mut lines = text.split_inclusive('\n');
    let mut blocks = 0;
    while let Some(line) = lines.next() {
        fresh.push_str(line);
        if let Some(command) = line.strip_prefix("<!-- cfgc ").and_then(|rest| rest.strip_suffix(" -->\n")) {
            fresh.push_str(&format!("```console\n$ cfgc {command}\n{}```\n", output(command)));
            // The old block, to its end.
            lines.by_ref().take_while(|line| *line != "```\n").for_each(drop);
            blocks += 1;
        }
    }
    assert!(blocks > 0, "no `<!-- cfgc … -->` in the page");
    fresh
}

fn output(arguments: &str) -> String {
    let folder = repo::root().join("tests/cases/readme");
    let output = cfgc::command().args(arguments.split(' ')).current_dir(folder).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}
