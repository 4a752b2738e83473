//! Who the client is: `auth`, `authcache`, `users`, `radius`.
use std::net::SocketAddr;

use grammar::{
    Secret,
    directive::one_slip,
    value::{self, AddressError, Endpoint, Host, PasswordKind},
};

use super::{
    Handlers, Lowering,
    command::{Arg, Command},
    state::CACHE_SECONDS,
};
use crate::{
    lints,
    program::{
        Open, Set,
        auth::{AuthCache, AuthStep, AuthType, Password, Radius, RadiusServer, User},
        history::Overwritten,
        trap::Trap,
    },
    sources::Loc,
};

pub(super) const HANDLERS: Handlers = &[
    ("auth", |lowering, command| lowering.auth(command)),
    ("authcache", |lowering, command| lowering.authcache(command)),
    ("users", |lowering, command| lowering.users(command)),
    ("radius", |lowering, command| lowering.radius(command)),
];

/// Entries of the authentication cache when no size is given.
const CACHE_SIZE: u32 = 262_144;
/// The longest RADIUS secret that 3proxy keeps, in bytes.
const LONGEST_SECRET: usize = 63;
/// RADIUS authentication.
const RADIUS_PORT: u16 = 1812;

impl Lowering<'_> {
    fn auth(&mut self, command: &Command<'_>) {
        let mut steps = Vec::with_capacity(command.arguments.len());
        let mut unknown = None;
        let assigned = command.unassigned().is_some();
        for (index, word) in command.arguments.iter().enumerate() {
            let is_type =
                |meant: &[u8]| AuthType::ALL.into_iter().find(|kind| kind.name().as_bytes() == meant);
            match is_type(&word.value) {
                Some(kind) => steps.push(AuthStep { kind, at: Some(word.at) }),
                // A plugin may have brought it.
                None if !self.program.process.plugins.is_empty() => self.program.unmodelled.push(word.at),
                None => {
                    // Of a type that is only like one, nothing else is known.
                    let near = one_slip(&word.value, AuthType::ALL.into_iter().map(AuthType::name));
                    self.report(lints::unknown_auth_type::finding(command, word, near));
                    if assigned && index == 0 {
                        continue;
                    }
                    // What is meant as a comment names no types.
                    if self.sources.text(word.at).starts_with(b"#") {
                        unknown = unknown.or(steps.is_empty().then_some(word.at));
                        break;
                    }
                    match near.and_then(|near| is_type(near.as_bytes())) {
                        Some(kind) => steps.push(AuthStep { kind, at: Some(word.at) }),
                        None => unknown = Some(word.at),
                    }
                }
            }
        }
        steps.extend(unknown.map(|at| self.unknown_type(at)));
        // Of those that a plugin may have brought nothing is known.
        if !steps.is_empty() {
            let new = Set::new(steps.into(), command.at);
            let old = std::mem::replace(&mut self.state.chain, new.clone());
            if old.at.is_some() && !self.state.chain_copied {
                self.program.history.overwritten_chains.push(Overwritten { old, new });
            }
            self.state.chain_copied = false;
        }
    }

    /// An `auth` line that names no type, which 3proxy refuses.
    pub(super) fn auth_without_types(&mut self, command: &Command<'_>) {
        let step = self.unknown_type(command.at);
        self.state.chain = Set::new([step].into(), command.at);
        self.state.chain_copied = false;
    }

    /// What stands for a type that is not known: it must look neither like one that lets everyone in nor like one that knows no names.
    fn unknown_type(&mut self, at: Loc) -> AuthStep {
        // Who is let in may not depend on `users`.
        self.note_open(Open::Users);
        self.program.history.unknown_types.push(at);
        AuthStep { kind: AuthType::Strong, at: Some(at) }
    }

    fn authcache(&mut self, command: &Command<'_>) {
        let Some(fields) = command.argument(0) else { return };
        let read = self.keep(fields, 0, value::cache_fields(&fields.value), Trap::Cache);
        if let Some(seconds) = command.argument(1) {
            let apart = lints::authcache_unknown_field::apart(fields, seconds);
            // No number is read as 0.
            let read = if apart.is_some() { 0 } else { self.number(seconds) as u32 };
            apart.into_iter().for_each(|finding| self.report(finding));
            self.state.cache_seconds = if read == 0 { CACHE_SECONDS } else { read };
        }
        let size = command.argument(2).map_or(0, |size| self.number(size) as u32);
        self.program.auth_cache_size = Set::new(if size == 0 { CACHE_SIZE } else { size }, command.at);
        self.state.auth_cache =
            Some(AuthCache { fields: read, at: Some(fields.at), seconds: self.state.cache_seconds });
    }

    fn users(&mut self, command: &Command<'_>) {
        for word in &command.arguments {
            let Some(entry) = self.keep(word, 0, value::user(&word.value), Trap::User) else { continue };
            let password = match entry.kind {
                PasswordKind::Clear => Password::Clear(entry.password),
                PasswordKind::Crypt => Password::Crypt(entry.password),
                PasswordKind::Nt => Password::Nt(entry.password),
            };
            self.program.users.push(User { at: word.at, name: entry.name, password });
        }
    }

    fn radius(&mut self, command: &Command<'_>) {
        let Some(secret) = command.argument(0) else { return };
        if secret.value.len() > LONGEST_SECRET {
            self.trap_word(secret, Trap::SecretCut);
        }
        let kept = secret.value.get(..LONGEST_SECRET).unwrap_or(&secret.value);
        let mut servers = Vec::new();
        for word in command.arguments_from(1).iter().take(Radius::MOST_SERVERS) {
            servers.extend(self.radius_server(command, word));
        }
        self.program.radius = Some(Radius { at: command.at, secret: Secret::from(kept), servers });
    }

    /// `ADDRESS[:PORT][/LOCAL]`.
    fn radius_server(&mut self, command: &Command<'_>, word: &Arg<'_>) -> Option<RadiusServer> {
        let slash = word.value.iter().position(|byte| *byte == b'/');
        let server = slash.and_then(|at| word.value.get(..at)).unwrap_or(&word.value);
        let local = match slash.and_then(|at| word.value.get(at + 1..)) {
            Some(local) => Some(self.address(command, word, local)?),
            None => None,
        };
        let Ok(endpoint) = radius_endpoint(server) else {
            self.report(lints::invalid_value::address(command, word));
            return None;
        };
        if endpoint.port.is_some() {
            self.trap_word(word, Trap::RadiusPort);
        }
        let address = self.resolved(word, endpoint.host)?;
        let port = endpoint.port.unwrap_or(RADIUS_PORT);
        Some(RadiusServer { address: SocketAddr::new(address, port), local })
    }
}

/// A server, its port as the manual has it; 3proxy 1.0.0 itself takes a bare address or name.
fn radius_endpoint(server: &[u8]) -> Result<Endpoint, AddressError> {
    if let Ok(host @ Host::Address(_)) = value::host(server) {
        return Ok(Endpoint { host, port: None, tcp: false });
    }
    value::endpoint(server).map(|reading| reading.value).map_err(|(_, error)| error)
}
