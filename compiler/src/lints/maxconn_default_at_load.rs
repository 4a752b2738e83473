//! The default number of connections.
use grammar::directive::Effect;

use super::rule::{Lint, rule};
use crate::program::service::ListenAddress;

rule! {
    /// A service accepts 500 connections at a time unless `maxconn` sets another limit.
    ///
    /// Above that, 3proxy stops accepting, and further clients wait in the queue of the kernel until they give up. A browser opens dozens.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// proxy -i192.168.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// maxconn 5000
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// proxy -i192.168.0.1
    /// ```
    "maxconn-default-at-load",
    level: Allow,
    group: Performance,
    since: "0.1.0",
    reads: Settings,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let local = |address: &ListenAddress| match address {
        ListenAddress::Ip(address) => address.is_loopback(),
        ListenAddress::Unix(_) => true,
    };
    // A `maxconn` whose number is not understood, or not known, has a finding of its own.
    let named = lint.program.commands.iter().position(|ran| ran.row.name == "maxconn");
    let before = lint.program.commands.get(..named.unwrap_or(usize::MAX)).unwrap_or(&lint.program.commands);
    let services = before.iter().filter(|ran| ran.row.effect == Effect::Service).count();
    let defaults: Vec<_> = lint
        .program
        .services
        .iter()
        .take(services)
        .filter(|service| service.maxconn.at.is_none() && !local(&service.listen.address.value))
        .map(|service| service.at)
        .collect();
    let Some(first) = defaults.first() else { return };
    let whose = match defaults.len() {
        1 => "this service takes".to_owned(),
        many => format!("{many} services take"),
    };
    lint.report(
        RULE.finding(*first, format!("{whose} 500 connections at a time, the default")).help(
            "write `maxconn N` above it, as many as clients need and the host can serve (`cfgc doctor`)",
        ),
    );
}
