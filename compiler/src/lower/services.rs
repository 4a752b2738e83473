//! Service lines: the settings as they stand, and the line's own options.
use std::sync::Arc;

use grammar::option;

use super::{
    Handlers, Lowering,
    command::{Arg, Command},
    read::Mark,
};
use crate::{
    lints::{self, unknown_option},
    program::{
        Set,
        log::LogTarget,
        service::{Listen, MappedTarget, Service, ServiceKind, ServiceOptions},
        trap::{Trap, Trapped},
    },
};
use options::Given;

mod options;

pub(super) const HANDLERS: Handlers = &[
    ("proxy", |lowering, command| lowering.service(command, ServiceKind::Proxy)),
    ("socks", |lowering, command| lowering.service(command, ServiceKind::Socks)),
    ("auto", |lowering, command| lowering.service(command, ServiceKind::Auto)),
    ("tlspr", |lowering, command| lowering.service(command, ServiceKind::Tlspr)),
    ("tcppm", |lowering, command| lowering.service(command, ServiceKind::Tcppm)),
    ("udppm", |lowering, command| lowering.service(command, ServiceKind::Udppm)),
    ("pop3p", |lowering, command| lowering.service(command, ServiceKind::Pop3p)),
    ("imapp", |lowering, command| lowering.service(command, ServiceKind::Imapp)),
    ("smtpp", |lowering, command| lowering.service(command, ServiceKind::Smtpp)),
    ("ftppr", |lowering, command| lowering.service(command, ServiceKind::Ftppr)),
    ("admin", |lowering, command| lowering.service(command, ServiceKind::Admin)),
    ("dnspr", |lowering, command| lowering.service(command, ServiceKind::Dnspr)),
];

impl ServiceKind {
    /// The port when none is given; `None`: a port mapper, which is always given one.
    const fn default_port(self) -> Option<u16> {
        match self {
            Self::Proxy => Some(3128),
            Self::Socks => Some(1080),
            Self::Auto => Some(8080),
            Self::Tlspr => Some(1443),
            Self::Pop3p => Some(110),
            Self::Imapp => Some(143),
            Self::Smtpp => Some(587),
            Self::Ftppr => Some(21),
            Self::Admin => Some(80),
            Self::Dnspr => Some(53),
            Self::Tcppm | Self::Udppm => None,
        }
    }
}

/// `PORT HOST PORT`.
const PORT_MAPPER_ARGUMENTS: usize = 3;

impl Lowering<'_> {
    fn service(&mut self, command: &Command<'_>, kind: ServiceKind) {
        let index = self.program.services.len();
        let before = self.mark();
        let mut service = self.snapshot(command, kind);
        let count = command.arguments.iter().take_while(|word| word.value.starts_with(b"-")).count();
        let mut options = ServiceOptions::default();
        let mut own_log = false;
        // A port mapper's own arguments are no values that lack their option.
        let own = if kind.default_port().is_none() { PORT_MAPPER_ARGUMENTS } else { 0 };
        let stray = command.arguments.get(count).filter(|_| command.arguments.len() - count != own);
        let unglued = stray.and_then(|word| unknown_option::unglued(command, word));
        // An option whose value stands apart is read as it is meant.
        let joined = unglued.zip(stray).map(|(flag, value)| Arg::joined(flag, value));
        // So is one that is written as other programs want it.
        let otherwise = stray.filter(|_| unglued.is_none() && own == 0);
        let otherwise = otherwise.and_then(|word| unknown_option::meant(command, word));
        for word in command.arguments.iter().take(count).chain(&otherwise) {
            let word = joined.as_ref().filter(|joined| joined.at == word.at).unwrap_or(word);
            let is_known = option::find(&word.value).is_some();
            let meant = if is_known { None } else { unknown_option::meant(command, word) };
            if !is_known {
                self.report(unknown_option::finding(command, word));
            }
            let word = meant.as_ref().unwrap_or(word);
            if let Some((row, glued)) = option::find(&word.value) {
                own_log |= row.flag == "-l";
                let given = Given { command, service: &mut service, options: &mut options, word, row, glued };
                self.option(given);
            }
        }
        let rest = command.arguments_from(count);
        let good = match kind.default_port() {
            Some(port) => {
                if service.listen.port.value == 0 {
                    service.listen.port = Set { value: port, at: service.listen.port.at };
                }
                if let Some(word) = rest.first() {
                    self.report(unknown_option::stray(command, word));
                }
                true
            }
            None => self.port_mapper(command, rest, &mut service),
        };
        if good {
            if options != *self.state.no_options {
                service.options = Arc::new(options);
            }
            let follows = match service.log.target.value {
                LogTarget::Stdout => true,
                LogTarget::File { .. } => !own_log,
                _ => false,
            };
            if follows {
                self.state.log_followers.push(index);
            }
            if self.mark() != before && self.is_unplaced(before) {
                self.program.history.unplaced.insert(command.at);
            }
            self.program.services.push(Arc::new(service));
        }
    }

    /// Whether it is not known where the service listens of whose line `before` is the beginning.
    fn is_unplaced(&self, before: Mark) -> bool {
        let misread = |trapped: &Trapped| {
            matches!(
                trapped.trap,
                Trap::Port(_) | Trap::ListenAddress | Trap::ListenForgotten | Trap::ListenName
            )
        };
        self.found_since(before).iter().any(|finding| finding.refused)
            || self.traps_since(before).iter().any(misread)
    }

    /// What a service copies of the settings.
    fn snapshot(&mut self, command: &Command<'_>, kind: ServiceKind) -> Service {
        let acl = self.copy_acl();
        self.state.chain_copied = true;
        let state = &self.state;
        Service {
            at: command.at,
            kind,
            listen: Listen { address: state.internal.clone(), port: Set::default() },
            external: state.external,
            acl,
            chain: state.chain.clone(),
            auth_cache: state.auth_cache,
            maxconn: state.maxconn,
            backlog: state.backlog,
            log: state.log.clone(),
            tls: Arc::clone(&state.tls),
            target: None,
            options: Arc::clone(&state.no_options),
            force: state.force,
        }
    }

    /// `PORT HOST PORT` of a port mapper. False: 3proxy refuses it, and that is reported.
    fn port_mapper(&mut self, command: &Command<'_>, rest: &[Arg<'_>], service: &mut Service) -> bool {
        let [listen, host, port] = rest else {
            let unglued = rest.first().filter(|word| unknown_option::unglued(command, word).is_some());
            self.report(match unglued {
                Some(word) if rest.len() > 3 => unknown_option::stray(command, word),
                _ => lints::port_mapper_arguments::count(command, rest),
            });
            return false;
        };
        let listen_port = self.port(listen, &listen.value);
        let target_port = self.port(port, &port.value);
        for (word, read) in [(listen, listen_port), (port, target_port)] {
            if read == 0 {
                self.report(lints::port_mapper_arguments::port(word));
            }
        }
        service.listen.port = Set::new(listen_port, listen.at);
        service.target = Some(MappedTarget { host: host.text(), port: target_port, at: host.at });
        listen_port != 0 && target_port != 0
    }
}
