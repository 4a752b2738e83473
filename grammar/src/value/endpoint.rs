//! Addresses with a port: name servers, connect-back addresses.
use std::net::{IpAddr, Ipv6Addr};

use super::{
    Reading,
    address::{AddressError, Host, address, host},
    number::{NumberTrap, number, port},
    shape,
};
use crate::Span;

/// `HOST[:PORT][/TRANSPORT]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Endpoint {
    /// Name or address.
    pub host: Host,
    /// The port, unless it is missing or 0.
    pub port: Option<u16>,
    /// `/tcp`.
    pub tcp: bool,
}

/// Where an endpoint is not what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndpointTrap {
    /// The port is not what is written.
    Port(NumberTrap),
    /// IPv6 without brackets: what follows its first colon is read as the port as well.
    Unbracketed,
    /// The transport is not `tcp` or `udp`: UDP.
    Transport,
}

/// An endpoint.
///
/// # Errors
/// The host is neither an address nor can it be a name.
pub fn endpoint(word: &[u8]) -> Result<Reading<Endpoint, EndpointTrap>, (Span, AddressError)> {
    let slash = word.iter().position(|byte| *byte == b'/').unwrap_or(word.len());
    if let Some(IpAddr::V6(v6)) = word.get(..slash).and_then(address) {
        return Ok(unbracketed(word, v6, slash));
    }
    let whole = Span::new(0, word.len() as u32);
    let shape = shape::endpoint(word).ok_or((whole, AddressError::NotAnAddress))?;
    let host = host(shape.host.of(word)).map_err(|error| (shape.host, error))?;
    let mut traps = Vec::new();
    let port = shape.port.and_then(|at| {
        let read = port(at.of(word));
        traps.extend(
            read.traps.into_iter().map(|(part, trap)| (part.shifted(at.start), EndpointTrap::Port(trap))),
        );
        (read.value != 0).then_some(read.value)
    });
    let tcp = transport(word, shape.transport, &mut traps);
    Ok(Reading { value: Endpoint { host, port, tcp }, traps })
}

fn unbracketed(word: &[u8], address: Ipv6Addr, slash: usize) -> Reading<Endpoint, EndpointTrap> {
    let colon = word.iter().position(|byte| *byte == b':').unwrap_or(slash);
    let port = number(word.get(colon + 1..slash).unwrap_or_default()).value as u16;
    let mut traps = vec![(Span::new(0, slash as u32), EndpointTrap::Unbracketed)];
    let behind = (slash < word.len()).then(|| Span::new(slash as u32 + 1, word.len() as u32));
    let tcp = transport(word, behind, &mut traps);
    let value = Endpoint { host: Host::Address(address.into()), port: (port != 0).then_some(port), tcp };
    Reading { value, traps }
}

fn transport(word: &[u8], at: Option<Span>, traps: &mut Vec<(Span, EndpointTrap)>) -> bool {
    let text = at.map(|at| at.of(word)).unwrap_or_default();
    if let Some(at) = at
        && text != b"tcp"
        && text != b"udp"
    {
        traps.push((at, EndpointTrap::Transport));
    }
    text.windows(3).any(|part| part == b"tcp")
}

#[cfg(test)]
mod tests {
    use super::{EndpointTrap, Host, NumberTrap, endpoint};

    #[test]
    fn endpoints_are_read_as_3proxy_reads_them() {
        let cases: [(&str, &str, Option<u16>, bool, &[EndpointTrap]); 11] = [
            ("10.0.0.1", "10.0.0.1", None, false, &[]),
            ("10.0.0.1:5353", "10.0.0.1", Some(5353), false, &[]),
            ("10.0.0.1:5353/tcp", "10.0.0.1", Some(5353), true, &[]),
            ("10.0.0.1/udp", "10.0.0.1", None, false, &[]),
            ("10.0.0.1/tls", "10.0.0.1", None, false, &[EndpointTrap::Transport]),
            ("10.0.0.1:dns", "10.0.0.1", None, false, &[EndpointTrap::Port(NumberTrap::NotANumber)]),
            ("[2001:db8::1]:53", "2001:db8::1", Some(53), false, &[]),
            ("[2001:db8::1]", "2001:db8::1", None, false, &[]),
            ("2001:db8::1", "2001:db8::1", None, false, &[EndpointTrap::Unbracketed]),
            (
                "2001:4860:4860::8888/tcp",
                "2001:4860:4860::8888",
                Some(4860),
                true,
                &[EndpointTrap::Unbracketed],
            ),
            ("ns.example:53", "ns.example", Some(53), false, &[]),
        ];
        for (word, expected, port, tcp, traps) in cases {
            let reading = endpoint(word.as_bytes()).unwrap();
            let read = match &reading.value.host {
                Host::Address(address) => address.to_string(),
                Host::Name(name) => name.to_string(),
            };
            assert_eq!(
                (read.as_str(), reading.value.port, reading.value.tcp),
                (expected, port, tcp),
                "{word}"
            );
            assert_eq!(reading.traps.iter().map(|(_, trap)| *trap).collect::<Vec<_>>(), traps, "{word}");
        }
        for wrong in ["", ":53", "10.0.0.300", "[::1", "[::1]x", "10.0.0.1:5:3"] {
            assert!(endpoint(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
