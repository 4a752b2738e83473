//! What an entry is found by.
//!
//! The key holds what `authcache` names, and always that list of names and the types that the chain trusts: who got in by name alone
//! is not known to a service that wants a password. It is a digest under a secret of its own, so that no password is kept and no key
//! can be made to collide. Making one allocates nothing.
use std::{
    fmt,
    net::{IpAddr, SocketAddr},
};

use compiler::program::{
    acl::Operation,
    auth::{AuthStep, AuthType, CacheField, CacheFields},
};
use openssl::sha::Sha256;

use super::is_bound_to_address;
use crate::{
    random,
    session::{Credentials, TargetName},
};

/// What an entry is found by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key([u8; 32]);

/// What a key can be made of.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The service's chain.
    pub chain: &'a [AuthStep],
    /// The client's address.
    pub client: IpAddr,
    /// What the client gave.
    pub credentials: Option<&'a Credentials>,
    /// Which access list the service has.
    pub acl: Option<[u32; 3]>,
    /// The target as the client named it.
    pub target: &'a TargetName,
    /// The target's address.
    pub address: Option<IpAddr>,
    /// The target's port.
    pub port: u16,
    /// What is to be done there.
    pub operation: Operation,
    /// The address that the client connected to.
    pub service: SocketAddr,
}

/// Makes keys.
pub(super) struct Keys {
    /// The digest, begun with the secret; `None`: the system had no randomness to give, then nobody is remembered.
    begun: Option<Sha256>,
}

impl Keys {
    /// With a secret of its own.
    pub(super) fn new() -> Self {
        // One whole block of the digest, so that its work is done once.
        let secret = random::secret::<64>().ok();
        let begun = secret.map(|secret| {
            let mut digest = Sha256::new();
            digest.update(&secret);
            digest
        });
        Self { begun }
    }

    /// The key of a request by these fields; `None`: the request lacks one, or the fields say nothing of the client.
    pub(super) fn of(&self, fields: CacheFields, subject: &Subject<'_>) -> Option<Key> {
        let has = |field| fields.has(field);
        if !(has(CacheField::Ip) || has(CacheField::User) || has(CacheField::Pass)) {
            return None;
        }
        let mut digest = Digest { state: self.begun.clone()?, block: [0; BLOCK], len: 0 };
        let named = fields.iter().fold(0_u16, |named, field| named | 1 << field as u8);
        digest.part(&named.to_be_bytes());
        digest.chain(subject.chain);
        if has(CacheField::Ip) && !is_bound_to_address(fields) {
            digest.address(Some(subject.client));
        }
        if has(CacheField::User) {
            digest.part(&subject.credentials?.user);
        }
        if has(CacheField::Pass) {
            digest.part(subject.credentials?.password.as_ref()?.expose());
        }
        if has(CacheField::Acl) {
            for number in subject.acl.iter().flatten() {
                digest.part(&number.to_be_bytes());
            }
            digest.part(&[]);
        }
        if has(CacheField::DstAddr) {
            digest.address(subject.address);
        }
        if has(CacheField::DstPort) {
            digest.part(&subject.port.to_be_bytes());
        }
        if has(CacheField::DstHost) {
            match subject.target {
                TargetName::Address(address) => digest.address(Some(*address)),
                TargetName::Name(name) => {
                    digest.address(None);
                    digest.part(name.as_bytes());
                }
            }
        }
        if has(CacheField::DstOper) {
            digest.part(&[subject.operation as u8]);
        }
        if has(CacheField::SrvAddr) {
            digest.address(Some(subject.service.ip()));
        }
        if has(CacheField::SrvPort) {
            digest.part(&subject.service.port().to_be_bytes());
        }
        Some(Key(digest.finish()))
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys").finish_non_exhaustive()
    }
}

/// What most keys are made of fits into one block.
const BLOCK: usize = 64;

/// A digest of parts that can't run into each other: each comes with its length.
struct Digest {
    state: Sha256,
    /// What comes next: calls of the digest cost more than a copy.
    block: [u8; BLOCK],
    len: usize,
}

impl Digest {
    fn part(&mut self, bytes: &[u8]) {
        match u8::try_from(bytes.len()) {
            Ok(length) if length < u8::MAX => self.add(&[length]),
            _ => {
                self.add(&[u8::MAX]);
                self.add(&(bytes.len() as u64).to_be_bytes());
            }
        }
        self.add(bytes);
    }

    fn address(&mut self, address: Option<IpAddr>) {
        match address {
            Some(IpAddr::V4(address)) => self.part(&address.octets()),
            Some(IpAddr::V6(address)) => self.part(&address.octets()),
            None => self.part(&[]),
        }
    }

    /// The types by which a user becomes known, in their order.
    fn chain(&mut self, chain: &[AuthStep]) {
        for step in chain {
            match step.kind {
                AuthType::None | AuthType::IpOnly | AuthType::Cache | AuthType::CacheAcl => {}
                AuthType::UserOnly => self.part(b"u"),
                AuthType::DnsName => self.part(b"d"),
                AuthType::Strong => self.part(b"s"),
                AuthType::Radius => self.part(b"r"),
            }
        }
        self.part(&[]);
    }

    fn add(&mut self, bytes: &[u8]) {
        match self.block.get_mut(self.len..self.len + bytes.len()) {
            Some(place) => {
                place.copy_from_slice(bytes);
                self.len += bytes.len();
            }
            None => {
                self.flush();
                self.state.update(bytes);
            }
        }
    }

    fn flush(&mut self) {
        self.state.update(self.block.get(..self.len).unwrap_or_default());
        self.len = 0;
    }

    fn finish(mut self) -> [u8; 32] {
        self.flush();
        self.state.finish()
    }
}
