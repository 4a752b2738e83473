//! Lines that hold a secret in a place of its own: which of their words are no secret for certain.
//!
//! Where a field is missing, or two are swapped, a password stands where something else should: then only what can't be one
//! is shown.
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use grammar::{directive, syntax::Word};

use crate::program::acl::ParentKind;

/// Which arguments of a `parent` are hidden: `WEIGHT TYPE HOST PORT [USER [PASSWORD]]`. `whole`: none of them stands elsewhere.
pub(super) fn of_parent(arguments: &[Word], whole: bool, line: &[u8]) -> Vec<bool> {
    let words: Vec<_> = arguments.iter().map(|word| bare(word, line)).collect();
    if whole && is_in_order(&words) {
        // Alone, a word behind the port may be either.
        let is_user =
            |index, word: &[u8]| index == 4 && (words.len() > 5 && !word.contains(&b':') || word == b"*");
        return words.iter().enumerate().map(|(index, word)| index > 3 && !is_user(index, word)).collect();
    }
    let mut host = false;
    let mut hidden = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let is_host = !host && index < 4 && is_certain_host(without_credentials(word));
        host |= is_host;
        let is_start = index == 0 && is_number(word) && word.len() <= 5 || index < 2 && is_type(word);
        hidden.push(!(is_host || whole && is_start));
    }
    hidden
}

/// Whether the words of a `parent` up to its user stand where they should; a type may be misspelt, or unknown where no
/// password is missed.
fn is_in_order(words: &[&[u8]]) -> bool {
    let [weight, kind, host, port, account @ ..] = words else { return false };
    // These two may have changed places.
    let (weight, kind) = if is_type(weight) && is_number(kind) { (kind, weight) } else { (weight, kind) };
    // Where these stand, something else stands in their place.
    let is_moved = |word: &&[u8]| is_type(word) || is_server(word);
    is_number(weight.strip_prefix(b"-").unwrap_or(weight))
        && (is_type(kind) || is_like_type(kind) || account.is_empty())
        && is_host(host)
        && is_number(port)
        && !account.iter().any(is_moved)
}

/// Which arguments of a `radius` are hidden: the secret, and what is certainly no address of a server.
pub(super) fn of_radius(arguments: &[Word], whole: bool, line: &[u8]) -> Vec<bool> {
    let hides = |(index, word)| whole && index == 0 || !is_server(bare(word, line));
    arguments.iter().enumerate().map(hides).collect()
}

/// A word without quotes around it.
fn bare<'a>(word: &Word, line: &'a [u8]) -> &'a [u8] {
    let written = word.span.of(line);
    written.strip_prefix(b"\"").and_then(|inside| inside.strip_suffix(b"\"")).unwrap_or(written)
}

/// What stands behind the credentials of a URL, which are hidden by themselves.
fn without_credentials(word: &[u8]) -> &[u8] {
    let at = word.iter().rposition(|byte| *byte == b'@');
    match at.map(|at| word.split_at(at)) {
        Some((credentials, [_, host @ ..])) if credentials.contains(&b':') => host,
        _ => word,
    }
}

fn is_number(word: &[u8]) -> bool {
    !word.is_empty() && word.iter().all(u8::is_ascii_digit)
}

fn is_type(word: &[u8]) -> bool {
    let known = |(name, _): &(&str, ParentKind)| {
        word.strip_prefix(name.as_bytes()).is_some_and(|rest| matches!(rest, b"" | b"s"))
    };
    ParentKind::WORDS.iter().any(known)
}

fn is_like_type(word: &[u8]) -> bool {
    let names = ParentKind::WORDS.iter().map(|(name, _)| *name);
    directive::closest(word, names).is_some()
}

/// Whether a word may be a host by its letters: `proxy1`, an address, a prefix, the path of a socket.
fn is_host(word: &[u8]) -> bool {
    let is_name =
        !word.is_empty() && word.iter().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(byte));
    let is_socket = word.starts_with(b"/") || word.starts_with(b"unix:");
    let address = word.split(|byte| *byte == b'/').next().unwrap_or_default();
    is_name || is_socket || is_address(address)
}

/// Whether a word is an address, or a name of more than one label, with or without a port.
pub(super) fn is_certain_host(word: &[u8]) -> bool {
    let (host, port) = match word.iter().rposition(|byte| *byte == b':') {
        Some(colon) => word.split_at(colon),
        None => (word, &b""[..]),
    };
    let has_port = port.is_empty() || is_number(port.strip_prefix(b":").unwrap_or_default());
    is_server(word)
        || has_port && host.contains(&b'.') && !host.starts_with(b"/") && is_host(host)
        || word == b"localhost"
}

/// Whether a word is `ADDRESS[:PORT][/ADDRESS]`.
fn is_server(word: &[u8]) -> bool {
    let mut parts = word.split(|byte| *byte == b'/');
    let server = parts.next().unwrap_or_default();
    let is_socket = |word: &[u8]| str::from_utf8(word).is_ok_and(|word| word.parse::<SocketAddr>().is_ok());
    (is_address(server) || is_socket(server)) && parts.all(is_address)
}

fn is_address(word: &[u8]) -> bool {
    let Ok(word) = str::from_utf8(word) else { return false };
    let inside = word.strip_prefix('[').and_then(|word| word.strip_suffix(']'));
    word.parse::<IpAddr>().is_ok() || inside.is_some_and(|word| word.parse::<Ipv6Addr>().is_ok())
}
