//! A watched file that is being written.
use super::rule::{Lint, rule};

rule! {
    /// `monitor` reloads a file as soon as it changes, even while it is being written.
    ///
    /// 3proxy looks once a second, and reads what is there. Half a password list locks users out; half a configuration stops the
    /// services after the cut.
    ///
    /// ```3proxy,fires
    /// monitor /etc/3proxy/3proxy.cfg
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Where files are replaced by a rename (`mv NEW FILE`), it is right; say so:
    ///
    /// ```3proxy,clean
    /// # cfgc: allow(monitor-half-written) it is replaced by mv
    /// monitor /etc/3proxy/3proxy.cfg
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "monitor-half-written",
    level: Allow,
    group: Correctness,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    for file in &lint.program.process.monitors.clone() {
        let Some(at) = file.at else { continue };
        lint.report(
            RULE.finding(at, format!("`{}` is read as soon as it changes, even half-written", file.value))
                .help("write a new file next to it, and replace it with `mv`"),
        );
    }
}
