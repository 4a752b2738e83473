//! What a comma left of a password, taken out of what is said of lists.
//!
//! `allow bob:CL:one,two` lists two users, and the second is the end of a password. Elements of lists stand by themselves in a
//! comparison, so what their lines hide is looked for in each.
use std::collections::HashSet;

use compiler::{
    Compiled,
    change::{Changes, Class, Values},
    mask::Script,
    program::acl::Ace,
    sources::Source,
};

use super::super::{line_at, line_start};

/// Shorter parts are parts of too many words.
const PART: usize = 3;
const STARS: &str = "***";

/// Hides in `changes` what entries' lines hide.
pub(crate) fn hide(changes: &mut Changes, versions: [&Compiled; 2]) {
    let parts: HashSet<String> = versions.into_iter().flat_map(parts).collect();
    if parts.is_empty() {
        return;
    }
    for class in changes.lists.iter_mut().flat_map(|list| &mut list.classes) {
        hide_class(class, &parts);
    }
}

fn hide_class(class: &mut Class, parts: &HashSet<String>) {
    for requests in &mut class.requests {
        for Values { items, but, .. } in [&mut requests.users, &mut requests.hosts] {
            for item in items.iter_mut().flatten().chain(but) {
                if is_hidden(item, parts) {
                    STARS.clone_into(item);
                }
            }
        }
    }
    for named in [&mut class.witness.user, &mut class.witness.target.host].into_iter().flatten() {
        if is_hidden(&String::from_utf8_lossy(named), parts) {
            STARS.as_bytes().clone_into(named);
        }
    }
}

/// Whether an element is a part of a password, or has one in it: a name pattern with its stars, several of them, an example.
fn is_hidden(item: &str, parts: &HashSet<String>) -> bool {
    let item = item.to_lowercase();
    let word = item.trim_matches('*');
    parts.contains(word) || parts.iter().any(|part| part.len() >= PART && item.contains(part.as_str()))
}

/// The parts between commas of what is secret in the lines of entries, and in files that such lines bring in.
fn parts(compiled: &Compiled) -> HashSet<String> {
    let sources = &compiled.sources;
    let mut secrets = HashSet::new();
    let mut last = None;
    for Ace { at, .. } in &compiled.program.acls.aces {
        let Some(source) = sources.get(at.file) else { continue };
        let start = line_start(sources, *at);
        // An entry's further versions stand in the same line.
        if last.replace((at.file, start)) != Some((at.file, start)) {
            add(Script::of(sources, source).at(&source.text, start), line_at(source, start), &mut secrets);
        }
    }
    for (_, source) in sources.iter() {
        if let script @ Script::Words(_) = Script::of(sources, source) {
            let Source { text, .. } = source;
            text.split(|byte| *byte == b'\n').for_each(|line| add(script, line, &mut secrets));
        }
    }
    secrets
}

fn add(script: Script, line: &[u8], secrets: &mut HashSet<String>) {
    if script.is_plain(line) {
        return;
    }
    for secret in script.secrets(line) {
        let secret = String::from_utf8_lossy(line.get(secret).unwrap_or_default()).to_lowercase();
        let parts = secret.split([',', ' ', '\t']).map(|part| part.trim_matches(['"', '*', '.']));
        secrets.extend(parts.filter(|part| !part.is_empty()).map(str::to_owned));
    }
}
