//! Targets that were meant as addresses.
use grammar::value::{AddressError, NamePattern, TargetTrap};

use super::rule::{Misread, rule};
use crate::{finding::Finding, fix::Safety, program::trap::Trap};

rule! {
    /// A target that is not an address is compared with names, even if it was meant as an address.
    ///
    /// 3proxy takes `10.0.0.256`, `10.0.0.0/33`, or a range that is turned round for the name of a host. No host has such a name, so the
    /// entry never matches.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// deny * * 10.0.0.0/33
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// deny * * 10.0.0.0/8,*.10.example
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    /// `10.0.*` is a pattern for what clients ask for. Who asks for such an address itself matches, but not who asks for a name that
    /// has one:
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// deny * * 10.0.*
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// ```3proxy,fixed
    /// auth iponly
    /// deny * * 10.0.0.0/16
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "address-read-as-name",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    parts: ["ip-range-reversed"],
    trap: Trap::Target(fault) => |item| finding(item, fault),
}

fn finding(item: Misread<'_>, fault: TargetTrap) -> Option<Finding> {
    match fault {
        TargetTrap::ReadAsName(error) => Some(mistyped(item, error)),
        TargetTrap::AddressWildcard => Some(wildcard(item)),
        _ => None,
    }
}

/// `item` was meant as an address, a network or a range.
fn mistyped(item: Misread<'_>, error: AddressError) -> Finding {
    let cited = item.cited();
    let (what, help) = match error {
        AddressError::Reversed => ("ends before it begins", "write the lower address first"),
        AddressError::MixedFamilies => ("mixes IPv4 and IPv6", "write two ranges"),
        AddressError::Length => {
            ("has a length that no address has", "write a length from 0 to 32, or to 128 for IPv6")
        }
        AddressError::NotAnAddress => ("is not an address", "write it in full, each number from 0 to 255"),
    };
    let turned = cited.split_once('-').filter(|_| error == AddressError::Reversed);
    let turned = turned.map(|(first, last)| format!("{last}-{first}"));
    RULE.finding(item.at, format!("`{cited}` {what}, so 3proxy looks for a host of this name"))
        .part((error == AddressError::Reversed).then_some("ip-range-reversed"))
        .label("never matches")
        .help(help)
        .fix(turned.and_then(|turned| item.replaced("turn the range round", Safety::Safe, turned)))
}

/// `item` is an address with a `*`.
fn wildcard(item: Misread<'_>) -> Finding {
    let cited = item.cited();
    let is_pattern = !matches!(NamePattern::new(item.text), NamePattern::Exact(_));
    let (message, label) = if is_pattern {
        (
            format!("`{cited}` is compared with what clients ask for, and not with the addresses of names"),
            "matches only if such an address is asked for itself",
        )
    } else {
        (format!("`{cited}` has a `*` inside, so 3proxy looks for a host of this name"), "never matches")
    };
    let finding = RULE.finding(item.at, message).label(label);
    let Some(network) = network(&cited) else {
        return finding.help("write the network: `10.0.*` is `10.0.0.0/16`");
    };
    finding.help(format!("write the network: `{network}`")).fix(item.replaced(
        format!("write `{network}`"),
        Safety::Safe,
        network,
    ))
}

/// The network that `10.`, `10.0.*` or `10.0.*.*` stands for.
pub(super) fn network(pattern: &str) -> Option<String> {
    let known: Vec<&str> = pattern.split('.').take_while(|part| part.parse::<u8>().is_ok()).collect();
    let rest = pattern.split('.').skip(known.len());
    if known.is_empty() || known.len() > 3 || !rest.clone().all(|part| part == "*") || rest.count() == 0 {
        return None;
    }
    let zeros = std::iter::repeat_n("0", 4 - known.len());
    let length = known.len() * 8;
    Some(format!("{}/{length}", known.into_iter().chain(zeros).collect::<Vec<_>>().join(".")))
}

#[cfg(test)]
mod tests {
    use super::network;
    use crate::lints::tests::check;

    #[test]
    fn each_item_is_found() {
        check(
            "address-read-as-name",
            r"
deny * * ok.example,127.0.0.300,10.0.*
#                   ^ `127.0.0.300` is not an address, so 3proxy looks for a host of this name
#                               ^ `10.0.*` is compared with what clients ask for
allow *
proxy -i127.0.0.1
",
        );
    }

    #[test]
    fn a_pattern_is_translated_where_it_is_a_network() {
        assert_eq!(network("10.*").as_deref(), Some("10.0.0.0/8"));
        assert_eq!(network("192.168.1.*").as_deref(), Some("192.168.1.0/24"));
        assert_eq!(network("172.16.*.*").as_deref(), Some("172.16.0.0/16"));
        for other in ["*.10", "10.1*", "10.*.1.1", "300.*", "1.2.3.4"] {
            assert_eq!(network(other), None, "{other}");
        }
    }
}
