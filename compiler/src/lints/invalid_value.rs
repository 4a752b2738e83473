//! An argument that 3proxy refuses.
use grammar::{
    Span, Text,
    directive::closest,
    value::{AddressError, OPERATION_WORDS},
};

use super::{meant, rule::rule};
use crate::{
    finding::Finding,
    fix::{Fix, Safety},
    lower::command::{Arg, Command},
};

rule! {
    /// An argument has a value that its command does not accept, so 3proxy refuses the whole file.
    ///
    /// For instance, a source that is not an address, network or range, a port that is not a number, or an operation that does
    /// not exist.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * clients.example
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// proxy -i127.0.0.1
    /// ```
    "invalid-value",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    refused: true,
    from lowering,
}

/// What to write for a field that is to restrict nothing.
const ANY: &str = "write `*` for any";

/// `word` holds no address, where one is wanted.
pub(crate) fn address(command: &Command<'_>, word: &Arg<'_>) -> Finding {
    // As in a URL: what stands before the `@` holds a password.
    let shown = match word.value.iter().rposition(|byte| *byte == b'@') {
        Some(at) => format!("***{}", Text::from(word.value.get(at..).unwrap_or_default())),
        None => word.text().to_string(),
    };
    RULE.finding(word.at, format!("`{shown}` in `{}` is neither an address nor a name", command.name())).help(
        match command.name.value.as_ref() {
            b"parent" if word.value.contains(&b'@') => "write the user and the password behind the port",
            _ => "write an address such as `192.0.2.1` or `2001:db8::1`",
        },
    )
}

/// An item of a source list is wrong.
pub(crate) fn source(field: &Arg<'_>, part: Span, error: AddressError) -> Finding {
    let item = Text::from(part.of(&field.value));
    let (what, help) = match error {
        AddressError::Reversed => ("ends before it begins", "write the lower address first"),
        AddressError::MixedFamilies => ("mixes IPv4 and IPv6", "write two ranges"),
        AddressError::Length => (
            "has a prefix length that is too long for its address family",
            "write a length from 0 to 32, or to 128 for IPv6",
        ),
        AddressError::NotAnAddress if item.as_bytes() == b"-" => ("is not an address, network or range", ANY),
        AddressError::NotAnAddress if item.as_bytes() == b"*" => {
            ("is not an address: `*` must be the only item", "write `*` alone, or addresses")
        }
        AddressError::NotAnAddress if is_name(item.as_bytes()) => (
            "is not an address, network or range",
            "if it is a target, write `*` for the sources: `allow * * NAME`; sources can only be addresses",
        ),
        AddressError::NotAnAddress => (
            "is not an address, network or range",
            "write addresses here: the fields are users, sources, targets, ports, in this order",
        ),
    };
    let finding = RULE.finding(field.part(part), format!("`{item}` in the source field {what}"));
    match str::from_utf8(item.as_bytes()).ok().and_then(meant::network) {
        Some(network) => finding
            .help(format!("write the network with its length: `{network}`"))
            .fix(Fix::replace(format!("write `{network}`"), Safety::Safe, field.part(part), network)),
        None => finding.help(help),
    }
}

/// Whether `item` is most likely the name of a host, or a pattern for such names.
fn is_name(item: &[u8]) -> bool {
    item.contains(&b'.') && item.iter().any(u8::is_ascii_alphabetic)
}

/// An item of a port list is no number.
pub(crate) fn port(field: &Arg<'_>, part: Span) -> Finding {
    let item = Text::from(part.of(&field.value));
    let finding = RULE.finding(field.part(part), format!("`{item}` in the port field is not a port"));
    if item.as_bytes() == b"-" {
        return finding.help(ANY);
    }
    if let Some(port) = meant::port_of(item.as_bytes()) {
        let title = format!("write `{port}`");
        return finding.help(format!("write the port as a number: `{port}`")).fix(Fix::replace(
            title,
            Safety::Unsafe,
            field.part(part),
            port.to_string(),
        ));
    }
    let help = if OPERATION_WORDS.iter().any(|(name, _)| name.as_bytes() == item.as_bytes()) {
        "if it is an operation, write `*` for the ports: `allow * * * * CONNECT`"
    } else if is_name(item.as_bytes()) || item.as_bytes().contains(&b':') {
        "write targets as one list before the ports, separated by commas, without spaces"
    } else {
        "write numbers and ranges separated by commas, without spaces: `80,443,8000-8080`"
    };
    finding.help(help)
}

/// A word of an operation list is no operation.
pub(crate) fn operation(field: &Arg<'_>, part: Span) -> Finding {
    let item = part.of(&field.value);
    let finding = RULE.finding(field.part(part), format!("`{}` is not an operation", Text::from(item)));
    if item == b"-" {
        return finding.help(ANY);
    }
    match meant::operation(item).or_else(|| closest(item, OPERATION_WORDS.iter().map(|(name, _)| *name))) {
        Some(name) => finding.help(format!("write `{name}`")).fix(Fix::replace(
            format!("write `{name}`"),
            Safety::Unsafe,
            field.part(part),
            name,
        )),
        None => finding
            .help("write operations such as `HTTP`, `HTTPS`, `CONNECT`, separated by commas, without spaces"),
    }
}
