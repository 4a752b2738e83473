//! What was meant by a word that is written as other programs want it. Names of commands are in [`grammar::directive::similar`].
use std::net::{IpAddr, Ipv4Addr};

use grammar::value::OPERATION_WORDS;

use crate::{
    fix::{Fix, Safety},
    lower::command::Arg,
};

/// Names of other programs for types of authentication.
const AUTH_TYPES: [(&str, &str); 14] = [
    ("basic", "strong"),
    ("digest", "strong"),
    ("disabled", "none"),
    ("false", "none"),
    ("ip", "iponly"),
    ("login", "strong"),
    ("no", "none"),
    ("off", "none"),
    ("passwd", "strong"),
    ("password", "strong"),
    ("plain", "strong"),
    ("user", "useronly"),
    ("userpass", "strong"),
    ("username", "useronly"),
];

/// Ports by the names that they have in `/etc/services`.
const PORTS: [(&str, u16); 14] = [
    ("dns", 53),
    ("domain", 53),
    ("ftp", 21),
    ("http", 80),
    ("https", 443),
    ("imap", 143),
    ("imaps", 993),
    ("pop3", 110),
    ("pop3s", 995),
    ("rdp", 3389),
    ("smtp", 25),
    ("socks", 1080),
    ("ssh", 22),
    ("telnet", 23),
];

/// Options by the names that other programs have for them.
const OPTIONS: [(&str, &str); 8] = [
    ("address", "-i"),
    ("bind", "-i"),
    ("external", "-e"),
    ("host", "-i"),
    ("internal", "-i"),
    ("listen", "-i"),
    ("log", "-l"),
    ("port", "-p"),
];

fn in_table<T: Copy>(table: &[(&str, T)], word: &[u8]) -> Option<T> {
    table.iter().find(|(name, _)| word.eq_ignore_ascii_case(name.as_bytes())).map(|(_, meant)| *meant)
}

/// The type of authentication that is called `word` elsewhere.
pub(super) fn auth_type(word: &[u8]) -> Option<&'static str> {
    in_table(&AUTH_TYPES, word)
}

/// The port of the service with this name.
pub(super) fn port_of(word: &[u8]) -> Option<u16> {
    in_table(&PORTS, word)
}

/// The operation of an HTTP method.
pub(super) fn operation(word: &[u8]) -> Option<&'static str> {
    let name = format!("HTTP_{}", str::from_utf8(word).ok()?.to_ascii_uppercase());
    OPERATION_WORDS.iter().map(|(known, _)| *known).find(|known| *known == name)
}

/// A port alone.
pub(super) fn port(text: &str) -> Option<u16> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|port| digits && *port != 0)
}

/// The address or name, and the port, of `HOST:PORT`, `[ADDRESS]:PORT`.
pub(super) fn host_and_port(text: &str) -> Option<(&str, u16)> {
    let (host, number) = text.rsplit_once(':')?;
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let is_host =
        |host: &str| host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte));
    let host = match bare {
        Some(address) => address.parse::<IpAddr>().is_ok().then_some(address)?,
        None => Some(host).filter(|host| !host.is_empty() && is_host(host))?,
    };
    Some((host, port(number)?))
}

/// What to write for a word `HOST:PORT` where a host and a port are wanted, and the fix that does.
pub(super) fn port_apart(word: &Arg<'_>) -> Option<(String, Fix)> {
    let (host, port) = host_and_port(str::from_utf8(&word.value).ok()?)?;
    let apart = format!("{host} {port}");
    let title = format!("write the port apart: `{apart}`");
    Some((title.clone(), Fix::replace(title, Safety::Safe, word.at, apart)))
}

/// The network of `ADDRESS/MASK` with its mask as an address, or of `192.168.1.*`.
pub(super) fn network(text: &str) -> Option<String> {
    let Some((address, mask)) = text.split_once('/') else {
        return super::address_read_as_name::network(text);
    };
    let address: Ipv4Addr = address.parse().ok()?;
    let bits = u32::from(mask.parse::<Ipv4Addr>().ok()?);
    let length = bits.leading_ones();
    (bits.count_ones() == length).then(|| format!("{address}/{length}"))
}

/// The option of `port=3129`, `--port=3129`, and of a port alone.
pub(super) fn option(word: &str) -> Option<String> {
    if let Some(port) = port(word) {
        return Some(format!("-p{port}"));
    }
    let (name, value) = word.trim_start_matches('-').split_once('=')?;
    let flag = in_table(&OPTIONS, name.as_bytes())?;
    // What needs no quotes.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"./:-_[]%".contains(&byte);
    let fits =
        if flag == "-p" { port(value).is_some() } else { !value.is_empty() && value.bytes().all(is_plain) };
    fits.then(|| format!("{flag}{value}"))
}

#[cfg(test)]
mod tests {
    use super::{host_and_port, network, option};

    #[test]
    fn what_is_not_certain_is_left_alone() {
        assert_eq!(option("--port=3129").as_deref(), Some("-p3129"));
        for word in
            ["log=/a b", "log=\"x\"", "external=$x", "port=0", "port=x", "user=bob", "70000", "=", "-p"]
        {
            assert_eq!(option(word), None, "{word}");
        }
        for word in ["bob:secret@192.0.2.1:80", "192.0.2.1:", ":80", "2001:db8::1:80", "[x]:80", "h:0"] {
            assert_eq!(host_and_port(word), None, "{word}");
        }
        for word in ["10.0.0.0/255.0.255.0", "10.0.0.0/8", "x/255.0.0.0", "10.1.2.3"] {
            assert_eq!(network(word), None, "{word}");
        }
    }
}
