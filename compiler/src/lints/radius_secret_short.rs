//! `radius-secret-short`
use super::rule::{Lint, rule};

rule! {
    /// A RADIUS secret is so short that it can be guessed from what is seen on the way.
    ///
    /// The secret hides the users' passwords and proves the server's answers. Who sees a few packets can try out secrets by the million;
    /// RFC 2865 wants 16 bytes at least.
    ///
    /// ```3proxy,fires
    /// radius secret 192.0.2.5
    /// auth radius
    /// proxy
    /// ```
    ///
    /// ```3proxy,clean
    /// radius h4Wq0Zx9TnB2vL7s 192.0.2.5
    /// auth radius
    /// proxy
    /// ```
    ///
    /// On the way to this machine itself nothing is seen:
    ///
    /// ```3proxy,clean
    /// radius secret 127.0.0.1
    /// auth radius
    /// proxy
    /// ```
    "radius-secret-short",
    level: Warn,
    group: Security,
    since: "0.1.0",
    reads: Line,
    check: check,
}

/// What RFC 2865 wants at least, in bytes.
const SHORTEST: usize = 16;

fn check(lint: &mut Lint<'_>) {
    let Some(radius) = &lint.program.radius else { return };
    let mut servers = radius.servers.iter().map(|server| server.address.ip());
    let near = !radius.servers.is_empty() && servers.all(|server| server.is_loopback());
    if !near && radius.secret.expose().len() < SHORTEST {
        let finding = RULE
            .finding(radius.at, "the secret of the RADIUS servers has fewer than 16 bytes")
            .help("agree on a random secret of 16 to 63 bytes");
        lint.report(finding);
    }
}
