//! The findings that only a run makes, and what `cfgc explain` says of them: they speak of this version of the runtime, or of the
//! host, so they are no lint rules, and they can't be allowed away.

/// A finding of the runtime.
#[derive(Debug)]
pub struct Explained {
    /// As it stands in brackets behind the level.
    pub name: &'static str,
    /// Markdown; the first sentence is a summary.
    pub docs: &'static str,
}

/// `cfgc run` does not execute this yet.
pub(crate) const NOT_EXECUTED: &str = "not-executed";
/// The counter file can't be gone on with.
pub(crate) const COUNTER_FILE: &str = "counter-file-unusable";
/// A name does not resolve when the configuration is loaded.
pub(crate) const HOST_UNRESOLVED: &str = "host-unresolved";

/// All of them.
pub static EXPLAINED: &[Explained] = &[
    Explained {
        name: NOT_EXECUTED,
        docs: "`cfgc run` does not execute this yet.\n\n\
            The line is right, and 3proxy does what it says; this version of the runtime can't. It refuses the file rather than \
            leave a setting out: a limit or a TLS setting that is ignored is worse than none. `cfgc check` does not report it.\n\n\
            Serve the file with 3proxy, or remove what is not executed.\n",
    },
    Explained {
        name: COUNTER_FILE,
        docs: "The counter file can't be read, or not be replaced.\n\n\
            A file that is damaged or none of 3proxy's is left as it is: what can still be read of it is worth more than a fresh start, \
            so `cfgc run` refuses the configuration and names what is wrong. It writes the file beside itself and renames it, so that \
            a crash never leaves half of one: the folder must be writable, too.\n\n\
            Move the file away to begin a new one. One of 3proxy on a 32-bit machine must be converted first.\n",
    },
    Explained {
        name: HOST_UNRESOLVED,
        docs: "A name does not resolve when the configuration is loaded: that of a parent, of a name server, of an address to \
            connect from.\n\n\
            3proxy refuses such a file. `cfgc check` asks no name server, so only `cfgc run` finds it, at start and at each reload.\n\n\
            Name a host that resolves, or give its address.\n",
    },
];

#[cfg(test)]
mod tests {
    use super::EXPLAINED;

    #[test]
    fn no_lint_rule_has_the_name_of_a_finding_of_the_runtime() {
        for finding in EXPLAINED {
            assert!(compiler::lints::find(finding.name).is_none(), "{}", finding.name);
            assert!(finding.docs.contains(".\n\n"), "{} has a summary and a text", finding.name);
        }
    }
}
