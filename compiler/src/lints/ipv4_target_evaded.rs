//! `ipv4-target-evaded`
use std::net::IpAddr;

use grammar::Span;

use super::{
    columns::columns,
    rule::{Lint, rule},
};
use crate::{
    finding::Level,
    fix::{Edit, Fix, Safety},
    program::{
        acl::{Ace, AclRef, Acls, Action, AddressRange, Matcher, Operation},
        service::{Family, Service, ServiceKind},
    },
    sources::{Loc, Sources},
};

rule! {
    /// Under 3proxy a `deny` of IPv4 targets is passed by with `::ffff:` before the address.
    ///
    /// A client of a SOCKS service, or of an HTTP proxy with `-6`, `-46` or `-64`, may ask for `::ffff:127.0.0.1`. 3proxy finds that in no
    /// IPv4 network, but connects to 127.0.0.1. With `socks -6` every IPv4 target comes in this form. (`cfgc run` compares such an address with IPv4 networks.)
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// deny * * 127.0.0.0/8
    /// allow * 10.0.0.0/8
    /// socks -i10.0.0.1
    /// ```
    ///
    /// Deny both forms, or give the service `-4`:
    ///
    /// ```3proxy,fixed
    /// auth iponly
    /// deny * * 127.0.0.0/8,::ffff:127.0.0.0/104
    /// allow * 10.0.0.0/8
    /// socks -i10.0.0.1
    /// ```
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// deny * * 127.0.0.0/8
    /// allow * 10.0.0.0/8
    /// socks -4 -i10.0.0.1
    /// proxy -i10.0.0.1
    /// ```
    "ipv4-target-evaded",
    level: Warn,
    group: Security,
    since: "0.1.0",
    of_3proxy: true,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    for list in lint.asked_lists().iter() {
        let services = || list.services(program).filter_map(|service| Some((evading(service)?, service)));
        // If all targets come in IPv6 form, no client has to ask for it.
        let all = |(form, _): &(Form, &Service)| *form == Form::All;
        let Some((form, service)) = services().find(all).or_else(|| services().next()) else { continue };
        let evaded = evaded(&program.acls, list.acl);
        let [Evaded { ace, open }, others @ ..] = evaded.as_slice() else { continue };
        let mut finding = RULE
            .finding(ace.at, match form {
                Form::All => "3proxy passes by this `deny` with `-6`: every IPv4 target has an address in IPv6 form then",
                Form::Askable => "under 3proxy, a client that asks for `::ffff:` and the address evades this `deny`",
            })
            .label("compared with addresses in IPv4 form only");
        for other in others.iter().take(SHOWN) {
            finding = finding.also(other.ace.at, "and this one");
        }
        if let Some(more) = others.len().checked_sub(SHOWN).filter(|more| *more > 0) {
            finding = finding.note(format!("It is so with {more} more entries of the list."));
        }
        finding =
            finding.also(service.at, "by this service").help(help(open)).fix(fix(lint.sources, &evaded));
        if form == Form::All {
            finding.level = Level::Deny;
        }
        lint.report(finding);
    }
}

/// How many more entries are shown.
const SHOWN: usize = 3;

/// An entry that is evaded, with the targets whose IPv6 form is not denied.
struct Evaded<'a> {
    ace: &'a Ace,
    open: Vec<AddressRange>,
}

/// The entries of a list that are evaded: behind them one lets any target pass.
fn evaded(acls: &Acls, list: AclRef) -> Vec<Evaded<'_>> {
    let lets = |ace: &Ace| ace.action == Action::Allow && ace.matcher.targets.is_none();
    let entries = || acls.entries(list).map(|(_, ace)| ace);
    let for_all: Vec<AddressRange> = entries().take_while(|ace| !lets(ace)).flat_map(denied_to_all).collect();
    let (mut evaded, mut waiting) = (Vec::new(), Vec::new());
    for ace in entries() {
        if lets(ace) {
            evaded.append(&mut waiting);
        }
        // Behind an entry for all requests nobody comes.
        if ace.matcher.lists_nothing() {
            break;
        }
        waiting.extend(unmapped(ace, &for_all).map(|open| Evaded { ace, open }));
    }
    evaded
}

/// Which IPv4 targets come in IPv6 form.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    All,
    /// Those of clients who ask for it.
    Askable,
}

/// Whether IPv4 targets come in IPv6 form, too.
pub(super) fn takes_ipv6_form(service: &Service) -> bool {
    evading(service).is_some()
}

fn evading(service: &Service) -> Option<Form> {
    let family = service.family();
    let socks = matches!(service.kind, ServiceKind::Socks | ServiceKind::Auto);
    let proxy = service.kind == ServiceKind::Proxy;
    match family {
        Family::V4 => None,
        Family::V6 if socks => Some(Form::All),
        // Over HTTP an address is taken as it is written, if the service takes IPv6 ones.
        Family::V6 | Family::V4ThenV6 | Family::V6ThenV4 => (socks || proxy).then_some(Form::Askable),
        Family::Default => socks.then_some(Form::Askable),
    }
}

/// The IPv6 targets of a `deny` that lists nothing else.
fn denied_to_all(ace: &Ace) -> impl Iterator<Item = AddressRange> {
    let targets = ace.matcher.targets.as_deref().filter(|_| ace.action == Action::Deny);
    let ranges = targets.map_or(&[][..], |targets| &targets.addresses).iter().copied();
    let is_for_all = || Matcher { targets: None, ..ace.matcher.clone() }.lists_nothing();
    ranges.filter(move |range| range.first.is_ipv6() && is_for_all())
}

/// The IPv4 targets of a `deny` whose IPv6 form neither it lists nor one that is `for_all`. `None`: there are none.
fn unmapped(ace: &Ace, for_all: &[AddressRange]) -> Option<Vec<AddressRange>> {
    let udp = |listed: crate::program::acl::Operations| {
        listed.has(Operation::Connect) || listed.has(Operation::HttpConnect)
    };
    let targets = ace.matcher.targets.as_ref()?;
    let listed = |range: AddressRange| {
        let bits = |address: IpAddr| match address {
            IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
            IpAddr::V6(address) => address.to_bits(),
        };
        targets.addresses.iter().chain(for_all).any(|other| {
            other.first.is_ipv6()
                && bits(other.first) <= bits(range.first)
                && bits(range.last) <= bits(other.last)
        })
    };
    let open: Vec<AddressRange> =
        targets.addresses.iter().copied().filter(|range| range.first.is_ipv4() && !listed(*range)).collect();
    let denies = ace.action == Action::Deny && ace.matcher.operations.is_none_or(udp);
    (denies && !open.is_empty()).then_some(open)
}

/// What to write, by the first of the targets.
fn help(open: &[AddressRange]) -> String {
    let example = open.first().and_then(|range| mapped(*range));
    let Some(form) = example else { return "deny the IPv6 form too".to_owned() };
    let plain = form.replace(MAPPED, "");
    let network =
        plain.split_once('/').and_then(|(address, length)| Some((address, length.parse::<u8>().ok()?)));
    let written = match network {
        Some((address, length)) => format!("{address}/{}", length.saturating_sub(96)),
        None => plain,
    };
    format!("deny the IPv6 form too: `{form}` for `{written}`")
}

/// What stands before an IPv4 address in IPv6 form.
pub(super) const MAPPED: &str = "::ffff:";

/// Adds the IPv6 forms to the target lists. `None`: one of them is not written as it is read.
fn fix(sources: &Sources, evaded: &[Evaded<'_>]) -> Option<Fix> {
    let edit = |Evaded { ace, open }: &Evaded<'_>| {
        let column = *columns(sources, ace.at).get(2)?;
        let plain = sources.text(column).iter().all(|byte| *byte != b'"' && *byte != b'$');
        let forms: Option<String> =
            open.iter().map(|range| mapped(*range).map(|form| format!(",{form}"))).collect();
        let at = Loc { file: column.file, span: Span::new(column.span.end, column.span.end) };
        forms.filter(|_| plain).map(|text| Edit { at, text })
    };
    let edits = evaded.iter().map(edit).collect::<Option<Vec<_>>>()?;
    Some(Fix { title: "deny the IPv6 form too".into(), safety: Safety::Safe, edits })
}

/// The IPv6 form of a range: a network where it is one.
fn mapped(range: AddressRange) -> Option<String> {
    let (IpAddr::V4(first), IpAddr::V4(last)) = (range.first, range.last) else { return None };
    let host = 32 - (first.to_bits() ^ last.to_bits()).leading_zeros();
    let low = if host == 32 { u32::MAX } else { (1 << host) - 1 };
    Some(if first == last {
        format!("{MAPPED}{first}")
    } else if first.to_bits() & low == 0 && last.to_bits() & low == low {
        format!("{MAPPED}{first}/{}", 128 - host)
    } else {
        format!("{MAPPED}{first}-{MAPPED}{last}")
    })
}

#[cfg(test)]
mod tests {
    use crate::{
        finding::Level,
        lints::tests::{check, findings},
    };

    #[test]
    fn where_nobody_can_ask_for_the_other_form_it_is_silent() {
        for lines in [
            "deny * * 127.0.0.0/8\nallow *\nproxy",
            "deny * * 127.0.0.0/8\nallow *\nsocks -4",
            "deny * * 127.0.0.0/8,::ffff:0.0.0.0/96\nallow *\nsocks",
            "deny * * 127.0.0.0/8\nallow * * *.example.com\nsocks",
            "deny * * ::1\nallow *\nsocks",
            "deny * * ::ffff:0:0/96\ndeny * * 127.0.0.0/8\nallow *\nsocks",
            "deny * * 127.0.0.0/8\ndeny * * ::ffff:127.0.0.0/104\nallow *\nsocks",
            "allow *\nsocks",
            "allow *\ndeny * * 127.0.0.0/8\nallow *\nsocks",
            "allow * 10.0.0.1\ndeny *\ndeny * * 127.0.0.0/8\nallow *\nsocks",
        ] {
            check("ipv4-target-evaded", &format!("internal 127.0.0.1\n{lines}\n"));
        }
    }

    #[test]
    fn with_the_option_every_client_evades_it() {
        for (service, level) in [
            ("socks -6", Level::Deny),
            ("proxy -6", Level::Warn),
            ("proxy -46", Level::Warn),
            ("socks", Level::Warn),
            ("socks\nauto -6", Level::Deny),
        ] {
            let text = format!("deny * * 10.0.0.0/8\nallow *\n{service}\n");
            let found = findings("ipv4-target-evaded", &text);
            assert_eq!(found.iter().map(|finding| finding.level).collect::<Vec<_>>(), [level], "{service}");
        }
    }

    #[test]
    fn the_fix_lists_the_other_form() {
        let found = findings(
            "ipv4-target-evaded",
            "deny * * 127.0.0.1,10.0.0.0/8,192.168.1.5-192.168.1.9,::1\nallow *\nsocks -i127.0.0.1\n",
        );
        let added = &found[0].fix.as_ref().unwrap().edits[0].text;
        assert_eq!(added, ",::ffff:127.0.0.1,::ffff:10.0.0.0/104,::ffff:192.168.1.5-::ffff:192.168.1.9");
    }

    #[test]
    fn all_entries_of_a_list_are_one_finding() {
        let text = "deny * * 127.0.0.0/8\ndeny * * 10.0.0.0/8\nallow a\ndeny * * 172.16.0.1\nallow b\n\
                    deny * * 192.168.0.1\nallow * * 192.0.2.1\nsocks -i10.0.0.1\n";
        let found = findings("ipv4-target-evaded", text);
        let [finding] = found.as_slice() else { panic!("{found:#?}") };
        let fixed = finding.fix.as_ref().unwrap().apply(finding.at.file, text.as_bytes());
        let fixed = String::from_utf8(fixed).unwrap();
        // What nobody passes behind is not evaded.
        assert_eq!(fixed.matches("::ffff:").count(), 3, "{fixed}");
        assert!(fixed.contains("deny * * 172.16.0.1,::ffff:172.16.0.1\n"), "{fixed}");
        assert_eq!(findings("ipv4-target-evaded", &fixed).len(), 0, "{fixed}");
    }

    #[test]
    fn the_help_names_what_the_entry_lists() {
        for (target, help) in [
            ("192.168.0.0/16", "`::ffff:192.168.0.0/112` for `192.168.0.0/16`"),
            ("www.example.com,10.0.0.9", "`::ffff:10.0.0.9` for `10.0.0.9`"),
            ("10.0.0.5-10.0.0.8", "`::ffff:10.0.0.5-::ffff:10.0.0.8` for `10.0.0.5-10.0.0.8`"),
            ("0.0.0.0/1", "`::ffff:0.0.0.0/97` for `0.0.0.0/1`"),
        ] {
            let text = format!("deny * * {target}\nallow *\nsocks -i127.0.0.1\n");
            let found = findings("ipv4-target-evaded", &text);
            let told = found.first().and_then(|finding| finding.help.as_deref()).unwrap_or_default();
            assert!(told.ends_with(help), "{target}: {told}");
        }
    }
}
