//! What a reload leaves behind, as seen from inside the process.
use std::{
    net::TcpListener,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpStream, UdpSocket},
    time::timeout,
};

use super::{Config, Levels, Proxy, ReloadError};
use crate::event::{Event, Events};

fn config(folder: &Path, text: &str) -> Config {
    let path = folder.join("3proxy.cfg");
    std::fs::write(&path, text).unwrap();
    Config { path, levels: Levels::new(|findings| findings.into_iter().filter(|f| f.refused).collect()) }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

async fn start(folder: &Path, text: &str) -> Proxy {
    Proxy::start(config(folder, text), Events::new(|event| panic!("{event}"))).await.unwrap().0
}

/// A socket that a client of a UDP service, or its target, has.
async fn udp() -> (UdpSocket, u16) {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let port = socket.local_addr().unwrap().port();
    (socket, port)
}

/// Sends a datagram to a service, and says what arrives at its target.
async fn sent(client: &UdpSocket, service: u16, bytes: &[u8], target: &UdpSocket) -> Vec<u8> {
    client.send_to(bytes, ("127.0.0.1", service)).await.unwrap();
    let mut buffer = [0; 100];
    let received = timeout(Duration::from_secs(20), target.recv(&mut buffer)).await;
    buffer[..received.expect("a datagram arrives").unwrap()].into()
}

#[tokio::test]
async fn a_udp_client_stays_under_its_configuration_and_the_socket_stays_open() {
    let folder = tempfile::tempdir().unwrap();
    let service = udp().await.1;
    let ((old, old_port), (new, new_port)) = (udp().await, udp().await);
    let text = |target: u16| {
        format!("internal 127.0.0.1\nauth iponly\nallow *\nmaxconn 2\nudppm {service} 127.0.0.1 {target}\n")
    };
    let proxy = start(folder.path(), &text(old_port)).await;
    let (first, second) = (udp().await.0, udp().await.0);
    assert_eq!(sent(&first, service, b"1", &old).await, b"1");
    config(folder.path(), &text(new_port));
    let applied = proxy.reload().await.unwrap();
    assert_eq!((applied.opened.len(), applied.kept, applied.closed), (0, 1, 0));
    assert_eq!(sent(&first, service, b"2", &old).await, b"2");
    assert_eq!(sent(&second, service, b"3", &new).await, b"3");
    assert_eq!(proxy.sessions(), 2);

    // Without its service a client can't be heard: its session ends, and the port is free.
    config(folder.path(), &format!("internal 127.0.0.1\nauth iponly\nallow *\nsocks -p{}\n", free_port()));
    let applied = proxy.reload().await.unwrap();
    assert_eq!((applied.opened.len(), applied.kept, applied.closed), (1, 0, 1));
    assert_eq!(proxy.sessions(), 0);
    drop(UdpSocket::bind(("127.0.0.1", service)).await.unwrap());
}

#[tokio::test]
async fn the_client_that_was_silent_for_longest_makes_room_and_that_is_told_once() {
    let folder = tempfile::tempdir().unwrap();
    let service = udp().await.1;
    let (target, target_port) = udp().await;
    let text = format!(
        "internal 127.0.0.1\nauth iponly\nallow *\nmaxconn 3\nudppm {service} 127.0.0.1 {target_port}\n"
    );
    let told = Arc::new(AtomicUsize::new(0));
    let events = Events::new({
        let told = Arc::clone(&told);
        move |event| {
            assert!(matches!(event, Event::Crowded { limit: 3, .. }), "{event}");
            told.fetch_add(1, Ordering::Relaxed);
        }
    });
    let (proxy, _) = Proxy::start(config(folder.path(), &text), events).await.unwrap();
    for number in 0..20_u8 {
        let client = udp().await.0;
        assert_eq!(sent(&client, service, &[number], &target).await, [number]);
    }
    // Those who made room end soon.
    timeout(Duration::from_secs(20), async {
        while proxy.sessions() > 3 {
            tokio::task::yield_now().await;
        }
    })
    .await
    .unwrap();
    assert_eq!(told.load(Ordering::Relaxed), 1);
    proxy.drain().await;
}

#[tokio::test]
async fn at_the_end_associations_do_not_keep_the_process_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let (port, service) = (free_port(), udp().await.1);
    let (target, target_port) = udp().await;
    let text = format!(
        "internal 127.0.0.1\nauth iponly\nallow *\nsocks -p{port}\nudppm {service} 127.0.0.1 {target_port}\n"
    );
    let proxy = start(folder.path(), &text).await;
    let mut control = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    control.write_all(b"\x05\x01\0\x05\x03\0\x01\0\0\0\0\0\0").await.unwrap();
    let mut reply = [0; 12];
    control.read_exact(&mut reply).await.unwrap();
    assert_eq!(reply[..4], *b"\x05\0\x05\0");
    sent(&udp().await.0, service, b"x", &target).await;
    assert_eq!(proxy.sessions(), 2);
    timeout(Duration::from_secs(20), proxy.drain()).await.expect("both end");
    assert_eq!(control.read(&mut reply).await.unwrap_or(0), 0);
}

#[tokio::test]
async fn a_configuration_that_is_gone_is_freed() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("internal 127.0.0.1\nauth iponly\nallow *\nsocks -p{}\n", free_port());
    let proxy = start(folder.path(), &text).await;
    for generation in 2..5 {
        let before = Arc::downgrade(&proxy.running.current.load());
        assert_eq!(proxy.reload().await.unwrap().generation, generation);
        // Freed on another thread, soon: whoever waits a second for it has waited in vain.
        let mut waited = 0;
        while before.strong_count() > 0 {
            assert!(waited < 1000, "still held {} times", before.strong_count());
            tokio::time::sleep(Duration::from_millis(10)).await;
            waited += 1;
        }
    }
}

#[tokio::test]
async fn every_file_of_an_attempt_is_an_input_even_of_one_that_failed() {
    let folder = tempfile::tempdir().unwrap();
    let (list, users, gone) =
        (folder.path().join("list"), folder.path().join("users"), folder.path().join("gone"));
    std::fs::write(&list, "allow *\n").unwrap();
    std::fs::write(&users, "ann:CL:x").unwrap();
    let port = free_port();
    let good = format!("internal 127.0.0.1\nauth iponly\nallow *\nsocks -p{port}\n");
    let proxy = start(folder.path(), &good).await;
    let (l, u, g) = (list.display(), users.display(), gone.display());
    let bad = format!("monitor {g}\ninclude {l}\nusers ${u}\ninclude {g}\n{good}");
    let main = config(folder.path(), &bad).path;
    assert!(matches!(proxy.reload().await, Err(ReloadError::Refused(_))));
    let inputs = proxy.inputs().await;
    for path in [&main, &list, &users, &gone] {
        assert!(inputs.0.iter().any(|input| input.path == *path), "{path:?} is not in {inputs:?}");
    }
    assert!(!inputs.differ());
    std::fs::write(gone, "# here").unwrap();
    assert!(inputs.differ());
}

#[tokio::test]
async fn a_failed_reload_leaves_no_socket_behind() {
    let folder = tempfile::tempdir().unwrap();
    let (port, other) = (free_port(), free_port());
    let good = format!("internal 127.0.0.1\nauth iponly\nallow *\nsocks -p{port}\n");
    let proxy = start(folder.path(), &good).await;
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap();
    config(folder.path(), &format!("{good}socks -p{other}\nsocks -p{}\n", taken.port()));
    let failed = proxy.reload().await;
    assert!(matches!(failed, Err(ReloadError::Listen { address, .. }) if address == taken), "{failed:?}");
    drop(TcpListener::bind(("127.0.0.1", other)).unwrap());
    assert_eq!(proxy.running.current.load().generation, 1);
    config(folder.path(), &good);
    let applied = proxy.reload().await.unwrap();
    assert_eq!((applied.generation, applied.opened.len(), applied.kept, applied.closed), (2, 0, 1, 0));
}

#[tokio::test]
async fn a_socket_for_datagrams_goes_on_beside_one_for_connections_and_nobody_else_gets_in() {
    let folder = tempfile::tempdir().unwrap();
    let port = free_port();
    let socks = format!("internal 127.0.0.1\nauth iponly\nallow *\nsocks -p{port}\n");
    let text = |address: &str| {
        format!("nserver 127.0.0.1:9\nnscache 512\nnsrecord a.test {address}\n{socks}dnspr -p{port}\n")
    };
    let proxy = start(folder.path(), &text("127.0.0.5")).await;
    let client = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    client.connect(("127.0.0.1", port)).await.unwrap();
    let last_byte = async || {
        client.send(b"\x01\x02\x01\0\0\x01\0\0\0\0\0\0\x01a\x04test\0\0\x01\0\x01").await.unwrap();
        let mut reply = [0; 512];
        let length = tokio::time::timeout(Duration::from_secs(20), client.recv(&mut reply)).await;
        reply[length.unwrap().unwrap() - 1]
    };
    assert_eq!(last_byte().await, 5);
    config(folder.path(), &text("127.0.0.6"));
    let applied = proxy.reload().await.unwrap();
    assert_eq!((applied.opened.len(), applied.kept, applied.closed), (0, 2, 0));
    assert_eq!(last_byte().await, 6);
    assert!(
        std::net::UdpSocket::bind(("127.0.0.1", port)).is_err(),
        "another process could take the datagrams"
    );
    config(folder.path(), &socks);
    let applied = proxy.reload().await.unwrap();
    assert_eq!((applied.opened.len(), applied.kept, applied.closed), (0, 1, 1));
    // Answers that are under way hold the socket.
    proxy.running.idle().await;
    drop(std::net::UdpSocket::bind(("127.0.0.1", port)).unwrap());
}

#[tokio::test]
async fn names_where_an_address_is_wanted_are_resolved_when_the_file_is_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let names = "nserver 127.0.0.1:9\nnscache 512\nnsrecord Out.test 127.0.0.5\n";
    let text = |external: &str| {
        format!("{names}internal 127.0.0.1\nexternal {external}\nallow *\nsocks -p{}\n", free_port())
    };
    let proxy = start(folder.path(), &text("out.Test")).await;
    let external = |proxy: &Proxy| proxy.running.current.load().services[0].settings.external.v4.value;
    assert_eq!(external(&proxy).to_string(), "127.0.0.5");
    config(folder.path(), &text("none.test"));
    let Err(ReloadError::Refused(compiled)) = proxy.reload().await else { panic!("not refused") };
    let messages: Vec<_> = compiled.findings.iter().map(|finding| &*finding.message).collect();
    assert_eq!(messages, ["`none.test` does not resolve"]);
    assert_eq!(external(&proxy).to_string(), "127.0.0.5");
}
