//! `user-too-long`
use super::rule::{Lint, rule};
use crate::{analysis::cached, program::auth::Password};

rule! {
    /// A user's name or password is longer than 3proxy has room for where it is used.
    ///
    /// The authentication cache keeps 63 bytes of a name, so that entries for the whole name do not match on a hit. And of what HTTP
    /// clients send, name and password together, 3proxy reads 255 bytes.
    ///
    /// ```3proxy,fires
    /// users {REP:n:64}:CL:secret
    /// authcache ip 600
    /// auth cache strong
    /// allow *
    /// proxy
    /// ```
    ///
    /// ```3proxy,fires
    /// users alice:CL:{REP:p:250}
    /// auth strong
    /// allow *
    /// proxy
    /// ```
    ///
    /// ```3proxy,clean
    /// users {REP:n:64}:CL:secret
    /// auth strong
    /// allow *
    /// proxy
    /// ```
    "user-too-long",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    of_3proxy: true,
    check: check,
}

/// What the cache keeps of a name, in bytes.
const CACHED: usize = 63;
/// What is read of Basic credentials, in bytes.
const BASIC: usize = 255;

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let http = program.services.iter().any(|service| service.kind.speaks_http());
    let caches = cached::services(program).next().is_some();
    for user in &program.users {
        let name = user.name.as_bytes().len();
        let password = match &user.password {
            Password::Clear(password) => password.expose().len(),
            Password::Crypt(_) | Password::Nt(_) => 0,
        };
        let message = if caches && name > CACHED {
            format!("the cache keeps {CACHED} bytes of a user name, but this one has {name}")
        } else if http && name + 1 + password > BASIC {
            format!("HTTP clients can't log in if name and password have more than {BASIC} bytes together")
        } else {
            continue;
        };
        lint.report(RULE.finding(user.at, message).help("shorten it"));
    }
}
