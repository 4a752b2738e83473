//! Options of a service line: a handler for each row of `grammar/src/option/rows.rs`.
use std::net::IpAddr;

use grammar::{Text, option::ServiceOption, value};

use super::super::{
    Lowering,
    command::{Arg, Command},
};
use crate::{
    lints,
    program::{
        Set,
        log::LogTarget,
        service::{Family, Service, ServiceKind, ServiceOptions},
        trap::Trap,
    },
    sources::Loc,
};

/// One option of a service line, and what it acts on.
pub(super) struct Given<'g> {
    /// The line.
    pub(super) command: &'g Command<'g>,
    /// The service that it starts.
    pub(super) service: &'g mut Service,
    /// The service's options so far.
    pub(super) options: &'g mut ServiceOptions,
    /// The option as it is written.
    pub(super) word: &'g Arg<'g>,
    /// Which one it is.
    pub(super) row: &'g ServiceOption,
    /// What stands behind its flag.
    pub(super) glued: &'g [u8],
}

/// What an option does.
type Handler = fn(&mut Lowering<'_>, Given<'_>);

const HANDLERS: &[(&str, Handler)] = &[
    ("-p", |lowering, it| it.service.listen.port = Set::new(lowering.port(it.word, it.glued), it.word.at)),
    ("-i", |lowering, it| {
        let before = &it.service.listen.address.value;
        if let Some(address) = lowering.listen_address(it.word, it.glued, before) {
            it.service.listen.address = Set::new(address, it.word.at);
        }
    }),
    ("-e", |lowering, it| {
        if let Some(address) = lowering.external_address(it.command, it.word, it.glued) {
            it.service.external.set(address, it.word.at);
        }
    }),
    ("-4", |lowering, it| lowering.family(it, Family::V4)),
    ("-6", |lowering, it| lowering.family(it, Family::V6)),
    ("-46", |lowering, it| lowering.family(it, Family::V4ThenV6)),
    ("-64", |lowering, it| lowering.family(it, Family::V6ThenV4)),
    ("-Di", |_, it| it.options.listen_device = text(&it)),
    ("-De", |_, it| it.options.external_device = text(&it)),
    // Any letter but `i` stands for `e`.
    ("-D", |_, it| {
        let name = it.glued.get(1..).unwrap_or_default();
        it.options.external_device = Some(Set::new(Text::from(name), it.word.at));
    }),
    ("-ni", |_, it| it.options.listen_namespace = text(&it)),
    ("-ne", |_, it| it.options.external_namespace = text(&it)),
    // It is read, and means nothing any more.
    ("-n", |_, _| {}),
    ("-r", |_, it| it.options.connect_back = text(&it)),
    ("-R", |_, it| it.options.connect_back_listen = text(&it)),
    ("-oc", |lowering, it| lowering.sockets(it, |options| &mut options.client_socket)),
    ("-os", |lowering, it| lowering.sockets(it, |options| &mut options.server_socket)),
    ("-ol", |lowering, it| lowering.sockets(it, |options| &mut options.listen_socket)),
    ("-or", |lowering, it| lowering.sockets(it, |options| &mut options.connect_back_socket)),
    ("-oR", |lowering, it| lowering.sockets(it, |options| &mut options.connect_back_socket)),
    ("-l", |_, it| it.service.log.target = Set::new(own_log(it.glued), it.word.at)),
    ("-f", |lowering, it| it.service.log.format = Some(lowering.log_format(it.word, it.glued))),
    ("-t", |_, it| it.options.silent = place(&it)),
    ("-b", |lowering, it| it.options.buffer_size = lowering.glued(&it, 0)),
    ("-S", |lowering, it| it.options.stack_size = lowering.glued(&it, 0)),
    ("-d", |_, it| it.options.daemon = place(&it)),
    ("-H", |_, it| it.options.proxy_protocol = place(&it)),
    ("-g", |lowering, it| {
        let grace = lowering.keep(it.word, it.row.flag.len(), value::grace(it.glued), Trap::Grace);
        it.options.grace = Some(Set::new(grace, it.word.at));
    }),
    ("-s", |lowering, it| lowering.single_or_splice(it)),
    ("-C", |lowering, it| it.options.half_close = lowering.glued(&it, 0)),
    // It requires a certificate; a digit behind it says otherwise.
    ("-c", |lowering, it| {
        let digits = it.glued.first().is_some_and(u8::is_ascii_digit);
        let level = if digits { lowering.glued_number(it.word, it.glued, 1) } else { 1 };
        it.options.require_certificate = Some(Set::new(level, it.word.at));
    }),
    ("-u", |lowering, it| it.options.need_user = lowering.glued(&it, 0)),
    ("-N", |lowering, it| lowering.nat(it, |options| &mut options.external_nat)),
    ("-Ne", |lowering, it| lowering.nat(it, |options| &mut options.external_nat)),
    ("-Ni", |lowering, it| lowering.nat(it, |options| &mut options.internal_nat)),
    ("-U", |lowering, it| it.options.udp_auth = lowering.glued(&it, 0)),
    ("-a", |lowering, it| {
        let number = lowering.glued_number(it.word, it.glued, 0);
        it.options.anonymous = Some(Set::new(number.saturating_add(1), it.word.at));
    }),
    ("-T", |_, it| it.options.transparent = place(&it)),
    ("-h", |_, it| it.options.default_host = text(&it)),
    ("-P", |lowering, it| {
        it.options.target_port = Some(Set::new(lowering.port(it.word, it.glued), it.word.at));
    }),
    ("-x", |_, it| it.options.no_starttls = place(&it)),
    ("-X", |lowering, it| lowering.starttls(it)),
    ("-F", |lowering, it| {
        if let Some(address) = lowering.address(it.command, it.word, it.glued) {
            it.options.fake_answer = Some(Set::new(address, it.word.at));
        }
    }),
];

impl Lowering<'_> {
    /// Applies one option.
    pub(super) fn option(&mut self, given: Given<'_>) {
        if !given.row.services.contains(given.service.kind.name()) {
            self.trap_word(given.word, Trap::OtherService);
        }
        if let Some((_, handler)) = HANDLERS.iter().find(|(flag, _)| *flag == given.row.flag) {
            handler(self, given);
        }
    }

    fn glued(&mut self, it: &Given<'_>, missing: i32) -> Option<Set<i32>> {
        Some(Set::new(self.glued_number(it.word, it.glued, missing), it.word.at))
    }

    fn family(&mut self, it: Given<'_>, family: Family) {
        if !it.glued.is_empty() {
            self.trap_word(it.word, Trap::Family);
        }
        it.options.family = Some(Set::new(family, it.word.at));
    }

    /// `-s` means one client or datagram at a time to services that relay no stream, and to the others how to relay.
    fn single_or_splice(&mut self, it: Given<'_>) {
        if it.service.kind.takes_datagrams() || it.service.kind == ServiceKind::Admin {
            it.options.single = self.glued(&it, 0);
        } else {
            let splice = self.keep(it.word, it.row.flag.len(), value::splice(it.glued), Trap::Number);
            it.options.splice = Some(Set::new(splice, it.word.at));
        }
    }

    fn starttls(&mut self, it: Given<'_>) {
        let known = ["imap", "pop3", "smtp"];
        let matches =
            |name: &&str| it.glued.get(..4).is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()));
        if known.iter().any(matches) {
            it.options.server_starttls = text(&it);
        } else {
            let message = format!("`{}` names no protocol with STARTTLS", it.word.text());
            let help = "write `-Ximap`, `-Xpop3` or `-Xsmtp`";
            self.report(lints::invalid_value::RULE.finding(it.word.at, message).help(help));
        }
    }

    fn sockets(
        &mut self,
        it: Given<'_>,
        field: fn(&mut ServiceOptions) -> &mut Option<Set<value::SocketOptions>>,
    ) {
        let read = self.keep(it.word, it.row.flag.len(), value::socket_options(it.glued), Trap::Socket);
        *field(it.options) = Some(Set::new(read, it.word.at));
    }

    fn nat(&mut self, it: Given<'_>, field: fn(&mut ServiceOptions) -> &mut Option<Set<IpAddr>>) {
        match value::host(it.glued) {
            Ok(host) => {
                *field(it.options) =
                    self.resolved(it.word, host).map(|address| Set::new(address, it.word.at));
            }
            Err(_) => self.trap_word(it.word, Trap::NatAddress),
        }
    }
}

fn text(it: &Given<'_>) -> Option<Set<Text>> {
    Some(Set::new(Text::from(it.glued), it.word.at))
}

/// Where an option stands that has no value.
fn place(it: &Given<'_>) -> Option<Loc> {
    Some(it.word.at)
}

/// Where `-l` sends records: 3proxy takes `@` for nothing special here, and writes to standard output.
fn own_log(glued: &[u8]) -> LogTarget {
    match glued {
        b"" | [b'@', ..] => LogTarget::Stdout,
        path => LogTarget::File { path: Text::from(path), rotation: value::Rotation::None },
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use grammar::option;

    use super::HANDLERS;

    #[test]
    fn every_option_has_one_meaning() {
        let mut seen = HashSet::new();
        for (flag, _) in HANDLERS {
            assert!(seen.insert(*flag), "{flag} is handled twice");
        }
        let rows: HashSet<&str> = option::all().iter().map(|row| row.flag).collect();
        assert_eq!(seen, rows);
    }
}
