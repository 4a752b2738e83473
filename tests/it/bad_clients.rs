//! Bad input at the sockets: an answer in the protocol where there is one, the connection closed, the service goes on.
use crate::support::{cfgc::Cfgc, client, server};

/// Runs each input against the service `@x`, judges the answer, and sees that the service still works.
#[track_caller]
fn survives(service: &str, inputs: impl IntoIterator<Item = Vec<u8>>, acceptable: impl Fn(&[u8]) -> bool) {
    let mut cfgc = Cfgc::run(&format!("auth iponly\nallow * 127.0.0.0/8\n{service} -i127.0.0.1 -p@x\n"));
    for input in inputs {
        let answer = client::send_and_close(cfgc.at("x"), &input);
        let shown = String::from_utf8_lossy(&input[..input.len().min(80)]).into_owned();
        assert!(acceptable(&answer), "{shown:?} was answered {:?}", String::from_utf8_lossy(&answer));
    }
    assert!(cfgc.is_alive());
    let (echo, origin) = (server::echo(), server::http());
    if service == "proxy" {
        assert_eq!(
            client::http_get(cfgc.at("x"), &format!("http://{}/", origin.address()), None).status,
            200
        );
    } else {
        client::echoes(&mut client::socks5(cfgc.at("x"), "127.0.0.1", echo.port(), None).unwrap());
    }
}

/// All of `bytes` but its end, cut at each byte.
fn truncations(bytes: &[u8]) -> Vec<Vec<u8>> {
    (0..bytes.len()).map(|end| bytes[..end].to_vec()).collect()
}

/// Nothing, or an HTTP error: never a success.
fn http_refusal(answer: &[u8]) -> bool {
    answer.is_empty() || answer.starts_with(b"HTTP/1.1 4") || answer.starts_with(b"HTTP/1.0 4")
}

/// An HTTP error of either kind: where the request can be read but leads nowhere, that is a gateway's error.
fn http_error(answer: &[u8]) -> bool {
    http_refusal(answer) || answer.starts_with(b"HTTP/1.1 50")
}

/// Nothing, or the bytes of a refusal in SOCKS4 or SOCKS5 (behind the choice of a method).
fn socks_refusal(answer: &[u8]) -> bool {
    match answer {
        [] | [5, 0 | 2 | 255] | [5, 2, 1, _] => true,
        [0, code, rest @ ..] if rest.len() == 6 => *code != 90,
        [5, 0, reply @ ..] | [5, 2, 1, 0, reply @ ..] => matches!(reply, [5, code, ..] if *code != 0),
        [5, code, ..] => *code != 0,
        _ => false,
    }
}

#[test]
fn http_heads_truncated_at_each_byte() {
    let origin = server::http();
    let host = origin.address();
    let get = format!("GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\nAccept: */*\r\n\r\n");
    let connect = format!("CONNECT {host} HTTP/1.1\r\nHost: {host}\r\n\r\n");
    let inputs = [get, connect].iter().flat_map(|head| truncations(head.as_bytes())).collect::<Vec<_>>();
    survives("proxy", inputs, http_refusal);
    assert!(origin.seen().is_empty(), "half a request reached the origin");
}

#[test]
fn http_garbage_is_refused() {
    let inputs: [&[u8]; 13] = [
        b"\r\n\r\n",
        b"\0\0\0\0\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET http:// HTTP/1.1\r\n\r\n",
        b"GET http://[::1 HTTP/1.1\r\n\r\n",
        b"GET http://127.0.0.1:99999/ HTTP/1.1\r\n\r\n",
        b"GET http://127.0.0.1:1x/ HTTP/1.1\r\n\r\n",
        b"GET http://127.0.0.1/ HTTP/9.9\r\n\r\n",
        b"GET http://127.0.0.1/ HTTP/1.1\r\nX: a\0b\r\n\r\n",
        b"POST http://127.0.0.1/ HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST http://127.0.0.1/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"POST http://127.0.0.1/ HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: xchunked\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    ];
    survives("proxy", inputs.map(<[u8]>::to_vec), http_refusal);
}

#[test]
fn requests_that_lead_nowhere_get_an_error() {
    let inputs: [&[u8]; 3] = [
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET http://127.0.0.1:0/ HTTP/1.1\r\nHost: 127.0.0.1:0\r\n\r\n",
        b"CONNECT 127.0.0.1 HTTP/1.1\r\n\r\n",
    ];
    survives("proxy", inputs.map(<[u8]>::to_vec), http_error);
}

#[test]
fn an_oversize_http_head_is_refused() {
    let long_line = [b"GET http://127.0.0.1/".to_vec(), vec![b'a'; 1 << 20]].concat();
    let long_field = [b"GET http://127.0.0.1/ HTTP/1.1\r\nX: ".to_vec(), vec![b'a'; 1 << 20]].concat();
    let many_fields = [b"GET http://127.0.0.1/ HTTP/1.1\r\n".to_vec(), b"X: y\r\n".repeat(1 << 17)].concat();
    survives("proxy", [long_line, long_field, many_fields], http_refusal);
}

#[test]
fn socks_heads_truncated_at_each_byte() {
    let echo = server::echo();
    let port = echo.port().to_be_bytes();
    let socks4 = [&[4, 1][..], &port, &[127, 0, 0, 1], b"user\0"].concat();
    let socks4a = [&[4, 1][..], &port, &[0, 0, 0, 1], b"user\0localhost\0"].concat();
    let socks5 = [&[5, 1, 0][..], &client::socks5_request("localhost", echo.port())].concat();
    let with_password =
        [&[5, 1, 2][..], b"\x01\x04user\x04pass", &client::socks5_request("localhost", echo.port())].concat();
    let inputs = [socks4, socks4a, socks5, with_password];
    survives("socks", inputs.iter().flat_map(|head| truncations(head)).collect::<Vec<_>>(), socks_refusal);
    assert!(echo.peers().is_empty(), "half a request reached the target");
}

#[test]
fn socks_garbage_is_refused() {
    let inputs: [&[u8]; 14] = [
        b"\0",
        b"\xff\xff\xff\xff\xff\xff\xff\xff",
        b"GET / HTTP/1.1\r\n\r\n",
        // Version 4: no such command; no user's end in sight.
        b"\x04\x09\0\x50\x7f\0\0\x01\0",
        b"\x04\x01\0\x50\x7f\0\0\x01no end of the user",
        // Version 4a: an empty name.
        b"\x04\x01\0\x50\0\0\0\x01\0\0",
        // Version 5: no methods; unknown methods only; unknown command; unknown address type; an empty name; a name with a zero byte;
        // a name with a line end; wrong version in the request.
        b"\x05\0",
        b"\x05\x02\x80\x81",
        b"\x05\x01\0\x05\x09\0\x01\x7f\0\0\x01\0\x50",
        b"\x05\x01\0\x05\x01\0\x09\x7f\0\0\x01\0\x50",
        b"\x05\x01\0\x05\x01\0\x03\0\0\x50",
        b"\x05\x01\0\x05\x01\0\x03\x0blocalhost\0x\0\x50",
        b"\x05\x01\0\x05\x01\0\x03\x0clocalhost\r\nx\0\x50",
        b"\x05\x01\0\x04\x01\0\x01\x7f\0\0\x01\0\x50",
    ];
    survives("socks", inputs.map(<[u8]>::to_vec), socks_refusal);
}

#[test]
fn oversize_socks_heads_are_refused() {
    let user = [&[4, 1, 0, 80, 127, 0, 0, 1][..], &vec![b'u'; 1 << 20]].concat();
    let name = [&[4, 1, 0, 80, 0, 0, 0, 1, 0][..], &vec![b'n'; 1 << 20]].concat();
    survives("socks", [user, name], socks_refusal);
}
