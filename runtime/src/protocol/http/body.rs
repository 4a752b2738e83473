//! Where a body ends (RFC 9112, section 6.3).
use super::{
    Malformed,
    head::{Head, Version, items},
};

/// How a body is delimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// There is none.
    None,
    /// This many bytes.
    Length(u64),
    /// In chunks.
    Chunked,
    /// It ends with the connection: responses only.
    Close,
}

/// The body of a request. With both a length and chunks, the chunks count and the length is not forwarded, as in 3proxy.
///
/// # Errors
/// [`Malformed::Framing`] for lengths that differ or are not plain digits, for any transfer coding but one `chunked`, for one in
/// HTTP/1.0, and for one beside several lengths.
pub(crate) fn of_request(head: &Head<'_>, version: Version) -> Result<Body, Malformed> {
    let length = content_length(head)?;
    if !has_coding(head) {
        return Ok(length.map_or(Body::None, Body::Length));
    }
    let mut codings = head.values("transfer-encoding").flat_map(items);
    let only_chunked = codings.next().is_some_and(is_chunked) && codings.next().is_none();
    let one_field =
        head.values("transfer-encoding").count() == 1 && head.values("content-length").count() <= 1;
    if only_chunked && one_field && version >= Version::Http11 {
        Ok(Body::Chunked)
    } else {
        Err(Malformed::Framing)
    }
}

/// The body of a final response to a request of `method`.
///
/// # Errors
/// [`Malformed::Framing`] for lengths that differ or are not plain digits.
pub(crate) fn of_response(head: &Head<'_>, status: u16, method: &[u8]) -> Result<Body, Malformed> {
    if status < 200 || matches!(status, 204 | 304) || method.eq_ignore_ascii_case(b"HEAD") {
        return Ok(Body::None);
    }
    if has_coding(head) {
        let last = head.values("transfer-encoding").flat_map(items).last();
        return Ok(if last.is_some_and(is_chunked) { Body::Chunked } else { Body::Close });
    }
    Ok(content_length(head)?.map_or(Body::Close, Body::Length))
}

fn has_coding(head: &Head<'_>) -> bool {
    head.values("transfer-encoding").next().is_some()
}

fn is_chunked(coding: &[u8]) -> bool {
    coding.eq_ignore_ascii_case(b"chunked")
}

/// The length that all `Content-Length` fields agree on. A field without a value counts as none, as in 3proxy; it is not
/// forwarded.
fn content_length(head: &Head<'_>) -> Result<Option<u64>, Malformed> {
    let mut agreed = None;
    for (nth, value) in head.values("content-length").enumerate() {
        let length = match value {
            [] => None,
            digits if digits.iter().all(u8::is_ascii_digit) => {
                let digits = std::str::from_utf8(digits).map_err(|_| Malformed::Framing)?;
                Some(digits.parse().map_err(|_| Malformed::Framing)?)
            }
            _ => return Err(Malformed::Framing),
        };
        if nth > 0 && length != agreed {
            return Err(Malformed::Framing);
        }
        agreed = length;
    }
    Ok(agreed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::http::head::{BadNames, split};

    fn request(fields: &str, version: Version) -> Result<Body, Malformed> {
        of_request(
            &split(format!("POST / HTTP/1.1\r\n{fields}\r\n").as_bytes(), BadNames::Refuse).unwrap(),
            version,
        )
    }

    #[test]
    fn a_request_has_one_length_or_none() {
        let framing = Err(Malformed::Framing);
        for (fields, expected) in [
            ("", Ok(Body::None)),
            ("Content-Length: 3\r\n", Ok(Body::Length(3))),
            ("content-length:0\r\n", Ok(Body::Length(0))),
            ("Content-Length : 3\r\n", Ok(Body::Length(3))),
            ("Content-Length: 3\r\nContent-Length: 3\r\n", Ok(Body::Length(3))),
            ("Content-Length: \r\n", Ok(Body::None)),
            ("Content-Length: 18446744073709551615\r\n", Ok(Body::Length(u64::MAX))),
            ("Content-Length: 3\r\nContent-Length: 4\r\n", framing),
            ("Content-Length: \r\nContent-Length: 4\r\n", framing),
            ("Content-Length: +3\r\n", framing),
            ("Content-Length: -1\r\n", framing),
            ("Content-Length: 3abc\r\n", framing),
            ("Content-Length: 0x3\r\n", framing),
            ("Content-Length: 3,3\r\n", framing),
            ("Content-Length: 3 3\r\n", framing),
            ("Content-Length: 18446744073709551616\r\n", framing),
            ("Transfer-Encoding: chunked\r\n", Ok(Body::Chunked)),
            ("Transfer-Encoding:\tChunked \r\n", Ok(Body::Chunked)),
            ("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", Ok(Body::Chunked)),
            ("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", Ok(Body::Chunked)),
            ("Content-Length: x\r\nTransfer-Encoding: chunked\r\n", framing),
            ("Content-Length: 5\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n", framing),
            ("Transfer-Encoding: \r\n", framing),
            ("Transfer-Encoding: xchunked\r\n", framing),
            ("Transfer-Encoding: chunkedx\r\n", framing),
            ("Transfer-Encoding: \"chunked\"\r\n", framing),
            ("Transfer-Encoding: chunked;q=1\r\n", framing),
            ("Transfer-Encoding: chunked, identity\r\n", framing),
            ("Transfer-Encoding: identity, chunked\r\n", framing),
            ("Transfer-Encoding: gzip\r\n", framing),
            ("Transfer-Encoding: chunked, chunked\r\n", framing),
            ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", framing),
            ("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", framing),
        ] {
            assert_eq!(request(fields, Version::Http11), expected, "{fields:?}");
        }
        assert_eq!(request("Transfer-Encoding: chunked\r\n", Version::Http10), framing);
    }

    #[test]
    fn a_response_may_end_with_the_connection() {
        for (fields, status, method, expected) in [
            ("", 200, "GET", Ok(Body::Close)),
            ("Content-Length: 3\r\n", 200, "GET", Ok(Body::Length(3))),
            ("Content-Length: 3\r\n", 200, "HEAD", Ok(Body::None)),
            ("Content-Length: 3\r\n", 304, "GET", Ok(Body::None)),
            ("Transfer-Encoding: chunked\r\n", 204, "GET", Ok(Body::None)),
            ("", 100, "GET", Ok(Body::None)),
            ("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", 200, "GET", Ok(Body::Chunked)),
            ("Transfer-Encoding: gzip, chunked\r\n", 200, "GET", Ok(Body::Chunked)),
            ("Content-Length: 5\r\nTransfer-Encoding: gzip\r\n", 200, "GET", Ok(Body::Close)),
            ("Content-Length: 5\r\nContent-Length: 6\r\n", 200, "GET", Err(Malformed::Framing)),
            ("Content-Length: five\r\n", 200, "GET", Err(Malformed::Framing)),
        ] {
            let text = format!("HTTP/1.1 200 OK\r\n{fields}\r\n");
            let head = split(text.as_bytes(), BadNames::Drop).unwrap();
            assert_eq!(
                of_response(&head, status, method.as_bytes()),
                expected,
                "{fields:?} {status} {method}"
            );
        }
    }
}
