//! TLS settings: `ssl_…`.
use std::sync::Arc;

use grammar::Text;

use super::{Handlers, Lowering, command::Command};
use crate::{
    lints,
    program::{
        Set,
        tls::{Tls, TlsSide},
        trap::Trap,
    },
    sources::Loc,
};

/// A setting that a line with an argument sets, and one without takes away.
type Field = fn(&mut TlsSide) -> &mut Option<Set<Text>>;

const SERVER: fn(&mut Tls) -> &mut TlsSide = |tls| &mut tls.server;
const CLIENT: fn(&mut Tls) -> &mut TlsSide = |tls| &mut tls.client;

pub(super) const HANDLERS: Handlers = &[
    ("ssl_serv", |lowering, command| lowering.serve(command)),
    ("ssl_server", |lowering, command| lowering.serve(command)),
    ("ssl_noserv", |lowering, _| lowering.tls().serve = None),
    ("ssl_noserver", |lowering, _| lowering.tls().serve = None),
    ("ssl_cli", |lowering, command| lowering.connect(command)),
    ("ssl_client", |lowering, command| lowering.connect(command)),
    ("ssl_nocli", |lowering, _| lowering.tls().connect = None),
    ("ssl_noclient", |lowering, _| lowering.tls().connect = None),
    ("ssl_mitm", |lowering, command| lowering.intercept(command)),
    ("ssl_nomitm", |lowering, _| lowering.tls().intercept = None),
    ("ssl_ktls", |lowering, command| lowering.tls().kernel = Some(command.at)),
    ("ssl_noktls", |lowering, _| lowering.tls().kernel = None),
    ("ssl_server_cert", |lowering, command| lowering.side(command, SERVER, |side| &mut side.certificate)),
    ("ssl_server_key", |lowering, command| lowering.side(command, SERVER, |side| &mut side.key)),
    ("ssl_server_ca_file", |lowering, command| lowering.side(command, SERVER, |side| &mut side.ca_file)),
    ("ssl_server_ca_key", |lowering, command| lowering.side(command, SERVER, |side| &mut side.ca_key)),
    ("ssl_server_ca_dir", |lowering, command| lowering.side(command, SERVER, |side| &mut side.ca_dir)),
    ("ssl_server_ca_store", |lowering, command| lowering.side(command, SERVER, |side| &mut side.ca_store)),
    ("ssl_server_ciphersuites", |lowering, command| {
        lowering.side(command, SERVER, |side| &mut side.ciphersuites)
    }),
    ("ssl_server_cipher_list", |lowering, command| {
        lowering.side(command, SERVER, |side| &mut side.cipher_list)
    }),
    ("ssl_server_min_proto_version", |lowering, command| {
        lowering.version(command, SERVER, |side| &mut side.min_version)
    }),
    ("ssl_server_max_proto_version", |lowering, command| {
        lowering.version(command, SERVER, |side| &mut side.max_version)
    }),
    ("ssl_server_verify", |lowering, command| lowering.tls().server.verify = Some(command.at)),
    ("ssl_server_no_verify", |lowering, _| lowering.tls().server.verify = None),
    ("ssl_client_cert", |lowering, command| lowering.side(command, CLIENT, |side| &mut side.certificate)),
    ("ssl_client_key", |lowering, command| lowering.side(command, CLIENT, |side| &mut side.key)),
    ("ssl_client_ca_file", |lowering, command| lowering.side(command, CLIENT, |side| &mut side.ca_file)),
    ("ssl_client_ca_dir", |lowering, command| lowering.side(command, CLIENT, |side| &mut side.ca_dir)),
    ("ssl_client_ca_store", |lowering, command| lowering.side(command, CLIENT, |side| &mut side.ca_store)),
    ("ssl_client_ciphersuites", |lowering, command| {
        lowering.side(command, CLIENT, |side| &mut side.ciphersuites)
    }),
    ("ssl_client_cipher_list", |lowering, command| {
        lowering.side(command, CLIENT, |side| &mut side.cipher_list)
    }),
    ("ssl_client_min_proto_version", |lowering, command| {
        lowering.version(command, CLIENT, |side| &mut side.min_version)
    }),
    ("ssl_client_max_proto_version", |lowering, command| {
        lowering.version(command, CLIENT, |side| &mut side.max_version)
    }),
    ("ssl_client_verify", |lowering, command| lowering.tls().client.verify = Some(command.at)),
    ("ssl_client_no_verify", |lowering, _| lowering.tls().client.verify = None),
    ("ssl_client_sni", |lowering, command| lowering.tls().sni = optional(command)),
    ("ssl_client_alpn", |lowering, command| lowering.alpn(command)),
    ("ssl_client_mode", |lowering, command| {
        let mode = command.argument(0).map_or(0, |word| lowering.number(word));
        lowering.tls().client_mode = Set::new(mode, command.at);
    }),
    ("ssl_certcache", |lowering, command| lowering.certcache(command)),
];

/// What 3proxy calls the versions of TLS, in any case.
const VERSIONS: [&str; 5] = ["SSLv3", "TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"];
/// The longest name of a protocol in ALPN, in bytes, less one.
const LONGEST_ALPN: usize = 254;

/// The argument, if there is one.
fn optional(command: &Command<'_>) -> Option<Set<Text>> {
    command.argument(0).map(|word| Set::new(word.text(), word.at))
}

impl Lowering<'_> {
    /// The settings in force, apart from what services copied of them.
    fn tls(&mut self) -> &mut Tls {
        Arc::make_mut(&mut self.state.tls)
    }

    fn side(&mut self, command: &Command<'_>, side: fn(&mut Tls) -> &mut TlsSide, field: Field) {
        *field(side(self.tls())) = optional(command);
    }

    fn version(&mut self, command: &Command<'_>, side: fn(&mut Tls) -> &mut TlsSide, field: Field) {
        if let Some(word) = command.argument(0)
            && !VERSIONS.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(&word.value))
        {
            self.trap_word(word, Trap::TlsVersion);
        }
        self.side(command, side, field);
    }

    fn serve(&mut self, command: &Command<'_>) {
        if let Some(before) = self.state.tls.intercept {
            self.conflict(command, before);
        } else {
            self.tls().serve.get_or_insert(command.at);
        }
    }

    fn connect(&mut self, command: &Command<'_>) {
        if let Some(before) = self.state.tls.intercept {
            self.conflict(command, before);
        } else {
            self.tls().connect.get_or_insert(command.at);
        }
    }

    fn intercept(&mut self, command: &Command<'_>) {
        if let Some(before) = self.state.tls.serve {
            self.conflict(command, before);
        } else {
            self.tls().intercept.get_or_insert(command.at);
        }
    }

    fn conflict(&mut self, command: &Command<'_>, before: Loc) {
        self.report(lints::tls_mode_conflict::finding(command, before));
    }

    fn alpn(&mut self, command: &Command<'_>) {
        let names = command.arguments.iter().map(|word| Set::new(word.text(), word.at)).collect();
        self.tls().alpn = names;
        for word in command.arguments.iter().filter(|word| word.value.len() > LONGEST_ALPN) {
            let message = "the name of a protocol has at most 254 bytes";
            self.report(lints::invalid_value::RULE.finding(word.at, message).help("shorten it"));
        }
    }

    fn certcache(&mut self, command: &Command<'_>) {
        let Some(word) = command.argument(0) else { return };
        // Kept even if it is refused: what needs it is not to be told that there is none.
        self.tls().certificate_cache = optional(command);
        if !matches!(word.value.last(), Some(b'/' | b'\\')) {
            let message = format!("`{}` does not end with a slash", word.text());
            self.report(
                lints::invalid_value::RULE
                    .finding(word.at, message)
                    .help("name a folder, with `/` at its end"),
            );
        }
    }
}
