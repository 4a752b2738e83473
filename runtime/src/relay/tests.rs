//! A relay between loopback sockets.
use std::{future::poll_fn, task::Poll, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::{Instant, advance, pause},
};

use compiler::program::acl::Operation;

use super::{Direction, End, Limits, Relay, Relayed, relay};
use crate::{
    session::Session,
    testing::{ask, session, snapshot},
};

const LIMITS: Limits = Limits { idle: Duration::from_secs(60), half_close: true };

async fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (outer, inner) = tokio::join!(TcpStream::connect(listener.local_addr().unwrap()), listener.accept());
    (outer.unwrap(), inner.unwrap().0)
}

/// The client's end, the server's end, and the relay between them.
async fn relayed(limits: Limits) -> (TcpStream, TcpStream, tokio::task::JoinHandle<Relayed>) {
    let (client, client_side) = pair().await;
    let (server, server_side) = pair().await;
    (client, server, tokio::spawn(async move { relay(&client_side, &server_side, limits, None).await }))
}

#[tokio::test]
async fn every_byte_arrives_in_both_directions_at_once_and_is_counted() {
    let (client, server, task) = relayed(LIMITS).await;
    let up: Vec<u8> = (0..3_000_000_u32).map(|n| (n % 251) as u8).collect();
    let down: Vec<u8> = (0..2_000_000_u32).map(|n| (n % 241) as u8).collect();
    let exchange = |socket: TcpStream, send: Vec<u8>| async move {
        let (mut reader, mut writer) = socket.into_split();
        let sending = tokio::spawn(async move {
            writer.write_all(&send).await.unwrap();
            writer.shutdown().await.unwrap();
        });
        let mut received = Vec::new();
        reader.read_to_end(&mut received).await.unwrap();
        sending.await.unwrap();
        received
    };
    let (at_client, at_server) = tokio::join!(exchange(client, down.clone()), exchange(server, up.clone()));
    assert!(at_client == up && at_server == down, "bytes were lost or changed");
    let done = task.await.unwrap();
    assert!(matches!(done.end, End::Closed), "{:?}", done.end);
    assert_eq!((done.from_client, done.from_server), (2_000_000, 3_000_000));
}

#[tokio::test]
async fn a_half_closed_connection_goes_on_in_the_other_direction() {
    let (mut client, mut server, task) = relayed(LIMITS).await;
    client.write_all(b"question").await.unwrap();
    client.shutdown().await.unwrap();
    let mut question = Vec::new();
    server.read_to_end(&mut question).await.unwrap();
    assert_eq!(question, b"question");
    server.write_all(b"answer").await.unwrap();
    drop(server);
    let mut answer = Vec::new();
    client.read_to_end(&mut answer).await.unwrap();
    assert_eq!(answer, b"answer");
    assert!(matches!(task.await.unwrap().end, End::Closed));
}

#[tokio::test]
async fn without_half_close_the_end_of_one_direction_is_the_end() {
    let (mut client, _server, task) = relayed(Limits { half_close: false, ..LIMITS }).await;
    client.write_all(b"bye").await.unwrap();
    client.shutdown().await.unwrap();
    let done = task.await.unwrap();
    assert!(matches!(done.end, End::Closed));
    assert_eq!(done.from_client, 3, "what was sent before the end is delivered");
}

#[tokio::test]
async fn silence_ends_a_relay_and_a_byte_puts_it_off() {
    pause();
    let (mut client, mut server, task) = relayed(LIMITS).await;
    let began = Instant::now();
    advance(Duration::from_secs(40)).await;
    client.write_all(b"x").await.unwrap();
    server.read_exact(&mut [0]).await.unwrap();
    let done = task.await.unwrap();
    assert!(matches!(done.end, End::Idle));
    assert!(began.elapsed() >= Duration::from_secs(100), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_reset_names_the_side_that_failed() {
    let (client, server, task) = relayed(LIMITS).await;
    socket2::SockRef::from(&server).set_linger(Some(Duration::ZERO)).unwrap();
    drop(server);
    assert!(matches!(task.await.unwrap().end, End::Server));
    drop(client);
}

#[tokio::test]
async fn an_idle_relay_holds_no_buffer() {
    let (mut client, client_side) = pair().await;
    let (mut server, server_side) = pair().await;
    let mut state = Relay {
        up: Direction::new(&client_side, &server_side),
        down: Direction::new(&server_side, &client_side),
        limits: LIMITS,
        active: Instant::now(),
        gates: None,
    };
    for upwards in [true, false] {
        let (from, to) = if upwards { (&mut client, &mut server) } else { (&mut server, &mut client) };
        from.write_all(b"some bytes").await.unwrap();
        let mut arrived = [0; 10];
        let mut arrives = Box::pin(to.read_exact(&mut arrived));
        poll_fn(|cx| {
            assert!(state.poll_both(cx).is_pending());
            arrives.as_mut().poll(cx)
        })
        .await
        .unwrap();
        drop(arrives);
        assert_eq!(&arrived, b"some bytes");
        poll_fn(|cx| {
            assert!(state.poll_both(cx).is_pending());
            Poll::Ready(())
        })
        .await;
        assert!(state.up.buffer.is_none() && state.down.buffer.is_none());
    }
}

/// What the bytes of a session with this limit are charged to.
async fn limited(limit: &str) -> Session {
    let snapshot = snapshot(&format!("{limit}\nallow *\nsocks\n"));
    let mut session = session(&snapshot, 0, "127.0.0.1");
    session.permit(&ask("", "127.0.0.1:80", Operation::Connect)).await.unwrap();
    assert!(session.charges().is_some(), "{limit}");
    session
}

#[tokio::test]
async fn a_bandwidth_holds_back_its_own_direction_and_loses_nothing() {
    for (limit, slow_up) in [("bandlimin 80000 *", false), ("bandlimout 80000 *", true)] {
        let session = limited(limit).await;
        let (client, client_side) = pair().await;
        let (server, server_side) = pair().await;
        let task =
            tokio::spawn(async move { relay(&client_side, &server_side, LIMITS, session.charges()).await });
        pause();
        for (upwards, (from, to)) in [(true, (&client, &server)), (false, (&server, &client))] {
            let began = Instant::now();
            let bytes: Vec<u8> = (0..30_000_u32).map(|n| (n % 251) as u8).collect();
            send_and_read(from, to, &bytes).await;
            // 10,000 bytes a second, but for the 1,000 that pass at once.
            let slow = began.elapsed() >= Duration::from_millis(2900);
            assert_eq!(slow, upwards == slow_up, "{limit}: {:?}", began.elapsed());
            assert!(began.elapsed() < Duration::from_secs(4), "{limit}: {:?}", began.elapsed());
        }
        tokio::time::resume();
        drop((client, server));
        let done = task.await.unwrap();
        assert_eq!((done.from_client, done.from_server), (30_000, 30_000));
    }
}

async fn send_and_read(from: &TcpStream, to: &TcpStream, bytes: &[u8]) {
    let mut received = vec![0; bytes.len()];
    let read = async {
        let mut at = 0;
        while at < received.len() {
            to.readable().await.unwrap();
            if let Ok(read) = to.try_read(&mut received[at..]) {
                assert!(read > 0);
                at += read;
            }
        }
    };
    let write = async {
        let mut at = 0;
        while at < bytes.len() {
            from.writable().await.unwrap();
            at += from.try_write(&bytes[at..]).unwrap_or(0);
        }
    };
    tokio::join!(write, read);
    assert!(received == bytes, "bytes were lost or changed");
}

#[tokio::test]
async fn a_session_that_waits_for_its_turn_holds_no_buffer_and_asks_no_more() {
    let session = limited("bandlimin 80000 *").await;
    let (_client, client_side) = pair().await;
    let (mut server, server_side) = pair().await;
    let mut state = Relay {
        up: Direction::new(&client_side, &server_side),
        down: Direction::new(&server_side, &client_side),
        limits: LIMITS,
        active: Instant::now(),
        gates: session.charges().map(|charges| Box::new(super::Gates::new(charges))),
    };
    server.write_all(&[7; 20_000]).await.unwrap();
    pause();
    let mut polls = 0;
    let waited = tokio::time::timeout(
        Duration::from_millis(1500),
        poll_fn(|cx| {
            polls += 1;
            assert!(state.poll_both(cx).is_pending());
            assert!(state.up.buffer.is_none() && state.down.buffer.is_none());
            Poll::<()>::Pending
        }),
    );
    waited.await.unwrap_err();
    // Sixteen portions of a tenth of a second, and each wakes once or twice.
    assert!((10..60).contains(&polls), "{polls} polls");
    assert!((14_000..=16_000).contains(&state.down.moved), "{} bytes", state.down.moved);
}

#[tokio::test]
async fn a_quota_ends_a_session_at_its_last_byte() {
    const MEGABYTE: usize = 1024 * 1024;
    for (limit, upwards) in
        [("countin 0 N 1 *", false), ("countout 0 N 1 *", true), ("countall 0 N 1 *", true)]
    {
        let session = limited(limit).await;
        let (client, client_side) = pair().await;
        let (server, server_side) = pair().await;
        let task = tokio::spawn(async move {
            let done = relay(&client_side, &server_side, LIMITS, session.charges()).await;
            (done, session.charges().unwrap().has_left())
        });
        let (from, to) = if upwards { (client, server) } else { (server, client) };
        let (_from_reader, mut from) = from.into_split();
        let (mut to, _to_writer) = to.into_split();
        let sent = tokio::spawn(async move {
            // It fails when the relay has ended.
            let _ = from.write_all(&vec![1; MEGABYTE + 5000]).await;
        });
        let mut received = Vec::new();
        // The end may come as a reset: bytes were on their way.
        let _ = to.read_to_end(&mut received).await;
        let (done, has_left) = task.await.unwrap();
        sent.await.unwrap();
        assert!(matches!(done.end, End::Limited), "{limit}: {:?}", done.end);
        assert_eq!(done.end.code(), 10);
        assert_eq!(done.from_client + done.from_server, MEGABYTE as u64, "{limit}");
        assert!(!has_left, "{limit}");
    }
}
