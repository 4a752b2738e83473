//! The settings that a service copies at its line.
use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    sync::Arc,
};

use crate::program::{
    Set,
    acl::ListId,
    auth::{AuthCache, AuthStep, AuthType, Chain},
    limits::Rotation,
    log::ServiceLog,
    service::{External, ListenAddress, ServiceOptions},
    tls::Tls,
};

/// The lifetime of a remembered authentication when none is given, in seconds.
pub(super) const CACHE_SECONDS: u32 = 600;
/// 3proxy's limit of connections of a service when none is given.
const MAXCONN: i32 = 500;

/// The settings in force.
pub(super) struct State {
    /// The current list; `None`: it is empty.
    pub(super) list: Option<ListId>,
    /// How many of the current list's entries were copied by a service.
    pub(super) copied: u32,
    /// The last entry, as it is now, was copied.
    pub(super) last_copied: bool,
    /// `auth`.
    pub(super) chain: Chain,
    /// A service copied it.
    pub(super) chain_copied: bool,
    /// `authcache`.
    pub(super) auth_cache: Option<AuthCache>,
    /// The last lifetime that an `authcache` line gave: later lines without one keep it.
    pub(super) cache_seconds: u32,
    /// `internal`.
    pub(super) internal: Set<ListenAddress>,
    /// `external`.
    pub(super) external: External,
    /// `maxconn`.
    pub(super) maxconn: Set<i32>,
    /// `backlog`.
    pub(super) backlog: Set<i32>,
    /// `force`, `noforce`.
    pub(super) force: Set<bool>,
    /// `log`, `logformat`, `logdump`.
    pub(super) log: ServiceLog,
    /// The last rotation that a `log` line gave: later lines without one keep it.
    pub(super) rotation: Rotation,
    /// The last `log` line with a file: every service that logs to a file or to standard output writes there.
    pub(super) log_file: Option<ServiceLog>,
    /// The services that do so.
    pub(super) log_followers: Vec<usize>,
    /// `ssl_…`.
    pub(super) tls: Arc<Tls>,
    /// The options of services that have none.
    pub(super) no_options: Arc<ServiceOptions>,
}

impl Default for State {
    fn default() -> Self {
        let chain: Arc<[AuthStep]> = Arc::new([AuthStep { kind: AuthType::IpOnly, at: None }]);
        Self {
            list: None,
            copied: 0,
            last_copied: false,
            chain: Set::default_to(chain),
            chain_copied: false,
            auth_cache: None,
            cache_seconds: CACHE_SECONDS,
            internal: Set::default_to(ListenAddress::Ip(IpAddr::V4(Ipv4Addr::UNSPECIFIED))),
            external: External {
                v4: Set::default_to(Ipv4Addr::UNSPECIFIED),
                v6: Set::default_to(Ipv6Addr::UNSPECIFIED),
            },
            maxconn: Set::default_to(MAXCONN),
            backlog: Set::default(),
            force: Set::default_to(true),
            log: ServiceLog::default(),
            rotation: Rotation::None,
            log_file: None,
            log_followers: Vec::new(),
            tls: Arc::default(),
            no_options: Arc::default(),
        }
    }
}
