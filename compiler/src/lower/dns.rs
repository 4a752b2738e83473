//! Name resolution: `nserver`, `authnserver`, `nscache`, `nscache6`, `nsrecord`, `fakeresolve`, `dialer`.
use std::net::SocketAddr;

use grammar::value::{self, Host};

use super::{
    Handlers, Lowering,
    command::{Arg, Command},
};
use crate::{
    lints,
    program::{
        Set,
        history::Overwritten,
        resolve::{DNS_PORT, NameServer, Resolver, ResolverMode, StaticRecord},
        trap::Trap,
    },
    sources::Loc,
};

pub(super) const HANDLERS: Handlers = &[
    ("nserver", |lowering, command| lowering.nserver(command)),
    ("authnserver", |lowering, command| lowering.authnserver(command)),
    ("nscache", |lowering, command| lowering.program.resolver.cache = lowering.cache_size(command)),
    ("nscache6", |lowering, command| lowering.program.resolver.cache6 = lowering.cache_size(command)),
    ("nsrecord", |lowering, command| lowering.nsrecord(command)),
    ("fakeresolve", |lowering, command| {
        lowering.program.resolver.mode = Set::new(ResolverMode::Fake, command.at);
        lowering.program.history.unfaked = None;
    }),
    ("dialer", |lowering, command| {
        lowering.program.resolver.dialer = command.argument(0).map(|word| Set::new(word.text(), word.at));
        lowering.program.unmodelled.push(command.at);
    }),
];

/// The smallest cache of names that 3proxy takes.
const SMALLEST_CACHE: u32 = 256;

impl Lowering<'_> {
    fn nserver(&mut self, command: &Command<'_>) {
        let Some(word) = command.argument(0) else { return };
        if self.program.resolver.servers.len() >= Resolver::MOST_SERVERS {
            // 3proxy does not even read it.
            self.program.resolver.ignored_servers.push(command.at);
        } else if let Some(server) = self.name_server(command, word) {
            self.program.resolver.servers.push(Set::new(server, word.at));
        }
        if let Some(old) = self.fake() {
            self.program.history.unfaked = Some(Overwritten { old, new: command.at });
        }
        self.program.resolver.mode = Set::new(ResolverMode::Servers, command.at);
    }

    /// The `fakeresolve` in force.
    pub(super) fn fake(&self) -> Option<Loc> {
        let mode = self.program.resolver.mode;
        mode.at.filter(|_| mode.value == ResolverMode::Fake)
    }

    /// 3proxy reads a port here, and asks port 53 all the same.
    fn authnserver(&mut self, command: &Command<'_>) {
        let Some(word) = command.argument(0) else { return };
        if let Some(mut server) = self.name_server(command, word) {
            server.address.set_port(DNS_PORT);
            self.program.resolver.auth_server = Some(Set::new(server, word.at));
        }
    }

    fn name_server(&mut self, command: &Command<'_>, word: &Arg<'_>) -> Option<NameServer> {
        let Ok(reading) = value::endpoint(&word.value) else {
            self.report(lints::invalid_value::address(command, word));
            return None;
        };
        let endpoint = self.keep(word, 0, reading, Trap::Endpoint);
        if let Host::Name(name) = &endpoint.host
            && !name.as_bytes().eq_ignore_ascii_case(b"localhost")
            && !self.short_address(name).is_some_and(|address| address.is_loopback())
        {
            self.report(lints::nserver_is_name::finding(command, word.at, &name.to_string()));
        }
        let address = self.resolved(word, endpoint.host)?;
        let port = endpoint.port.unwrap_or(DNS_PORT);
        Some(NameServer { address: SocketAddr::new(address, port), tcp: endpoint.tcp })
    }

    fn cache_size(&mut self, command: &Command<'_>) -> Option<Set<u32>> {
        let word = command.argument(0)?;
        let size = self.number(word) as u32;
        // A negative number is an enormous one to 3proxy, which then finds no memory for it.
        if size < SMALLEST_CACHE || i32::try_from(size).is_err() {
            self.report(lints::nscache_too_small::finding(command, word));
            return None;
        }
        Some(Set::new(size, command.at))
    }

    fn nsrecord(&mut self, command: &Command<'_>) {
        let (Some(name), Some(word)) = (command.argument(0), command.argument(1)) else { return };
        let Some(address) = self.address(command, word, &word.value) else { return };
        let resolver = &mut self.program.resolver;
        let cache = if address.is_ipv6() { resolver.cache6 } else { resolver.cache };
        resolver.records.push(StaticRecord {
            at: command.at,
            name: name.text(),
            address,
            before_cache: cache.is_none(),
        });
    }
}
