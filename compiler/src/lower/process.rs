//! What acts on the whole process, or on the reading of the file.
use grammar::value;

use super::{
    Handlers, Lowering,
    command::{Arg, Command},
    read::is_number,
};
use crate::{
    lints,
    program::{Set, process::Timeouts},
};

pub(super) const HANDLERS: Handlers = &[
    ("include", |lowering, command| lowering.include(command)),
    ("timeouts", |lowering, command| lowering.timeouts(command)),
    ("parentretries", |lowering, command| lowering.parentretries(command)),
    ("monitor", |lowering, command| {
        lowering.program.process.monitors.extend(first(command));
    }),
    ("daemon", |lowering, command| lowering.program.process.daemon = Some(command.at)),
    ("service", |lowering, command| lowering.program.process.service = Some(command.at)),
    ("pidfile", |lowering, command| lowering.program.process.pid_file = first(command)),
    ("setuid", |lowering, command| lowering.setuid(command)),
    ("setgid", |lowering, command| lowering.setgid(command)),
    ("chroot", |lowering, command| lowering.program.process.chroot.push(words(command))),
    ("system", |lowering, command| {
        lowering.program.process.system.extend(first(command));
        lowering.program.unmodelled.push(command.at);
    }),
    ("plugin", |lowering, command| lowering.plugin(command)),
    ("config", |lowering, command| lowering.program.process.config = first(command)),
    ("writable", |lowering, command| lowering.program.process.writable = Some(command.at)),
    ("stacksize", |lowering, command| {
        lowering.program.process.stack_size = lowering.setting(command);
    }),
    ("filtermaxsize", |lowering, command| {
        lowering.program.process.filter_max_size = lowering.setting(command);
    }),
    ("maxseg", |lowering, command| {
        lowering.program.process.max_segment = lowering.setting(command);
    }),
];

/// The longest timeout that 3proxy takes, in seconds.
const LONGEST_TIMEOUT: i32 = 2_000_000;
/// What `plugin` lines name although it is built in.
const BUILT_IN: [&[u8]; 2] = [b"ssl_plugin", b"pcre_plugin"];

/// The first argument.
fn first(command: &Command<'_>) -> Option<Set<grammar::Text>> {
    command.argument(0).map(|word| Set::new(word.text(), word.at))
}

/// All arguments.
fn words(command: &Command<'_>) -> Set<Vec<grammar::Text>> {
    Set::new(command.arguments.iter().map(Arg::text).collect(), command.at)
}

impl Timeouts {
    /// Its values, in the order of the line.
    fn values(&mut self) -> [&mut u32; 11] {
        [
            &mut self.byte_short,
            &mut self.byte_long,
            &mut self.string_short,
            &mut self.string_long,
            &mut self.connection_short,
            &mut self.connection_long,
            &mut self.dns,
            &mut self.chain,
            &mut self.connect,
            &mut self.connect_back,
            &mut self.linger,
        ]
    }
}

impl Lowering<'_> {
    fn setting(&mut self, command: &Command<'_>) -> Option<Set<i32>> {
        let word = command.argument(0)?;
        Some(Set::new(self.number(word), command.at))
    }

    fn timeouts(&mut self, command: &Command<'_>) {
        let mut timeouts = Timeouts { at: Some(command.at), ..self.program.process.timeouts };
        for (word, timeout) in command.arguments.iter().zip(timeouts.values()) {
            let seconds = self.number(word);
            match u32::try_from(seconds) {
                Ok(1..) if seconds <= LONGEST_TIMEOUT => *timeout = seconds as u32,
                _ => return self.report(lints::timeouts_invalid::finding(word)),
            }
        }
        self.program.process.timeouts = timeouts;
    }

    /// 3proxy keeps the value before if this one is not positive.
    fn parentretries(&mut self, command: &Command<'_>) {
        let Some(word) = command.argument(0) else { return };
        if let Ok(retries @ 1..) = u32::try_from(self.number(word)) {
            self.program.process.parent_retries = Some(Set::new(retries, command.at));
        }
    }

    fn setuid(&mut self, command: &Command<'_>) {
        self.refuse_root(command);
        self.program.process.setuid.extend(first(command));
    }

    fn setgid(&mut self, command: &Command<'_>) {
        self.refuse_root(command);
        self.program.process.setgid.extend(first(command));
    }

    /// 3proxy takes 0 for a name that it could not find.
    fn refuse_root(&mut self, command: &Command<'_>) {
        let Some(word) = command.argument(0) else { return };
        let zero = is_number(&word.value) && value::number(&word.value).value == 0;
        if zero || word.value.as_ref() == b"root" {
            let message = format!("3proxy can't become `{}`", word.text());
            let help = "name an account without privileges";
            self.report(lints::invalid_value::RULE.finding(word.at, message).help(help));
        }
    }

    fn plugin(&mut self, command: &Command<'_>) {
        if command.argument(1).is_some_and(|name| BUILT_IN.contains(&name.value.as_ref())) {
            return;
        }
        self.program.process.plugins.push(words(command));
        self.program.unmodelled.push(command.at);
    }
}
