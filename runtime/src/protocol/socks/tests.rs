//! Messages whole, cut at each byte, and of garbage.
use proptest::prelude::*;

use super::*;

fn request(command: Command, host: Host, port: u16, user: Option<&str>) -> Request {
    Request { command, host, port, user: user.map(|user| user.as_bytes().into()) }
}

fn address(text: &str) -> Host {
    Host::Address(text.parse().unwrap())
}

fn name(text: &[u8]) -> Host {
    Host::Name(text.into())
}

fn given(user: &[u8], password: &[u8]) -> Login {
    Login { user: user.into(), password: password.into() }
}

/// A whole message is read as `expected` and nothing behind it is touched; cut at any byte, it needs more.
fn holds<T: PartialEq + std::fmt::Debug>(parse: impl Fn(&[u8]) -> Parsed<T>, message: &[u8], expected: T) {
    let with_more = [message, b"more"].concat();
    assert_eq!(parse(&with_more), Parsed::Whole(expected, message.len()), "{message:?}");
    for length in 0..message.len() {
        assert_eq!(parse(&message[..length]), Parsed::More, "{message:?} cut to {length}");
    }
}

#[test]
fn each_message_is_read_when_it_is_whole_and_not_before() {
    holds(greeting, b"\x05\x02\0\x02", b"\0\x02"[..].into());
    holds(greeting, b"\x05\0", b""[..].into());
    holds(greeting, &[&[5, 255][..], &[2; 255]].concat(), [2; 255].into());
    holds(login, b"\x01\x03bob\x06secret", given(b"bob", b"secret"));
    holds(login, b"\x01\0\0", given(b"", b""));
    let long = [&[1, 255][..], &[b'a'; 255], &[255], &[b'b'; 255]].concat();
    holds(login, &long, given(&[b'a'; 255], &[b'b'; 255]));

    let connect = |host, port| request(Command::Connect, host, port, None);
    holds(request5, b"\x05\x01\0\x01\x7f\0\0\x01\0\x50", connect(address("127.0.0.1"), 80));
    holds(request5, b"\x05\x01\xff\x01\x7f\0\0\x01\0\x50", connect(address("127.0.0.1"), 80));
    holds(request5, b"\x05\x01\0\x03\x03a.b\0\x50", connect(name(b"a.b"), 80));
    holds(request5, b"\x05\x01\0\x03\x03a\0b\0\x50", connect(name(b"a\0b"), 80));
    holds(request5, b"\x05\x01\0\x03\0\0\x50", connect(name(b""), 80));
    let v6 = [&b"\x05\x03\0\x04"[..], &[0; 15], &[1, 1, 0]].concat();
    holds(request5, &v6, request(Command::UdpAssociate, address("::1"), 256, None));

    let connect = |host, user| request(Command::Connect, host, 80, Some(user));
    holds(request4, b"\x04\x01\0\x50\x7f\0\0\x01bob\0", connect(address("127.0.0.1"), "bob"));
    holds(request4, b"\x04\x01\0\x50\x7f\0\0\x01\0", connect(address("127.0.0.1"), ""));
    holds(request4, b"\x04\x01\0\x50\0\0\0\x01bob\0a.b\0", connect(name(b"a.b"), "bob"));
    holds(request4, b"\x04\x01\0\x50\0\0\0\xff\0\0", connect(name(b""), ""));
    holds(request4, b"\x04\x01\0\x50\0\0\0\0bob\0", connect(address("0.0.0.0"), "bob"));
    let bind = request(Command::Bind, address("127.0.0.1"), 80, Some(""));
    holds(request4, b"\x04\x02\0\x50\x7f\0\0\x01\0", bind);
}

#[test]
fn a_fault_is_told_as_soon_as_it_is_there() {
    assert_eq!(version(b""), Parsed::More);
    assert_eq!([version(b"\x04"), version(b"\x05x")], [Parsed::Whole(4, 0), Parsed::Whole(5, 0)]);
    assert_eq!(version(b"GET"), Parsed::Faulty(Fault::Version));
    assert_eq!(greeting(b"\x04"), Parsed::Faulty(Fault::Version));
    assert_eq!(login(b"\0"), Parsed::Faulty(Fault::PasswordVersion));
    assert_eq!(login(b"\x05"), Parsed::Faulty(Fault::PasswordVersion));
    assert_eq!(request5(b"\x04"), Parsed::Faulty(Fault::RequestVersion));
    for command in [0, 4, 9, 255] {
        assert_eq!(request5(&[5, command]), Parsed::Faulty(Fault::Command));
        assert_eq!(request4(&[4, command]), Parsed::Faulty(Fault::Command));
    }
    for kind in [0, 2, 5, 255] {
        assert_eq!(request5(&[5, 1, 0, kind]), Parsed::Faulty(Fault::AddressType));
    }
}

#[test]
fn a_name_without_an_end_is_not_waited_for() {
    let user = [&b"\x04\x01\0\x50\x7f\0\0\x01"[..], &[b'u'; LONGEST]].concat();
    assert_eq!(request4(&user[..LONGEST - 1]), Parsed::More);
    assert_eq!(request4(&user[..LONGEST]), Parsed::Faulty(Fault::TooLong));
    let name = [&b"\x04\x01\0\x50\0\0\0\x01\0"[..], &[b'n'; LONGEST]].concat();
    assert_eq!(request4(&name), Parsed::Faulty(Fault::TooLong));
}

#[test]
fn a_message_that_breaks_off_has_the_code_of_what_is_missing() {
    for (stage, received, code) in [
        (Stage::Greeting, &b""[..], 401),
        (Stage::Greeting, b"\x05", 441),
        (Stage::Password, b"", 412),
        (Stage::Password, b"\x01\x03bo", 441),
        (Stage::Request5, b"", 421),
        (Stage::Request5, b"\x05", 407),
        (Stage::Request5, b"\x05\x01", 447),
        (Stage::Request5, b"\x05\x01\0", 997),
        (Stage::Request5, b"\x05\x01\0\x01\x7f", 441),
        (Stage::Request5, b"\x05\x01\0\x03\x05a", 451),
        (Stage::Request4, b"\x04", 407),
        (Stage::Request4, b"\x04\x01\0", 441),
    ] {
        assert_eq!(broken_off(stage, received), code, "{stage:?} {received:?}");
    }
}

#[test]
fn replies_have_the_form_and_the_numbers_of_the_protocol() {
    let (v4, v6) = ("127.0.0.1:256".parse().unwrap(), "[::1]:256".parse().unwrap());
    assert_eq!(reply5(0, v4), b"\x05\0\0\x01\x7f\0\0\x01\x01\0");
    assert_eq!(reply5(2, v6), b"\x05\x02\0\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\x01\0");
    assert_eq!(&reply4(true, v4), b"\0\x5a\x01\0\x7f\0\0\x01");
    assert_eq!(&reply4(false, v6), b"\0\x5b\x01\0\0\0\0\0");
    for (codes, status) in [
        (&[0][..], 0),
        (&[1, 3, 4, 5, 10, 519], 2),
        (&[11, 13, 19], 5),
        (&[21, 401, 441, 461, 470], 1),
        (&[33, 62, 100], 4),
        (&[407], 7),
        (&[997], 8),
    ] {
        assert!(codes.iter().all(|&code| status5(code) == status), "{codes:?}");
    }
    assert!((0..1000).all(|code| status5(code) <= 8), "no number that SOCKS does not know");
}

proptest! {
    #[test]
    fn garbage_is_faulty_short_or_no_longer_than_it_is(bytes in proptest::collection::vec(any::<u8>(), 0..1200)) {
        fn fits<T>(parsed: Parsed<T>, bytes: &[u8]) -> bool {
            match parsed {
                Parsed::Whole(_, used) => used <= bytes.len(),
                Parsed::More => bytes.len() < LONGEST,
                Parsed::Faulty(_) => true,
            }
        }
        prop_assert!(fits(greeting(&bytes), &bytes));
        prop_assert!(fits(login(&bytes), &bytes));
        prop_assert!(fits(request5(&bytes), &bytes));
        prop_assert!(fits(request4(&bytes), &bytes));
        // The same behind a beginning that is in order.
        for start in [&[5, 1, 0, 3][..], &[4, 1, 0, 80, 0, 0, 0, 1], &[1], &[5]] {
            let bytes = [start, &bytes].concat();
            prop_assert!(fits(request5(&bytes), &bytes));
            prop_assert!(fits(request4(&bytes), &bytes));
            prop_assert!(fits(login(&bytes), &bytes));
            prop_assert!(fits(greeting(&bytes), &bytes));
        }
    }
}
