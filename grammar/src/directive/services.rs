//! Commands that start a service.
use super::{Directive, Effect::Service, Kind, LONG, Parameter, parameter, row};

const OPTIONS: Parameter = parameter("options", Kind::Options, "options, each glued to its value: `-p3129`");
const LISTEN: Parameter = parameter("SRCPORT", Kind::Port, "the port to listen on");
const HOST: Parameter =
    parameter("DSTADDR", Kind::Host, "where every client is connected to; `unix:PATH` names a socket file");
const PORT: Parameter =
    parameter("DSTPORT", Kind::Port, "the port there; written, though ignored, with `unix:`");

pub(super) const ROWS: &[Directive] = &[
    row(
        "proxy",
        (0, None),
        &[OPTIONS],
        Service,
        LONG,
        "Starts an HTTP proxy, for CONNECT and FTP addresses too, by default on port 3128. \
         It takes a copy of the settings as they stand: what follows this line does not reach it.",
    ),
    row(
        "socks",
        (0, None),
        &[OPTIONS],
        Service,
        LONG,
        "Starts a SOCKS 4, 4a and 5 proxy, by default on port 1080. \
         Its operations are CONNECT, BIND and UDPASSOC: entries for HTTP_ operations never match here.",
    ),
    row(
        "auto",
        (0, None),
        &[OPTIONS],
        Service,
        "0.9.5",
        "Starts a proxy that tells HTTP, SOCKS and TLS clients apart by their first bytes, by default on port 8080. \
         Each client is then served as `proxy`, `socks` or `tlspr` would.",
    ),
    row(
        "tlspr",
        (0, None),
        &[OPTIONS],
        Service,
        "0.9.5",
        "Starts a proxy that connects TLS clients to the host that they name in their first message, by default on port 1443. \
         It decrypts nothing; a client that sends no name has no destination.",
    ),
    row(
        "pop3p",
        (0, None),
        &[OPTIONS],
        Service,
        LONG,
        "Starts a POP3 proxy, by default on port 110. The client names the server in the login: `USER@SERVER`.",
    ),
    row(
        "imapp",
        (0, None),
        &[OPTIONS],
        Service,
        "0.9.8",
        "Starts an IMAP proxy, by default on port 143. The client names the server in the login: `USER@SERVER`.",
    ),
    row(
        "smtpp",
        (0, None),
        &[OPTIONS],
        Service,
        LONG,
        "Starts an SMTP proxy, by default on port 587. The client names the server in the login: `USER@SERVER`.",
    ),
    row(
        "ftppr",
        (0, None),
        &[OPTIONS],
        Service,
        LONG,
        "Starts an FTP proxy, by default on port 21. The client names the server in the login: `USER@SERVER`.",
    ),
    row(
        "admin",
        (0, None),
        &[OPTIONS],
        Service,
        LONG,
        "Starts the web page for counters and administration, by default on port 80. \
         Its requests have no target, so an entry's target list does not keep anybody out; without `-s` it can change the configuration.",
    ),
    row(
        "dnspr",
        (0, None),
        &[OPTIONS],
        Service,
        LONG,
        "Starts a DNS proxy, by default on UDP port 53. It answers through `nserver` and `nscache`, which must stand before it.",
    ),
    row(
        "tcppm",
        (3, None),
        &[OPTIONS, LISTEN, HOST, PORT],
        Service,
        LONG,
        "Connects every TCP client of a port to one destination. \
         Options come first; the access list is asked for operation CONNECT.",
    ),
    row(
        "udppm",
        (3, None),
        &[OPTIONS, LISTEN, HOST, PORT],
        Service,
        LONG,
        "Passes datagrams between the UDP clients of a port and one destination. \
         Options come first; `-s` ends an exchange after one answer.",
    ),
];
