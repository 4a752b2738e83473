//! Log records and files: `log`, `logformat`, `logdump`, `rotate`, `archiver`, `delimchar`.
use std::sync::Arc;

use grammar::{
    Secret, Text,
    value::{self, rotation},
};

use super::{
    Handlers, Lowering,
    command::{Arg, Command},
};
use crate::program::{
    Set,
    limits::Rotation,
    log::{LogTarget, ServiceLog},
    trap::Trap,
};

pub(super) const HANDLERS: Handlers = &[
    ("log", |lowering, command| lowering.log(command)),
    ("logformat", |lowering, command| {
        let Some(word) = command.argument(0) else { return };
        lowering.state.log.format = Some(lowering.log_format(word, &word.value));
    }),
    ("logdump", |lowering, command| lowering.logdump(command)),
    ("rotate", |lowering, command| {
        let Some(word) = command.argument(0) else { return };
        lowering.program.process.log_files.keep = Set::new(lowering.number(word), command.at);
    }),
    ("archiver", |lowering, command| {
        let words = command.arguments.iter().map(Arg::text).collect();
        lowering.program.process.log_files.archiver = Some(Set::new(words, command.at));
    }),
    ("delimchar", |lowering, command| {
        let Some(word) = command.argument(0) else { return };
        let byte = word.value.first().copied().unwrap_or_default();
        lowering.program.process.log_files.delimiter = Some(Set::new(byte, command.at));
    }),
];

impl Lowering<'_> {
    fn log(&mut self, command: &Command<'_>) {
        self.program.process.log_files.log_lines.push(command.at);
        let target = self.log_target(command);
        self.state.log.target = Set::new(target, command.at);
        if matches!(self.state.log.target.value, LogTarget::File { .. }) {
            self.state.log_file = Some(self.state.log.clone());
        }
    }

    fn log_target(&mut self, command: &Command<'_>) -> LogTarget {
        let Some(word) = command.argument(0) else { return LogTarget::Stdout };
        match word.value.as_ref() {
            b"/dev/null" => LogTarget::Nowhere,
            b"radius" => LogTarget::Radius,
            [b'@', ident @ ..] => LogTarget::Syslog(Text::from(ident)),
            [b'&', database @ ..] => LogTarget::Sql(Secret::from(database)),
            path => {
                if let Some(letter) = command.argument(1) {
                    self.state.rotation = rotation(&letter.value);
                    if self.state.rotation == Rotation::Never {
                        self.trap_word(letter, Trap::Rotation);
                    }
                }
                LogTarget::File { path: Text::from(path), rotation: self.state.rotation }
            }
        }
    }

    /// The format of a `logformat` line or a `-f` option, as written.
    pub(super) fn log_format(&mut self, word: &Arg<'_>, glued: &[u8]) -> Set<Text> {
        let reading = value::log_format(glued);
        self.keep(word, word.value.len() - glued.len(), reading, Trap::LogFormat);
        Set::new(Text::from(glued), word.at)
    }

    fn logdump(&mut self, command: &Command<'_>) {
        if let Some(word) = command.argument(0) {
            self.state.log.dump_server = Set::new(self.number(word) as u32, command.at);
        }
        if let Some(word) = command.argument(1) {
            self.state.log.dump_client = Set::new(self.number(word) as u32, command.at);
        }
    }

    /// 3proxy has one log file open: whoever logs to a file or to standard output writes to the last one opened.
    pub(super) fn finish_log(&mut self) {
        let Some(ServiceLog { target, .. }) = self.state.log_file.take() else { return };
        for index in std::mem::take(&mut self.state.log_followers) {
            if let Some(service) = self.program.services.get_mut(index) {
                Arc::make_mut(service).log.target = target.clone();
            }
        }
    }
}
