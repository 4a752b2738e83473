//! What a user was checked by: if that changes, what was found out no longer counts.
use std::hash::{BuildHasher, Hash, Hasher, RandomState};

use compiler::{
    policy::Policy,
    program::auth::{AuthType, Password},
};

/// Numbers for what users are checked by. They tell nothing of it: the hash has keys of its own.
#[derive(Debug, Default)]
pub(super) struct Checks(RandomState);

impl Checks {
    /// What a type of `policy` checks this user by; `None`: it has nothing to check it by.
    pub(super) fn of(&self, policy: &Policy, by: AuthType, user: &[u8]) -> Option<u64> {
        let mut hash = self.0.build_hasher();
        by.hash(&mut hash);
        match by {
            AuthType::None | AuthType::IpOnly | AuthType::Cache | AuthType::CacheAcl => return None,
            AuthType::UserOnly => {}
            AuthType::DnsName => {
                let resolver = &policy.program().resolver;
                for server in resolver.auth_server.iter().chain(&resolver.servers) {
                    (server.value.address, server.value.tcp).hash(&mut hash);
                }
            }
            AuthType::Strong => {
                let (form, password) = match policy.user(user)? {
                    Password::Clear(password) => (0, password),
                    Password::Crypt(password) => (1, password),
                    Password::Nt(password) => (2, password),
                };
                (form, password.expose()).hash(&mut hash);
            }
            AuthType::Radius => {
                let radius = policy.program().radius.as_ref()?;
                radius.secret.expose().hash(&mut hash);
                radius.servers.iter().for_each(|server| (server.address, server.local).hash(&mut hash));
            }
        }
        Some(hash.finish())
    }
}
