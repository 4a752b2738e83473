//! What stands before a datagram of SOCKS 5: where it goes, or where it comes from.
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// A datagram, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Datagram<'a> {
    /// The other end.
    pub(crate) host: Host<'a>,
    /// Its port.
    pub(crate) port: u16,
    /// What is to reach it, or came from it.
    pub(crate) payload: &'a [u8],
}

/// The other end of a datagram, as it stands there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Host<'a> {
    /// Four or sixteen bytes.
    Address(IpAddr),
    /// Text.
    Name(&'a [u8]),
}

/// What is wrong with a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// There is none: no byte.
    Empty,
    /// Shorter than any, a fragment, or something that is not of SOCKS 5.
    Form,
    /// It ends within an address of IPv6.
    Ipv6,
    /// It ends within a name.
    Name,
    /// An unknown type of address.
    AddressType,
}

impl Fault {
    /// 3proxy's code for it.
    #[must_use]
    pub(crate) const fn code(self) -> u16 {
        match self {
            Self::Empty => 482,
            Self::Form => 483,
            Self::Ipv6 => 484,
            Self::Name => 485,
            Self::AddressType => 997,
        }
    }
}

/// No datagram is shorter: two reserved bytes, the fragment's number, an address type, an address of IPv4, a port.
const SHORTEST: usize = 10;

/// Takes a datagram apart. Fragments are not put together: as in 3proxy, they are a fault.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn parse(datagram: &[u8]) -> Result<Datagram<'_>, Fault> {
    if datagram.is_empty() {
        return Err(Fault::Empty);
    }
    let ([0, 0, 0, kind, rest @ ..], SHORTEST..) = (datagram, datagram.len()) else {
        return Err(Fault::Form);
    };
    let (host, rest) = match kind {
        1 => {
            let (address, rest) = rest.split_first_chunk::<4>().ok_or(Fault::Form)?;
            (Host::Address(Ipv4Addr::from(*address).into()), rest)
        }
        3 => {
            let (length, rest) = rest.split_first().ok_or(Fault::Name)?;
            let (name, rest) = rest.split_at_checked(usize::from(*length)).ok_or(Fault::Name)?;
            (Host::Name(name), rest)
        }
        4 => {
            let (address, rest) = rest.split_first_chunk::<16>().ok_or(Fault::Ipv6)?;
            (Host::Address(Ipv6Addr::from(*address).into()), rest)
        }
        _ => return Err(Fault::AddressType),
    };
    let missing = match host {
        Host::Address(IpAddr::V4(_)) => Fault::Form,
        Host::Address(IpAddr::V6(_)) => Fault::Ipv6,
        Host::Name(_) => Fault::Name,
    };
    let (port, payload) = rest.split_first_chunk::<2>().ok_or(missing)?;
    Ok(Datagram { host, port: u16::from_be_bytes(*port), payload })
}

/// What stands before a datagram that goes to, or comes from, an address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    bytes: [u8; 22],
    length: usize,
}

impl Header {
    /// Its bytes.
    #[must_use]
    pub(crate) fn as_slice(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

/// The header for an address.
#[must_use]
pub(crate) fn header(address: SocketAddr) -> Header {
    let mut header = Header { bytes: [0; 22], length: 0 };
    let mut append = |part: &[u8]| {
        let free = header.bytes.iter_mut().skip(header.length);
        header.length += free.zip(part).map(|(byte, value)| *byte = *value).count();
    };
    match address.ip() {
        IpAddr::V4(ip) => {
            append(&[0, 0, 0, 1]);
            append(&ip.octets());
        }
        IpAddr::V6(ip) => {
            append(&[0, 0, 0, 4]);
            append(&ip.octets());
        }
    }
    append(&address.port().to_be_bytes());
    header
}

/// The header for a name; `None`: it is too long.
#[must_use]
pub(crate) fn name_header(name: &str, port: u16) -> Option<Vec<u8>> {
    let length = u8::try_from(name.len()).ok()?;
    Some([&[0, 0, 0, 3, length][..], name.as_bytes(), &port.to_be_bytes()].concat())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Datagram, Fault, Host, header, name_header, parse};

    #[test]
    fn each_fault_has_its_code() {
        for (datagram, code) in [
            (&b""[..], 482),
            (b"\0", 483),
            (b"\0\0\0\x01\x7f\0\0\x01\0", 483),
            (b"\0\0\x01\x01\x7f\0\0\x01\0\x50x", 483),
            (b"\x01\0\0\x01\x7f\0\0\x01\0\x50x", 483),
            (b"\0\0\0\x04\x7f\0\0\x01\0\x50x", 484),
            (b"\0\0\0\x04aaaabbbbccccdddd\0", 484),
            (b"\0\0\0\x03\x05aaaaa\0", 485),
            (b"\0\0\0\x03\xffaaaaaaaaa", 485),
            (b"\0\0\0\x02\x7f\0\0\x01\0\x50x", 997),
        ] {
            assert_eq!(parse(datagram).map_err(Fault::code), Err(code), "{datagram:?}");
        }
    }

    #[test]
    fn a_name_ends_where_its_length_says() {
        for (datagram, name, port, payload) in [
            (&b"\0\0\0\x03\x03a.b\0\x35payload"[..], &b"a.b"[..], 53, &b"payload"[..]),
            (b"\0\0\0\x03\0\0\x35pay", b"", 53, b"pay"),
            (b"\0\0\0\x03\x05a\0b\xff\n\x01\0", b"a\0b\xff\n", 256, b""),
        ] {
            let expected = Datagram { host: Host::Name(name), port, payload };
            assert_eq!(parse(datagram), Ok(expected));
        }
    }

    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        // Most random bytes fail at the first: these get further.
        let tail = || prop::collection::vec(any::<u8>(), 0..40);
        prop_oneof![
            tail(),
            (0..6_u8, 0..30_u8, tail())
                .prop_map(|(kind, length, tail)| { [&[0, 0, 0, kind, length][..], &tail].concat() }),
        ]
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_fault_or_a_whole_header_and_the_rest(datagram in bytes()) {
            let Ok(Datagram { host, port, payload }) = parse(&datagram) else { return Ok(()) };
            let length = match host {
                Host::Address(ip) => {
                    let header = header((ip, port).into());
                    prop_assert_eq!(&datagram[..header.as_slice().len()], header.as_slice());
                    header.as_slice().len()
                }
                Host::Name(name) => 7 + name.len(),
            };
            prop_assert_eq!(&datagram[length..], payload);
        }

        #[test]
        fn what_is_written_is_read(address: std::net::SocketAddr, payload: Vec<u8>) {
            let datagram = [header(address).as_slice(), &payload].concat();
            let host = Host::Address(address.ip());
            prop_assert_eq!(parse(&datagram), Ok(Datagram { host, port: address.port(), payload: &payload }));
        }

        #[test]
        fn a_name_that_is_written_is_read(name in "[a-z.]{3,300}", port: u16, payload: Vec<u8>) {
            let Some(header) = name_header(&name, port) else {
                prop_assert!(name.len() > 255);
                return Ok(());
            };
            let host = Host::Name(name.as_bytes());
            let datagram = [&header, &payload[..]].concat();
            prop_assert_eq!(parse(&datagram), Ok(Datagram { host, port, payload: &payload }));
        }
    }
}
