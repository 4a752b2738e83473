//! The access log: records, how they look, where they go.
//!
//! A session fills a [`Record`]; its service's [`Logger`] renders it by a format that was compiled with the snapshot, and queues the line.
//! One thread writes, so no session ever waits for a disk; when the queue is full records are dropped, counted, and the count is logged.
mod format;
mod piece;
mod record;
mod sink;
mod writer;

use std::sync::Arc;

pub(crate) use format::Format;
pub(crate) use record::{Protocol, Record};
pub(crate) use sink::{Sink, dated};
pub(crate) use writer::Writer;

/// How the records of one service look and where they go.
#[derive(Clone, Debug)]
pub(crate) struct Logger {
    format: Arc<Format>,
    to: Option<(Writer, Arc<Sink>)>,
}

impl Logger {
    /// Renders by `format` into `sink`, through `writer`.
    #[must_use]
    pub(crate) fn new(format: Arc<Format>, writer: Writer, sink: Arc<Sink>) -> Self {
        Self { format, to: Some((writer, sink)) }
    }

    /// Writes nothing.
    #[must_use]
    pub(crate) fn nowhere() -> Self {
        Self { format: Arc::new(Format::default()), to: None }
    }

    /// Queues the line that says `record`, unless an entry said `nolog`. Never waits.
    pub(crate) fn write(&self, record: &Record) {
        if record.nolog {
            return;
        }
        if let Some((writer, sink)) = &self.to {
            writer.queue(sink, self.format.render(record));
        }
    }
}
