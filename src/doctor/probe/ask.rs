//! Asks somebody something, and waits for the answer so long and no longer.
use std::{
    io::{self, ErrorKind, Read, Write},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs, UdpSocket},
    sync::mpsc,
    time::{Duration, Instant},
};

use compiler::program::resolve::NameServer;
use grammar::Secret;
use openssl::{
    error::ErrorStack,
    hash::{Hasher, MessageDigest},
    memcmp,
    pkey::PKey,
    rand::rand_bytes,
    sign::Signer,
};

/// An answer of a name server or RADIUS server is no longer than this, in bytes.
const LONGEST: usize = 4096;

/// # Errors
/// Why there is no connection.
pub(super) fn connect(address: SocketAddr, patience: Duration) -> Result<(), String> {
    TcpStream::connect_timeout(&address, patience).map(drop).map_err(|error| told(&error))
}

/// # Errors
/// Why there is no connection.
pub(super) fn connect_name(name: &str, port: u16, patience: Duration) -> Result<(), String> {
    // The system's resolver takes as long as it likes: the thread may outlive us.
    let (send, found) = mpsc::channel();
    let asked = (name.to_owned(), port);
    std::thread::spawn(move || send.send(asked.to_socket_addrs().map(|mut found| found.next())));
    match found.recv_timeout(patience) {
        Ok(Ok(Some(address))) => connect(address, patience),
        Ok(Ok(None)) => Err("the name has no address".to_owned()),
        Ok(Err(error)) => Err(told(&error)),
        Err(_) => Err(format!("the name did not resolve in {} s", patience.as_secs())),
    }
}

/// Asks for the name servers of the root, which every name server knows or refuses to tell.
///
/// # Errors
/// Why there is no answer.
pub(super) fn name_server(server: NameServer, patience: Duration) -> Result<(), String> {
    let mut id = [0; 2];
    rand_bytes(&mut id).map_err(|error| error.to_string())?;
    // Recursion is desired; one question: the root, NS, IN.
    let question = [&id[..], &[1, 0, 0, 1, 0, 0, 0, 0, 0, 0], &[0, 0, 2, 0, 1]].concat();
    // The answer has the same id, and the bit of answers.
    let is_answer =
        |reply: &[u8]| reply.starts_with(&id) && reply.get(2).is_some_and(|flags| flags & 0x80 != 0);
    if server.tcp {
        over_tcp(server.address, &question, is_answer, patience)
    } else {
        over_udp(server.address, &question, is_answer, patience)
    }
    .map_err(|error| told(&error))
}

/// Sends a Status-Server packet (RFC 5997), and looks whether the answer is signed with the secret.
///
/// # Errors
/// Why there is no answer, or none to believe.
pub(super) fn radius(address: SocketAddr, secret: &Secret, patience: Duration) -> Result<(), String> {
    let packet = status_server(secret).map_err(|error| error.to_string())?;
    let mut forged = false;
    let is_answer = |reply: &[u8]| {
        let signed = is_signed(reply, &packet, secret).unwrap_or(false);
        forged |= !signed;
        signed
    };
    over_udp(address, &packet, is_answer, patience).map_err(|error| match error.kind() {
        ErrorKind::TimedOut if forged => "it answers, but not with this secret".to_owned(),
        ErrorKind::TimedOut => "it is silent (it may also not know Status-Server)".to_owned(),
        _ => told(&error),
    })
}

/// Code 12, a random authenticator, and a Message-Authenticator over all of it.
fn status_server(secret: &Secret) -> Result<Vec<u8>, ErrorStack> {
    let mut random = [0; 17];
    rand_bytes(&mut random)?;
    let [id, authenticator @ ..] = random;
    let mut packet = [&[12, id, 0, 38][..], &authenticator, &[80, 18], &[0; 16]].concat();
    let key = PKey::hmac(secret.expose())?;
    let mut signer = Signer::new(MessageDigest::md5(), &key)?;
    let signature = signer.sign_oneshot_to_vec(&packet)?;
    packet.truncate(22);
    packet.extend(signature);
    Ok(packet)
}

/// Whether `reply` has the authenticator that only who knows the secret can make for `request`.
fn is_signed(reply: &[u8], request: &[u8], secret: &Secret) -> Option<bool> {
    let length = usize::from(u16::from_be_bytes([*reply.get(2)?, *reply.get(3)?]));
    let attributes = reply.get(20..length)?;
    let mut hasher = Hasher::new(MessageDigest::md5()).ok()?;
    for part in [reply.get(..4)?, request.get(4..20)?, attributes, secret.expose()] {
        hasher.update(part).ok()?;
    }
    let expected = hasher.finish().ok()?;
    Some(reply.get(1) == request.get(1) && memcmp::eq(reply.get(4..20)?, &expected))
}

fn over_udp(
    address: SocketAddr,
    question: &[u8],
    mut is_answer: impl FnMut(&[u8]) -> bool,
    patience: Duration,
) -> io::Result<()> {
    let any: IpAddr =
        if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect(address)?;
    let end = Instant::now() + patience;
    // A packet may be lost once.
    for part in [2, 1] {
        socket.send(question)?;
        let until = end - patience.mul_f64(0.5 * f64::from(part - 1));
        let mut reply = [0; LONGEST];
        while let Some(left) = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
            socket.set_read_timeout(Some(left))?;
            match socket.recv(&mut reply) {
                Ok(length) if is_answer(reply.get(..length).unwrap_or_default()) => return Ok(()),
                // Somebody else's: the answer may still come.
                Ok(_) => {}
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => break,
                Err(error) => return Err(error),
            }
        }
    }
    Err(ErrorKind::TimedOut.into())
}

fn over_tcp(
    address: SocketAddr,
    question: &[u8],
    mut is_answer: impl FnMut(&[u8]) -> bool,
    patience: Duration,
) -> io::Result<()> {
    let end = Instant::now() + patience;
    let mut stream = TcpStream::connect_timeout(&address, patience)?;
    stream.set_write_timeout(Some(patience))?;
    let length = u16::try_from(question.len()).unwrap_or(u16::MAX).to_be_bytes();
    stream.write_all(&[&length[..], question].concat())?;
    // The length, then as much as tells who answers.
    let mut reply = [0; 5];
    let mut filled = 0;
    while let Some(rest) = reply.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        let left = end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero());
        stream.set_read_timeout(Some(left.ok_or(ErrorKind::TimedOut)?))?;
        match stream.read(rest)? {
            0 => return Err(ErrorKind::UnexpectedEof.into()),
            length => filled += length,
        }
    }
    let [_, _, head @ ..] = reply;
    if is_answer(&head) {
        Ok(())
    } else {
        Err(io::Error::new(ErrorKind::InvalidData, "the answer is no DNS answer"))
    }
}

/// What the system says, without its number.
fn told(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::TimedOut | ErrorKind::WouldBlock => "it is silent".to_owned(),
        ErrorKind::ConnectionRefused => "the connection is refused".to_owned(),
        ErrorKind::UnexpectedEof => "it closes the connection".to_owned(),
        _ => error.to_string(),
    }
}
