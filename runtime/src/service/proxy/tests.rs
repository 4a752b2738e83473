//! Client connections, from their first byte to their last, with an origin on loopback.
use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use super::*;
use crate::testing::snapshot;

/// A server that notes each request with the number of its connection, and answers by the first letters of its path.
struct Origin {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<(usize, String)>>>,
}

impl Origin {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let notes = Arc::clone(&seen);
        tokio::spawn(async move {
            for number in 0.. {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(answer(stream, number, Arc::clone(&notes)));
            }
        });
        Self { address, seen }
    }

    /// Which connections the requests came on.
    fn connections(&self) -> Vec<usize> {
        self.seen.lock().unwrap().iter().map(|(number, _)| *number).collect()
    }

    /// The `nth` request.
    fn request(&self, nth: usize) -> String {
        self.seen.lock().unwrap()[nth].1.clone()
    }
}

async fn answer(mut stream: TcpStream, number: usize, seen: Arc<Mutex<Vec<(usize, String)>>>) {
    let mut got = Vec::new();
    for nth in 0.. {
        let end = loop {
            if let Some(at) = got.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
            if stream.read_buf(&mut got).await.unwrap_or(0) == 0 {
                return;
            }
        };
        let head: Vec<u8> = got.drain(..end).collect();
        let head = String::from_utf8(head).unwrap();
        let path = head.split(' ').nth(1).unwrap().to_owned();
        seen.lock().unwrap().push((number, head));
        if path == "/fickle" && nth > 0 {
            return;
        }
        let surplus =
            if path == "/surplus" { "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil" } else { "" };
        let body = format!("{path} on {number}");
        let response = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}{surplus}", body.len());
        if stream.write_all(response.as_bytes()).await.is_err() || path == "/once" {
            return;
        }
    }
}

/// All that a client gets which sends these bytes and then no more. The configuration ends with the service.
async fn talk(config: &str, sent: &str) -> String {
    let snapshot = snapshot(config);
    let service = Arc::clone(&snapshot.services[0]);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap());
    let (client, accepted) = tokio::join!(client, listener.accept());
    let (mut client, (near, peer)) = (client.unwrap(), accepted.unwrap());
    let session = Box::new(Session::new(snapshot, service, peer, near.local_addr().unwrap()));
    let served = tokio::spawn(crate::service::serve(near, session));
    client.write_all(sent.as_bytes()).await.unwrap();
    client.shutdown().await.unwrap();
    let mut got = Vec::new();
    client.read_to_end(&mut got).await.unwrap();
    served.await.unwrap();
    String::from_utf8(got).unwrap()
}

/// The statuses in what a client got, in order.
fn statuses(got: &str) -> Vec<u16> {
    let lines = got.split("HTTP/1.").skip(1);
    lines.map(|line| line.split(' ').nth(1).unwrap().parse().unwrap()).collect()
}

const OPEN: &str = "auth iponly\nallow *\nproxy\n";

#[tokio::test]
async fn a_server_connection_is_used_again_while_nothing_speaks_against_it() {
    for (requests, connections) in [
        ("GET /a, GET /b, GET /c", vec![0, 0, 0]),
        ("GET /a, HEAD /b, GET /c", vec![0, 1, 2]),
        ("GET /surplus, GET /b", vec![0, 1]),
        ("GET /once, GET /b", vec![0, 1]),
        ("GET /fickle, GET /b", vec![0, 0]),
    ] {
        let origin = Origin::start().await;
        let line = |request: &str| {
            let (method, path) = request.split_once(' ').unwrap();
            format!("{method} http://{}{path} HTTP/1.1\r\n\r\n", origin.address)
        };
        let sent: String = requests.split(", ").map(line).collect();
        let got = talk(OPEN, &sent).await;
        assert_eq!(statuses(&got), vec![200; connections.len()], "{requests}");
        assert_eq!(origin.connections(), connections, "{requests}");
        assert!(!got.contains("evil"));
    }
}

#[tokio::test]
async fn a_request_that_a_server_dropped_is_sent_again_if_that_does_no_harm() {
    let origin = Origin::start().await;
    let request = |method: &str| format!("{method} http://{}/fickle HTTP/1.1\r\n\r\n", origin.address);
    let got = talk(OPEN, &(request("GET") + &request("GET"))).await;
    assert_eq!((statuses(&got), origin.connections()), (vec![200, 200], vec![0, 0, 1]));
    let got = talk(OPEN, &(request("POST") + &request("POST"))).await;
    assert_eq!((statuses(&got), origin.connections()), (vec![200], vec![0, 0, 1, 2, 2]));
}

#[tokio::test]
async fn each_request_says_itself_who_asks() {
    let origin = Origin::start().await;
    let request = |fields: &str| format!("GET http://{}/ HTTP/1.1\r\n{fields}\r\n", origin.address);
    let ann = "Proxy-Authorization: Basic YW5uOmE=\r\n";
    let config = "users ann:CL:a\nauth strong\nallow ann\nproxy\n";
    let got = talk(config, &(request(ann) + &request(ann) + &request("") + &request(ann))).await;
    assert_eq!(statuses(&got), [200, 200, 407], "nothing follows a refusal");
    assert!(got.contains("Proxy-Authenticate: Basic realm=\"proxy\"\r\n"));
    assert!(!origin.request(0).contains("Authorization"));
    let with_url = format!("GET http://me:pw@{}/ HTTP/1.1\r\n\r\n", origin.address);
    let got = talk(OPEN, &(with_url + &request(""))).await;
    assert_eq!(statuses(&got), [200, 200]);
    assert!(origin.request(2).contains("Authorization: Basic bWU6cHc=\r\n"));
    assert!(!origin.request(3).contains("Authorization"));
}

#[tokio::test]
async fn each_request_is_judged_by_its_own_host() {
    let origin = Origin::start().await;
    let port = origin.address.port();
    let config = "auth iponly\nnserver 127.0.0.1\nnscache 512\nnsrecord good.test 127.0.0.1\nnsrecord bad.test 127.0.0.1\ndeny * * bad.test\nallow *\nproxy\n";
    let request = |host: &str| format!("GET /p HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n");
    let got = talk(config, &(request("good.test") + &request("GOOD.test.") + &request("bad.test"))).await;
    assert_eq!(statuses(&got), [200, 200, 403]);
    let fronted = format!("GET http://good.test:{port}/ HTTP/1.1\r\nHost: bad.test\r\n\r\n");
    assert_eq!(statuses(&talk(config, &fronted).await), [200]);
    assert!(
        origin.request(2).contains(&format!("\r\nHost: good.test:{port}\r\n")),
        "the server hears the host that was judged"
    );
}

#[tokio::test]
async fn what_is_sent_behind_a_connect_goes_through_the_tunnel() {
    let origin = Origin::start().await;
    let sent =
        format!("CONNECT {} HTTP/1.1\r\nContent-Length: 5\r\n\r\nGET /in HTTP/1.1\r\n\r\n", origin.address);
    let got = talk(OPEN, &sent).await;
    assert!(got.starts_with("HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200 OK\r\n"), "{got}");
    assert_eq!(origin.request(0), "GET /in HTTP/1.1\r\n\r\n");
}

#[tokio::test]
async fn refusals_have_a_page() {
    let unused = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    for (config, request, status) in [
        ("auth iponly\ndeny *\nproxy\n", "GET http://127.0.0.1/ HTTP/1.1\r\n\r\n", 403),
        ("auth iponly\nallow nobody\nproxy\n", "GET http://127.0.0.1/ HTTP/1.1\r\n\r\n", 407),
        ("auth iponly\nallow nobody\nproxy -u\n", "GET http://127.0.0.1/ HTTP/1.1\r\n\r\n", 403),
        ("auth iponly\nallow *\nproxy -u2\n", "GET http://127.0.0.1/ HTTP/1.1\r\n\r\n", 407),
        (OPEN, "GET http://127.0.0.1:0/ HTTP/1.1\r\n\r\n", 400),
        (OPEN, "GET /no-host HTTP/1.1\r\n\r\n", 502),
        (OPEN, "GET http://127.0.0.1 HTTP/1.1\r\nX: cut", 400),
        (OPEN, &format!("GET http://{unused}/ HTTP/1.1\r\n\r\n"), 502),
        (OPEN, &format!("CONNECT {unused} HTTP/1.1\r\n\r\n"), 502),
        (OPEN, &format!("GET http://127.0.0.1/{} HTTP/1.1\r\n\r\n", "a".repeat(40_000)), 400),
        (OPEN, &format!("GET http://127.0.0.1/ HTTP/1.1\r\n{}\r\n", "X: y\r\n".repeat(90_000)), 400),
    ] {
        let got = talk(config, request).await;
        let shown: String = request.chars().take(60).collect();
        assert_eq!(statuses(&got), [status], "{config} {shown}");
        assert!(got.contains("\r\nConnection: close\r\n") && got.ends_with("</html>\n"), "{shown}: {got}");
    }
    let origin = Origin::start().await;
    let got = talk(OPEN, &format!("GET ftp://{}/ HTTP/1.1\r\n\r\n", origin.address)).await;
    assert_eq!(statuses(&got), [501]);
    let got = talk(OPEN, &format!("HEAD http://{unused}/ HTTP/1.1\r\n\r\n")).await;
    assert!(got.starts_with("HTTP/1.1 502") && got.ends_with("\r\n\r\n"), "no body in answer to HEAD");
    for nothing in ["", "\r\n\r\n"] {
        assert_eq!(talk(OPEN, nothing).await, "");
    }
}

#[tokio::test]
async fn a_head_cut_anywhere_is_never_served() {
    let origin = Origin::start().await;
    let whole = format!("GET http://{}/p HTTP/1.1\r\nHost: a\r\n\r\n", origin.address);
    for end in 1..whole.len() {
        let got = talk(OPEN, whole.split_at(end).0).await;
        assert!(got.is_empty() || statuses(&got) == [400], "{end}: {got}");
    }
    assert!(origin.connections().is_empty());
    assert_eq!(statuses(&talk(OPEN, &whole).await), [200]);
}

/// A server that gives everyone two megabytes, behind this head.
async fn pours(head: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let _ = stream.read(&mut [0; 4096]).await;
            let body = "x".repeat(2 * 1024 * 1024);
            let body = if head.contains("chunked") { format!("200000\r\n{body}\r\n0\r\n\r\n") } else { body };
            // Nobody may want all of it.
            let _ = stream.write_all(format!("HTTP/1.1 200 OK\r\n{head}\r\n{body}").as_bytes()).await;
        }
    });
    address
}

#[tokio::test]
async fn a_quota_cuts_what_has_no_length_at_its_last_byte_and_refuses_what_is_too_long() {
    const LIMITED: &str = "countin 0 N 1 *\nallow *\nproxy\n";
    for (head, length) in [("Transfer-Encoding: chunked\r\n", 1024 * 1024), ("", 1024 * 1024)] {
        let origin = pours(head).await;
        let got = talk(LIMITED, &format!("GET http://{origin}/ HTTP/1.1\r\nHost: {origin}\r\n\r\n")).await;
        assert_eq!(statuses(&got), [200], "{head}");
        assert_eq!(got.len(), length, "{head}");
    }
    let origin = pours("Content-Length: 2097152\r\n").await;
    let got = talk(LIMITED, &format!("GET http://{origin}/ HTTP/1.1\r\nHost: {origin}\r\n\r\n")).await;
    assert_eq!(statuses(&got), [503]);
}
