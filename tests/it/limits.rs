//! What limits have counted, over reloads and restarts of the built command. What they do to requests is in the golden cases.
use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::Path,
};

use crate::support::{cfgc::Cfgc, client, server};

const MEGABYTE: u64 = 1024 * 1024;

/// A port mapper to an echo server, with one quota of a megabyte in each direction together.
fn config(counters: &Path, number: u32, echo: u16) -> String {
    format!(
        "counter {}\ncountall {number} N 1 *\nauth iponly\nallow * 127.0.0.0/8\ntcppm -i127.0.0.1 @map 127.0.0.1 {echo}\n",
        counters.display()
    )
}

/// Bytes that a counter file has for a number.
fn counted(counters: &Path, number: usize) -> u64 {
    let bytes = fs::read(counters).unwrap();
    u64::from_le_bytes(bytes[16 + 24 * (number - 1)..][..8].try_into().unwrap())
}

/// Has so many bytes echoed. False: the connection ends before.
fn echo(stream: &mut TcpStream, mut bytes: usize) -> bool {
    while bytes > 0 {
        let mut part = vec![7; bytes.min(10_000)];
        bytes -= part.len();
        if stream.write_all(&part).and_then(|()| stream.read_exact(&mut part)).is_err() {
            return false;
        }
    }
    true
}

#[test]
fn a_quota_is_used_up_over_reloads_and_restarts() {
    let (folder, target) = (tempfile::tempdir().unwrap(), server::echo());
    let counters = folder.path().join("counters");
    let mut first = Cfgc::run(&config(&counters, 2, target.port()));
    let mut held = first.connect("map");
    assert!(echo(&mut held, 200_000));
    // What was counted is written when a configuration goes, and goes on in the next one.
    first.rewrite(&format!("maxconn 9\n{}", config(&counters, 2, target.port())));
    first.reload();
    assert!(counted(&counters, 2) >= 400_000);
    assert!(echo(&mut held, 50_000));
    assert!(echo(&mut first.connect("map"), 50_000));
    drop(held);
    first.signal("TERM");
    assert_eq!(first.ended(), Some(0));
    assert_eq!(counted(&counters, 2), 600_000);

    let mut second = Cfgc::run(&config(&counters, 2, target.port()));
    assert!(!echo(&mut second.connect("map"), 300_000));
    let mut refused = second.connect("map");
    assert_eq!(refused.read(&mut [0]).unwrap_or(0), 0, "nothing is left for others");
    second.signal("TERM");
    assert_eq!(second.ended(), Some(0));
    assert_eq!(counted(&counters, 2), MEGABYTE, "neither more nor less");
}

#[test]
fn a_damaged_counter_file_is_refused_and_kept() {
    let (folder, target) = (tempfile::tempdir().unwrap(), server::echo());
    let [whole, damaged] = ["whole", "damaged"].map(|name| folder.path().join(name));
    fs::write(&damaged, "not a counter file").unwrap();
    let mut cfgc = Cfgc::run(&config(&whole, 1, target.port()));
    cfgc.rewrite(&config(&damaged, 1, target.port()));
    cfgc.signal("HUP");
    cfgc.stderr.wait_for("that the reload failed", |line| line.contains("is no counter file"));
    client::echoes(&mut cfgc.connect("map"));
    assert_eq!(fs::read(&damaged).unwrap(), b"not a counter file");
}
