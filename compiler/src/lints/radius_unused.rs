//! `radius-unused`
use super::rule::{Lint, rule};
use crate::program::{auth::AuthType, log::LogTarget};

rule! {
    /// A `radius` line names servers that nothing asks.
    ///
    /// They are asked by `auth radius`, and told of connections by `log radius`. Here clients pass without them.
    ///
    /// ```3proxy,fires
    /// radius secret-of-sixteen-bytes 192.0.2.5
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// proxy
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,clean
    /// radius secret-of-sixteen-bytes 192.0.2.5
    /// auth radius
    /// allow * 10.0.0.0/8
    /// proxy
    /// ```
    "radius-unused",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    reads: Settings,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let (Some(radius), Some(service)) = (&program.radius, program.services.last()) else { return };
    let asks = program.services.iter().any(|service| {
        service.log.target.value == LogTarget::Radius
            || service.chain.value.iter().any(|step| step.kind == AuthType::Radius)
    });
    let late = lint.has_behind_services("auth") || lint.has_behind_services("log");
    if asks || late || !program.process.plugins.is_empty() {
        return;
    }
    let mut finding = RULE.finding(radius.at, "no service uses these RADIUS servers").label("not used");
    if let Some(at) = service.chain.at {
        finding = finding.also(at, "this chain has no `radius`");
    }
    lint.report(finding.help("write `auth radius` or `log radius` above the services, or remove the line"));
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn a_record_is_a_use() {
        check("radius-unused", "radius s 192.0.2.5\nlog radius\nproxy\n");
        check("radius-unused", "radius s 192.0.2.5\nproxy\nauth radius\n");
        check("radius-unused", "radius s 192.0.2.5\n");
    }
}
