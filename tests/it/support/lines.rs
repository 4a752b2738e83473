//! Lines that a child process writes, as they come.
use std::{
    io::{BufRead, BufReader, Read},
    sync::{Arc, Condvar, Mutex},
    time::Instant,
};

use super::DEADLINE;

/// Collects lines in the background; whoever wants one waits for it.
#[derive(Clone)]
pub(crate) struct Lines(Arc<(Mutex<Collected>, Condvar)>);

#[derive(Default)]
struct Collected {
    lines: Vec<String>,
    ended: bool,
}

impl Lines {
    /// Reads `from` to its end in a thread of its own.
    pub(crate) fn collect(from: impl Read + Send + 'static) -> Self {
        let lines = Self(Arc::default());
        let writer = lines.clone();
        std::thread::spawn(move || {
            let (collected, changed) = &*writer.0;
            for line in BufReader::new(from).split(b'\n') {
                let Ok(line) = line else { break };
                collected.lock().unwrap().lines.push(String::from_utf8_lossy(&line).into_owned());
                changed.notify_all();
            }
            collected.lock().unwrap().ended = true;
            changed.notify_all();
        });
        lines
    }

    /// The first line for which `wanted` holds, now or when it comes.
    #[track_caller]
    pub(crate) fn wait_for(&self, what: &str, wanted: impl Fn(&str) -> bool) -> String {
        let came = self.comes(what, &wanted);
        let lines = self.so_far();
        assert!(came, "no line {what} in:\n{}", lines.join("\n"));
        lines.into_iter().find(|line| wanted(line)).unwrap()
    }

    /// Waits for a line for which `wanted` holds (true) or the end of all lines (false).
    #[track_caller]
    pub(crate) fn comes(&self, what: &str, wanted: impl Fn(&str) -> bool) -> bool {
        let (collected, changed) = &*self.0;
        let end = Instant::now() + DEADLINE;
        let mut guard = collected.lock().unwrap();
        loop {
            if guard.lines.iter().any(|line| wanted(line)) {
                return true;
            }
            if guard.ended {
                return false;
            }
            let left = end.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "no line {what} in:\n{}", guard.lines.join("\n"));
            guard = changed.wait_timeout(guard, left).unwrap().0;
        }
    }

    /// Waits until `wanted` holds of all lines so far.
    #[track_caller]
    pub(crate) fn wait_until(&self, what: &str, wanted: impl Fn(&[String]) -> bool) {
        let (collected, changed) = &*self.0;
        let end = Instant::now() + DEADLINE;
        let mut guard = collected.lock().unwrap();
        while !wanted(&guard.lines) {
            let left = end.saturating_duration_since(Instant::now());
            assert!(!left.is_zero() && !guard.ended, "{what} is not in:\n{}", guard.lines.join("\n"));
            guard = changed.wait_timeout(guard, left).unwrap().0;
        }
    }

    /// All lines so far.
    pub(crate) fn so_far(&self) -> Vec<String> {
        self.0.0.lock().unwrap().lines.clone()
    }
}
