//! Where services listen and connect from: `internal`, `external`, `maxconn`, `backlog`, `force`, `noforce`.
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use grammar::{
    Text,
    value::{self, Host},
};

use super::{
    Handlers, Lowering,
    command::{Arg, Command},
};
use crate::{
    lints,
    program::{
        Set,
        service::{External, ListenAddress},
        trap::Trap,
    },
    sources::Loc,
};

pub(super) const HANDLERS: Handlers = &[
    ("internal", |lowering, command| {
        let Some(word) = command.argument(0) else { return };
        let before = lowering.state.internal.value.clone();
        if let Some(address) = lowering.listen_address(word, &word.value, &before) {
            lowering.state.internal = Set::new(address, word.at);
        }
    }),
    ("external", |lowering, command| {
        let Some(word) = command.argument(0) else { return };
        if let Some(address) = lowering.external_address(command, word, &word.value) {
            lowering.state.external.set(address, word.at);
        }
    }),
    ("maxconn", |lowering, command| lowering.maxconn(command)),
    ("backlog", |lowering, command| lowering.backlog(command)),
    ("force", |lowering, command| lowering.state.force = Set::new(true, command.at)),
    ("noforce", |lowering, command| lowering.state.force = Set::new(false, command.at)),
];

impl External {
    /// Sets the address of its family, and leaves the other.
    pub(super) fn set(&mut self, address: IpAddr, at: Loc) {
        match address {
            IpAddr::V4(address) => self.v4 = Set::new(address, at),
            IpAddr::V6(address) => self.v6 = Set::new(address, at),
        }
    }
}

/// What 3proxy makes of an address by `word`, which is none. `None`: it keeps it. What has the look of the other family makes it
/// an address of that family, with the bytes that stand there: zeros.
fn left_of(before: &ListenAddress, word: &[u8]) -> Option<IpAddr> {
    let ListenAddress::Ip(before) = before else { return None };
    if !value::has_the_look(word) || before.is_unspecified() {
        return None;
    }
    match (before, word.contains(&b':')) {
        (IpAddr::V4(_), true) => Some(Ipv6Addr::UNSPECIFIED.into()),
        (IpAddr::V6(_), false) => Some(Ipv4Addr::UNSPECIFIED.into()),
        (IpAddr::V4(_), false) | (IpAddr::V6(_), true) => None,
    }
}

/// Whether a name stands where an address is wanted, and it is not plain that it means this machine.
fn needs_a_word(is_name: bool, address: Option<IpAddr>) -> bool {
    is_name && !address.is_some_and(|address| address.is_loopback())
}

impl Lowering<'_> {
    /// An address to listen on, given behind another one. `None`: it is none, and the one before is kept.
    pub(super) fn listen_address(
        &mut self,
        word: &Arg<'_>,
        glued: &[u8],
        before: &ListenAddress,
    ) -> Option<ListenAddress> {
        if let Some(path) = glued.strip_prefix(b"unix:") {
            return Some(ListenAddress::Unix(Text::from(path)));
        }
        match value::host(glued) {
            Ok(host) => {
                let is_name = matches!(host, Host::Name(_));
                let address = self.resolved(word, host);
                if needs_a_word(is_name, address) {
                    self.trap_word(word, Trap::ListenName);
                }
                address.map(ListenAddress::Ip)
            }
            Err(_) => {
                let left = left_of(before, glued);
                let trap = if left.is_some() { Trap::ListenForgotten } else { Trap::ListenAddress };
                self.trap_word(word, trap);
                left.map(ListenAddress::Ip)
            }
        }
    }

    /// An address to connect from. `None`: it is none, or a name that only the network can resolve.
    pub(super) fn external_address(
        &mut self,
        command: &Command<'_>,
        word: &Arg<'_>,
        glued: &[u8],
    ) -> Option<IpAddr> {
        let address = self.address(command, word, glued);
        if value::host(glued).is_ok_and(|host| needs_a_word(matches!(host, Host::Name(_)), address)) {
            self.trap_word(word, Trap::ExternalName);
        }
        address
    }

    fn maxconn(&mut self, command: &Command<'_>) {
        let Some(word) = command.argument(0) else { return };
        match self.number(word) {
            0 => self.report(
                lints::invalid_value::RULE
                    .finding(word.at, format!("`maxconn {}` lets no client in", word.text()))
                    .help("write a number above 0"),
            ),
            value => self.state.maxconn = Set::new(value, command.at),
        }
    }

    fn backlog(&mut self, command: &Command<'_>) {
        let Some(word) = command.argument(0) else { return };
        let value = self.number(word);
        if value < 0 {
            let message = format!("`backlog {}` is negative", word.text());
            self.report(
                lints::invalid_value::RULE.finding(word.at, message).help("write 0 for the default, or more"),
            );
        } else {
            self.state.backlog = Set::new(value, command.at);
        }
    }
}
