//! Asking name servers, one after the other.
use std::{io, net::SocketAddr, time::Duration};

use compiler::program::resolve::NameServer;
use hickory_proto::rr::{Record, RecordType};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpStream, UdpSocket},
    time::timeout,
};

use super::wire::{Answer, Question};
use crate::{protocol::dns, random};

/// The time without an answer after which a question by UDP is sent again.
const AGAIN: Duration = Duration::from_secs(2);

/// Something to ask a server.
trait Asks {
    /// What an answer is read as.
    type Told;
    /// The message to send.
    fn bytes(&self) -> Option<Vec<u8>>;
    /// What a message says; `None`: it is no answer.
    fn read(&self, reply: &[u8]) -> Option<Answer<Self::Told>>;
}

impl Asks for Question {
    type Told = Vec<Record>;

    fn bytes(&self) -> Option<Vec<u8>> {
        self.to_bytes()
    }

    fn read(&self, reply: &[u8]) -> Option<Answer<Vec<Record>>> {
        self.answer(reply)
    }
}

/// A client's query under a number of ours.
struct Forwarded<'a>(&'a dns::Query, u16);

impl Asks for Forwarded<'_> {
    type Told = dns::Reply;

    fn bytes(&self) -> Option<Vec<u8>> {
        Some(self.0.under(self.1))
    }

    fn read(&self, reply: &[u8]) -> Option<Answer<dns::Reply>> {
        let reply = self.0.reply(self.1, reply)?;
        Some(match reply {
            reply if reply.truncated => Answer::Truncated(reply),
            reply if reply.settles => Answer::Told(reply),
            reply => Answer::Failed(reply),
        })
    }
}

/// The records in the first answer that a server gives, and which; each may take `limit`. No records of no server: those that
/// answer can't tell. `None`: none answers.
pub(super) async fn ask(
    servers: &[NameServer],
    name: &str,
    wanted: RecordType,
    limit: Duration,
) -> Option<(Vec<Record>, Option<SocketAddr>)> {
    let told = ask_each(servers, limit, |id| Question::new(id, name, wanted)).await?;
    Some(told.map_or_else(|_| (Vec::new(), None), |(records, server)| (records, Some(server))))
}

/// The first answer to a client's query that settles it, or else the last one that any server gives, and from which.
pub(super) async fn forward(
    servers: &[NameServer],
    query: &dns::Query,
    limit: Duration,
) -> Option<(dns::Reply, SocketAddr)> {
    let told = ask_each(servers, limit, |id| Some(Forwarded(query, id))).await?;
    Some(told.unwrap_or_else(|failed| failed))
}

/// `Err` holds what the last server said that said that it can't tell.
async fn ask_each<Q: Asks>(
    servers: &[NameServer],
    limit: Duration,
    question: impl Fn(u16) -> Option<Q>,
) -> Option<Result<(Q::Told, SocketAddr), (Q::Told, SocketAddr)>> {
    let mut failed = None;
    for server in servers {
        let question = question(u16::from_ne_bytes(random::secret().ok()?))?;
        match timeout(limit, ask_one(*server, &question)).await {
            Ok(Ok(Answer::Told(told))) => return Some(Ok((told, server.address))),
            Ok(Ok(Answer::Truncated(told) | Answer::Failed(told))) => {
                failed = Some(Err((told, server.address)))
            }
            Ok(Err(_)) | Err(_) => {}
        }
    }
    failed
}

async fn ask_one<Q: Asks>(server: NameServer, question: &Q) -> io::Result<Answer<Q::Told>> {
    let query = question.bytes().ok_or(io::ErrorKind::InvalidInput)?;
    if !server.tcp {
        return match by_udp(server, question, &query).await? {
            // What did not come whole is better than nothing.
            Answer::Truncated(told) => {
                Ok(by_tcp(server, question, &query).await.unwrap_or(Answer::Truncated(told)))
            }
            answer => Ok(answer),
        };
    }
    by_tcp(server, question, &query).await
}

/// A client may have said that it takes as much, and its query is passed on as it is.
const LONGEST_REPLY: usize = u16::MAX as usize;

/// The socket is new, so that its port is another unguessable number, and connected, so that only the server's replies come in.
async fn by_udp<Q: Asks>(server: NameServer, question: &Q, query: &[u8]) -> io::Result<Answer<Q::Told>> {
    let any = if server.address.is_ipv6() { "[::]:0" } else { "0.0.0.0:0" };
    let socket = UdpSocket::bind(any).await?;
    socket.connect(server.address).await?;
    let mut reply = vec![0; LONGEST_REPLY];
    loop {
        socket.send(query).await?;
        let receive = async {
            loop {
                let length = socket.recv(&mut reply).await?;
                if let Some(answer) = question.read(reply.get(..length).unwrap_or_default()) {
                    return Ok(answer);
                }
            }
        };
        if let Ok(answer) = timeout(AGAIN, receive).await {
            return answer;
        }
    }
}

async fn by_tcp<Q: Asks>(server: NameServer, question: &Q, query: &[u8]) -> io::Result<Answer<Q::Told>> {
    let mut stream = TcpStream::connect(server.address).await?;
    let length = u16::try_from(query.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    stream.write_all(&[&length.to_be_bytes()[..], query].concat()).await?;
    let mut reply = vec![0; stream.read_u16().await?.into()];
    stream.read_exact(&mut reply).await?;
    question.read(&reply).ok_or_else(|| io::ErrorKind::InvalidData.into())
}
