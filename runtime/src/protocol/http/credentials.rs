//! Who asks: `Proxy-Authorization`, and what stands before the host of an URL.
use grammar::Secret;

use crate::session::Credentials;

/// Decodes base64. What follows the padding is left aside, as in 3proxy; missing padding and foreign bytes are not.
#[must_use]
pub(crate) fn decode_base64(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for four in text.chunks(4) {
        let &[a, b, c, d] = four else { return None };
        let (a, b) = (digit(a)?, digit(b)?);
        let word = |c: u32, d: u32| (a << 18 | b << 12 | c << 6 | d).to_be_bytes();
        match (c, d) {
            (b'=', b'=') => {
                bytes.extend_from_slice(word(0, 0).get(1..2)?);
                return Some(bytes);
            }
            (c, b'=') => {
                bytes.extend_from_slice(word(digit(c)?, 0).get(1..3)?);
                return Some(bytes);
            }
            (c, d) => bytes.extend_from_slice(word(digit(c)?, digit(d)?).get(1..4)?),
        }
    }
    Some(bytes)
}

fn digit(byte: u8) -> Option<u32> {
    Some(match byte {
        b'A'..=b'Z' => u32::from(byte - b'A'),
        b'a'..=b'z' => u32::from(byte - b'a') + 26,
        b'0'..=b'9' => u32::from(byte - b'0') + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}

/// The value of a field that carries these credentials: `Basic …`.
#[must_use]
pub(crate) fn basic(credentials: &Credentials) -> String {
    let password = credentials.password.as_ref().map_or(&[][..], Secret::expose);
    let pair = [&credentials.user, &b":"[..], password].concat();
    format!("Basic {}", openssl::base64::encode_block(&pair))
}

/// The credentials of a `Proxy-Authorization` value. `None`: another scheme, or not readable. The blank behind `Basic` may be
/// missing, as in 3proxy. NUL is refused: others end a name with it.
#[must_use]
pub(crate) fn of_field(value: &[u8]) -> Option<Credentials> {
    let (scheme, rest) = value.split_at_checked(5)?;
    if !scheme.eq_ignore_ascii_case(b"basic") {
        return None;
    }
    let pair = decode_base64(rest.trim_ascii())?;
    Some(pair).filter(|pair| !pair.is_empty()).and_then(|pair| readable(&pair))
}

/// `user[:password]`.
fn readable(pair: &[u8]) -> Option<Credentials> {
    let colon = pair.iter().position(|&byte| byte == b':').unwrap_or(pair.len());
    let (user, password) = (pair.get(..colon)?, pair.get(colon + 1..));
    Credentials::given(user.into(), password.map(Secret::from))
}

/// What the user information of an URL says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UserInfo {
    /// For this proxy: the first two of four parts.
    pub proxy: Option<Credentials>,
    /// For the server.
    pub server: Option<Credentials>,
}

/// Reads `[user:password:]user:password`, percent-decoded. Only with three colons or more are the first two parts for the proxy;
/// `for_proxy` is false where a service takes no names (`-u`).
#[must_use]
pub(crate) fn of_userinfo(userinfo: &[u8], for_proxy: bool) -> UserInfo {
    let mut parts = userinfo.splitn(3, |&byte| byte == b':');
    let split = (parts.next(), parts.next(), parts.next().filter(|rest| rest.contains(&b':')));
    let (proxy, rest) = match split {
        (Some(user), Some(password), Some(rest)) if for_proxy => {
            (readable(&[&percent_decode(user)[..], b":", &percent_decode(password)].concat()), rest)
        }
        _ => (None, userinfo),
    };
    let colon = rest.iter().position(|&byte| byte == b':').unwrap_or(rest.len());
    let user = percent_decode(rest.get(..colon).unwrap_or_default());
    let password = rest.get(colon + 1..).map(|password| Secret::from(&percent_decode(password)[..]));
    let server = (!rest.is_empty()).then(|| Credentials { user: user.into(), password });
    UserInfo { proxy, server }
}

fn percent_decode(text: &[u8]) -> Vec<u8> {
    let hex = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        match after {
            [high, low, behind @ ..] if byte == b'%' && hex(*high).is_some() && hex(*low).is_some() => {
                bytes.push(hex(*high).unwrap_or(0) << 4 | hex(*low).unwrap_or(0));
                rest = behind;
            }
            _ => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pair(user: &str, password: Option<&str>) -> Credentials {
        Credentials {
            user: user.as_bytes().into(),
            password: password.map(|text| Secret::from(text.as_bytes())),
        }
    }

    #[test]
    fn basic_credentials_are_read_as_3proxy_does() {
        for (value, expected) in [
            ("Basic Ym9iOnNlY3JldA==", Some(pair("bob", Some("secret")))),
            ("BASIC   Ym9iOnNlY3JldA==", Some(pair("bob", Some("secret")))),
            ("BasicYm9iOnNlY3JldA==", Some(pair("bob", Some("secret")))),
            ("Basic Ym9iOnNlY3JldA==garbage", Some(pair("bob", Some("secret")))),
            ("Basic Ym9i", Some(pair("bob", None))),
            ("Basic Ym9iOg==", Some(pair("bob", Some("")))),
            ("Basic OnNlY3JldA==", Some(pair("", Some("secret")))),
            ("Basic Ym9iOmE6Yg==", Some(pair("bob", Some("a:b")))),
            ("Basic", None),
            ("Basic !!!!", None),
            ("Basic Ym9iOnNlY3JldA", None),
            ("Basic Ym9iOnNlY3JldA=", None),
            ("Basic Ym9iCg==", Some(pair("bob\n", None))),
            ("Basic Ym9iAA==", None),
            ("Bearer Ym9iOnNlY3JldA==", None),
            ("", None),
        ] {
            assert_eq!(of_field(value.as_bytes()), expected, "{value}");
        }
    }

    #[test]
    fn an_url_may_name_a_user_for_the_proxy_too() {
        for (userinfo, for_proxy, proxy, server) in [
            ("bob:secret:x:y", true, Some(pair("bob", Some("secret"))), Some(pair("x", Some("y")))),
            ("bob:secret:x:y:z", true, Some(pair("bob", Some("secret"))), Some(pair("x", Some("y:z")))),
            ("bob:secret:x:y", false, None, Some(pair("bob", Some("secret:x:y")))),
            ("bob:secret", true, None, Some(pair("bob", Some("secret")))),
            ("a:b:c", true, None, Some(pair("a", Some("b:c")))),
            ("bob", true, None, Some(pair("bob", None))),
            ("b%40b:s%3a", true, None, Some(pair("b@b", Some("s:")))),
            ("b%00:s:x:y", true, None, Some(pair("x", Some("y")))),
            ("", true, None, None),
        ] {
            assert_eq!(of_userinfo(userinfo.as_bytes(), for_proxy), UserInfo { proxy, server }, "{userinfo}");
        }
    }

    #[test]
    fn basic_values_carry_the_pair() {
        assert_eq!(basic(&pair("x", Some("y"))), "Basic eDp5");
        assert_eq!(basic(&pair("puser", None)), "Basic cHVzZXI6");
    }

    proptest! {
        #[test]
        fn base64_comes_back(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            prop_assert_eq!(decode_base64(openssl::base64::encode_block(&bytes).as_bytes()), Some(bytes));
        }
    }
}
