//! `authcache-size-small`
use super::rule::{Lint, rule};
use crate::analysis::cached;

rule! {
    /// The authentication cache has room for fewer entries than the services that ask it have clients at once.
    ///
    /// A client whose entry found no room is authenticated with each request. Every value of the key's fields is an entry of its own.
    ///
    /// ```3proxy,fires
    /// users alice:CL:wonderland
    /// authcache ip,user,pass 600 100
    /// auth cache strong
    /// maxconn 5000
    /// proxy
    /// ```
    ///
    /// Without a size there is room for 262,144:
    ///
    /// ```3proxy,clean
    /// users alice:CL:wonderland
    /// authcache ip,user,pass 600
    /// auth cache strong
    /// maxconn 5000
    /// proxy
    /// ```
    "authcache-size-small",
    level: Allow,
    group: Performance,
    since: "0.1.0",
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let size = program.auth_cache_size;
    let Some(at) = size.at else { return };
    let largest = cached::services(program).max_by_key(|cached| cached.service.maxconn.value);
    let Some(service) = largest.map(|cached| cached.service) else { return };
    let clients = u32::try_from(service.maxconn.value).unwrap_or_default();
    if size.value < clients {
        let place = service.maxconn.at.unwrap_or(service.at);
        lint.report(
            RULE.finding(
                at,
                format!("the cache has room for {} entries, but a service for {clients} clients", size.value),
            )
            .label("too small")
            .also(place, "this many connections at a time")
            .help("leave the size out: 262,144 entries are the default"),
        );
    }
}
