//! The columns of an entry: where their words stand, and what certainly stands in a wrong one.
use std::collections::HashMap;

use grammar::{
    Span,
    directive::{Directive, Kind},
    syntax::WordShape,
    value::{self, NamePattern, OPERATION_WORDS, Targets, items},
};

use crate::sources::{Loc, Sources};

/// Places of columns, counted from 0.
pub(super) const USERS: usize = 0;
pub(super) const SOURCES: usize = 1;
pub(super) const TARGETS: usize = 2;
pub(super) const PORTS: usize = 3;
pub(super) const OPERATIONS: usize = 4;

/// The words of an entry's columns, up to a `$file`.
pub(super) fn columns(sources: &Sources, at: Loc) -> Vec<Loc> {
    let words = sources.words(at);
    let place = |span| Loc { file: at.file, span };
    let row = sources.directive(at);
    let users = |row: &Directive| row.parameters.iter().position(|parameter| parameter.kind == Kind::Users);
    let Some(before) = row.and_then(users) else { return Vec::new() };
    let plain = words.iter().take_while(|word| !matches!(word.shape, WordShape::Splice { .. }));
    plain.skip(1 + before).map(|word| place(word.span)).collect()
}

/// Where users' names stand in lines: of the last line, all of them, since a line may have thousands that are asked for.
#[derive(Default)]
pub(super) struct UserPlaces<'a>(Option<(Loc, HashMap<&'a [u8], Loc>)>);

impl<'a> UserPlaces<'a> {
    /// Where one stands; the line, if it is not written there as it is.
    pub(super) fn of(&mut self, sources: &'a Sources, line: Loc, name: &[u8]) -> Loc {
        if self.0.as_ref().is_none_or(|(last, _)| *last != line) {
            let word = columns(sources, line).first().copied();
            let named = word.into_iter().flat_map(|word| {
                let start = word.span.start;
                let place = move |at: Span| Span::new(start + at.start, start + at.end);
                items(sources.text(word))
                    .map(move |(at, item)| (item, Loc { file: line.file, span: place(at) }))
            });
            self.0 = Some((line, named.collect()));
        }
        self.0.as_ref().and_then(|(_, places)| places.get(name)).copied().unwrap_or(line)
    }
}

/// The weight's word in a `parent` line.
pub(super) fn weight_at(sources: &Sources, line: Loc) -> Option<Loc> {
    let word = sources.words(line).get(1).copied()?;
    let at = Loc { file: line.file, span: word.span };
    str::from_utf8(sources.text(at)).ok()?.parse::<u16>().ok().map(|_| at)
}

/// The type's word in a `parent` line, as written.
pub(super) fn parent_type_at(sources: &Sources, line: Loc) -> Option<Loc> {
    let word = sources.words(line).get(2).copied()?;
    Some(Loc { file: line.file, span: word.span })
}

/// Whether a name in the user column is an address or a pattern, which `acl-column-mixup` reports.
pub(super) fn is_no_user(name: &[u8]) -> bool {
    name.contains(&b'*') || is_address(name)
}

/// Whether `item` is an address, a network or a range of addresses.
pub(super) fn is_address(item: &[u8]) -> bool {
    value::range(item).is_ok()
}

/// Whether each item of a list passes `test`, and there is one.
pub(super) fn all_items(word: &[u8], mut test: impl FnMut(&[u8]) -> bool) -> bool {
    let mut items = items(word).map(|(_, item)| item).peekable();
    items.peek().is_some() && items.all(&mut test)
}

/// Whether a port list has an address in it.
pub(super) fn holds_address(ports: &[u8]) -> bool {
    items(ports).any(|(_, item)| is_address(item))
}

/// Whether a weekday list has a time of the day in it.
pub(super) fn holds_clock(weekdays: &[u8]) -> bool {
    weekdays.contains(&b':')
}

/// Whether the targets are nothing but ports or operations, which `acl-column-mixup` reports.
pub(super) fn names_no_host(targets: &Targets) -> bool {
    let all = |test: fn(&[u8]) -> bool| {
        let mut names = targets.names.iter().map(|name| match name {
            NamePattern::Exact(name) => test(name),
            _ => false,
        });
        names.next() == Some(true) && names.all(|fits| fits)
    };
    targets.addresses.is_empty() && (all(is_port) || all(|name| is_operation(&name.to_ascii_uppercase())))
}

/// A port, or a range of ports.
pub(super) fn is_port(item: &[u8]) -> bool {
    let port = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u16>().is_ok();
    str::from_utf8(item).is_ok_and(|item| match item.split_once('-') {
        Some((first, last)) => port(first) && port(last),
        None => port(item),
    })
}

pub(super) fn is_operation(item: &[u8]) -> bool {
    OPERATION_WORDS.iter().any(|(name, _)| name.as_bytes() == item)
}
