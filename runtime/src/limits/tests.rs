//! Limits of configurations, asked through sessions.
use std::sync::Arc;

use compiler::program::acl::Operation;

use super::{Direction, Gate, Limits};
use crate::{
    event::Events,
    session::Session,
    snapshot::Snapshot,
    testing::{ask, reloaded, session, snapshot},
};

async fn code(session: &mut Session, target: &str) -> u16 {
    match session.permit(&ask("", target, Operation::HttpGet)).await {
        Ok(_) => 0,
        Err(failure) => failure.code,
    }
}

#[tokio::test]
async fn a_connection_is_counted_once_by_each_entry_and_until_it_ends() {
    let snapshot = snapshot("connlim 1 0 * * 127.0.0.1\nconnlim 2 0 * * 127.0.0.2\nallow *\nproxy\nsocks\n");
    let mut first = session(&snapshot, 0, "127.0.0.1");
    for target in ["127.0.0.1:80", "127.0.0.2:80", "127.0.0.1:80", "127.0.0.3:80"] {
        assert_eq!(code(&mut first, target).await, 0, "{target}");
    }
    let mut second = session(&snapshot, 1, "127.0.0.1");
    assert_eq!(code(&mut second, "127.0.0.1:80").await, 10);
    assert_eq!(second.record.code, 10);
    assert_eq!(code(&mut second, "127.0.0.2:80").await, 0);
    drop(first);
    assert_eq!(code(&mut second, "127.0.0.1:80").await, 0);
}

#[tokio::test]
async fn what_the_list_refuses_is_not_counted() {
    let snapshot = snapshot("connlim 1 60 *\ndeny * * 127.0.0.2\nallow *\nproxy\n");
    for (target, expected) in
        [("127.0.0.2:1", 1), ("127.0.0.1:1", 0), ("127.0.0.2:1", 1), ("127.0.0.1:1", 10)]
    {
        assert_eq!(code(&mut session(&snapshot, 0, "127.0.0.1"), target).await, expected, "{target}");
    }
}

#[tokio::test]
async fn a_limit_goes_on_over_a_reload_as_long_as_its_line_means_the_same() {
    let before = snapshot("connlim 1 60 * * 127.0.0.1\nconnlim 1 0 * * 127.0.0.2\nallow *\nproxy\n");
    let mut open = session(&before, 0, "127.0.0.1");
    assert_eq!(code(&mut open, "127.0.0.1:1").await, 0);
    assert_eq!(code(&mut open, "127.0.0.2:1").await, 0);
    // Other lines around them, another order, another way to write the same; and a service more.
    let same = "allow *\nsocks\nnoconnlim * * 127.0.0.9\nconnlim 1 0 * * 127.0.0.2/32\nconnlim 9 9 *\n\
                connlim 1 60 * * 127.0.0.1\nproxy\n";
    let after = reloaded(Some(&before), same);
    assert_eq!(code(&mut session(&after, 1, "127.0.0.1"), "127.0.0.1:1").await, 10);
    assert_eq!(code(&mut session(&after, 1, "127.0.0.1"), "127.0.0.2:1").await, 10);
    drop(open);
    assert_eq!(code(&mut session(&after, 1, "127.0.0.1"), "127.0.0.1:1").await, 10, "a rate is used up");
    assert_eq!(code(&mut session(&after, 1, "127.0.0.1"), "127.0.0.2:1").await, 0);
    for other in ["connlim 2 60 * * 127.0.0.1", "connlim 1 60 * * 127.0.0.1 1", "noconnlim"] {
        let after = reloaded(Some(&before), &format!("{other}\nallow *\nproxy\n"));
        assert_eq!(code(&mut session(&after, 0, "127.0.0.1"), "127.0.0.1:1").await, 0, "{other}");
    }
}

#[tokio::test]
async fn equal_lines_keep_their_own_counts() {
    let text = "connlim 2 60 *\nconnlim 2 60 *\nallow *\nproxy\n";
    let before = snapshot(text);
    assert_eq!(code(&mut session(&before, 0, "127.0.0.1"), "127.0.0.1:1").await, 0);
    let after = reloaded(Some(&before), text);
    assert_eq!(code(&mut session(&after, 0, "127.0.0.1"), "127.0.0.1:1").await, 0);
    assert_eq!(code(&mut session(&after, 0, "127.0.0.1"), "127.0.0.1:1").await, 10);
}

/// Sends `bytes` bytes towards the client through a session's limits, and returns how many passed.
fn pass(session: &Session, bytes: usize) -> usize {
    let gate = Gate::new(session.charges(), Direction::In).expect("there is a limit");
    gate.write(&vec![0; bytes], |granted| Ok(granted.len())).unwrap()
}

async fn open(snapshot: &Arc<Snapshot>, target: &str) -> Session {
    let mut session = session(snapshot, 0, "127.0.0.1");
    assert_eq!(code(&mut session, target).await, 0, "{target}");
    session
}

const MEGABYTE: usize = 1024 * 1024;

#[tokio::test]
async fn what_applies_is_that_of_the_last_request() {
    let snapshot = snapshot("countin 0 N 1 * * 127.0.0.1\nbandlimout 1000 * * 127.0.0.2\nallow *\nproxy\n");
    let mut session = open(&snapshot, "127.0.0.1:1").await;
    assert_eq!(pass(&session, 10), 10);
    assert!(Gate::new(session.charges(), Direction::Out).is_none());
    assert_eq!(code(&mut session, "127.0.0.2:1").await, 0);
    assert!(Gate::new(session.charges(), Direction::In).is_none());
    assert!(Gate::new(session.charges(), Direction::Out).is_some());
    assert_eq!(code(&mut session, "127.0.0.3:1").await, 0);
    assert!(session.charges().is_none());
}

#[tokio::test]
async fn a_quota_is_one_for_all_sessions_and_refuses_when_it_is_used_up() {
    let snapshot = snapshot("countall 0 N 1 *\nallow *\nproxy\n");
    let (first, second) = (open(&snapshot, "127.0.0.1:1").await, open(&snapshot, "127.0.0.2:1").await);
    assert_eq!(pass(&first, MEGABYTE - 10), MEGABYTE - 10);
    assert_eq!(pass(&second, 100), 10);
    assert_eq!(pass(&first, 1), 0);
    assert_eq!(code(&mut session(&snapshot, 0, "127.0.0.1"), "127.0.0.1:1").await, 10);
}

#[tokio::test]
async fn a_count_goes_on_over_a_reload_by_its_number_or_its_line() {
    let before = snapshot("countin 3 D 1 alice,-\ncountin 0 D 1 * * 127.0.0.2\nallow *\nproxy\n");
    let numbered = open(&before, "127.0.0.1:1").await;
    pass(&numbered, MEGABYTE);
    // Another period, another amount and other clients are still the number 3.
    let text = "countin 0 D 1 * * 127.0.0.2\ncountin 3 M 2 * * 127.0.0.1\nallow *\nproxy\n";
    let after = reloaded(Some(&before), text);
    let other = open(&after, "127.0.0.1:1").await;
    assert_eq!(pass(&other, 2 * MEGABYTE), MEGABYTE);
    // The second line applied to nobody so far.
    let by_line = open(&after, "127.0.0.2:1").await;
    assert_eq!(pass(&by_line, 2 * MEGABYTE), MEGABYTE);
    let again = reloaded(Some(&after), text);
    assert_eq!(code(&mut session(&again, 0, "127.0.0.1"), "127.0.0.2:1").await, 10);
    let changed = reloaded(Some(&after), "countin 0 D 3 * * 127.0.0.2\nallow *\nproxy\n");
    assert_eq!(pass(&open(&changed, "127.0.0.2:1").await, 9 * MEGABYTE), 3 * MEGABYTE);
}

#[tokio::test]
async fn a_bandwidth_goes_on_over_a_reload_as_long_as_its_line_means_the_same() {
    tokio::time::pause();
    let text = "bandlimin 8000 *\nallow *\nproxy\n";
    let before = snapshot(text);
    let debt = |session: &Session| {
        let charges = session.charges().unwrap();
        !charges.admits(Direction::In, 100)
    };
    let session = open(&before, "127.0.0.1:1").await;
    assert!((0..100).any(|_| debt(&session)), "it is used up at some time");
    assert!(debt(&open(&reloaded(Some(&before), text), "127.0.0.1:1").await));
    let faster = "bandlimin 9000 *\nallow *\nproxy\n";
    assert!(!debt(&open(&reloaded(Some(&before), faster), "127.0.0.1:1").await));
}

#[tokio::test]
async fn counts_outlive_the_process_in_their_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("counters");
    let events = Events::new(|event| panic!("{event}"));
    let config = |line: &str| format!("counter {}\n{line}\nallow *\nproxy\n", path.display());
    let first = snapshot(&config("countin 2 N 1 *\ncountin 0 N 3 *"));
    pass(&open(&first, "127.0.0.1:1").await, 1000);
    first.limits.save(&events);
    // Another process, which reads the file.
    let second = snapshot(&config("countin 2 N 1 *"));
    assert_eq!(pass(&open(&second, "127.0.0.1:1").await, MEGABYTE), MEGABYTE - 1000);
    // A reload goes by what is counted, which is newer than the file; a number that is new is read from it.
    let third = reloaded(Some(&second), &config("countin 5 N 1 * * 127.0.0.2\ncountin 2 N 1 * * 127.0.0.1"));
    assert_eq!(code(&mut session(&third, 0, "127.0.0.1"), "127.0.0.1:1").await, 10);
    pass(&open(&third, "127.0.0.2:1").await, 7);
    third.limits.save(&events);
    // A number that was away for a while is as it was.
    let fourth = reloaded(Some(&third), &config("countin 9 N 1 *"));
    fourth.limits.save(&events);
    let fifth = reloaded(Some(&fourth), &config("countin 5 N 1 *"));
    assert_eq!(pass(&open(&fifth, "127.0.0.1:1").await, MEGABYTE), MEGABYTE - 7);
}

#[test]
fn a_counter_file_that_is_none_is_refused_where_it_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("counters");
    std::fs::write(&path, "this is not a counter file").unwrap();
    let mut files = compiler::sources::MemoryFiles::default();
    files.insert("3proxy.cfg", format!("countin 1 D 1 *\ncounter {}\nproxy\n", path.display()));
    let compiled = compiler::compile("3proxy.cfg".as_ref(), &files);
    let (at, error) = Limits::prepare(&compiled.program, None).unwrap_err();
    assert_eq!(compiled.sources.line_column(at).line, 2);
    assert!(error.to_string().ends_with("is no counter file"), "{error}");
}
