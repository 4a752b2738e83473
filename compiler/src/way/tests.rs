//! What is drawn, and what can be.
use proptest::prelude::*;

use super::{Group, Origin, Plan, direct_share, groups, hops, is_hop, origins};
use crate::{
    program::{
        Set,
        acl::{Parent, ParentHost, ParentKind},
        service::{External, Family},
    },
    sources::Loc,
};

fn parent(kind: ParentKind) -> Parent {
    Parent {
        at: Loc::default(),
        weight: 1000,
        kind,
        secure: false,
        host: ParentHost::Address([127, 0, 0, 1].into()),
        port: 1,
        user: None,
        password: None,
    }
}

fn weights(weights: &[u16]) -> Vec<Parent> {
    let parents = weights.iter().zip(1..);
    parents.map(|(&weight, port)| Parent { weight, port, ..parent(ParentKind::Socks5) }).collect()
}

/// For every number that can be drawn, how often each chain comes.
fn chances(parents: &[Parent]) -> Vec<(Vec<u16>, u32)> {
    let mut chances = Vec::<(Vec<u16>, u32)>::new();
    for number in 0..1000 {
        let plan = Plan::draw(parents, |_| number);
        let chain: Vec<_> = plan.hops.iter().map(|hop| hop.port).collect();
        match chances.iter_mut().find(|(known, _)| *known == chain) {
            Some((_, times)) => *times += 1,
            None => chances.push((chain, 1)),
        }
    }
    chances.sort();
    chances
}

#[test]
fn each_parent_of_a_group_has_the_chance_of_its_weight() {
    for (given, expected) in [
        (&[1000][..], vec![(vec![1], 1000)]),
        (&[300, 700], vec![(vec![1], 300), (vec![2], 700)]),
        (&[250, 250, 250, 250], vec![(vec![1], 250), (vec![2], 250), (vec![3], 250), (vec![4], 250)]),
        // Two groups: a chain of two.
        (&[1000, 1000], vec![(vec![1, 2], 1000)]),
        // Short of 1000: the rest goes to nobody.
        (&[500], vec![(vec![], 500), (vec![1], 500)]),
        (&[300, 300], vec![(vec![], 400), (vec![1], 300), (vec![2], 300)]),
        (&[1000, 500], vec![(vec![1], 500), (vec![1, 2], 500)]),
        // Beyond 1000: the last has what is left.
        (&[700, 700], vec![(vec![1], 700), (vec![2], 300)]),
        (&[500, 1000], vec![(vec![1], 500), (vec![2], 500)]),
    ] {
        assert_eq!(chances(&weights(given)), expected, "{given:?}");
    }
}

#[test]
fn a_group_gets_a_number_of_its_own() {
    let parents = weights(&[500, 500, 500, 500]);
    for (first, second, expected) in [(999, 999, [1, 3]), (999, 0, [1, 4]), (0, 999, [2, 3]), (0, 0, [2, 4])]
    {
        let mut numbers = [first, second, 0].into_iter();
        let plan = Plan::draw(&parents, |_| numbers.next().unwrap());
        assert_eq!(plan.hops.iter().map(|hop| hop.port).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn http_and_tcp_end_a_chain_and_addresses_and_headers_are_no_hops() {
    let kinds = |kinds: &[ParentKind]| kinds.iter().map(|&kind| parent(kind)).collect::<Vec<_>>();
    let (extip, header) = (ParentKind::ExternalAddress, ParentKind::ProxyProtocol);
    for (given, hops, external, announces) in [
        (kinds(&[ParentKind::Http, ParentKind::Socks5]), 1, false, false),
        (kinds(&[ParentKind::Tcp, ParentKind::Socks5]), 1, false, false),
        (kinds(&[extip, header, ParentKind::Socks5, ParentKind::Http]), 2, true, true),
        (kinds(&[extip]), 0, true, false),
        (kinds(&[header]), 0, false, true),
    ] {
        let plan = Plan::draw(&given, |_| 0);
        assert_eq!((plan.hops.len(), plan.external.is_some(), plan.announces), (hops, external, announces));
    }
}

fn any_parent() -> impl Strategy<Value = Parent> {
    use ParentKind::{ExternalAddress, Http, ProxyProtocol, Socks5};
    let kinds = prop::sample::select(&[Socks5, Socks5, Http, ExternalAddress, ProxyProtocol][..]);
    let weights = prop::sample::select(&[100_u16, 300, 500, 700, 1000][..]);
    (kinds, weights, 1_u8..3).prop_map(|(kind, weight, host)| Parent {
        weight,
        host: ParentHost::Address([10, 0, 0, host].into()),
        ..parent(kind)
    })
}

/// A service's addresses: one for IPv4, none for IPv6.
fn external() -> External {
    External {
        v4: Set::default_to([192, 0, 2, 1].into()),
        v6: Set::default_to(std::net::Ipv6Addr::UNSPECIFIED),
    }
}

proptest! {
    /// Weights are hundreds, so numbers that stand for a hundred each are all that can be drawn.
    #[test]
    fn groups_say_what_is_drawn_and_how_often(parents in prop::collection::vec(any_parent(), 0..4)) {
        let (mut total, mut direct) = (0_u32, 0_u32);
        let (mut drawn, mut from): (Vec<&Parent>, Vec<Origin>) = (Vec::new(), Vec::new());
        for draw in 0..10_000_u32 {
            let mut numbers = (0..4).map(|digit| draw / 10_u32.pow(digit) % 10 * 100 + 50).chain([0]);
            let plan = Plan::draw(&parents, |_| numbers.next().unwrap());
            total += 1;
            direct += u32::from(plan.hops.is_empty());
            for hop in plan.hops {
                if !drawn.contains(&hop) {
                    drawn.push(hop);
                }
            }
            let origin = match plan.external {
                Some(ParentHost::Address(address)) => Origin::Address(*address),
                _ => Origin::Address([192, 0, 2, 1].into()),
            };
            if !from.contains(&origin) {
                from.push(origin);
            }
        }
        let groups = groups(&parents);
        prop_assert!((direct_share(&groups) - f64::from(direct) / f64::from(total)).abs() < 1e-9);
        let found = hops(&groups);
        prop_assert!(found.len() == drawn.len() && drawn.iter().all(|hop| found.contains(hop)), "{found:?}");
        let origins = origins(&groups, external(), Family::Default, None);
        prop_assert!(origins.len() == from.len() && from.iter().all(|one| origins.contains(one)), "{origins:?}");
        for Group { members, nobody } in &groups {
            prop_assert_eq!(members.iter().map(|(_, chance)| chance).sum::<u16>() + nobody, 1000);
        }
    }
}

#[test]
fn a_request_comes_from_the_address_of_its_family() {
    let v6 = |text: &str| Parent {
        host: ParentHost::Address(text.parse().unwrap()),
        ..parent(ParentKind::Socks5)
    };
    let own = Origin::Address([192, 0, 2, 1].into());
    let either = Family::Default;
    for (parents, family, target, expected) in [
        (Vec::<Parent>::new(), Family::V6, None, Origin::Any),
        (vec![], Family::V6ThenV4, Some("10.0.0.1"), own),
        (vec![], Family::V4ThenV6, None, own),
        (vec![], either, None, own),
        (vec![], either, Some("2001:db8::1"), Origin::Any),
        (vec![v6("2001:db8::9")], either, Some("10.0.0.1"), Origin::Any),
        (vec![v6("0.0.0.0")], either, Some("2001:db8::1"), Origin::Any),
        (vec![v6("10.0.0.1"), v6("2001:db8::9")], either, Some("2001:db8::1"), own),
        (
            vec![Parent { kind: ParentKind::ExternalAddress, ..v6("0.0.0.0") }],
            either,
            Some("10.0.0.1"),
            Origin::Client,
        ),
    ] {
        let target = target.map(|target: &str| target.parse().unwrap());
        assert_eq!(origins(&groups(&parents), external(), family, target), [expected], "{parents:?}");
    }
    assert!(is_hop(&v6("10.0.0.1")));
}
