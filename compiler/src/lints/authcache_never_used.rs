//! `authcache-never-used`
use super::rule::{Lint, rule};

rule! {
    /// An `authcache` line has no effect, because no service's chain asks the cache.
    ///
    /// Only `cache` and `cacheacl` in an `auth` line ask it. Here every request is authenticated anew.
    ///
    /// ```3proxy,fires
    /// users alice:CL:wonderland
    /// authcache user,pass 600
    /// auth strong
    /// allow alice
    /// proxy
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,clean
    /// users alice:CL:wonderland
    /// authcache user,pass 600
    /// auth cache strong
    /// allow alice
    /// proxy
    /// ```
    "authcache-never-used",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let Some(at) = program.auth_cache_size.at else { return };
    let asked =
        program.services.iter().any(|service| service.chain.value.iter().any(|step| step.kind.is_cache()));
    // What stands behind the last service has a finding already.
    let too_late = program.behind_services.iter().any(|command| command.at == at);
    let Some(service) = program.services.last().filter(|_| !asked && !too_late) else { return };
    let mut finding = RULE
        .finding(at, "no service asks the authentication cache")
        .label("its entries are never used")
        .help("write `cache` before the type whose results it should remember (`auth cache strong`), or remove the line");
    if let Some(chain) = service.chain.at {
        finding = finding.also(chain, "this chain has no `cache`");
    }
    lint.report(finding);
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn one_service_that_asks_is_enough() {
        for text in [
            "authcache user\nauth strong\nproxy\nauth cacheacl strong\nsocks\n",
            "auth strong\nproxy\nauthcache user\n",
            "authcache user\n",
            "authcache user\nauth strong cache\nproxy\n",
        ] {
            check("authcache-never-used", text);
        }
    }
}
