//! Words to values, keeping the traps and reporting what 3proxy refuses: what the families share.
use std::net::{IpAddr, Ipv4Addr};

use grammar::{
    Span, Text,
    value::{self, Host, NumberTrap, Reading},
};

use super::{
    Lowering,
    command::{Arg, Command},
};
use crate::{
    finding::Finding,
    lints::{
        self,
        acl_column_mixup::{broken_list::Broken, left_out::LeftOut},
    },
    program::{
        acl::{ItemList, Matcher},
        resolve::ResolverMode,
        trap::{Trap, Trapped},
    },
    sources::Loc,
};

/// How much has been found so far: what a reading finds stands behind it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    findings: usize,
    traps: usize,
}

impl Lowering<'_> {
    /// Keeps the traps of a reading, and yields its value. `skipped`: so many bytes of the word precede what was read.
    pub(super) fn keep<T, K>(
        &mut self,
        argument: &Arg<'_>,
        skipped: usize,
        reading: Reading<T, K>,
        trap: fn(K) -> Trap,
    ) -> T {
        for (part, kind) in reading.traps {
            self.trap(argument, part.shifted(skipped as u32), trap(kind));
        }
        reading.value
    }

    /// Keeps a trap.
    pub(super) fn trap(&mut self, argument: &Arg<'_>, part: Span, trap: Trap) {
        self.program.traps.push(Trapped { at: argument.part(part), word: argument.at, trap });
    }

    /// Keeps a trap that is the whole word.
    pub(super) fn trap_word(&mut self, argument: &Arg<'_>, trap: Trap) {
        self.program.traps.push(Trapped { at: argument.at, word: argument.at, trap });
    }

    /// A number as `atoi` reads it.
    pub(super) fn number(&mut self, argument: &Arg<'_>) -> i32 {
        self.keep(argument, 0, value::number(&argument.value), Trap::Number)
    }

    /// A number that an option has glued to its flag. Nothing there: `missing`.
    pub(super) fn glued_number(&mut self, argument: &Arg<'_>, glued: &[u8], missing: i32) -> i32 {
        if glued.is_empty() {
            return missing;
        }
        self.keep(argument, argument.value.len() - glued.len(), value::number(glued), Trap::Number)
    }

    /// A port as `atoi` and a cast read it, from the end of the word.
    pub(super) fn port(&mut self, argument: &Arg<'_>, glued: &[u8]) -> u16 {
        self.keep(argument, argument.value.len() - glued.len(), value::port(glued), Trap::Port)
    }

    /// An address where 3proxy refuses what is none. `None`: reported, or a name, which nothing here can resolve.
    pub(super) fn address(
        &mut self,
        command: &Command<'_>,
        argument: &Arg<'_>,
        text: &[u8],
    ) -> Option<IpAddr> {
        match value::host(text) {
            Ok(host) => self.resolved(argument, host),
            Err(_) => {
                self.report(lints::invalid_value::address(command, argument));
                None
            }
        }
    }

    /// The address of a host. `None`: a name that only the network can resolve; `cfgc run` refuses it by its place.
    pub(super) fn resolved(&mut self, argument: &Arg<'_>, host: Host) -> Option<IpAddr> {
        match host {
            Host::Address(address) => Some(address),
            Host::Name(name) if name.as_bytes().eq_ignore_ascii_case(b"localhost") => {
                Some(Ipv4Addr::LOCALHOST.into())
            }
            Host::Name(name) => {
                if let Some(address) = self.short_address(&name) {
                    return Some(address.into());
                }
                let known = self.options.hosts.get(&name.to_string().to_ascii_lowercase()).copied();
                if known.is_none() {
                    self.program.unmodelled.push(argument.at);
                    self.program.host_names.push((argument.at, name));
                }
                known
            }
        }
    }

    /// The address that the system reads from a name which has left out parts of one. `None`: it is none, or not the system is asked.
    pub(super) fn short_address(&self, name: &Text) -> Option<Ipv4Addr> {
        let asks_system = self.program.resolver.mode.value == ResolverMode::System;
        value::short_address(name.as_bytes()).filter(|_| asks_system)
    }

    /// The fields of an entry, and its weight. `None`: 3proxy refuses one, and that is reported.
    pub(super) fn matcher(&mut self, command: &Command<'_>, from: usize) -> Option<(Matcher, i32)> {
        let fields = command.arguments_from(from);
        let before = self.mark();
        let read = self.fields(fields);
        if self.mark() != before {
            self.say_what_moved(fields, before);
        }
        read
    }

    pub(super) fn mark(&self) -> Mark {
        Mark { findings: self.findings.len(), traps: self.program.traps.len() }
    }

    /// What was found behind a mark.
    pub(super) fn found_since(&self, before: Mark) -> &[Finding] {
        self.findings.get(before.findings..).unwrap_or_default()
    }

    /// What was read otherwise than it is written behind a mark.
    pub(super) fn traps_since(&self, before: Mark) -> &[Trapped] {
        self.program.traps.get(before.traps..).unwrap_or_default()
    }

    /// If a list that a space cuts or a column that is left out has moved the fields behind it, or a comment stands in them, that is what
    /// to say of them all.
    /// What was found of the fields stands behind `before`.
    fn say_what_moved(&mut self, fields: &[Arg<'_>], before: Mark) {
        self.leave_to_comment(fields, before);
        let file = fields.first().map(|field| field.at.file);
        let plain = fields.iter().take_while(|field| field.is_plain() && Some(field.at.file) == file);
        let columns: Vec<_> = plain.map(|field| (field.at, field.value.as_ref())).collect();
        let written =
            fields.iter().take_while(|field| field.value_start.is_some() && Some(field.at.file) == file);
        let written: Vec<_> = written.map(|field| (field.at, self.sources.text(field.at).to_vec())).collect();
        let lists: Vec<_> = written.iter().map(|(at, text)| (*at, text.as_slice())).collect();
        // Without a refused field the lint rule says it.
        let said = if let Some(broken) = Broken::first(&lists) {
            let note = "3proxy refuses the file, since the next columns can't hold this.";
            let refused = self.leave_out(before, |place| broken.moves(place));
            broken.finding().filter(|_| refused).map(|finding| finding.note(note))
        } else if let Some(left_out) = LeftOut::first(&columns) {
            let refused = self.leave_out(before, |place| left_out.moves(place));
            left_out.finding().filter(|_| refused)
        } else {
            None
        };
        if let Some(mut finding) = said {
            finding.refused = true;
            self.report(finding);
        }
    }

    /// A comment was reported when its line was met, just before its fields were read: that says what is wrong from there on.
    fn leave_to_comment(&mut self, fields: &[Arg<'_>], before: Mark) {
        let comment = fields.iter().find(|field| field.value.starts_with(b"#")).map(|field| field.at);
        let Some((comment, reported)) = comment.zip(before.findings.checked_sub(1)) else { return };
        if self.findings.get(reported).is_none_or(|finding| finding.at != comment) {
            return;
        }
        let is_behind = |place: Loc| place.file == comment.file && place.span.start >= comment.span.start;
        let refused = self.leave_out(before, is_behind);
        if let Some(finding) = self.findings.get_mut(reported) {
            finding.refused |= refused;
        }
    }

    /// Drops the findings and traps behind `before` whose place is `moved`. Whether 3proxy refuses the file for one.
    fn leave_out(&mut self, before: Mark, moved: impl Fn(Loc) -> bool) -> bool {
        let traps = &mut self.program.traps;
        let of_fields = traps.split_off(before.traps.min(traps.len()));
        traps.extend(of_fields.into_iter().filter(|trapped| !moved(trapped.word)));
        let of_fields = self.findings.split_off(before.findings.min(self.findings.len()));
        let (gone, kept): (Vec<_>, Vec<_>) = of_fields.into_iter().partition(|finding| moved(finding.at));
        self.findings.extend(kept);
        gone.iter().any(|finding| finding.refused)
    }

    fn fields(&mut self, fields: &[Arg<'_>]) -> Option<(Matcher, i32)> {
        let mut matcher = Matcher::default();
        // Every field is read, whatever is wrong with those before it.
        let mut good = true;
        if let Some(field) = fields.first().filter(|field| !value::is_any(&field.value)) {
            let names: ItemList = value::items(&field.value).map(|(_, name)| name).collect();
            matcher.users = (!names.is_empty()).then_some(names);
            self.note_empty(field, matcher.users.is_none());
        }
        if let Some(field) = fields.get(1) {
            match value::sources(&field.value) {
                Ok(reading) => matcher.sources = self.keep(field, 0, reading, Trap::Source),
                Err((part, error)) => {
                    good = false;
                    self.report(lints::invalid_value::source(field, part, error));
                }
            }
            self.note_empty(field, good && matcher.sources.is_none());
        }
        if let Some(field) = fields.get(2) {
            let targets = self.keep(field, 0, value::targets(&field.value), Trap::Target);
            self.note_empty(field, targets.is_none());
            matcher.targets = targets.map(Box::new);
        }
        if let Some(field) = fields.get(3) {
            match value::ports(&field.value) {
                Ok(reading) => {
                    matcher.ports = self.keep(field, 0, reading, Trap::Ports);
                    self.note_empty(field, matcher.ports.is_none());
                }
                Err(part) => {
                    good = false;
                    self.report(lints::invalid_value::port(field, part));
                }
            }
        }
        good &= self.occasion(fields, &mut matcher);
        let weight = self.entry_weight(fields);
        good.then_some((matcher, weight))
    }

    /// The fields that say what is done, and when.
    fn occasion(&mut self, fields: &[Arg<'_>], matcher: &mut Matcher) -> bool {
        let mut good = true;
        if let Some(field) = fields.get(4) {
            match value::operations(&field.value) {
                Ok(operations) => {
                    matcher.operations = operations;
                    self.note_empty(field, operations.is_none());
                }
                Err(part) => {
                    good = false;
                    self.report(lints::invalid_value::operation(field, part));
                }
            }
        }
        if let Some(field) = fields.get(5) {
            matcher.weekdays = self.keep(field, 0, value::weekdays(&field.value), Trap::Weekdays);
        }
        if let Some(field) = fields.get(6) {
            matcher.periods = self.keep(field, 0, value::periods(&field.value), Trap::Periods);
        }
        good
    }

    fn entry_weight(&mut self, fields: &[Arg<'_>]) -> i32 {
        if let Some(extra) = fields.get(8) {
            self.trap_word(extra, Trap::ExtraWords);
        }
        // `*` reads as 0, which is no weight: as meant.
        fields.get(7).map_or(0, |field| if value::is_any(&field.value) { 0 } else { self.number(field) })
    }

    /// A list without an item restricts nothing.
    fn note_empty(&mut self, field: &Arg<'_>, empty: bool) {
        if empty && !value::is_any(&field.value) {
            self.trap_word(field, Trap::EmptyList);
        }
    }

    /// A number of a limit, as `%u` reads it; 0 when it is none.
    pub(super) fn unsigned(&mut self, argument: &Arg<'_>) -> u32 {
        self.keep(argument, 0, value::unsigned(&argument.value), Trap::Number)
    }
}

/// Whether 3proxy finds a number in a word.
pub(super) fn is_number(word: &[u8]) -> bool {
    !value::number(word).traps.iter().any(|(_, trap)| *trap == NumberTrap::NotANumber)
}
