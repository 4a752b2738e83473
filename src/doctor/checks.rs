//! What `cfgc doctor` examines: the name of each check, and what `cfgc explain` says of it.
use runtime::findings::Explained;

/// Declares checks, and the list of them.
macro_rules! checks {
    ($($(#[doc = $doc:literal])+ $constant:ident = $name:literal;)+) => {
        $(
            $(#[doc = $doc])+
            pub(crate) static $constant: Explained = Explained { name: $name, docs: concat!($($doc, "\n"),+) };
        )+

        /// All of them, by name.
        pub(crate) static ALL: &[&Explained] = &[$(&$constant),+];
    };
}

checks! {
    /// An address that a service listens on, connects from or asks RADIUS servers from is not one of this host's.
    ///
    /// 3proxy starts all the same, and every connection from that address fails. Tried by binding a socket to it, so addresses count that
    /// are local by a route, or allowed by `net.ipv4.ip_nonlocal_bind`. Of an `extip` with a prefix length one address is tried.
    ADDRESS_NOT_HERE = "address-not-here";
    /// The certificate authority that signs for intercepted sites makes certificates that clients refuse.
    ///
    /// A certificate is signed by it and verified, as most clients do (deny) and by the letter of RFC 5280 (warn), as newer ones do:
    /// the authority needs `basicConstraints=critical,CA:TRUE`, `keyUsage` with `keyCertSign`, a `subjectKeyIdentifier`, and a key that is
    /// not short. What is signed here has no fault of its own; what 3proxy 1.0.0 signs has no key identifiers, so that clients that look
    /// strictly refuse it from any authority.
    AUTHORITY_UNUSABLE = "authority-unusable";
    /// The certificates of a service do not form a chain, or not one that a strict client accepts.
    ///
    /// The service's own certificate stands first in its file, behind it the one that signed it, and so on.
    CERTIFICATE_CHAIN = "certificate-chain";
    /// A certificate has ended, has not begun, or ends within 30 days.
    CERTIFICATE_DATES = "certificate-dates";
    /// A certificate and a key that are used together do not belong together.
    CERTIFICATE_KEY = "certificate-key";
    /// A certificate that clients see has no `subjectAltName`.
    ///
    /// Clients have not looked for a host's name elsewhere since about 2017.
    CERTIFICATE_NAMES = "certificate-names";
    /// A certificate or key file can't be read, or holds something else.
    CERTIFICATE_UNREADABLE = "certificate-unreadable";
    /// The kernel's table of tracked connections is small for the load, its entries live long, or helpers read along.
    ///
    /// It matters only where a firewall rule tracks connections or translates addresses, which a host can't be asked. When the table is full,
    /// new connections are dropped, of all services. Each proxied connection takes an entry on the way in and one on the way out.
    CONNECTION_TRACKING = "connection-tracking";
    /// Every user of the host can read a file with secrets, or change a file of the configuration.
    ///
    /// That holds for hashed passwords too: the hashes that 3proxy knows are quick to guess at.
    FILE_PERMISSIONS = "file-permissions";
    /// A service is bound to an interface or a network namespace that this host does not have.
    ///
    /// `-Di`, `-De`, `-ni` and `-ne` name them; interfaces are looked for in `/sys/class/net`, namespaces in `/run/netns`.
    INTERFACE_MISSING = "interface-missing";
    /// `ssl_ktls` is set, but the kernel does no TLS.
    ///
    /// TLS goes on in the process, without a word.
    KERNEL_TLS = "kernel-tls";
    /// The host has dropped connections because a listen queue was full.
    ///
    /// The counters are of all services of the host since it started: see whether they grow. Less than one connection of ten thousand is not reported.
    LISTEN_DROPS = "listen-drops";
    /// A service asks for a longer queue of waiting connections than the kernel allows.
    ///
    /// The queue is `backlog`, or else an eighth of `maxconn`; the kernel cuts it without a word.
    LISTEN_QUEUE = "listen-queue";
    /// More connections go out from an address than it has local ports.
    ///
    /// 3proxy binds a socket before it connects, so that a port serves one connection, whatever its target. Give services external addresses
    /// of their own, or widen `net.ipv4.ip_local_port_range`.
    LOCAL_PORTS = "local-ports";
    /// 3proxy's threads need more memory mappings than a process may have.
    MEMORY_MAPS = "memory-maps";
    /// A parent, name server or RADIUS server does not answer (only with `--probe`).
    ///
    /// Parents are connected to, name servers are asked for the root's name servers, RADIUS servers get a Status-Server packet, which not every
    /// one answers. Each has three seconds.
    NO_ANSWER = "no-answer";
    /// The process may have fewer open files than its connections need.
    ///
    /// A connection takes two descriptors, four in `ftppr`, one in `udppm` and `dnspr`; two more for each direction that `-s` splices; one while a name is resolved, if there
    /// is an `nserver`; one for RADIUS. At the limit, connections are not accepted.
    OPEN_FILES = "open-files";
    /// A file or folder that the configuration names is not there.
    ///
    /// The folders of logs, counters, reports, sockets, certificate caches and the pid file, the `chroot` folder, libraries of plugins, watched
    /// files. What stands behind `chroot` is looked for in there. A path with `%` is a pattern, and is not looked for.
    PATH_MISSING = "path-missing";
    /// The user who serves can't write where the configuration has it write.
    ///
    /// Behind `setuid` that is the user that it names; a log that is rotated, a report and a certificate cache are made anew by that user wherever the
    /// lines stand. Without `setuid` it is the user of the process that `--pid` names. Groups are taken to be the right ones.
    PATH_NOT_WRITABLE = "path-not-writable";
    /// The user may have fewer processes and threads than 3proxy's connections need: it has a thread for each.
    ///
    /// The limit does not hold for root; it does after `setuid`.
    PROCESSES = "processes";
    /// TCP buffers may take too little memory for the load, or too much for the host.
    SOCKET_MEMORY = "socket-memory";
    /// Pipes of one user may take less memory than spliced connections need.
    SPLICE_PIPES = "splice-pipes";
    /// The kernel does not defend its queues against floods of connection requests.
    SYN_COOKIES = "syn-cookies";
    /// The control group may have fewer tasks than 3proxy's connections need: systemd's `TasksMax`.
    ///
    /// Unless the unit sets it, it is 15 % of `kernel.threads-max`, and the only symptom is `pthread_create()` in the log.
    TASKS = "tasks";
    /// The host may have fewer threads than 3proxy's connections need, beside those of others.
    THREADS = "threads";
    /// Ports of ended connections are kept for long, while the load needs more than half of all ports.
    TIME_WAIT = "time-wait";
    /// `setuid`, `setgid` or `chroot` names a user or group that is not in `/etc/passwd` or `/etc/group`.
    ///
    /// A directory service may know it all the same.
    USER_UNKNOWN = "user-unknown";
}

#[cfg(test)]
mod tests {
    use super::ALL;

    #[test]
    fn names_are_in_order() {
        assert!(ALL.is_sorted_by_key(|check| check.name));
        for check in ALL {
            assert!(check.docs.trim_end().ends_with('.') && check.docs.starts_with(' '), "{}", check.docs);
        }
    }

    #[test]
    fn the_page_names_all_of_them_and_no_other() {
        let page = include_str!("../../docs/doctor.md");
        let rows: Vec<_> =
            page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`')).collect();
        let named: Vec<_> = rows.iter().map(|(name, _)| *name).collect();
        assert_eq!(named, ALL.iter().map(|check| check.name).collect::<Vec<_>>());
    }
}
