//! Service lines: the settings as they stand, and the line's own options.
use std::sync::Arc;

use grammar::{
    Text,
    option::{self, ServiceOption},
    value,
};

use super::{
    Handlers, Lowering,
    command::{Arg, Command},
};
use crate::{
    lints,
    program::{
        Set,
        log::LogTarget,
        service::{Family, Listen, Options, Service, ServiceKind, Target},
        trap::Trap,
    },
};

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

    /// Whether `-s` has a meaning of its own there.
    const fn has_single(self) -> bool {
        matches!(self, Self::Udppm | Self::Dnspr | Self::Admin)
    }
}

impl Lowering<'_> {
    fn service(&mut self, command: &Command<'_>, kind: ServiceKind) {
        let index = self.program.services.len();
        let mut service = self.snapshot(command, kind);
        let count = command.arguments.iter().take_while(|word| word.value.starts_with(b"-")).count();
        let mut options = Options::default();
        let mut own_log = false;
        for word in command.arguments.iter().take(count) {
            match option::find(&word.value) {
                Some((row, glued)) => {
                    own_log |= row.flag == "-l";
                    self.option(command, (&mut service, &mut options), word, row, glued);
                }
                None => self.report(lints::unknown_option::finding(command, word)),
            }
        }
        let rest = command.arguments_from(count);
        let good = match kind.default_port() {
            Some(port) => {
                if service.listen.port.value == 0 {
                    service.listen.port = Set { value: port, at: service.listen.port.at };
                }
                if let Some(word) = rest.first() {
                    self.report(lints::unknown_option::stray(command, word));
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
            self.program.services.push(Arc::new(service));
        }
    }

    /// What a service copies of the settings.
    fn snapshot(&mut self, command: &Command<'_>, kind: ServiceKind) -> Service {
        let acl = self.copy_acl();
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
            self.report(lints::port_mapper_arguments::count(command, rest.len()));
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
        service.target = Some(Target { host: host.text(), port: target_port, at: host.at });
        listen_port != 0 && target_port != 0
    }

    /// Applies one option: `glued` is what stands behind its flag.
    fn option(
        &mut self,
        command: &Command<'_>,
        (service, options): (&mut Service, &mut Options),
        word: &Arg<'_>,
        row: &ServiceOption,
        glued: &[u8],
    ) {
        match row.flag {
            "-p" => service.listen.port = Set::new(self.port(word, glued), word.at),
            "-P" => options.target_port = Some(Set::new(self.port(word, glued), word.at)),
            "-i" => {
                if let Some(address) = self.listen_address(word, glued) {
                    service.listen.address = Set::new(address, word.at);
                }
            }
            "-e" => {
                if let Some(address) = self.address(command, word, glued) {
                    service.external.set(address, word.at);
                }
            }
            "-l" => service.log.target = Set::new(own_log(glued), word.at),
            "-f" => service.log.format = Some(self.log_format(word, glued)),
            "-F" => {
                if let Some(address) = self.address(command, word, glued) {
                    options.fake_answer = Some(Set::new(address, word.at));
                }
            }
            "-X" => self.starttls(word, glued, options),
            "-s" if service.kind.has_single() => {
                options.single = Some(Set::new(self.glued_number(word, glued, 0), word.at));
            }
            "-s" => {
                let splice = self.keep(word, 2, value::splice(glued), Trap::Number);
                options.splice = Some(Set::new(splice, word.at));
            }
            "-g" => {
                let grace = self.keep(word, 2, value::grace(glued), Trap::Number);
                options.grace = Some(Set::new(grace, word.at));
            }
            flag => {
                self.number_option(flag, word, glued, options);
                self.address_option(flag, word, glued, options);
                text_option(flag, word, glued, options);
            }
        }
    }

    /// Options with a number or a name out of few.
    fn number_option(&mut self, flag: &str, word: &Arg<'_>, glued: &[u8], options: &mut Options) {
        let field = match flag {
            "-4" | "-46" | "-6" | "-64" => return self.family(flag, word, glued, options),
            "-c" => return self.require_certificate(word, glued, options),
            "-a" => &mut options.anonymous,
            "-b" => &mut options.buffer_size,
            "-C" => &mut options.half_close,
            "-S" => &mut options.stack_size,
            "-u" => &mut options.need_user,
            "-U" => &mut options.udp_auth,
            _ => return,
        };
        let number = self.glued_number(word, glued, 0);
        let number = if flag == "-a" { number.saturating_add(1) } else { number };
        *field = Some(Set::new(number, word.at));
    }

    /// `-c` requires a certificate; a digit behind it says otherwise.
    fn require_certificate(&mut self, word: &Arg<'_>, glued: &[u8], options: &mut Options) {
        let digits = glued.first().is_some_and(u8::is_ascii_digit);
        let level = if digits { self.glued_number(word, glued, 1) } else { 1 };
        options.require_certificate = Some(Set::new(level, word.at));
    }

    fn family(&mut self, flag: &str, word: &Arg<'_>, glued: &[u8], options: &mut Options) {
        let family = match flag {
            "-4" => Family::V4,
            "-46" => Family::V4ThenV6,
            "-6" => Family::V6,
            _ => Family::V6ThenV4,
        };
        if !glued.is_empty() {
            self.trap_word(word, Trap::Family);
        }
        options.family = Some(Set::new(family, word.at));
    }

    fn starttls(&mut self, word: &Arg<'_>, glued: &[u8], options: &mut Options) {
        let known = ["imap", "pop3", "smtp"];
        let matches =
            |name: &&str| glued.get(..4).is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()));
        if known.iter().any(matches) {
            options.server_starttls = Some(Set::new(Text::from(glued), word.at));
        } else {
            self.report(
                lints::invalid_value::RULE
                    .finding(word.at, format!("`{}` names no protocol with STARTTLS", word.text()))
                    .help("write `-Ximap`, `-Xpop3` or `-Xsmtp`"),
            );
        }
    }

    /// Options with an address or socket options.
    fn address_option(&mut self, flag: &str, word: &Arg<'_>, glued: &[u8], options: &mut Options) {
        let sockets = match flag {
            "-ol" => Some(&mut options.listen_socket),
            "-oc" => Some(&mut options.client_socket),
            "-os" => Some(&mut options.server_socket),
            "-or" | "-oR" => Some(&mut options.connect_back_socket),
            _ => None,
        };
        if let Some(field) = sockets {
            let read = self.keep(word, flag.len(), value::socket_options(glued), Trap::Socket);
            *field = Some(Set::new(read, word.at));
            return;
        }
        let field = match flag {
            "-Ni" => &mut options.internal_nat,
            "-N" | "-Ne" => &mut options.external_nat,
            _ => return,
        };
        match value::host(glued) {
            Ok(host) => *field = self.resolved(word, host).map(|address| Set::new(address, word.at)),
            Err(_) => self.trap_word(word, Trap::NatAddress),
        }
    }
}

/// Options with a text, or with nothing.
fn text_option(flag: &str, word: &Arg<'_>, glued: &[u8], options: &mut Options) {
    // Any letter but `i` stands for `e`.
    let (flag, glued) =
        if flag == "-D" { ("-De", glued.get(1..).unwrap_or_default()) } else { (flag, glued) };
    let text = match flag {
        "-h" => &mut options.default_host,
        "-r" => &mut options.connect_back,
        "-R" => &mut options.connect_back_listen,
        "-Di" => &mut options.listen_device,
        "-De" => &mut options.external_device,
        "-ni" => &mut options.listen_namespace,
        "-ne" => &mut options.external_namespace,
        _ => {
            let bare = match flag {
                "-d" => &mut options.daemon,
                "-H" => &mut options.proxy_protocol,
                "-t" => &mut options.silent,
                "-T" => &mut options.transparent,
                "-x" => &mut options.no_starttls,
                _ => return,
            };
            *bare = Some(word.at);
            return;
        }
    };
    *text = Some(Set::new(Text::from(glued), word.at));
}

/// Where `-l` sends records: 3proxy takes `@` for nothing special here, and writes to standard output.
fn own_log(glued: &[u8]) -> LogTarget {
    match glued {
        b"" | [b'@', ..] => LogTarget::Stdout,
        path => LogTarget::File { path: Text::from(path), rotation: value::Rotation::None },
    }
}
