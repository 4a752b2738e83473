//! `cidr-host-bits`
use grammar::value::{AddressTrap, TargetTrap};
use ipnet::IpNet;

use super::rule::{Misread, rule};
use crate::{
    finding::{Finding, Level},
    fix::Safety,
    program::trap::Trap,
};

rule! {
    /// The address of this network has bits set beyond its prefix length, and these are ignored.
    ///
    /// `10.1.2.3/8` matches all of 10.0.0.0/8. If one host was meant, write it without a length.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.1.2.3/8
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// ```3proxy,fixed
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.1.2.3,10.2.0.0/16
    /// proxy -i10.0.0.1
    /// ```
    "cidr-host-bits",
    level: Allow,
    group: Style,
    since: "0.1.0",
    trap: Trap::Source(AddressTrap::HostBits) | Trap::Target(TargetTrap::Address(AddressTrap::HostBits)) => finding,
}

fn finding(part: Misread<'_>) -> Option<Finding> {
    let cited = part.cited();
    let network: IpNet = cited.parse().ok()?;
    let whole = network.trunc();
    let mut finding = RULE
        .finding(part.at, format!("`{cited}` matches all of `{whole}`"))
        .label("the last bits of the address are ignored")
        .help(format!("write `{whole}`, or `{}` for the host alone", network.addr()))
        .fix(part.replaced("write the network's own address", Safety::Safe, whole.to_string()));
    if network.prefix_len() == 0 {
        finding.level = Level::Warn;
        finding = finding.note("A length of 0 matches every address.");
    }
    Some(finding)
}

#[cfg(test)]
mod tests {
    use crate::{
        finding::Level,
        lints::tests::{check, findings},
    };

    #[test]
    fn sources_and_targets() {
        check(
            "cidr-host-bits",
            r"
internal 127.0.0.1
deny * * 127.0.0.1/8,10.0.0.0/8,2001:db8::1/32
#        ^ `127.0.0.1/8` matches all of `127.0.0.0/8`
#                               ^ matches all of `2001:db8::/32`
allow * 192.168.1.7/24
#       ^ `192.168.1.7/24` matches all
proxy
",
        );
    }

    #[test]
    fn a_length_of_nothing_is_everybody() {
        for (text, level) in [("10.0.0.1/0", Level::Warn), ("10.0.0.1/8", Level::Allow)] {
            let found = findings("cidr-host-bits", &format!("allow * {text}\nproxy -i127.0.0.1\n"));
            assert_eq!(found.iter().map(|finding| finding.level).collect::<Vec<_>>(), [level]);
        }
    }
}
