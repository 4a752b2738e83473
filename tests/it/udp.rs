//! Datagrams by the built command: `udppm`, and SOCKS5 UDP ASSOCIATE directly and through a parent.
use std::net::{IpAddr, UdpSocket};

use crate::support::{
    cfgc::Cfgc,
    udp::{Association, Echo, comes_free, datagram, received, socket},
};

const MEGABYTE: usize = 1024 * 1024;
/// A record of each session: its kind, code, and bytes from the client and from the server.
const LOG: &str = "log\nlogformat \"G@@%N|%E|%O|%I|%n\"\n";

/// A `socks` service with these lines before it. `-U2`: an association has one record, at its end.
fn socks(lines: &str) -> String {
    format!("{LOG}{lines}socks -i127.0.0.1 -p@socks -U2\n")
}

#[track_caller]
fn associated(cfgc: &Cfgc) -> Association {
    Association::open(cfgc.at("socks"), None).unwrap()
}

#[test]
fn a_mapper_keeps_the_answers_of_its_clients_apart() {
    let echo = Echo::at("127.0.0.1");
    let map = format!(
        "auth iponly\nallow * 127.0.0.1\nudppm -i127.0.0.1 @map 127.0.0.1 {}\n",
        echo.address().port()
    );
    let cfgc = Cfgc::run(&map);
    let clients = [socket("127.0.0.1"), socket("127.0.0.1")];
    for round in 0..3 {
        for (number, client) in clients.iter().enumerate() {
            client.send_to(format!("{number} {round}").as_bytes(), cfgc.at("map")).unwrap();
        }
        for (number, client) in clients.iter().enumerate() {
            assert_eq!(received(client), (format!("{number} {round}").into_bytes(), cfgc.at("map")));
        }
    }
    let denied = socket("127.0.0.2");
    denied.send_to(b"denied", cfgc.at("map")).unwrap();
    clients[0].send_to(b"allowed", cfgc.at("map")).unwrap();
    assert_eq!(received(&clients[0]).0, b"allowed");
    let seen = echo.seen();
    let mut sources: Vec<_> = seen.iter().map(|(from, _)| from).collect();
    sources.sort_unstable();
    sources.dedup();
    assert_eq!((seen.len(), sources.len()), (7, 2), "each client has a socket of its own: {seen:?}");
}

#[test]
fn an_association_reaches_what_is_allowed_and_ends_with_its_connection() {
    let (echo, other, denied) = (Echo::at("127.0.0.1"), Echo::at("127.0.0.1"), Echo::at("127.0.0.2"));
    let cfgc = Cfgc::run(&socks("auth iponly\ndeny * * 127.0.0.2\nallow *\n"));
    let association = associated(&cfgc);
    association.echoes(echo.address(), b"one");
    association.send(denied.address(), b"never");
    association.echoes(other.address(), b"another");
    association.echoes(echo.address(), &[7; 60_000]);
    assert_eq!(denied.bytes(), 0);
    let relay = association.relay();
    let client = association.hang_up();
    cfgc.stdout.wait_for("of its end", |line| line.starts_with("@@SOCK5|00000|"));
    client.send_to(&datagram(echo.address(), b"late"), relay).unwrap();
    comes_free(relay);
    assert_eq!(echo.bytes(), 60_003);

    let ended = associated(&cfgc);
    ended.echoes(echo.address(), b"two");
    cfgc.signal("TERM");
    ended.ends();
}

#[test]
fn a_parent_is_the_way_out_for_datagrams_too() {
    let (echo, denied) = (Echo::at("127.0.0.1"), Echo::at("127.0.0.2"));
    let cfgc = Cfgc::run(&socks(
        "users hop:CL:hop-secret\nauth strong\nallow hop\nsocks -i127.0.0.1 -p@back -e127.0.0.9 -U2\nflush\n\
         auth iponly\ndeny * * 127.0.0.2\nallow *\nparent 1000 socks5 127.0.0.1 @back hop hop-secret\n",
    ));
    let association = associated(&cfgc);
    association.echoes(echo.address(), b"one");
    association.send(denied.address(), b"never");
    association.echoes(echo.address(), b"two");
    let from: Vec<_> = echo.seen().iter().map(|(from, _)| from.ip()).collect();
    assert_eq!(from, ["127.0.0.9".parse::<IpAddr>().unwrap(); 2]);
    assert_eq!(denied.bytes(), 0);
    drop(association);
    // The parent's session has ended with it.
    cfgc.stdout.wait_until("of both ends", |lines| {
        lines.iter().filter(|line| line.starts_with("@@SOCK5|00000|")).count() == 2
    });
}

#[test]
fn a_parent_that_refuses_leaves_no_way_past_it() {
    let echo = Echo::at("127.0.0.1");
    let cfgc = Cfgc::run(&socks(
        "auth iponly\ndeny *\nsocks -i127.0.0.1 -p@back\nflush\n\
         allow *\nparent 1000 socks5 127.0.0.1 @back\n",
    ));
    let association = associated(&cfgc);
    association.send(echo.address(), b"never");
    cfgc.stdout.wait_for("of the refusal", |line| line.contains("|00001|"));
    association.send(echo.address(), b"never");
    drop(association);
    cfgc.stdout.wait_for("of the end", |line| line.contains("SOCK5|00000|"));
    assert_eq!(echo.bytes(), 0);
}

#[test]
fn an_association_holds_its_place_of_a_connlim_until_it_ends() {
    let echo = Echo::at("127.0.0.1");
    let cfgc = Cfgc::run(&socks("connlim 1 0 *\nauth iponly\nallow *\n"));
    for round in 1..=2 {
        let told = |code| panic!("round {round}: refused with {code}: {:?}", cfgc.stdout.so_far());
        let first = Association::open(cfgc.at("socks"), None).unwrap_or_else(told);
        first.echoes(echo.address(), b"one");
        assert!(Association::open(cfgc.at("socks"), None).is_err());
        first.echoes(echo.address(), b"goes on");
        drop(first);
        // That the service accepts clients has a record as well, which names no version of SOCKS.
        let is_end = |line: &&String| line.contains("SOCK5|00000|");
        let ended = |lines: &[String]| lines.iter().filter(is_end).count() == round;
        cfgc.stdout.wait_until("of its end", ended);
    }
}

#[test]
fn what_is_too_fast_is_dropped_and_what_comes_later_passes() {
    /// A hundred datagrams, of which one second has room for ten.
    const BURST: usize = 100;
    for limit in ["bandlimout 80000 *\n", "bandlimin 80000 *\n"] {
        let echo = Echo::at("127.0.0.1");
        let cfgc = Cfgc::run(&socks(&format!("{limit}auth iponly\nallow *\n")));
        let association = associated(&cfgc);
        association.echoes(echo.address(), b"first");
        for _ in 0..BURST {
            association.send(echo.address(), &[7; 1000]);
        }
        let passed = association.insists(echo.address(), b"last") / 1000;
        assert!(passed < BURST, "{limit}: all of it came back");
    }
}

#[test]
fn a_quota_ends_what_goes_one_way_and_refuses_new_associations() {
    let echo = Echo::at("127.0.0.1");
    let cfgc = Cfgc::run(&socks("countout 0 N 1 *\nauth iponly\nallow *\n"));
    let association = associated(&cfgc);
    let mut left = MEGABYTE;
    while left > 0 {
        let part = vec![7; left.min(60_000)];
        association.echoes(echo.address(), &part);
        left -= part.len();
    }
    association.send(echo.address(), b"more");
    assert!(Association::open(cfgc.at("socks"), None).is_err(), "nothing is left for others");
    drop(association);
    cfgc.stdout.wait_for("of its end", |line| line.contains("SOCK5|00000|"));
    assert_eq!(echo.bytes(), MEGABYTE);
}

#[test]
fn limits_are_those_of_the_first_destination() {
    let (free, counted) = (Echo::at("127.0.0.1"), Echo::at("127.0.0.2"));
    let cfgc = Cfgc::run(&socks("nocountout * * 127.0.0.1\ncountout 0 N 1 *\nauth iponly\nallow *\n"));
    for (first, is_counted) in [(&free, false), (&counted, true)] {
        let association = associated(&cfgc);
        association.echoes(first.address(), b"first");
        for _ in 0..MEGABYTE / 60_000 {
            association.echoes(counted.address(), &[7; 60_000]);
        }
        association.send(counted.address(), &[8; 60_000]);
        if !is_counted {
            assert_eq!(association.received().1.len(), 60_000);
        }
        // What is left of a quota has no room for that, but for this.
        association.echoes(free.address(), b"x");
    }
}

#[test]
fn a_reload_leaves_an_association_as_it_is() {
    let echo = Echo::at("127.0.0.1");
    let open = socks("auth iponly\nallow *\n");
    let shut = socks("auth iponly\ndeny *\n");
    let mut cfgc = Cfgc::run_with(&open, &["--no-watch"]);
    let association = associated(&cfgc);
    association.echoes(echo.address(), b"before");
    cfgc.rewrite(&shut);
    cfgc.reload();
    association.echoes(echo.address(), b"under the configuration that it began under");
    assert_eq!(Association::open(cfgc.at("socks"), None).err(), Some(2));
    cfgc.rewrite("auth iponly\nallow *\nproxy -i127.0.0.1 -p@other\n");
    cfgc.reload();
    association.echoes(echo.address(), b"its service is gone");
    assert!(std::net::TcpStream::connect(cfgc.at("socks")).is_err());
}

#[test]
fn a_reload_leaves_the_flows_of_a_mapper_and_ends_those_of_one_that_goes() {
    let (first, second) = (Echo::at("127.0.0.1"), Echo::at("127.0.0.2"));
    let map = |to: &Echo| {
        format!(
            "auth iponly\nallow *\nudppm -i127.0.0.1 @map {} {}\n",
            to.address().ip(),
            to.address().port()
        )
    };
    let mut cfgc = Cfgc::run_with(&map(&first), &["--no-watch"]);
    let [old, new] = [socket("127.0.0.1"), socket("127.0.0.1")];
    let echoed = |client: &UdpSocket, what: &[u8]| {
        client.send_to(what, cfgc.at("map")).unwrap();
        assert_eq!(received(client).0, what);
    };
    echoed(&old, b"one");
    let at = cfgc.at("map");
    cfgc.rewrite(&map(&second));
    cfgc.reload();
    let echoed = |client: &UdpSocket, what: &[u8]| {
        client.send_to(what, at).unwrap();
        assert_eq!(received(client).0, what);
    };
    echoed(&old, b"goes on to the first");
    echoed(&new, b"goes to the second");
    assert_eq!((first.seen().len(), second.seen().len()), (2, 1));
    cfgc.rewrite("auth iponly\nallow *\nproxy -i127.0.0.1 -p@other\n");
    cfgc.reload();
    comes_free(at);
}
