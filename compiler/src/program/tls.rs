//! TLS settings, as the `ssl_…` lines leave them for the services that follow.
use grammar::Text;

use super::Set;
use crate::sources::Loc;

/// The TLS settings in force at a service's line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tls {
    /// `ssl_serv`: TLS towards clients.
    pub serve: Option<Loc>,
    /// `ssl_cli`: TLS towards servers.
    pub connect: Option<Loc>,
    /// `ssl_mitm`: intercepts TLS.
    pub intercept: Option<Loc>,
    /// `ssl_ktls`: hands TLS to the kernel.
    pub kernel: Option<Loc>,
    /// `ssl_server_…`: the side that clients see.
    pub server: TlsSide,
    /// `ssl_client_…`: the side that servers see.
    pub client: TlsSide,
    /// `ssl_client_sni`.
    pub sni: Option<Set<Text>>,
    /// `ssl_client_alpn`.
    pub alpn: Vec<Set<Text>>,
    /// `ssl_client_mode`: when TLS towards the server begins, 0 to 3.
    pub client_mode: Set<i32>,
    /// `ssl_certcache`.
    pub certificate_cache: Option<Set<Text>>,
}

/// The [mode](Tls::client_mode) in which TLS begins at the parent.
const FOR_PARENTS: i32 = 3;

impl Tls {
    /// Whether TLS is spoken to parents whose type asks for it.
    #[must_use]
    pub(crate) fn secures_parents(&self) -> bool {
        self.connect.is_some() && self.client_mode.value == FOR_PARENTS
    }
}

/// One side's settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsSide {
    /// Certificate file.
    pub certificate: Option<Set<Text>>,
    /// Key file.
    pub key: Option<Set<Text>>,
    /// CA file.
    pub ca_file: Option<Set<Text>>,
    /// CA key file (server side: it signs what `ssl_mitm` presents).
    pub ca_key: Option<Set<Text>>,
    /// CA folder.
    pub ca_dir: Option<Set<Text>>,
    /// CA store.
    pub ca_store: Option<Set<Text>>,
    /// TLS 1.3 suites.
    pub ciphersuites: Option<Set<Text>>,
    /// Ciphers up to TLS 1.2.
    pub cipher_list: Option<Set<Text>>,
    /// Lowest version.
    pub min_version: Option<Set<Text>>,
    /// Highest version.
    pub max_version: Option<Set<Text>>,
    /// The peer's certificate is verified.
    pub verify: Option<Loc>,
}
