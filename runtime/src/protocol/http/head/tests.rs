//! Tests of heads: their end, their tidying, their parts.
use proptest::prelude::*;

use super::*;

fn scan(bytes: &[u8]) -> Result<Option<usize>, Malformed> {
    Scanner::default().scan(bytes)
}

#[test]
fn a_head_ends_with_an_empty_line() {
    for (bytes, expected) in [
        ("", None),
        ("GET / HTTP/1.1\r\n", None),
        ("GET / HTTP/1.1\r\n\r", None),
        ("GET / HTTP/1.1\r\n\r\nrest", Some(18)),
        ("GET / HTTP/1.1\n\nrest", Some(16)),
        ("GET / HTTP/1.1\nA: b\r\n\nrest", Some(22)),
        ("GET / HTTP/1.1\r\n \r\nA: b\r\n\r\n", Some(27)),
    ] {
        assert_eq!(scan(bytes.as_bytes()), Ok(expected), "{bytes:?}");
    }
}

#[test]
fn lines_and_heads_have_a_longest() {
    let line = |length: usize| format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(length - 14));
    assert_eq!(scan(line(MAX_LINE).as_bytes()), Ok(Some(MAX_LINE + 4)));
    assert_eq!(scan(line(MAX_LINE + 1).as_bytes()), Err(Malformed::TooLarge));
    assert_eq!(scan(&vec![b'a'; MAX_LINE + 2]), Err(Malformed::TooLarge), "before its end is seen");
    let fields = |count: usize| {
        format!("GET / HTTP/1.1\r\n{}\r\n", format!("X: {}\r\n", "c".repeat(8000)).repeat(count))
    };
    assert!(matches!(scan(fields(40).as_bytes()), Ok(Some(_))));
    assert_eq!(scan(fields(80).as_bytes()), Err(Malformed::TooLarge));
    let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a:\r\n".repeat(MAX_FIELDS + 1));
    assert_eq!(split(many.as_bytes(), BadNames::Refuse), Err(Malformed::TooLarge));
}

/// Name and value of each field of a head with these lines after its first, or why it is refused.
fn fields(lines: &str, bad_names: BadNames) -> Result<Vec<(String, String)>, Malformed> {
    let mut head = format!("GET / HTTP/1.1\r\n{lines}\r\n").into_bytes();
    tidy(&mut head)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(split(&head, bad_names)?.fields.iter().map(|field| (text(field.name), text(field.value))).collect())
}

#[test]
fn fields_are_rewritten_to_what_was_understood_or_refused() {
    let refused = Err(Malformed::Field);
    let ok = |fields: &[(&str, &str)]| {
        Ok(fields.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect::<Vec<_>>())
    };
    for (lines, expected) in [
        ("A: b\r\n", ok(&[("A", "b")])),
        ("A:\t b c \r\nA:\r\n", ok(&[("A", "b c"), ("A", "")])),
        ("A: b\nC: d\r\n", ok(&[("A", "b"), ("C", "d")])),
        ("Content-Length : 3\r\n", ok(&[("Content-Length", "3")])),
        ("X-A: b\r\n Content-Length: 3\r\n", ok(&[("X-A", "b   Content-Length: 3")])),
        ("X-A: b\n\tc\r\n", ok(&[("X-A", "b \tc")])),
        ("X-A: b\r\n \r\nC: d\r\n", ok(&[("X-A", "b"), ("C", "d")])),
        ("Transfer-Encoding: \x0bchunked\r\n", ok(&[("Transfer-Encoding", "chunked")])),
        ("NoColon\r\n: empty\r\nA: b\r\n", ok(&[("A", "b")])),
        ("A: \u{e9}\r\n", ok(&[("A", "\u{e9}")])),
        ("A b: c\r\n", refused.clone()),
        ("A\x0b: c\r\n", ok(&[("A", "c")])),
        ("\u{e9}: c\r\n", refused.clone()),
        ("(A): c\r\n", refused.clone()),
        ("A: b\0c\r\n", refused.clone()),
        ("A: b\rC: d\r\n", refused.clone()),
        ("A: b\r\r\n", refused.clone()),
        (" A: b\r\n", refused.clone()),
    ] {
        assert_eq!(fields(lines, BadNames::Refuse), expected, "{lines:?}");
    }
    assert_eq!(fields("A b: c\r\nD: e\r\n", BadNames::Drop), ok(&[("D", "e")]));
}

#[test]
fn request_lines_are_method_target_and_version() {
    for (line, expected) in [
        ("GET / HTTP/1.1", Ok(("GET", "/", Version::Http11))),
        ("get http://a/ http/1.0", Ok(("get", "http://a/", Version::Http10))),
        ("GET /a b HTTP/1.1", Ok(("GET", "/a b", Version::Http11))),
        ("GET / HTTP/1.1 ", Ok(("GET", "/", Version::Http11))),
        ("GET  /  HTTP/1.1", Ok(("GET", "/", Version::Http11))),
        ("GET / HTTP/1.2", Ok(("GET", "/", Version::Http11))),
        ("GET /", Err(Malformed::Line)),
        ("GET / HTTP/2.0", Err(Malformed::Line)),
        ("GET / HTTP/1.10", Err(Malformed::Line)),
        ("GET / HTTP/1.", Err(Malformed::Line)),
        ("GET HTTP/1.1", Err(Malformed::Line)),
        ("GET  HTTP/1.1", Err(Malformed::Line)),
        (" GET / HTTP/1.1", Err(Malformed::Line)),
        ("GE(T / HTTP/1.1", Err(Malformed::Line)),
        ("", Err(Malformed::Line)),
        ("\u{5}\u{1}", Err(Malformed::Line)),
    ] {
        let parsed = request_line(line.as_bytes());
        let text = |bytes| std::str::from_utf8(bytes).unwrap();
        assert_eq!(
            parsed.map(|line| (text(line.method), text(line.target), line.version)),
            expected,
            "{line:?}"
        );
    }
}

#[test]
fn status_lines_are_version_and_status() {
    for (line, expected) in [
        ("HTTP/1.1 200 OK", Ok((Version::Http11, 200))),
        ("HTTP/1.0 404", Ok((Version::Http10, 404))),
        ("HTTP/1.1 200 ", Ok((Version::Http11, 200))),
        ("NOT-HTTP", Err(Malformed::Line)),
        ("HTTP/1.1 099 x", Err(Malformed::Line)),
        ("HTTP/1.1 2000 x", Err(Malformed::Line)),
        ("HTTP/1.1 20 x", Err(Malformed::Line)),
        ("HTTP/1.1  200", Err(Malformed::Line)),
        ("HTTP/1.1", Err(Malformed::Line)),
        ("ICY 200 OK", Err(Malformed::Line)),
    ] {
        assert_eq!(
            status_line(line.as_bytes()).map(|line| (line.version, line.status)),
            expected,
            "{line:?}"
        );
    }
}

#[test]
fn line_ends_before_a_request_are_skipped() {
    for (bytes, expected) in
        [("", 0), ("GET", 0), ("\r\nGET", 2), ("\r\n\n\r\nGET", 5), ("\rGET", 0), ("\r", 0)]
    {
        assert_eq!(leading_line_ends(bytes.as_bytes()), expected, "{bytes:?}");
    }
}

proptest! {
    #[test]
    fn scanning_in_pieces_finds_the_same_end(
        bytes in prop::collection::vec(prop::sample::select(b"a: \t\r\n\0".to_vec()), 0..80),
        cuts in prop::collection::vec(0_usize..80, 0..6),
    ) {
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).chain([bytes.len()]).collect();
        cuts.sort_unstable();
        let mut scanner = Scanner::default();
        let found = cuts.iter().find_map(|&cut| scanner.scan(&bytes[..cut]).unwrap());
        prop_assert_eq!(found, scan(&bytes).unwrap());
    }

    #[test]
    fn an_accepted_head_comes_back_equal(
        bytes in prop::collection::vec(prop::sample::select(b"GETab:;, \t\r\n\0\x0b\x80HTP/1.".to_vec()), 0..120),
    ) {
        let mut head = [&b"GET / HTTP/1.1\r\n"[..], &bytes, b"\r\n\r\n"].concat();
        head.truncate(scan(&head).unwrap().unwrap());
        if tidy(&mut head).is_ok() && let Ok(parsed) = split(&head, BadNames::Refuse) {
            let mut written = [parsed.line, b"\r\n"].concat();
            for field in &parsed.fields {
                written.extend_from_slice(&[field.name, b": ", field.value, b"\r\n"].concat());
            }
            written.extend_from_slice(b"\r\n");
            prop_assert_eq!(scan(&written), Ok(Some(written.len())), "one head, not two");
            let mut again = written.clone();
            tidy(&mut again).unwrap();
            prop_assert_eq!(&again, &written, "nothing left to tidy");
            prop_assert_eq!(split(&written, BadNames::Refuse).unwrap(), parsed);
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut bytes = bytes;
        let _ = scan(&bytes);
        let _ = tidy(&mut bytes);
        let _ = request_line(&bytes);
        let _ = status_line(&bytes);
        let _ = split(&bytes, BadNames::Drop);
        let _ = split(&bytes, BadNames::Refuse);
        let _ = leading_line_ends(&bytes);
    }
}
