//! Who the client is: the authentication chain, its cache, users and RADIUS.
use std::net::{IpAddr, SocketAddr};

use grammar::{
    Secret, Text,
    value::{is_crypt_hash, is_nt_hash},
};

use super::Set;
use crate::{code::Code, sources::Loc};

/// One type in an `auth` line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AuthType {
    /// Nothing is checked and the access list is not walked.
    None,
    /// The access list alone, with the user name hidden.
    IpOnly,
    /// Any user name, no password; then the access list.
    UserOnly,
    /// The client's PTR name is the user name; then the access list.
    DnsName,
    /// Password against `users`; then the access list.
    Strong,
    /// Password against RADIUS; then the access list.
    Radius,
    /// A remembered authentication; then the access list.
    Cache,
    /// A remembered authentication and verdict.
    CacheAcl,
}

/// A type and the word that named it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuthStep {
    /// The type.
    pub kind: AuthType,
    /// The word; `None`: 3proxy's default chain.
    pub at: Option<Loc>,
}

impl AuthType {
    /// Every type.
    pub const ALL: [Self; 8] = [
        Self::None,
        Self::IpOnly,
        Self::UserOnly,
        Self::DnsName,
        Self::Strong,
        Self::Radius,
        Self::Cache,
        Self::CacheAcl,
    ];

    /// As it is written.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::IpOnly => "iponly",
            Self::UserOnly => "useronly",
            Self::DnsName => "dnsname",
            Self::Strong => "strong",
            Self::Radius => "radius",
            Self::Cache => "cache",
            Self::CacheAcl => "cacheacl",
        }
    }

    /// It looks up what another type found out.
    #[must_use]
    pub const fn is_cache(self) -> bool {
        matches!(self, Self::Cache | Self::CacheAcl)
    }

    /// It asks for a password.
    #[must_use]
    pub(crate) const fn asks_password(self) -> bool {
        matches!(self, Self::Strong | Self::Radius)
    }

    /// The access list is told a user name.
    #[must_use]
    pub(crate) const fn names_user(self) -> bool {
        !matches!(self, Self::None | Self::IpOnly)
    }

    /// It finds out who the client is, so that there is something to remember.
    #[must_use]
    pub const fn is_real(self) -> bool {
        !matches!(self, Self::None | Self::Cache | Self::CacheAcl)
    }
}

/// The cache step of a chain that can hit, and the steps behind it, of which at least one finds out who the client is.
///
/// Only successes behind a cache step are remembered: the key is made when the cache is asked. A second cache step is never
/// reached by a hit.
#[must_use]
pub(crate) fn remembering(chain: &[AuthStep]) -> Option<(&AuthStep, &[AuthStep])> {
    let at = chain.iter().position(|step| step.kind.is_cache())?;
    let (cache, behind) = chain.get(at..)?.split_first()?;
    behind.iter().any(|step| step.kind.is_real()).then_some((cache, behind))
}

/// `authcache`: what a remembered authentication is keyed by, and how long it lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuthCache {
    /// What 3proxy reads out of the field list.
    pub fields: CacheFields,
    /// The field list's word; `None` when there was no `authcache` line.
    pub at: Option<Loc>,
    /// Lifetime in seconds.
    pub seconds: u32,
}

pub use grammar::value::{CacheField, CacheFields};

/// One entry of the password table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The word that made it.
    pub at: Loc,
    /// Name.
    pub name: Text,
    /// How the password is kept.
    pub password: Password,
}

/// How a password is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Password {
    /// `CL` or no type: as it is.
    Clear(Secret),
    /// `CR`: `$1$` (MD5) or `$3$` (BLAKE2b), or something that no password matches.
    Crypt(Secret),
    /// `NT`: MD4 of UTF-16.
    Nt(Secret),
}

impl Password {
    /// Whether a client can give some password that is right.
    #[must_use]
    pub fn can_be_right(&self) -> bool {
        match self {
            Self::Clear(kept) => can_be_given(kept.expose()),
            Self::Crypt(hash) => is_crypt_hash(hash.expose()),
            Self::Nt(hash) => is_nt_hash(hash.expose()),
        }
    }

    /// 3proxy's code for a wrong one.
    #[must_use]
    pub const fn wrong(&self) -> Code {
        match self {
            Self::Clear(_) => Code::WRONG_CLEAR,
            Self::Crypt(_) => Code::WRONG_CRYPT,
            Self::Nt(_) => Code::WRONG_NT,
        }
    }
}

/// The longest name or password in bytes that a client can give: what SOCKS has room for, so that who may log in does not depend on
/// the protocol.
pub const LONGEST_CREDENTIAL: usize = 255;

/// Whether a client can give this as its name or password. A NUL can't stand there: 3proxy ends a text with it, so that a longer one
/// would be taken for its beginning.
#[must_use]
pub fn can_be_given(text: &[u8]) -> bool {
    text.len() <= LONGEST_CREDENTIAL && !text.contains(&0)
}

/// `radius SECRET SERVER…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Radius {
    /// The line.
    pub at: Loc,
    /// Shared secret, cut to 63 bytes as 3proxy does.
    pub secret: Secret,
    /// Servers in the order in which they are tried.
    pub servers: Vec<RadiusServer>,
}

impl Radius {
    /// At most this many of its servers count.
    pub(crate) const MOST_SERVERS: usize = 5;
}

/// One RADIUS server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RadiusServer {
    /// Authentication; accounting is the next port.
    pub address: SocketAddr,
    /// Source address of the requests.
    pub local: Option<IpAddr>,
}

/// The whole chain of a service.
pub type Chain = Set<std::sync::Arc<[AuthStep]>>;
