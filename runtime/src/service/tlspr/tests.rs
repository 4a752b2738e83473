//! `tlspr` between real TLS clients and servers.
use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    thread,
};

use openssl::{
    asn1::Asn1Time,
    ec::{EcGroup, EcKey},
    hash::MessageDigest,
    nid::Nid,
    pkey::{PKey, Private},
    ssl::{SslAcceptor, SslConnector, SslMethod, SslVerifyMode, SslVersion},
    x509::{X509, X509Name},
};

use crate::service::tests::{echo, service, talk};

/// A certificate that says nothing, and its key.
fn certificate() -> (X509, PKey<Private>) {
    let group = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1).unwrap();
    let key = PKey::from_ec_key(EcKey::generate(&group).unwrap()).unwrap();
    let mut name = X509Name::builder().unwrap();
    name.append_entry_by_text("CN", "test").unwrap();
    let name = name.build();
    let mut certificate = X509::builder().unwrap();
    certificate.set_version(2).unwrap();
    certificate.set_subject_name(&name).unwrap();
    certificate.set_issuer_name(&name).unwrap();
    certificate.set_not_before(&Asn1Time::days_from_now(0).unwrap()).unwrap();
    certificate.set_not_after(&Asn1Time::days_from_now(1).unwrap()).unwrap();
    certificate.set_pubkey(&key).unwrap();
    certificate.sign(&key, MessageDigest::sha256()).unwrap();
    (certificate.build(), key)
}

/// A server that greets who gets through, and asks for a certificate if it is told to.
fn tls_server(asks: bool) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut acceptor = SslAcceptor::mozilla_intermediate_v5(SslMethod::tls_server()).unwrap();
    let (certificate, key) = certificate();
    acceptor.set_certificate(&certificate).unwrap();
    acceptor.set_private_key(&key).unwrap();
    if asks {
        acceptor.set_verify_callback(SslVerifyMode::PEER, |_, _| true);
    }
    let acceptor = acceptor.build();
    thread::spawn(move || {
        for stream in listener.incoming() {
            if let Ok(mut stream) = acceptor.accept(stream.unwrap()) {
                let _ = stream.write_all(b"hello");
                let _ = stream.shutdown();
            }
        }
    });
    address
}

/// What a client of at most this version hears that asks for `host`, with a certificate of its own or without.
fn tls_client(service: SocketAddr, host: &str, version: SslVersion, shows: bool) -> Option<Vec<u8>> {
    let mut connector = SslConnector::builder(SslMethod::tls_client()).unwrap();
    connector.set_verify(SslVerifyMode::NONE);
    connector.set_max_proto_version(Some(version)).unwrap();
    if shows {
        let (certificate, key) = certificate();
        connector.set_certificate(&certificate).unwrap();
        connector.set_private_key(&key).unwrap();
    }
    let configured = connector.build().configure().unwrap().verify_hostname(false);
    let stream = TcpStream::connect(service).unwrap();
    let mut stream = configured.connect(host, stream).ok()?;
    let mut heard = Vec::new();
    stream.read_to_end(&mut heard).ok()?;
    Some(heard)
}

fn config(rules: &str, options: &str, port: u16) -> String {
    let names =
        "nserver 127.0.0.1:9\nnscache 512\nnsrecord www.example.com 127.0.0.1\nnsrecord bad.test 127.0.0.1\n";
    format!("{names}{rules}tlspr -P{port} {options}\n")
}

async fn client(service: SocketAddr, host: &'static str, version: SslVersion, shows: bool) -> bool {
    let heard = tokio::task::spawn_blocking(move || tls_client(service, host, version, shows)).await.unwrap();
    assert!(heard.as_deref().is_none_or(|heard| heard == b"hello"), "{heard:?}");
    heard.is_some()
}

#[tokio::test]
async fn tls_goes_to_the_host_that_the_client_names_if_the_list_lets_it() {
    let server = tls_server(false);
    let service =
        service(&config("deny * * bad.test\nallow * * *.example.com,127.0.0.1\n", "", server.port())).await;
    for (host, expected) in [
        ("www.example.com", true),
        ("WWW.Example.COM", true),
        ("bad.test", false),
        ("other.test", false),
        // A client sends no name for an address.
        ("127.0.0.1", false),
    ] {
        assert_eq!(client(service, host, SslVersion::TLS1_3, false).await, expected, "{host}");
    }
}

#[tokio::test]
async fn each_level_wants_to_see_more_of_the_handshake() {
    use SslVersion as V;
    let (plain, asking) = (tls_server(false), tls_server(true));
    for (level, server, version, shows, expected) in [
        ("-c1", plain, V::TLS1_3, false, true),
        ("-c2", plain, V::TLS1_3, false, true),
        ("-c2", plain, V::TLS1_2, false, true),
        ("-c3", plain, V::TLS1_2, false, true),
        // Certificates can't be seen.
        ("-c3", plain, V::TLS1_3, false, false),
        ("-c4", plain, V::TLS1_2, true, false),
        ("-c4", asking, V::TLS1_2, false, false),
        ("-c4", asking, V::TLS1_2, true, true),
    ] {
        let service = service(&config("allow *\n", level, server.port())).await;
        let passed = client(service, "www.example.com", version, shows).await;
        assert_eq!(passed, expected, "{level} {version:?} {shows}");
    }
}

#[tokio::test]
async fn what_is_not_tls_on_either_side_goes_nowhere() {
    let echo = echo().await;
    for level in ["", "-c", "-c2"] {
        let service = service(&config("allow *\n", level, echo.port())).await;
        for bytes in [&b"GET / HTTP/1.0\r\n\r\n"[..], b"", b"\x16", b"\x16\x03\x01\0\x05\x01\0\0\x01\0"] {
            assert_eq!(talk(service, bytes).await, b"", "{level} {bytes:?}");
        }
    }
    // An echo of the client's hello is no server's hello.
    let service = service(&config("allow *\n", "-c2", echo.port())).await;
    assert!(!client(service, "www.example.com", SslVersion::TLS1_2, false).await);
}
