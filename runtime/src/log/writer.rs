//! The thread that writes log records, and the queue before it.
use std::{
    io,
    sync::{Arc, atomic::Ordering},
};

use tokio::sync::{mpsc, oneshot};

use super::Sink;
use crate::event::{Event, Events};

/// Records that may wait to be written; beyond that they are dropped and counted.
const QUEUE: usize = 16_384;

/// A batch is written when the queue is empty or when it is this long, in bytes.
const BATCH: usize = 64 * 1024;

/// Hands lines to the writing thread. Clones share the thread; it ends with the last of them.
#[derive(Clone, Debug)]
pub(crate) struct Writer {
    queue: mpsc::Sender<Message>,
}

#[derive(Debug)]
enum Message {
    Line(Arc<Sink>, Vec<u8>),
    Flush(oneshot::Sender<()>),
}

impl Writer {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system refuses a thread.
    pub(crate) fn start(events: Events) -> io::Result<Self> {
        let (queue, messages) = mpsc::channel(QUEUE);
        std::thread::Builder::new().name("log".into()).spawn(move || write(messages, &events))?;
        Ok(Self { queue })
    }

    /// Queues a line for `sink`. Never waits.
    pub(crate) fn queue(&self, sink: &Arc<Sink>, line: Vec<u8>) {
        if self.queue.try_send(Message::Line(Arc::clone(sink), line)).is_err() {
            sink.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Returns when every line that was queued before is written.
    pub(crate) async fn flush(&self) {
        let (done, written) = oneshot::channel();
        if self.queue.send(Message::Flush(done)).await.is_ok() {
            // An error says that the thread is gone, and with it every line.
            let _ = written.await;
        }
    }
}

/// Lines that wait for the end of their batch, by target.
#[derive(Default)]
struct Batch {
    sinks: Vec<(Arc<Sink>, Vec<u8>)>,
    bytes: usize,
}

impl Batch {
    fn add(&mut self, sink: Arc<Sink>, line: &[u8]) {
        self.bytes += line.len() + 1;
        let known = self.sinks.iter().position(|(known, _)| Arc::ptr_eq(known, &sink));
        let known = known.and_then(|index| self.sinks.get_mut(index));
        let mut new = (sink, Vec::new());
        let text = known.map_or(&mut new.1, |(_, text)| text);
        text.extend_from_slice(line);
        text.push(b'\n');
        if !new.1.is_empty() {
            self.sinks.push(new);
        }
    }

    fn write(&mut self, events: &Events) {
        for (sink, text) in self.sinks.drain(..) {
            let written = sink.write(&text);
            // Said once, until it goes well again: a full disk is no reason to fill the operator's screen.
            let said = sink.failing.swap(written.is_err(), Ordering::Relaxed);
            if let Some(error) = written.err().filter(|_| !said) {
                events.tell(&Event::LogFailed { target: sink.to_string(), error });
            }
            let records = sink.dropped.swap(0, Ordering::Relaxed);
            if records > 0 {
                events.tell(&Event::RecordsDropped { target: sink.to_string(), records });
            }
        }
        self.bytes = 0;
    }
}

fn write(mut messages: mpsc::Receiver<Message>, events: &Events) {
    let mut batch = Batch::default();
    while let Some(first) = messages.blocking_recv() {
        let mut next = Some(first);
        while let Some(message) = next {
            match message {
                Message::Line(sink, line) => batch.add(sink, &line),
                Message::Flush(done) => {
                    batch.write(events);
                    // Who asked may have gone.
                    let _ = done.send(());
                }
            }
            next = if batch.bytes < BATCH { messages.try_recv().ok() } else { None };
        }
        batch.write(events);
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::Read,
        os::fd::AsRawFd,
        sync::{Arc, mpsc},
    };

    use compiler::program::limits::Rotation;

    use super::{QUEUE, Sink, Writer};
    use crate::event::{Event, Events};

    #[tokio::test]
    async fn lines_are_written_in_order_before_a_flush_returns() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let writer = Writer::start(Events::new(|event| panic!("{event}"))).unwrap();
        let sink = Arc::new(Sink::file(path.clone(), Rotation::None, 0).unwrap());
        let mut expected = String::new();
        for line in 0..1000 {
            writer.queue(&sink, format!("line {line}").into_bytes());
            expected += &format!("line {line}\n");
        }
        writer.flush().await;
        assert_eq!(std::fs::read_to_string(path).unwrap(), expected);
    }

    #[tokio::test]
    async fn a_target_that_fails_is_told_once_until_it_goes_well_again() {
        let (told, events) = mpsc::channel();
        let writer = Writer::start(Events::new(move |event| told.send(event.to_string()).unwrap())).unwrap();
        let sink = Arc::new(Sink::file("/dev/full".into(), Rotation::None, 0).unwrap());
        for _ in 0..3 {
            writer.queue(&sink, b"a line".to_vec());
            writer.flush().await;
        }
        drop(writer);
        let said: Vec<String> = events.iter().collect();
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].starts_with("the log `/dev/full` can't be written: No space left"), "{said:?}");
    }

    #[tokio::test]
    async fn what_a_slow_target_can_not_take_is_dropped_and_counted() {
        let (mut reader, target) = std::io::pipe().unwrap();
        let path = format!("/proc/self/fd/{}", target.as_raw_fd());
        let (told, events) = mpsc::channel();
        let events_in = Events::new(move |event| {
            if let Event::RecordsDropped { records, .. } = event {
                told.send(*records).unwrap();
            }
        });
        let writer = Writer::start(events_in).unwrap();
        let sink = Arc::new(Sink::file(path.into(), Rotation::None, 0).unwrap());
        drop(target);
        // Far more than the queue, the batch and the pipe hold together.
        let sent = 3 * QUEUE;
        for _ in 0..sent {
            writer.queue(&sink, b"a line of thirty-two characters.".to_vec());
        }
        let written = std::thread::spawn(move || {
            let mut text = String::new();
            reader.read_to_string(&mut text).map(|_| text.lines().count()).unwrap()
        });
        writer.flush().await;
        drop((writer, sink));
        let dropped: u64 = events.iter().sum();
        assert!(dropped > 0);
        assert_eq!(written.join().unwrap() as u64 + dropped, sent as u64);
    }
}
