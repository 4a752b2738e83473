//! The built command between real clients and servers: each protocol, who may, which way out, what is logged.
use std::{
    io::Write,
    net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4},
};

use crate::support::{cfgc::Cfgc, client, server};

/// Open to this host, on this host.
const OPEN: &str = "auth iponly\nallow * 127.0.0.0/8\n";

fn v4(address: SocketAddr) -> SocketAddrV4 {
    SocketAddrV4::new(Ipv4Addr::LOCALHOST, address.port())
}

#[test]
fn http_requests_reach_the_origin() {
    let (cfgc, origin) = (Cfgc::run(&format!("{OPEN}proxy -i127.0.0.1 -p@http\n")), server::http());
    let answer = client::http_get(cfgc.at("http"), &format!("http://{}/path?query", origin.address()), None);
    assert_eq!((answer.status, answer.body.as_str()), (200, "GET /path?query HTTP/1.1"));
}

#[test]
fn a_kept_connection_serves_several_origins() {
    let (cfgc, first, second) =
        (Cfgc::run(&format!("{OPEN}proxy -i127.0.0.1 -p@http\n")), server::http(), server::http());
    let mut stream = cfgc.connect("http");
    for (origin, path) in [(&first, "/a"), (&second, "/b"), (&first, "/c")] {
        let host = origin.address();
        write!(stream, "GET http://{host}{path} HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
        let answer = client::answer(&mut stream).unwrap().unwrap();
        assert_eq!((answer.status, answer.body), (200, format!("GET {path} HTTP/1.1")));
    }
    assert_eq!((first.seen().len(), second.seen().len()), (2, 1));
}

#[test]
fn connect_opens_a_tunnel() {
    let (cfgc, echo) = (Cfgc::run(&format!("{OPEN}proxy -i127.0.0.1 -p@http\n")), server::echo());
    let mut tunnel = client::http_connect(cfgc.at("http"), &echo.address().to_string(), None).unwrap();
    client::echoes(&mut tunnel);
}

#[test]
fn socks_opens_a_tunnel_in_each_version() {
    let (cfgc, echo) = (Cfgc::run(&format!("{OPEN}socks -i127.0.0.1 -p@socks\n")), server::echo());
    let (at, port) = (cfgc.at("socks"), echo.port());
    client::echoes(&mut client::socks4(at, v4(echo.address()), "").unwrap());
    client::echoes(&mut client::socks4a(at, "localhost", port, "somebody").unwrap());
    client::echoes(&mut client::socks5(at, "127.0.0.1", port, None).unwrap());
    client::echoes(&mut client::socks5(at, "localhost", port, None).unwrap());
}

#[test]
fn a_port_mapper_leads_to_its_target() {
    let echo = server::echo();
    let cfgc = Cfgc::run(&format!("{OPEN}tcppm -i127.0.0.1 @map 127.0.0.1 {}\n", echo.port()));
    client::echoes(&mut cfgc.connect("map"));
}

#[test]
fn half_a_connection_may_close_first() {
    let echo = server::echo();
    let cfgc = Cfgc::run(&format!("{OPEN}tcppm -i127.0.0.1 @map 127.0.0.1 {}\n", echo.port()));
    // The echo server answers what it got before it sees the end.
    assert_eq!(client::send_and_close(cfgc.at("map"), b"all that I have to say"), b"all that I have to say");
}

#[test]
fn passwords_decide_who_may() {
    let (origin, echo) = (server::http(), server::echo());
    let cfgc = Cfgc::run(
        "users alice:CL:correct bob:CL:other\nauth strong\nallow alice\nproxy -i127.0.0.1 -p@http\nsocks -i127.0.0.1 -p@socks\n",
    );
    let url = format!("http://{}/", origin.address());
    for (login, status) in [
        (Some(("alice", "correct")), 200),
        (Some(("alice", "wrong")), 407),
        (Some(("nobody", "correct")), 407),
        // Known, but no entry admits him: the implicit end of the list.
        (Some(("bob", "other")), 407),
        (None, 407),
    ] {
        let answer = client::http_get(cfgc.at("http"), &url, login);
        assert_eq!(answer.status, status, "{login:?}");
        assert_eq!(
            answer.head.to_lowercase().contains("proxy-authenticate: basic"),
            status == 407,
            "{login:?}"
        );
        match client::socks5(cfgc.at("socks"), "127.0.0.1", echo.port(), login) {
            Ok(mut tunnel) => {
                assert_eq!(status, 200, "{login:?}");
                client::echoes(&mut tunnel);
            }
            Err(code) => assert_eq!((status, code), (407, 2), "{login:?}"),
        }
    }
    assert_eq!(origin.seen().len(), 1, "only the one that may reached the origin");
}

#[test]
fn the_access_list_answers_in_each_protocol() {
    let (shut, open) = (server::echo(), server::http());
    let cfgc = Cfgc::run(&format!(
        "auth iponly\ndeny * * * {}\nallow * 127.0.0.0/8\nproxy -i127.0.0.1 -p@http\nsocks -i127.0.0.1 -p@socks\n",
        shut.port()
    ));
    let (http, socks) = (cfgc.at("http"), cfgc.at("socks"));
    assert_eq!(client::http_get(http, &format!("http://{}/", shut.address()), None).status, 403);
    assert_eq!(client::http_connect(http, &shut.address().to_string(), None).unwrap_err().status, 403);
    assert_eq!(client::socks4(socks, v4(shut.address()), "").unwrap_err(), 91);
    assert_eq!(client::socks4a(socks, "localhost", shut.port(), "").unwrap_err(), 91);
    assert_eq!(client::socks5(socks, "127.0.0.1", shut.port(), None).unwrap_err(), 2);
    assert_eq!(client::http_get(http, &format!("http://{}/", open.address()), None).status, 200);
    assert!(shut.peers().is_empty(), "a denied request connects nowhere");
}

#[test]
fn a_parent_is_the_way_out() {
    let echo = server::echo();
    let (back_address, password) = ("127.0.0.9", "hop-secret");
    for (kind, service) in [("connect", "proxy"), ("socks5", "socks"), ("socks5+", "socks")] {
        let cfgc = Cfgc::run(&format!(
            "users hop:CL:{password}\n\
             auth strong\nallow hop 127.0.0.0/8\n{service} -i127.0.0.1 -p@back -e{back_address}\nflush\n\
             auth iponly\nallow * 127.0.0.0/8\nparent 1000 {kind} 127.0.0.1 @back hop {password}\n\
             proxy -i127.0.0.1 -p@http\nsocks -i127.0.0.1 -p@socks\n"
        ));
        let before = echo.peers().len();
        client::echoes(&mut client::socks5(cfgc.at("socks"), "127.0.0.1", echo.port(), None).unwrap());
        client::echoes(
            &mut client::http_connect(cfgc.at("http"), &format!("localhost:{}", echo.port()), None).unwrap(),
        );
        let expected: IpAddr = back_address.parse().unwrap();
        assert_eq!(echo.peers()[before..], [expected, expected], "by `{kind}`");
    }
}

#[test]
fn an_http_parent_gets_whole_urls_and_its_credentials() {
    let origin = server::http();
    let cfgc = Cfgc::run(
        "users hop:CL:hop-secret\n\
         auth strong\nallow hop 127.0.0.0/8\nproxy -i127.0.0.1 -p@back -e127.0.0.9\nflush\n\
         auth iponly\nallow * 127.0.0.0/8\nparent 1000 http 127.0.0.1 @back hop hop-secret\nproxy -i127.0.0.1 -p@http\n",
    );
    assert_eq!(
        client::http_get(cfgc.at("http"), &format!("http://{}/x", origin.address()), None).status,
        200
    );
    assert_eq!(origin.peers(), ["127.0.0.9".parse::<IpAddr>().unwrap()]);
    assert!(!origin.seen()[0].to_lowercase().contains("proxy-authorization"), "{}", origin.seen()[0]);
}

#[test]
fn extip_chooses_the_source_address_by_user() {
    let echo = server::echo();
    let cfgc = Cfgc::run(
        "users a:CL:pw-of-a b:CL:pw-of-b\nauth strong\n\
         allow a\nparent 1000 extip 127.0.0.7 0\nallow b\nparent 1000 extip 127.0.0.8 0\nsocks -i127.0.0.1 -p@socks\n",
    );
    for (login, source) in
        [(("a", "pw-of-a"), "127.0.0.7"), (("b", "pw-of-b"), "127.0.0.8"), (("a", "pw-of-a"), "127.0.0.7")]
    {
        client::echoes(&mut client::socks5(cfgc.at("socks"), "127.0.0.1", echo.port(), Some(login)).unwrap());
        assert_eq!(echo.peers().last(), Some(&source.parse().unwrap()));
    }
}

#[test]
fn above_maxconn_clients_wait_for_their_turn() {
    let echo = server::echo();
    let cfgc = Cfgc::run(&format!("{OPEN}maxconn 2\ntcppm -i127.0.0.1 @map 127.0.0.1 {}\n", echo.port()));
    let mut served: Vec<_> = (0..2).map(|_| cfgc.connect("map")).collect();
    served.iter_mut().for_each(client::echoes);
    let mut waiting = cfgc.connect("map");
    assert_eq!(echo.peers().len(), 2, "the third is not connected while two are");
    served.pop();
    client::echoes(&mut waiting);
    client::echoes(&mut served[0]);
}

#[test]
fn the_log_tells_who_what_and_how_much() {
    let echo = server::echo();
    let cfgc = Cfgc::run(
        "log\nlogformat \"G@@%N|%E|%U|%C|%q|%O|%I\"\nusers alice:CL:correct\nauth strong\nallow alice\nsocks -i127.0.0.1 -p@socks\n",
    );
    client::echoes(
        &mut client::socks5(cfgc.at("socks"), "127.0.0.1", echo.port(), Some(("alice", "correct"))).unwrap(),
    );
    let record = cfgc.stdout.wait_for("of the tunnel", |line| line.contains("|alice|"));
    assert_eq!(record, format!("@@SOCK5|00000|alice|127.0.0.1|{}|9|9", echo.port()));
    assert!(client::socks5(cfgc.at("socks"), "127.0.0.1", echo.port(), Some(("alice", "wrong"))).is_err());
    let refused = cfgc.stdout.wait_for("of the refusal", |line| line.contains("|00006|"));
    assert!(!refused.contains("wrong"), "{refused}");
}
