//! A relay between loopback sockets.
use std::{future::poll_fn, task::Poll, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::{Instant, advance, pause},
};

use super::{Direction, End, Limits, Relay, Relayed, relay};

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
    (client, server, tokio::spawn(async move { relay(&client_side, &server_side, limits).await }))
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
