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
pub struct Writer {
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
    pub fn start(events: Events) -> io::Result<Self> {
        let (queue, messages) = mpsc::channel(QUEUE);
        std::thread::Builder::new().name("log".into()).spawn(move || write(messages, &events))?;
        Ok(Self { queue })
    }

    /// Queues a line for `sink`. Never waits.
    pub fn queue(&self, sink: &Arc<Sink>, line: Vec<u8>) {
        if self.queue.try_send(Message::Line(Arc::clone(sink), line)).is_err() {
            sink.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Returns when every line that was queued before is written.
    pub async fn flush(&self) {
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
            if let Err(error) = sink.write(&text) {
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
