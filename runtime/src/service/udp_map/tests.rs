//! `udppm` over loopback sockets, one flow at a time.
use std::{net::SocketAddr, sync::Arc, time::Duration};

use tokio::{net::UdpSocket, time::timeout};

use super::{exchange, serve};
use crate::{flow::Flows, session::Session, testing::snapshot};

async fn socket() -> Arc<UdpSocket> {
    Arc::new(UdpSocket::bind("127.0.0.1:0").await.unwrap())
}

fn address(socket: &UdpSocket) -> SocketAddr {
    socket.local_addr().unwrap()
}

async fn received(socket: &UdpSocket) -> (Vec<u8>, SocketAddr) {
    let mut bytes = [0; 100];
    let received = timeout(Duration::from_secs(20), socket.recv_from(&mut bytes)).await;
    let (length, from) = received.expect("a datagram comes").unwrap();
    (bytes[..length].into(), from)
}

/// A session of a client with the first service of a configuration.
fn session(config: &str, client: SocketAddr, listener: &UdpSocket) -> Box<Session> {
    let snapshot = snapshot(config);
    let service = Arc::clone(&snapshot.services[0]);
    Box::new(Session::new(snapshot, service, client, address(listener)))
}

#[tokio::test]
async fn a_client_s_datagrams_reach_the_target_which_alone_can_answer() {
    let (listener, client, target, stranger) =
        (socket().await, socket().await, socket().await, socket().await);
    let config = format!("allow *\nudppm 9 127.0.0.1 {}\n", address(&target).port());
    let flows = Flows::default();
    let place = flows.begin(&listener, address(&client), b"first", None, 10);
    let serving = tokio::spawn(serve(place, session(&config, address(&client), &listener)));
    let (bytes, from) = received(&target).await;
    assert_eq!(bytes, b"first");
    assert!(flows.pass(address(&client), b"second"));
    assert_eq!(received(&target).await, (b"second".into(), from));
    stranger.send_to(b"a stranger's", from).await.unwrap();
    target.send_to(b"answer", from).await.unwrap();
    assert_eq!(received(&client).await, (b"answer".into(), address(&listener)));
    target.send_to(b"", from).await.unwrap();
    assert_eq!(received(&client).await.0, b"", "an empty datagram is one");
    flows.end();
    serving.await.unwrap();
}

#[tokio::test]
async fn a_flow_is_counted_and_ends_after_one_answer_or_in_silence() {
    for (options, answers, code) in [("-s", 1, 0), ("-s", 0, 92), ("", 3, 92)] {
        let (listener, client, target) = (socket().await, socket().await, socket().await);
        let port = address(&target).port();
        let config = format!("timeouts 1 5 30 1\nallow *\nudppm {options} 9 127.0.0.1 {port}\n");
        let mut session = session(&config, address(&client), &listener);
        let place = Flows::default().begin(&listener, address(&client), b"four", None, 10);
        let flow = place.flow();
        let answering = async {
            let (_, from) = received(&target).await;
            for _ in 0..answers {
                target.send_to(b"answer", from).await.unwrap();
            }
        };
        let (ended, ()) = tokio::join!(exchange(&flow, &mut session), answering);
        assert_eq!(ended, code, "{options} {answers}");
        assert_eq!(session.record.from_server, 6 * answers, "{options} {answers}");
        assert_eq!(flow.sent().unwrap().bytes, 4);
    }
}

#[tokio::test]
async fn what_is_denied_or_leads_nowhere_is_told_in_the_record_and_sends_nothing() {
    let (listener, client, target) = (socket().await, socket().await, socket().await);
    let port = address(&target).port();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for (config, code) in [
        (format!("deny *\nudppm 9 127.0.0.1 {port}\n"), 1),
        (format!("allow * * * * CONNECT\nudppm 9 127.0.0.1 {port}\n"), 3),
        (format!("allow *\nparent 1000 connect 127.0.0.1 1\nudppm 9 127.0.0.1 {port}\n"), 70),
        (format!("allow *\nparent 1000 socks5b 127.0.0.1 1\nudppm 9 127.0.0.1 {port}\n"), 70),
        (
            format!(
                "allow *\nparent 1000 socks5 127.0.0.1 1\nparent 1000 socks5 127.0.0.1 1\nudppm 9 127.0.0.1 {port}\n"
            ),
            70,
        ),
        (format!("allow *\nparent 1000 socks5 127.0.0.1 {closed}\nudppm 9 127.0.0.1 {port}\n"), 13),
        (format!("allow *\nparent 1000 extip 192.0.2.200 0\nudppm 9 127.0.0.1 {port}\n"), 12),
        (format!("allow *\nudppm 9 127.0.0.1 {}\n", address(&listener).port()), 519),
        (
            format!(
                "nserver 127.0.0.1\nnscache 512\nnsrecord a.test 0.0.0.0\nallow *\nudppm 9 a.test {port}\n"
            ),
            100,
        ),
    ] {
        let mut session = session(&config, address(&client), &listener);
        let place = Flows::default().begin(&listener, address(&client), b"x", None, 10);
        assert_eq!(exchange(&place.flow(), &mut session).await, code, "{config}");
        assert!(place.flow().sent().is_none(), "{config}");
    }
    assert!(target.try_recv(&mut [0]).is_err());
}

#[tokio::test]
async fn limits_drop_what_does_not_fit_in_both_directions() {
    for (limit, up, down) in [
        ("bandlimout 800 *\n", 4, 20),
        ("bandlimin 800 *\n", 20, 4),
        ("countout 0 N 1 *\ncountin 0 N 1 *\n", 20, 20),
    ] {
        let (listener, client, target) = (socket().await, socket().await, socket().await);
        let port = address(&target).port();
        let config = format!("timeouts 1 5 30 1\n{limit}allow *\nudppm 9 127.0.0.1 {port}\n");
        let mut session = session(&config, address(&client), &listener);
        let flows = Flows::default();
        let place = flows.begin(&listener, address(&client), b"first", None, 10);
        let flow = place.flow();
        let talking = async {
            let (_, from) = received(&target).await;
            for _ in 0..20 {
                flows.pass(address(&client), &[b'x'; 60]);
                target.send_to(&[b'y'; 60], from).await.unwrap();
            }
        };
        let (ended, ()) = tokio::join!(exchange(&flow, &mut session), talking);
        assert_eq!(ended, 92);
        let (sent, got) = (flow.sent().unwrap().bytes - 5, session.record.from_server);
        assert!(sent <= up * 60 + 120 && got <= down * 60 + 120, "{limit}: {sent} {got}");
        assert!(up < 20 || sent == 1200, "{limit}: {sent}");
        assert!(down < 20 || got == 1200, "{limit}: {got}");
    }
}

#[tokio::test]
async fn a_connection_limit_refuses_a_flow() {
    let (listener, target) = (socket().await, socket().await);
    let config = format!("connlim 1 0 *\nallow *\nudppm 9 127.0.0.1 {}\n", address(&target).port());
    let snapshot = snapshot(&config);
    let flows = Flows::default();
    let begin = |port: u16| {
        let client = SocketAddr::from(([127, 0, 0, 1], port));
        let session = Session::new(
            Arc::clone(&snapshot),
            Arc::clone(&snapshot.services[0]),
            client,
            address(&listener),
        );
        tokio::spawn(serve(flows.begin(&listener, client, &[port as u8], None, 10), Box::new(session)))
    };
    let first = begin(1);
    assert_eq!(received(&target).await.0, [1]);
    begin(2).await.unwrap();
    assert!(target.try_recv(&mut [0]).is_err());
    flows.end();
    first.await.unwrap();
    let _third = begin(3);
    assert_eq!(received(&target).await.0, [3], "the place was given back");
}
