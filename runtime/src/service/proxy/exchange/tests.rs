//! Exchanges between loopback sockets: what the client gets, what the server gets, and what can be used again.
use compiler::program::process::Timeouts;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use super::*;
use crate::{
    protocol::http::{forward::Disclosure, forward::Hop, target::Scheme},
    service::proxy::request::Reading,
};

/// Two ends of a connection.
async fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap());
    let (near, far) = tokio::join!(near, listener.accept());
    (near.unwrap(), far.unwrap().0)
}

/// What came of an exchange.
struct Seen {
    outcome: Result<Outcome, (u16, FailureKind)>,
    progress: Progress,
    client: String,
    server: String,
}

/// What the server does.
enum Server<'a> {
    /// Answers when the request's head has come, and stays.
    Early(&'a str),
    /// Answers when these bytes have come, and stays.
    After(&'a str, &'a str),
    /// Answers when the head has come, and closes.
    Closes(&'a str),
}

async fn play(mut server: TcpStream, role: Server<'_>) -> (TcpStream, String) {
    let (until, answer, close) = match role {
        Server::Early(answer) => ("\r\n\r\n", answer, false),
        Server::After(until, answer) => (until, answer, false),
        Server::Closes(answer) => ("\r\n\r\n", answer, true),
    };
    let mut got = Vec::new();
    while !String::from_utf8_lossy(&got).contains(until) {
        if server.read_buf(&mut got).await.unwrap() == 0 {
            break;
        }
    }
    server.write_all(answer.as_bytes()).await.unwrap();
    if close {
        server.shutdown().await.unwrap();
    }
    (server, String::from_utf8(got).unwrap())
}

/// Runs one exchange: `sent` is the client's whole request.
async fn exchange(sent: &str, role: Server<'_>, timeouts: &Durations) -> Seen {
    let ((mut client, client_side), (server_side, server)) = (pair().await, pair().await);
    let split_at = sent.find("\r\n\r\n").unwrap() + 4;
    let mut head = sent.as_bytes()[..split_at].to_vec();
    client.write_all(&sent.as_bytes()[split_at..]).await.unwrap();
    let request = Request::read(&mut head, Reading { takes_names: true, transparent: false }).unwrap();
    let outgoing = forward::Request {
        head: &request.head,
        line: request.line,
        target: request.target,
        authority: request.authority,
        form: if request.is_connect() { Form::Authority } else { Form::Origin },
        body: request.body,
        keep: request.keep,
        upgrade: request.upgrade,
        transparent: false,
        authorization: None,
        proxy_authorization: None,
    };
    assert_eq!(request.target.scheme, Scheme::Http);
    let address = client_side.local_addr().unwrap();
    let hop = Hop { disclosure: Disclosure::Nothing, client: address, local: address, host: "h", port: 1 };
    let mut head = Vec::new();
    outgoing.write(&hop, &mut head);
    let (mut client_inbox, mut server_inbox) = (Inbox::default(), Inbox::default());
    let mut progress = Progress::default();
    let run = async {
        let exchange = Exchange {
            request: &request,
            head,
            client: (&client_side, &mut client_inbox),
            server: (&server_side, &mut server_inbox),
            timeouts,
            transparent: false,
            charges: None,
        };
        let outcome = exchange.run(&mut progress).await;
        // A server that still waits for the body learns that it will not come.
        socket2::SockRef::from(&server_side).shutdown(std::net::Shutdown::Write).unwrap();
        outcome
    };
    let (outcome, (_server, server_got)) = tokio::join!(run, play(server, role));
    drop(client_side);
    let mut client_got = Vec::new();
    // Bytes of the client that nobody read make the kernel reset the connection behind the answer.
    let _ = client.read_to_end(&mut client_got).await;
    Seen {
        outcome: outcome.map_err(|failure| (failure.code, failure.kind)),
        progress,
        client: String::from_utf8(client_got).unwrap(),
        server: server_got,
    }
}

fn durations() -> Durations {
    Durations::from(&Timeouts::default())
}

const GET: &str = "GET http://a/p HTTP/1.1\r\nHost: a\r\n\r\n";
const BOTH: Outcome = Outcome::Done { keep_client: true, keep_server: true };
const CLIENT: Outcome = Outcome::Done { keep_client: true, keep_server: false };
const SERVER: Outcome = Outcome::Done { keep_client: false, keep_server: true };
const NONE: Outcome = Outcome::Done { keep_client: false, keep_server: false };

#[tokio::test]
async fn connections_are_kept_when_nothing_is_left_on_them() {
    let old = "GET http://a/p HTTP/1.0\r\n\r\n";
    let closing = "GET http://a/p HTTP/1.1\r\nConnection: close\r\n\r\n";
    let head = "HEAD http://a/p HTTP/1.1\r\n\r\n";
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0x0\r\nX-T: 1\r\nHost: b\r\n\r\n";
    for (request, answer, outcome, client) in [
        (
            GET,
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
            BOTH,
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        ),
        // Bytes behind a response are nobody's.
        (
            GET,
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n",
            CLIENT,
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        ),
        (GET, "HTTP/1.1 204 No\r\nContent-Length: 2\r\n\r\nxx", CLIENT, "HTTP/1.1 204 No\r\n\r\n"),
        (
            GET,
            "HTTP/1.1 304 No\r\nContent-Length: 2\r\n\r\n",
            BOTH,
            "HTTP/1.1 304 No\r\nContent-Length: 2\r\n\r\n",
        ),
        (
            head,
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n",
            BOTH,
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n",
        ),
        (
            GET,
            chunked,
            SERVER,
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n3\r\nabc\r\n0\r\nX-T: 1\r\n\r\n",
        ),
        (old, chunked, SERVER, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc"),
        (
            closing,
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
            SERVER,
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        ),
        (
            GET,
            "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
            NONE,
            "HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        ),
        (
            GET,
            "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n",
            NONE,
            "HTTP/1.1 500 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        ),
        (
            GET,
            "HTTP/1.1 103 Hint\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
            BOTH,
            "HTTP/1.1 103 Hint\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        ),
        (
            old,
            "HTTP/1.1 103 Hint\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
            SERVER,
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        ),
    ] {
        let seen = exchange(request, Server::Early(answer), &durations()).await;
        assert_eq!((seen.outcome, seen.client.as_str()), (Ok(outcome), client), "{request:?} {answer:?}");
        assert_eq!(seen.progress.back.from_server, client.len() as u64);
        assert_eq!(seen.progress.from_client, seen.server.len() as u64);
        assert!(seen.progress.uploaded && seen.progress.back.answered);
    }
}

#[tokio::test]
async fn a_response_may_end_with_its_connection() {
    let answer = "HTTP/1.1 200 OK\r\n\r\nuntil the end";
    let seen = exchange(GET, Server::Closes(answer), &durations()).await;
    assert_eq!(seen.outcome, Ok(NONE));
    assert_eq!(seen.client, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil the end");
    for garbage in ["NOT-HTTP\r\n\r\n", "220", "220 mail\r\nHTTP/1.1 200 OK\r\n\r\n"] {
        let seen = exchange(GET, Server::Closes(garbage), &durations()).await;
        assert_eq!((seen.outcome, seen.client.as_str()), (Ok(NONE), garbage));
    }
}

#[tokio::test]
async fn a_broken_response_is_a_failure() {
    let lost = FailureKind::Lost;
    for (answer, failure, answered) in [
        ("", (522, lost), false),
        ("HTTP/1.1 200 OK\r\nContent-Le", (522, FailureKind::Malformed), false),
        ("HTTP/1.1 2x0 OK\r\n\r\n", (522, FailureKind::Malformed), false),
        ("HTTP/1.1 200 OK\r\nA: b\0c\r\n\r\n", (522, FailureKind::Malformed), false),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc",
            (522, FailureKind::Malformed),
            false,
        ),
        ("HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n", (522, FailureKind::Malformed), false),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", (96, lost), true),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", (96, lost), true),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n",
            (534, FailureKind::Malformed),
            true,
        ),
    ] {
        let seen = exchange(GET, Server::Closes(answer), &durations()).await;
        assert_eq!((seen.outcome, seen.progress.back.answered), (Err(failure), answered), "{answer:?}");
        assert_eq!(seen.progress.back.heard, !answer.is_empty());
    }
    let endless = "HTTP/1.1 102 Wait\r\n\r\n".repeat(MAX_INTERIM + 1);
    let seen = exchange(GET, Server::Closes(&endless), &durations()).await;
    assert_eq!(seen.outcome, Err((522, FailureKind::Malformed)));
}

#[tokio::test]
async fn a_silent_server_is_a_timeout() {
    let timeouts = Durations { string_long: Duration::from_millis(20), ..durations() };
    let seen = exchange(GET, Server::Early("HTTP/1.1 200 OK\r\n"), &timeouts).await;
    assert_eq!(seen.outcome, Err((522, FailureKind::Timeout)));
    assert!(!seen.progress.back.answered);
}

#[tokio::test]
async fn bodies_reach_the_server_in_one_spelling() {
    let ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    for (request, until, server) in [
        (
            "POST http://a/ HTTP/1.1\r\nContent-Length:3\r\nContent-Length: 3\r\n\r\nabcGET",
            "abc",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc",
        ),
        (
            "POST http://a/ HTTP/1.1\r\nContent-Length: 40\r\nTransfer-Encoding: chunked\r\n\r\n0x03;x\r\nabc\r\n00\r\nX-T: 1\r\nContent-Length: 9\r\n\r\nGET",
            "\r\n0\r\nX-T: 1\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-T: 1\r\n\r\n",
        ),
    ] {
        let seen = exchange(request, Server::After(until, ok), &durations()).await;
        assert_eq!((seen.outcome, seen.server.as_str()), (Ok(BOTH), server));
    }
}

#[tokio::test]
async fn a_body_that_can_t_be_read_ends_the_exchange_without_an_answer() {
    for body in ["zz\r\nabc\r\n0\r\n\r\n", "-1\r\nabc", "3\nabc\n0\n\n", "3\r\nabcd\r\n0\r\n\r\n"] {
        let request = format!("POST http://a/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{body}");
        let seen = exchange(&request, Server::After("\r\n0\r\n", ""), &durations()).await;
        assert_eq!(seen.outcome, Err((537, FailureKind::Malformed)), "{body:?}");
        assert!(!seen.progress.back.answered && seen.client.is_empty() && !seen.server.contains("\r\n0\r\n"));
    }
}

#[tokio::test]
async fn an_answer_before_the_whole_body_is_passed_on_and_ends_the_connection() {
    let request = "POST http://a/ HTTP/1.1\r\nContent-Length: 5\r\n\r\n";
    let answer = "HTTP/1.1 413 No\r\nContent-Length: 2\r\n\r\nno";
    let seen = exchange(request, Server::Early(answer), &durations()).await;
    assert_eq!(seen.outcome, Ok(NONE));
    assert!(!seen.progress.uploaded);
    assert_eq!(seen.client, "HTTP/1.1 413 No\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno");
}

#[tokio::test]
async fn the_proxy_asks_for_a_body_that_waits_to_be_asked_for() {
    let request = "POST http://a/ HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc";
    let answer = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    let seen = exchange(request, Server::After("abc", answer), &durations()).await;
    assert_eq!(seen.outcome, Ok(BOTH));
    assert_eq!(seen.server, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc");
    assert_eq!(seen.client, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
}

#[tokio::test]
async fn tunnels_begin_where_both_sides_agreed() {
    let connect = "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n";
    let answer = "HTTP/1.0 200 Established\r\nContent-Length: 5\r\n\r\n";
    let seen = exchange(connect, Server::Early(answer), &durations()).await;
    assert_eq!(
        (seen.outcome, seen.client.as_str()),
        (Ok(Outcome::Tunnel), "HTTP/1.0 200 Established\r\n\r\n")
    );
    assert_eq!(seen.server, connect);
    let refused = "HTTP/1.1 407 No\r\nProxy-Authenticate: x\r\nContent-Length: 0\r\n\r\n";
    let seen = exchange(connect, Server::Early(refused), &durations()).await;
    assert_eq!(
        (seen.outcome, seen.client.as_str()),
        (Ok(BOTH), "HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n")
    );
    let upgrade = "GET http://a/ HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
    let answer = "HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n";
    let seen = exchange(upgrade, Server::Early(answer), &durations()).await;
    assert_eq!(seen.outcome, Ok(Outcome::Tunnel));
}
