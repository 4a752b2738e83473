//! The newest version of TLS is older than the oldest.
use std::collections::HashSet;

use grammar::Text;

use super::rule::{Lint, rule};
use crate::program::{Set, tls::TlsSide};

rule! {
    /// A highest version of TLS below the lowest one leaves no version: each handshake fails.
    ///
    /// ```3proxy,fires
    /// ssl_client_min_proto_version TLSv1.3
    /// ssl_client_max_proto_version TLSv1.2
    /// ssl_client
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// proxy -i192.168.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// ssl_client_min_proto_version TLSv1.2
    /// ssl_client_max_proto_version TLSv1.3
    /// ssl_client
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// proxy -i192.168.0.1
    /// ```
    "tls-versions-reversed",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let mut told = HashSet::new();
    for service in &program.services {
        let tls = &service.tls;
        let used = [(&tls.server, tls.serve.is_some()), (&tls.client, tls.connect.is_some())];
        for side in
            used.into_iter().filter_map(|(side, used)| (used || tls.intercept.is_some()).then_some(side))
        {
            let Some((lowest, highest)) = reversed(side) else { continue };
            let (Some(low), Some(high)) = (lowest.at, highest.at) else { continue };
            if told.insert((low, high)) {
                lint.report(
                    RULE.finding(
                        high,
                        format!(
                            "no TLS version is left, because `{}` is older than `{}`",
                            highest.value, lowest.value
                        ),
                    )
                    .label("the newest that is accepted")
                    .also(low, "the oldest that is accepted")
                    .also(service.at, "no handshake of this service succeeds")
                    .help("write the older version as the lowest one"),
                );
            }
        }
    }
}

/// Lowest and highest version, if they are the wrong way round.
fn reversed(side: &TlsSide) -> Option<(&Set<Text>, &Set<Text>)> {
    let (lowest, highest) = (side.min_version.as_ref()?, side.max_version.as_ref()?);
    (rank(highest)? < rank(lowest)?).then_some((lowest, highest))
}

/// The place of a version among those that 3proxy knows.
fn rank(version: &Set<Text>) -> Option<usize> {
    let known = ["SSLv3", "TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"];
    known.iter().position(|known| known.as_bytes().eq_ignore_ascii_case(version.value.as_bytes()))
}
