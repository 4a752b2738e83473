//! A name where a service is to listen or connect from.
use std::net::Ipv4Addr;

use grammar::value::short_address;

use super::rule::{Misread, rule};
use crate::{
    finding::{Finding, Level},
    program::trap::Trap,
};

rule! {
    /// A name is written where a service needs an address of this host: `internal`, `external`, `-i` or `-e`.
    ///
    /// 3proxy looks the name up when it starts. If it finds no address to listen on, it silently listens on every interface; if it
    /// finds none to connect from, it refuses the file. The name of an interface is not an address, and neither is a placeholder.
    ///
    /// ```3proxy,fires
    /// internal eth0
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// proxy
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// internal 192.168.0.1
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// proxy
    /// ```
    ///
    /// A name that this host may have only gets a warning, and so does an address with parts left out. `localhost` and `127.1` are this machine
    /// wherever they are written:
    ///
    /// ```3proxy,clean
    /// internal localhost
    /// auth iponly
    /// allow *
    /// proxy
    /// ```
    "bind-address-is-name",
    level: Deny,
    group: Security,
    since: "0.1.0",
    trap: trap @ (Trap::ListenName | Trap::ExternalName) => |word| finding(word, trap == Trap::ListenName),
}

/// `listens`: it is an address to listen on.
fn finding(word: Misread<'_>, listens: bool) -> Finding {
    let written = String::from_utf8_lossy(&word.unquoted()).into_owned();
    let name = flagless(&written);
    let what = Kind::of(name);
    let message = match what {
        Kind::Interface => format!("`{name}` is the name of an interface, not an address"),
        Kind::Placeholder => format!("`{name}` is not an address"),
        Kind::Short(address) => format!("`{name}` is not a full address: the system reads {address}"),
        Kind::Host => format!("`{name}` is a name, not an address"),
    };
    let then = if matches!(what, Kind::Short(_)) {
        "after an `nserver` line, its name servers are asked for it"
    } else if listens {
        "looked up at startup; if it has no address, the service listens on every interface"
    } else {
        "looked up at startup; if it has no address, 3proxy refuses the file"
    };
    let help = match what {
        Kind::Interface if listens => format!("write its address, or `-Di{name}` at the service"),
        Kind::Interface => format!("write its address, or `-De{name}` at the service"),
        Kind::Short(address) => format!("write `{address}`, or the address that is meant"),
        _ => "write an address of this host such as `192.0.2.1`".to_owned(),
    };
    let mut finding = RULE.finding(word.at, message).label(then).help(help);
    if matches!(what, Kind::Host | Kind::Short(_)) {
        finding.level = Level::Warn;
    }
    finding
}

/// What stands behind `-i` or `-e`.
fn flagless(word: &str) -> &str {
    word.strip_prefix("-i").or_else(|| word.strip_prefix("-e")).unwrap_or(word)
}

/// What a word that is no address is most likely meant for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A network interface.
    Interface,
    /// A gap to fill in, or an address with a slip: no host has such a name.
    Placeholder,
    /// An address with parts left out, which the system reads so.
    Short(Ipv4Addr),
    /// A host.
    Host,
}

/// What names of interfaces begin with; a number follows.
const INTERFACES: [&str; 16] = [
    "bond", "br", "docker", "en", "eno", "ens", "eth", "ppp", "tap", "tun", "usb", "veth", "vlan", "wg",
    "wlan", "wwan",
];

impl Kind {
    fn of(name: &str) -> Self {
        let name = name.strip_suffix('.').unwrap_or(name);
        let parts: Vec<&str> = name.split('.').collect();
        let number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if is_interface(name) {
            return Self::Interface;
        }
        if let Some(address) = short_address(name.as_bytes()) {
            return Self::Short(address);
        }
        // `x`, `xxx`, `YY`
        let letters = |part: &&str| {
            let mut bytes = part.bytes();
            bytes.next().is_some_and(|first| first.is_ascii_alphabetic() && bytes.all(|byte| byte == first))
        };
        if parts.iter().all(number) {
            return Self::Placeholder;
        }
        let is_gap = parts.len() == 4 && parts.iter().all(|part| number(part) || letters(part));
        // `10.0.0.1a`: no domain has such an end.
        let domain = |part: &&str| part.starts_with(|first: char| !first.is_ascii_digit());
        let no_domain = parts.len() > 1 && !parts.last().is_some_and(domain);
        if is_gap || no_domain { Self::Placeholder } else { Self::Host }
    }
}

/// Whether Linux gives such names to interfaces: `eth0`, `enp3s0`, `eth0.100`.
fn is_interface(name: &str) -> bool {
    let number = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    let device = name.split_once('.').filter(|(_, vlan)| number(vlan)).map_or(name, |(device, _)| device);
    let slot = |rest: &str| {
        rest.strip_prefix(['p', 'P'])
            .and_then(|rest| rest.split_once('s'))
            .is_some_and(|(bus, slot)| number(bus) && slot.starts_with(|first: char| first.is_ascii_digit()))
    };
    INTERFACES.iter().filter_map(|prefix| device.strip_prefix(prefix)).any(|rest| number(rest) || slot(rest))
}

#[cfg(test)]
mod tests {
    use super::Kind;
    use crate::{
        finding::Level,
        lints::tests::{check, findings},
    };

    #[test]
    fn what_is_no_address_is_told_by_what_it_looks_like() {
        for (word, kind) in [
            ("xxx.xxx.xxx.xxx", Kind::Placeholder),
            ("X.X.X.X", Kind::Placeholder),
            ("10.0.0.x", Kind::Placeholder),
            ("a.b.c.d", Kind::Placeholder),
            ("10.0.0.1a", Kind::Placeholder),
            ("10.0.0.1.2", Kind::Placeholder),
            ("127.1", Kind::Short([127, 0, 0, 1].into())),
            ("192.168.1", Kind::Short([192, 168, 0, 1].into())),
            ("3128", Kind::Short([0, 0, 12, 56].into())),
            ("300.1", Kind::Placeholder),
            ("eth0", Kind::Interface),
            ("eth0.100", Kind::Interface),
            ("enp3s0", Kind::Interface),
            ("enp3s0f1", Kind::Interface),
            ("wlp2s0", Kind::Host),
            ("tun0", Kind::Interface),
            ("usb0", Kind::Interface),
            ("proxy1", Kind::Host),
            ("enigma", Kind::Host),
            ("eth0.example.com", Kind::Host),
            ("proxy.example.com", Kind::Host),
            ("www.proxy.example.xxx", Kind::Host),
            ("proxy.example.com.", Kind::Host),
            ("YOUR_IP", Kind::Host),
        ] {
            assert_eq!(Kind::of(word), kind, "{word}");
        }
    }

    #[test]
    fn each_way_to_name_an_address_is_looked_at() {
        check(
            "bind-address-is-name",
            r#"
internal xxx.xxx.xxx.xxx
#        ^ `xxx.xxx.xxx.xxx` is not an address
external "usb0"
#        ^ `usb0` is the name of an interface
proxy -i10.0.0.x -eproxy.example.com
#     ^ `10.0.0.x` is not an address
#                ^ `proxy.example.com` is a name, not an address
socks -i192.168.1 -elocalhost
#     ^ `192.168.1` is not a full address: the system reads 192.168.0.1
socks -i127.1 -e0x7f.1
internal LOCALHOST
external 2001:db8::1
internal unix:/run/proxy.sock
proxy -i::1 -e192.0.2.1
"#,
        );
    }

    #[test]
    fn a_name_that_this_host_may_have_warns() {
        let levels = |text| {
            let found = findings("bind-address-is-name", text);
            found.iter().map(|finding| finding.level).collect::<Vec<_>>()
        };
        assert_eq!(levels("internal proxy.example.com\nproxy\n"), [Level::Warn]);
        assert_eq!(levels("internal eth0\nproxy\n"), [Level::Deny]);
        assert_eq!(levels("proxy -exxx.xxx.xxx.xxx\n"), [Level::Deny]);
    }

    #[test]
    fn what_is_refused_or_ignored_is_told_by_other_rules() {
        check("bind-address-is-name", "internal 127.0.0.300\nproxy -iproxy:1 -e10.0.0.300\n");
    }
}
