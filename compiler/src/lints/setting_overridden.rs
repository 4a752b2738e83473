//! A setting that is set again before anything used it.
use std::collections::HashMap;

use grammar::directive::Effect;

use super::rule::{Lint, rule};
use crate::{
    finding::Level,
    sources::{Loc, Sources},
};

rule! {
    /// A setting that is set again before a service used it has no effect.
    ///
    /// Services copy the settings in effect at their line, so of two lines that set the same thing without a service between them the
    /// first does nothing. It may be left over from an earlier version of the file.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow *
    /// maxconn 100
    /// maxconn 200
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Of two addresses a service has the last:
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow *
    /// internal 192.168.0.1
    /// internal 192.168.1.1
    /// proxy
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow *
    /// maxconn 100
    /// proxy -i127.0.0.1
    /// maxconn 200
    /// socks -i127.0.0.1
    /// ```
    "setting-overridden",
    level: Allow,
    group: Style,
    since: "0.1.0",
    reads: Order,
    check: check,
}

/// Settings of which the last line counts, whatever stands between.
const GLOBAL: [&str; 12] = [
    "timeouts",
    "parentretries",
    "nscache",
    "nscache6",
    "authnserver",
    "rotate",
    "archiver",
    "pidfile",
    "delimchar",
    "counter",
    "radius",
    "stacksize",
];
/// Settings of which each line adds something, or sets one of several things.
const ADDING: [&str; 2] = ["auth", "flush"];
/// Settings that are addresses, the options of services that are the same, and how many of them count.
const ADDRESSES: [(&str, &str, &str); 2] = [
    ("internal", "-i", "A service listens on one address."),
    ("external", "-e", "A service connects from one address of each family."),
];

fn check(lint: &mut Lint<'_>) {
    // The last line of each name that nothing has used yet.
    let mut open: HashMap<&str, Loc> = HashMap::new();
    let mut found = Vec::new();
    for ran in &lint.program.commands {
        let name = ran.row.name;
        match ran.row.effect {
            Effect::Service => open.retain(|name, _| GLOBAL.contains(name)),
            Effect::Setting if ADDING.contains(&name) => {}
            Effect::Setting if name == "external" => {
                let family = if is_v6(lint.sources, ran.at) { "external IPv6" } else { name };
                found.extend(open.insert(family, ran.at).map(|before| (name, before, ran.at)));
            }
            Effect::Setting => found.extend(open.insert(name, ran.at).map(|before| (name, before, ran.at))),
            _ if GLOBAL.contains(&name) => {
                found.extend(open.insert(name, ran.at).map(|before| (name, before, ran.at)));
            }
            _ => {}
        }
    }
    for (name, before, again) in found {
        let finding = RULE
            .finding(before, format!("`{name}` is set again before anything used it"))
            .label("has no effect")
            .also(again, "set again here");
        // Whoever writes two addresses wants two.
        lint.report(if let Some((_, option, note)) = ADDRESSES.iter().find(|(other, ..)| *other == name) {
            let mut finding = finding.note(*note).help(format!(
                "write a service for each address, with `{option}ADDRESS`, or remove this line"
            ));
            finding.level = Level::Warn;
            finding
        } else {
            finding.help("remove this line")
        });
    }
}

/// Whether an address of IPv6 is set at `at`.
fn is_v6(sources: &Sources, at: Loc) -> bool {
    sources.values(at).get(1).is_some_and(|(_, address)| address.contains(&b':'))
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn what_all_share_is_used_at_the_end_only() {
        check(
            "setting-overridden",
            "nscache 65536\n#^ `nscache` is set again\nproxy\nnscache 1000\ninternal 127.0.0.1\nsocks\n",
        );
    }

    #[test]
    fn lines_that_add_are_no_override() {
        check(
            "setting-overridden",
            "external 192.0.2.1\nexternal 2001:db8::1\nnserver 192.0.2.1\nnserver 192.0.2.2\nallow a\nallow b\nproxy\n",
        );
    }
}
