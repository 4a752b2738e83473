//! The header of the PROXY protocol, by which a load balancer says whose connection it passes on: version 1 and 2.
//!
//! It is read strictly: what is believed here is compared with access lists.
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use nom::{
    IResult, Parser,
    branch::alt,
    bytes::complete::{tag, take_while, take_while1},
    character::complete::{char, digit1},
    combinator::{all_consuming, map_opt},
    sequence::{preceded, terminated},
};

/// No header of either version is shorter than this; from so many bytes the version can be told.
pub(crate) const SHORTEST: usize = 12;
/// The longest line of version 1, with its end.
pub(crate) const LONGEST_LINE: usize = 107;
/// Of version 2: longer ones than this have more to say than anybody does.
pub(crate) const LONGEST_REST: usize = 4096;

/// How a header of version 1 begins.
pub(crate) const LINE: &[u8] = b"PROXY ";
/// How one of version 2 begins.
pub(crate) const SIGNATURE: [u8; SHORTEST] = *b"\r\n\r\n\0\r\nQUIT\n";

/// Whose connection it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// That of the one who sent the header: for its own purposes, or it does not know.
    Sender,
    /// This one's.
    Client(SocketAddr),
}

/// Reads a line of version 1, with its end. `None`: it is none.
pub(crate) fn line(bytes: &[u8]) -> Option<Origin> {
    let text = bytes.strip_suffix(b"\r\n").filter(|_| bytes.len() <= LONGEST_LINE)?;
    let parsed: IResult<_, _> = all_consuming(preceded(
        tag(LINE),
        alt((tcp(b"TCP4 ", Ipv4Addr::from_bytes), tcp(b"TCP6 ", Ipv6Addr::from_bytes), unknown)),
    ))
    .parse(text);
    parsed.ok().map(|(_, origin)| origin)
}

/// What stands behind `UNKNOWN` is not looked at.
fn unknown(text: &[u8]) -> IResult<&[u8], Origin> {
    let (rest, _) = tag(&b"UNKNOWN"[..]).parse(text)?;
    let (rest, behind) = take_while(|byte| byte != b'\r' && byte != b'\n').parse(rest)?;
    match behind {
        [] | [b' ', ..] => Ok((rest, Origin::Sender)),
        _ => Err(nom::Err::Error(nom::error::Error::new(behind, nom::error::ErrorKind::Tag))),
    }
}

/// An address as it is written.
trait FromBytes: Sized {
    fn from_bytes(text: &[u8]) -> Option<Self>;
}

impl<T: std::str::FromStr> FromBytes for T {
    fn from_bytes(text: &[u8]) -> Option<Self> {
        str::from_utf8(text).ok()?.parse().ok()
    }
}

/// `TCP4 SOURCE DESTINATION PORT PORT`.
fn tcp<'a, A: Into<IpAddr>>(
    family: &'static [u8],
    read: fn(&[u8]) -> Option<A>,
) -> impl Parser<&'a [u8], Output = Origin, Error = nom::error::Error<&'a [u8]>> {
    let address = move || {
        let text = take_while1(|byte: u8| byte.is_ascii_hexdigit() || b".:".contains(&byte));
        terminated(map_opt(text, read), char(' '))
    };
    let fields = (tag(family), address(), address(), terminated(port, char(' ')), port);
    fields.map(|(_, source, _, port, _)| Origin::Client(SocketAddr::new(source.into(), port)))
}

/// A number without zeros in front.
fn port(text: &[u8]) -> IResult<&[u8], u16> {
    map_opt(digit1, |digits: &[u8]| match digits {
        [b'0', _, ..] => None,
        _ => u16::from_bytes(digits),
    })
    .parse(text)
}

/// How many bytes follow the signature and the four bytes `fixed` behind it. `None`: no version 2, or too long.
pub(crate) fn rest_length(fixed: [u8; 4]) -> Option<usize> {
    let [version, _, high, low] = fixed;
    let length = usize::from(u16::from_be_bytes([high, low]));
    (version >> 4 == 2 && length <= LONGEST_REST).then_some(length)
}

/// Reads what is behind the signature of version 2. `None`: it is not of TCP, or does not hold what it says.
pub(crate) fn binary(fixed: [u8; 4], rest: &[u8]) -> Option<Origin> {
    let [version, family, ..] = fixed;
    match (version, family) {
        // LOCAL: a health check, or the like.
        (0x20, _) => Some(Origin::Sender),
        (0x21, 0x11) => {
            let (addresses, _) = rest.split_first_chunk::<12>()?;
            let [a, b, c, d, _, _, _, _, high, low, _, _] = *addresses;
            let port = u16::from_be_bytes([high, low]);
            Some(Origin::Client(SocketAddr::new(Ipv4Addr::new(a, b, c, d).into(), port)))
        }
        (0x21, 0x21) => {
            let (addresses, _) = rest.split_first_chunk::<36>()?;
            let source = u128::from_be_bytes(*addresses.first_chunk()?);
            let port = u16::from_be_bytes(*addresses.get(32..)?.first_chunk()?);
            Some(Origin::Client(SocketAddr::new(Ipv6Addr::from_bits(source).into(), port)))
        }
        // Not said, or a Unix socket.
        (0x21, 0x00 | 0x31) => Some(Origin::Sender),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{LONGEST_LINE, Origin, binary, line, rest_length};

    fn client(text: &str) -> Option<Origin> {
        Some(Origin::Client(text.parse().unwrap()))
    }

    #[test]
    fn a_line_is_read_strictly() {
        for (text, expected) in [
            ("PROXY TCP4 192.0.2.1 192.0.2.2 1111 2222\r\n", client("192.0.2.1:1111")),
            ("PROXY TCP6 2001:db8::1 ::1 65535 0\r\n", client("[2001:db8::1]:65535")),
            ("PROXY UNKNOWN\r\n", Some(Origin::Sender)),
            ("PROXY UNKNOWN ::1 what ever\r\n", Some(Origin::Sender)),
            ("PROXY TCP4 192.0.2.1 192.0.2.2 1111 2222\n", None),
            ("PROXY TCP4 192.0.2.1 192.0.2.2 1111 2222", None),
            ("PROXY TCP4 192.0.2.1 192.0.2.2 1111 2222 \r\n", None),
            ("PROXY TCP4  192.0.2.1 192.0.2.2 1111 2222\r\n", None),
            ("PROXY TCP4 192.0.2.1 192.0.2.2 1111\r\n", None),
            ("PROXY TCP4 192.0.2.1 192.0.2.2 65536 2222\r\n", None),
            ("PROXY TCP4 192.0.2.1 192.0.2.2 01 2222\r\n", None),
            ("PROXY TCP4 192.0.2.1 192.0.2.2 +1 2222\r\n", None),
            ("PROXY TCP4 192.0.2.300 192.0.2.2 1 2\r\n", None),
            ("PROXY TCP4 192.0.2.1 ::1 1 2\r\n", None),
            ("PROXY TCP4 ::1 ::1 1 2\r\n", None),
            ("PROXY TCP6 192.0.2.1 192.0.2.2 1 2\r\n", None),
            ("PROXY TCP6 fe80::1%eth0 ::1 1 2\r\n", None),
            ("PROXY UDP4 192.0.2.1 192.0.2.2 1 2\r\n", None),
            ("PROXY UNKNOWNS\r\n", None),
            ("PROXY UNKNOWN a\rb\r\n", None),
            ("proxy TCP4 192.0.2.1 192.0.2.2 1 2\r\n", None),
            ("GET / HTTP/1.1\r\n", None),
            ("\r\n", None),
        ] {
            assert_eq!(line(text.as_bytes()), expected, "{text:?}");
        }
        let long = format!("PROXY UNKNOWN {}\r\n", "x".repeat(LONGEST_LINE));
        assert_eq!(line(long.as_bytes()), None);
    }

    #[test]
    fn a_binary_header_holds_what_it_says() {
        let v4 = [&[192, 0, 2, 1, 192, 0, 2, 2, 4, 87, 0, 80][..], b"more"].concat();
        let mut v6 = [0; 36];
        (v6[15], v6[33]) = (5, 7);
        for (fixed, rest, expected) in [
            ([0x21, 0x11, 0, 16], &v4[..], client("192.0.2.1:1111")),
            ([0x21, 0x21, 0, 36], &v6, client("[::5]:7")),
            ([0x20, 0x11, 0, 16], &v4, Some(Origin::Sender)),
            ([0x20, 0, 0, 0], &[], Some(Origin::Sender)),
            ([0x21, 0, 0, 0], &[], Some(Origin::Sender)),
            ([0x21, 0x11, 0, 11], &v4[..11], None),
            ([0x21, 0x21, 0, 16], &v4, None),
            ([0x21, 0x12, 0, 16], &v4, None),
            ([0x22, 0x11, 0, 16], &v4, None),
        ] {
            assert_eq!(rest_length(fixed), Some(rest.len()));
            assert_eq!(binary(fixed, rest), expected, "{fixed:?}");
        }
        assert_eq!(rest_length([0x11, 0x11, 0, 12]), None);
        assert_eq!(rest_length([0x21, 0x11, 0x10, 0]), Some(4096));
        assert_eq!(rest_length([0x21, 0x11, 0x10, 1]), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_header_or_not(bytes in proptest::collection::vec(any::<u8>(), 0..120), fixed in any::<[u8; 4]>()) {
            let _ = (line(&bytes), rest_length(fixed), binary(fixed, &bytes));
        }

        #[test]
        fn what_haproxy_writes_is_read(source in any::<std::net::SocketAddr>(), target in any::<std::net::SocketAddr>()) {
            prop_assume!(source.is_ipv4() == target.is_ipv4());
            let family = if source.is_ipv4() { "TCP4" } else { "TCP6" };
            let text = format!("PROXY {family} {} {} {} {}\r\n", source.ip(), target.ip(), source.port(), target.port());
            let told = std::net::SocketAddr::new(source.ip(), source.port());
            prop_assert_eq!(line(text.as_bytes()), Some(Origin::Client(told)));
        }
    }
}
