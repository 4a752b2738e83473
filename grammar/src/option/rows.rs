//! The options, as the option switch of 3proxy's `proxymain.c` takes them, and `-s` as its newer documentation has it.
use super::{
    Form::{
        self, Address, Grace, HostPort, Interface, Nothing, Number, NumberOrZero, OneOf, Path, Splice, Text,
    },
    ServiceOption,
    Services::{self, All, Only},
};
use crate::directive::LONG;

const HTTP: Services = Only(&["proxy", "auto"]);
const SOCKS: Services = Only(&["socks", "auto"]);
const MAIL: Services = Only(&["pop3p", "imapp", "smtpp"]);
const TLS_NAMES: Services = Only(&["tlspr", "auto"]);
const LOGINS: Services = Only(&["proxy", "socks", "auto", "pop3p", "imapp", "smtpp", "ftppr"]);
const SERVER_NAMED: Services = Only(&["pop3p", "imapp", "smtpp", "ftppr"]);
const TARGET_PORT: Services = Only(&["pop3p", "imapp", "smtpp", "tlspr", "auto"]);
const DNS: Services = Only(&["dnspr"]);
const TCP: Services =
    Only(&["proxy", "socks", "auto", "tlspr", "pop3p", "imapp", "smtpp", "ftppr", "tcppm", "admin"]);
const RELAYS: Services =
    Only(&["proxy", "socks", "auto", "tlspr", "pop3p", "imapp", "smtpp", "ftppr", "tcppm"]);

const fn row(
    flag: &'static str,
    value: Form,
    services: Services,
    since: &'static str,
    docs: &'static str,
) -> ServiceOption {
    ServiceOption { flag, value, services, decides: true, since, docs }
}

impl ServiceOption {
    /// The row of an option that changes neither who is let in nor what they may do.
    const fn apart(self) -> Self {
        Self { decides: false, ..self }
    }
}

pub(super) const ROWS: &[ServiceOption] = &[
    row(
        "-p",
        Number,
        All,
        LONG,
        "The port to listen on. Nothing, text or 0 is the service's default port, and numbers above 65535 wrap.",
    )
    .apart(),
    row(
        "-i",
        Address,
        All,
        LONG,
        "The address to listen on; `unix:PATH` for a socket file. 3proxy ignores one that it can't read, and listens on `internal` or everywhere.",
    ),
    row("-e", Address, All, LONG, "The address to connect from. It may stand twice, for IPv4 and for IPv6.").apart(),
    row("-4", Nothing, All, "0.8.0", "Connects over IPv4 only."),
    row(
        "-6",
        Nothing,
        All,
        "0.8.0",
        "Connects over IPv6 only. IPv4 targets are then carried as `::ffff:` addresses.",
    ),
    row(
        "-46",
        Nothing,
        All,
        "0.8.0",
        "Connects over IPv4 if the name has such an address, otherwise over IPv6.",
    ),
    row(
        "-64",
        Nothing,
        All,
        "0.8.0",
        "Connects over IPv6 if the name has such an address, otherwise over IPv4.",
    ),
    row(
        "-Di",
        Interface,
        All,
        "0.9.0",
        "The network interface to listen on. It needs the right to bind to a device.",
    ),
    row(
        "-De",
        Interface,
        All,
        "0.9.0",
        "The network interface to connect through. It needs the right to bind to a device.",
    ),
    row("-D", Interface, All, "0.9.0", "Another way to write `-De`: any letter but `i` stands for `e`."),
    row(
        "-ni",
        Path,
        All,
        "0.9.7",
        "The network namespace to listen in, as a file below /proc or /var/run/netns.",
    ),
    row(
        "-ne",
        Path,
        All,
        "0.9.7",
        "The network namespace to connect in, as a file below /proc or /var/run/netns.",
    ),
    row(
        "-n",
        Nothing,
        Only(&[]),
        LONG,
        "Nothing. It once turned NTLM on and off, and is still read; network namespaces are `-ni` and `-ne`.",
    ),
    row(
        "-r",
        HostPort,
        TCP,
        "0.8.0",
        "Connects to this host and takes clients from there, instead of listening. The other end runs with `-R`.",
    ),
    row(
        "-R",
        HostPort,
        TCP,
        "0.8.0",
        "Listens here for the connections of a service with `-r`, and sends clients through them.",
    ),
    row(
        "-oc",
        Form::SocketOptions,
        All,
        "0.9.0",
        "Socket options towards clients. An unknown one is ignored.",
    ),
    row(
        "-os",
        Form::SocketOptions,
        All,
        "0.9.0",
        "Socket options towards servers. An unknown one is ignored.",
    ),
    row(
        "-ol",
        Form::SocketOptions,
        All,
        "0.9.0",
        "Socket options of the listening socket. SO_REUSEADDR and SO_REUSEPORT are set without being asked for; an unknown one is ignored.",
    ),
    row(
        "-or",
        Form::SocketOptions,
        TCP,
        "0.9.0",
        "Socket options of connections made by `-r`. An unknown one is ignored.",
    ),
    row(
        "-oR",
        Form::SocketOptions,
        TCP,
        "0.9.0",
        "Socket options of the socket of `-R`. An unknown one is ignored.",
    ),
    row(
        "-l",
        Path,
        All,
        LONG,
        "The log of this service: a file, or standard output if nothing is named. `@IDENT` is standard output too: only 3proxy's stand-alone programs take it for syslog.",
    )
    .apart(),
    row("-f", Text, All, LONG, "The log format of this service, as in `logformat`.").apart(),
    row("-t", Nothing, All, LONG, "Does not log that the service starts and stops."),
    row("-b", Number, All, LONG, "The size of the buffers, in bytes."),
    row("-S", Number, All, "0.8.4", "Bytes added to the stack of 3proxy's client threads."),
    row("-d", Nothing, All, LONG, "Goes on in the background, as `daemon` does."),
    row(
        "-H",
        Nothing,
        TCP,
        "0.9.6",
        "Expects a PROXY protocol header (version 1) from each client. Whoever can connect can then claim any address.",
    ),
    row(
        "-g",
        Grace,
        RELAYS,
        "0.9.5",
        "Waits DELAY milliseconds before it looks for data again, when NUM reads in a row were smaller than TRAFF bytes. It saves CPU on many small packets and caps the speed of a connection.",
    ),
    row(
        "-s",
        Splice,
        Only(&[
            "proxy", "socks", "auto", "tlspr", "pop3p", "imapp", "smtpp", "ftppr", "tcppm", "udppm", "admin",
            "dnspr",
        ]),
        "0.9.0",
        "On TCP services, moves data inside the kernel: 1 from the server, 2 from the client, 3 both, 5, 6 and 7 the same only where it pays, 0 never. \
         `:MIN,STREAK,SMALL` tunes where it pays. On `admin` it allows counters to be looked at only; on `udppm` it ends an exchange after one answer; on `dnspr` it passes requests on without the cache.",
    ),
    row(
        "-C",
        NumberOrZero,
        RELAYS,
        "0.9.9",
        "Ends a session as soon as either side closes. `-C1` is the default: each direction is closed by itself.",
    ),
    row(
        "-c",
        Number,
        TLS_NAMES,
        "0.9.7",
        "How much of the TLS handshake a client must show: 1 its first message, 2 to 4 also that the server answers in TLS, with further checks. Nothing is 1.",
    ),
    row(
        "-u",
        NumberOrZero,
        LOGINS,
        LONG,
        "Never asks for user and password. `-u2` refuses clients of `proxy` and `socks` that give none.",
    ),
    row("-N", Address, SOCKS, "0.9.6", "Another way to write `-Ne`."),
    row(
        "-Ne",
        Address,
        SOCKS,
        "0.9.6",
        "The outer address of a network translation, which clients are told in answers to CONNECT and BIND.",
    ),
    row(
        "-Ni",
        Address,
        SOCKS,
        "0.9.6",
        "The inner address of a network translation, which clients are told in answers to UDP ASSOCIATE.",
    ),
    row(
        "-U",
        NumberOrZero,
        SOCKS,
        "0.9.9",
        "What happens when a UDP association gets another destination: 1 it is logged, 2 authorized, 3 both (the default), 0 or nothing neither.",
    ),
    row(
        "-a",
        Number,
        HTTP,
        LONG,
        "Tells servers nothing about the client. `-a1` sends random addresses, `-a2` sends Via and X-Forwarded-For instead of Forwarded.",
    ),
    row(
        "-T",
        Nothing,
        HTTP,
        LONG,
        "Takes requests that name no host in their first line, as redirected clients send them.",
    ),
    row("-h", HostPort, SERVER_NAMED, LONG, "The server for logins that name none."),
    row("-P", Number, TARGET_PORT, LONG, "The port of servers that are named without one."),
    row("-x", Nothing, MAIL, "0.9.8", "Does not offer STARTTLS to clients."),
    row(
        "-X",
        OneOf(&["imap", "pop3", "smtp"]),
        TLS_NAMES,
        "0.9.8",
        "Speaks this protocol's STARTTLS to servers before TLS begins.",
    ),
    row("-F", Address, DNS, "0.9.8", "Answers every question for an address with this one."),
];
