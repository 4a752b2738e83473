//! Which parents a request goes through.
use std::net::{IpAddr, Ipv6Addr};

use compiler::program::acl::{Parent, ParentHost, ParentKind};

use crate::random;

/// What was drawn.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Plan<'a> {
    /// The parents to pass, in order.
    pub(super) hops: Vec<&'a Parent>,
    /// The `extip` to come from.
    pub(super) external: Option<&'a ParentHost>,
    /// A PROXY protocol header goes first.
    pub(super) announces: bool,
}

impl<'a> Plan<'a> {
    /// Draws one parent from each group. `below(n)` gives a fair number below `n`.
    ///
    /// A group's parents are tried in turn against one number: the parent that takes the running sum over what the number leaves
    /// is drawn. So a parent of weight w has the chance w/1000, and one that overfills its group has what is left of it.
    /// `tcp` and `http` end the chain, since behind them nothing can be negotiated.
    pub(super) fn draw(parents: &'a [Parent], mut below: impl FnMut(u32) -> u32) -> Self {
        let mut plan = Self::default();
        let mut number = below(1000);
        let (mut left, mut found) = (1000_i64, false);
        for parent in parents {
            left -= i64::from(parent.weight);
            if !found && left <= i64::from(number) {
                found = true;
                plan.add(parent);
                if matches!(parent.kind, ParentKind::Tcp | ParentKind::Http) && !parent.is_local() {
                    break;
                }
            }
            if left <= 0 {
                left += 1000;
                found = false;
                number = below(1000);
            }
        }
        plan
    }

    fn add(&mut self, parent: &'a Parent) {
        match parent.kind {
            ParentKind::ExternalAddress => self.external = Some(&parent.host),
            ParentKind::ProxyProtocol => self.announces = true,
            // A local redirection to the service's own kind changes nothing; others are refused before anything runs.
            _ if parent.is_local() => {}
            _ => self.hops.push(parent),
        }
    }
}

/// The address that an `extip` stands for: zeros are the client's own, and below a prefix the bits are random.
pub(super) fn external(host: &ParentHost, client: IpAddr) -> IpAddr {
    match host {
        ParentHost::Address(address) | ParentHost::Prefix(address, _) if address.is_unspecified() => client,
        ParentHost::Prefix(IpAddr::V6(address), length) => {
            let random = (0..4).fold(0_u128, |bits, _| bits << 32 | u128::from(random::below(u32::MAX)));
            let host_bits = u128::MAX.checked_shr(u32::from(*length)).unwrap_or(0);
            Ipv6Addr::from_bits(address.to_bits() | random & host_bits).into()
        }
        ParentHost::Address(address) | ParentHost::Prefix(address, _) => *address,
        // An `extip` is an address, says lowering; a name would be an address that can't be bound.
        ParentHost::Name(_) | ParentHost::Unix(_) => Ipv6Addr::from_bits(u128::MAX).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parent::tests::parent;

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
        for (first, second, expected) in
            [(999, 999, [1, 3]), (999, 0, [1, 4]), (0, 999, [2, 3]), (0, 0, [2, 4])]
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
            assert_eq!(
                (plan.hops.len(), plan.external.is_some(), plan.announces),
                (hops, external, announces)
            );
        }
    }

    #[test]
    fn an_external_address_of_zeros_is_the_client_s_and_bits_below_a_prefix_are_random() {
        let client = IpAddr::from([127, 0, 0, 9]);
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        for (host, expected) in [
            (ParentHost::Address(ip("127.0.0.7")), ip("127.0.0.7")),
            (ParentHost::Address(ip("0.0.0.0")), client),
            (ParentHost::Prefix(ip("2001:db8::7"), 128), ip("2001:db8::7")),
        ] {
            assert_eq!(external(&host, client), expected);
        }
        let drawn = |_| external(&ParentHost::Prefix(ip("2001:db8:1::"), 48), client);
        let drawn: std::collections::HashSet<_> = (0..100).map(drawn).collect();
        assert!(drawn.len() > 90, "80 random bits: {drawn:?}");
        assert!(drawn.iter().all(|address| address.to_string().starts_with("2001:db8:1:")));
    }
}
