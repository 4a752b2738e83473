//! What is remembered of successful authentications: who the client is, and nothing else.
//!
//! The key holds what `authcache` names, and always the types that the chain trusts: who got in by name alone is not known to a
//! service that wants a password. It is a digest under a secret of its own, so that no password is kept and no key can be made
//! to collide. The cache belongs to a snapshot: a reload forgets everybody.
//!
//! What `iponly` and `none` let in is never remembered, since nobody knows who that was: 3proxy does remember the name that such
//! a client claims. Fields that say nothing of the client (`limit`, `ext`, `acl`, the service's and the target's alone) make no
//! key: with 3proxy everybody is then the one who logged in first. With `ip,limit` there is one entry for all: who comes from its
//! address is that user, and anybody else is refused.
use std::{
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use compiler::program::{
    acl::Operation,
    auth::{AuthType, CacheField, CacheFields},
};
use grammar::Secret;
use moka::sync::Cache;
use openssl::sha::Sha256;

use crate::{
    expiring::{self, Expiring},
    random,
    session::{Credentials, TargetName},
};

/// Who was found out to be a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    /// User name.
    pub(crate) user: Box<[u8]>,
    /// The address that it had.
    pub(crate) client: IpAddr,
}

/// Everybody who is remembered.
#[derive(Debug)]
pub(crate) struct Identities {
    cache: Cache<Key, Expiring<Known>>,
    /// `None`: the system had no randomness to give; then nobody is remembered.
    secret: Option<Secret>,
}

/// What an entry is found by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key([u8; 32]);

/// What a key can be made of.
pub(crate) struct Subject<'a> {
    /// The service's chain.
    pub(crate) types: Vec<AuthType>,
    /// The client's address.
    pub(crate) client: IpAddr,
    /// What the client gave.
    pub(crate) credentials: Option<&'a Credentials>,
    /// Which access list the service has.
    pub(crate) acl: Option<[u32; 3]>,
    /// The target as the client named it.
    pub(crate) target: &'a TargetName,
    /// The target's address.
    pub(crate) address: Option<IpAddr>,
    /// The target's port.
    pub(crate) port: u16,
    /// What is to be done there.
    pub(crate) operation: Operation,
    /// The address that the client connected to.
    pub(crate) service: SocketAddr,
}

/// Whether the client's address is a value to compare (`ip,limit`), not a part of the key.
pub(crate) fn is_bound_to_address(fields: CacheFields) -> bool {
    fields.has(CacheField::Ip) && fields.has(CacheField::Limit)
}

impl Identities {
    /// Room for so many.
    pub(crate) fn new(capacity: u32) -> Self {
        let secret = random::secret::<32>().ok().map(|bytes| Secret::from(&bytes[..]));
        Self { cache: expiring::cache(capacity), secret }
    }

    /// Who that is, if it is remembered.
    pub(crate) fn get(&self, key: &Key) -> Option<Known> {
        self.cache.get(key).map(|entry| entry.value)
    }

    /// Remembers that for so many seconds.
    pub(crate) fn put(&self, key: Key, known: Known, seconds: u32) {
        self.cache.insert(key, Expiring { value: known, lifetime: Duration::from_secs(seconds.into()) });
    }

    /// The key of a request by these fields; `None`: the request lacks one, or the fields say nothing of the client.
    pub(crate) fn key(&self, fields: CacheFields, subject: &Subject<'_>) -> Option<Key> {
        let has = |field| fields.has(field);
        if !(has(CacheField::Ip) || has(CacheField::User) || has(CacheField::Pass)) {
            return None;
        }
        let mut digest = Digest(Sha256::new());
        digest.part(self.secret.as_ref()?.expose());
        digest.part(&trusted(&subject.types).to_be_bytes());
        if has(CacheField::Ip) && !is_bound_to_address(fields) {
            digest.part(subject.client.to_string().as_bytes());
        }
        if has(CacheField::User) {
            digest.part(&subject.credentials?.user);
        }
        if has(CacheField::Pass) {
            digest.part(subject.credentials?.password.as_ref()?.expose());
        }
        if has(CacheField::Acl) {
            digest.part(format!("{:?}", subject.acl).as_bytes());
        }
        if has(CacheField::DstAddr) {
            digest.part(format!("{:?}", subject.address).as_bytes());
        }
        if has(CacheField::DstPort) {
            digest.part(&subject.port.to_be_bytes());
        }
        if has(CacheField::DstHost) {
            digest.part(subject.target.to_string().as_bytes());
        }
        if has(CacheField::DstOper) {
            digest.part(&[subject.operation as u8]);
        }
        if has(CacheField::SrvAddr) {
            digest.part(subject.service.ip().to_string().as_bytes());
        }
        if has(CacheField::SrvPort) {
            digest.part(&subject.service.port().to_be_bytes());
        }
        Some(Key(digest.0.finish()))
    }
}

/// A number for the types of a chain by which a user becomes known.
fn trusted(types: &[AuthType]) -> u8 {
    types.iter().fold(0, |all, kind| {
        all | match kind {
            AuthType::None | AuthType::IpOnly | AuthType::Cache | AuthType::CacheAcl => 0,
            AuthType::UserOnly => 1,
            AuthType::DnsName => 2,
            AuthType::Strong => 4,
            AuthType::Radius => 8,
        }
    })
}

/// A digest of parts that can't run into each other.
struct Digest(Sha256);

impl Digest {
    fn part(&mut self, bytes: &[u8]) {
        self.0.update(&(bytes.len() as u64).to_be_bytes());
        self.0.update(bytes);
    }
}

#[cfg(test)]
mod tests;
