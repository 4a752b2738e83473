//! Asking name servers, one after the other.
use std::{io, time::Duration};

use compiler::program::resolve::NameServer;
use hickory_proto::rr::{Record, RecordType};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpStream, UdpSocket},
    time::timeout,
};

use super::wire::{Answer, Question};
use crate::random;

/// A question by UDP is sent again after so long without an answer.
const AGAIN: Duration = Duration::from_secs(2);

/// The records in the first answer that a server gives; each may take `limit`. `None`: none gives one.
pub(super) async fn ask(
    servers: &[NameServer],
    name: &str,
    wanted: RecordType,
    limit: Duration,
) -> Option<Vec<Record>> {
    for server in servers {
        let id = u16::from_ne_bytes(random::secret().ok()?);
        let question = Question::new(id, name, wanted)?;
        match timeout(limit, ask_one(*server, &question)).await {
            Ok(Ok(Answer::Records(records))) => return Some(records),
            Ok(Ok(Answer::Truncated | Answer::Failed) | Err(_)) | Err(_) => {}
        }
    }
    None
}

async fn ask_one(server: NameServer, question: &Question) -> io::Result<Answer> {
    let query = question.to_bytes().ok_or(io::ErrorKind::InvalidInput)?;
    if !server.tcp {
        match by_udp(server, question, &query).await? {
            Answer::Truncated => {}
            answer => return Ok(answer),
        }
    }
    by_tcp(server, question, &query).await
}

/// The socket is new, so that its port is another unguessable number, and connected, so that only the server's replies come in.
async fn by_udp(server: NameServer, question: &Question, query: &[u8]) -> io::Result<Answer> {
    let any = if server.address.is_ipv6() { "[::]:0" } else { "0.0.0.0:0" };
    let socket = UdpSocket::bind(any).await?;
    socket.connect(server.address).await?;
    let mut reply = vec![0; 4096];
    loop {
        socket.send(query).await?;
        let receive = async {
            loop {
                let length = socket.recv(&mut reply).await?;
                if let Some(answer) = question.answer(reply.get(..length).unwrap_or_default()) {
                    return Ok(answer);
                }
            }
        };
        if let Ok(answer) = timeout(AGAIN, receive).await {
            return answer;
        }
    }
}

async fn by_tcp(server: NameServer, question: &Question, query: &[u8]) -> io::Result<Answer> {
    let mut stream = TcpStream::connect(server.address).await?;
    let length = u16::try_from(query.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    stream.write_all(&[&length.to_be_bytes()[..], query].concat()).await?;
    let mut reply = vec![0; stream.read_u16().await?.into()];
    stream.read_exact(&mut reply).await?;
    question.answer(&reply).ok_or_else(|| io::ErrorKind::InvalidData.into())
}
