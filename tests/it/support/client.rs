//! Clients of the proxy protocols, each a few lines: what goes over the wire is to be seen.
use std::{
    io::{self, Read, Write},
    net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4, TcpStream},
};

use super::DEADLINE;

/// A connection whose reads and writes give up after the deadline.
#[track_caller]
pub(crate) fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect_timeout(&address, DEADLINE).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    stream.set_write_timeout(Some(DEADLINE)).unwrap();
    stream
}

/// An HTTP answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    /// Status code.
    pub(crate) status: u16,
    /// Status line and header fields.
    pub(crate) head: String,
    /// Body, by its Content-Length.
    pub(crate) body: String,
}

/// Name and password.
pub(crate) type Login<'a> = Option<(&'a str, &'a str)>;

/// `GET url` by the proxy.
#[track_caller]
pub(crate) fn http_get(proxy: SocketAddr, url: &str, login: Login<'_>) -> Answer {
    let mut stream = connect(proxy);
    let host = url.trim_start_matches("http://").split('/').next().unwrap();
    write!(stream, "GET {url} HTTP/1.1\r\nHost: {host}\r\n{}Connection: close\r\n\r\n", authorization(login))
        .unwrap();
    answer(&mut stream).unwrap().expect("an answer before the end")
}

/// `CONNECT target` by the proxy: the tunnel, or the answer that refuses it.
#[track_caller]
pub(crate) fn http_connect(proxy: SocketAddr, target: &str, login: Login<'_>) -> Result<TcpStream, Answer> {
    let mut stream = connect(proxy);
    write!(stream, "CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{}\r\n", authorization(login)).unwrap();
    let head = read_head(&mut stream).unwrap().expect("an answer before the end");
    match status(&head) {
        200 => Ok(stream),
        status => Err(Answer { status, head, body: String::new() }),
    }
}

fn authorization(login: Login<'_>) -> String {
    let Some((user, password)) = login else { return String::new() };
    format!("Proxy-Authorization: Basic {}\r\n", base64(format!("{user}:{password}").as_bytes()))
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits =
            chunk.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for digit in 0..4 {
            text.push(if digit <= chunk.len() {
                DIGITS[(bits >> (18 - 6 * digit) & 63) as usize] as char
            } else {
                '='
            });
        }
    }
    text
}

/// SOCKS4 to an address: the tunnel, or the code that refuses it.
#[track_caller]
pub(crate) fn socks4(proxy: SocketAddr, target: SocketAddrV4, user: &str) -> Result<TcpStream, u8> {
    let mut request = vec![4, 1];
    request.extend(target.port().to_be_bytes());
    request.extend(target.ip().octets());
    request.extend(user.bytes().chain([0]));
    socks4_exchange(proxy, &request)
}

/// SOCKS4a to a name: the tunnel, or the code that refuses it.
#[track_caller]
pub(crate) fn socks4a(proxy: SocketAddr, name: &str, port: u16, user: &str) -> Result<TcpStream, u8> {
    let mut request = vec![4, 1];
    request.extend(port.to_be_bytes());
    request.extend(Ipv4Addr::new(0, 0, 0, 1).octets());
    request.extend(user.bytes().chain([0]).chain(name.bytes()).chain([0]));
    socks4_exchange(proxy, &request)
}

fn socks4_exchange(proxy: SocketAddr, request: &[u8]) -> Result<TcpStream, u8> {
    let mut stream = connect(proxy);
    stream.write_all(request).unwrap();
    let reply: [u8; 8] = read(&mut stream);
    match reply[1] {
        90 => Ok(stream),
        code => Err(code),
    }
}

/// A SOCKS5 CONNECT request for a name.
pub(crate) fn socks5_request(name: &str, port: u16) -> Vec<u8> {
    let mut request = vec![5, 1, 0, 3, u8::try_from(name.len()).unwrap()];
    request.extend(name.bytes().chain(port.to_be_bytes()));
    request
}

/// SOCKS5 to a name or an address in text: the tunnel, or the code that refuses it (255: no acceptable method).
#[track_caller]
pub(crate) fn socks5(proxy: SocketAddr, host: &str, port: u16, login: Login<'_>) -> Result<TcpStream, u8> {
    let request = match host.parse::<Ipv4Addr>() {
        Ok(address) => [&[5, 1, 0, 1][..], &address.octets(), &port.to_be_bytes()].concat(),
        Err(_) => socks5_request(host, port),
    };
    socks5_exchange(proxy, &request, login).map(|(stream, _)| stream)
}

/// Logs in and makes a request: the connection, and the address that the service tells; or the code that refuses it.
#[track_caller]
pub(super) fn socks5_exchange(
    proxy: SocketAddr,
    request: &[u8],
    login: Login<'_>,
) -> Result<(TcpStream, SocketAddr), u8> {
    let mut stream = connect(proxy);
    let methods: &[u8] = if login.is_some() { &[5, 2, 0, 2] } else { &[5, 1, 0] };
    stream.write_all(methods).unwrap();
    let [_, method]: [u8; 2] = read(&mut stream);
    match (method, login) {
        (0, _) => {}
        (2, Some((user, password))) => {
            let mut negotiation = vec![1];
            for text in [user, password] {
                negotiation.push(u8::try_from(text.len()).unwrap());
                negotiation.extend(text.bytes());
            }
            stream.write_all(&negotiation).unwrap();
            let _: [u8; 2] = read(&mut stream);
        }
        (code, _) => return Err(code),
    }
    stream.write_all(request).unwrap();
    let [_, code, _, kind]: [u8; 4] = read(&mut stream);
    let ip: IpAddr = if kind == 4 { read::<16>(&mut stream).into() } else { read::<4>(&mut stream).into() };
    let port = u16::from_be_bytes(read(&mut stream));
    if code == 0 { Ok((stream, (ip, port).into())) } else { Err(code) }
}

#[track_caller]
fn read<const N: usize>(stream: &mut TcpStream) -> [u8; N] {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes).unwrap();
    bytes
}

/// Sends bytes over a tunnel to an echo server and wants them back.
#[track_caller]
pub(crate) fn echoes(stream: &mut TcpStream) {
    stream.write_all(b"ping-ping").unwrap();
    assert_eq!(&read::<9>(stream), b"ping-ping");
}

/// Sends `bytes`, then nothing more, and reads to the end of the connection. A reset counts as an end.
#[track_caller]
pub(crate) fn send_and_close(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut stream = connect(address);
    // The service may have heard enough, and have closed, before all was sent.
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
            panic!("the connection was left open; so far: {:?}", String::from_utf8_lossy(&answer))
        }
        _ => answer,
    }
}

/// Reads up to the empty line; `None` when the peer closes before the first byte.
pub(crate) fn read_head(stream: &mut TcpStream) -> io::Result<Option<String>> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte)? {
            0 if head.is_empty() => return Ok(None),
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            _ => head.push(byte[0]),
        }
    }
    Ok(Some(String::from_utf8_lossy(&head).into_owned()))
}

/// Reads an answer with its body; `None` when the peer closes before the first byte.
pub(crate) fn answer(stream: &mut TcpStream) -> io::Result<Option<Answer>> {
    let Some(head) = read_head(stream)? else { return Ok(None) };
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().unwrap())
    });
    let mut body = Vec::new();
    match length {
        Some(length) => {
            body.resize(length, 0);
            stream.read_exact(&mut body)?;
        }
        None => drop(stream.read_to_end(&mut body)?),
    }
    Ok(Some(Answer { status: status(&head), head, body: String::from_utf8_lossy(&body).into_owned() }))
}

fn status(head: &str) -> u16 {
    head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0)
}

#[test]
fn base64_pads() {
    for (plain, coded) in
        [("", ""), ("a", "YQ=="), ("ab", "YWI="), ("abc", "YWJj"), ("user:pass", "dXNlcjpwYXNz")]
    {
        assert_eq!(base64(plain.as_bytes()), coded);
    }
}
