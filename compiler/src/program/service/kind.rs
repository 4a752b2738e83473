//! What services speak, and what follows from that.
use super::super::acl::Operation;

/// What a service speaks to its clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ServiceKind {
    /// HTTP proxy.
    Proxy,
    /// SOCKS 4, 4a and 5.
    Socks,
    /// TCP port mapper.
    Tcppm,
    /// UDP port mapper.
    Udppm,
    /// TLS, by server name.
    Tlspr,
    /// Finds out by the first bytes.
    Auto,
    /// POP3 proxy.
    Pop3p,
    /// IMAP proxy.
    Imapp,
    /// SMTP proxy.
    Smtpp,
    /// FTP proxy.
    Ftppr,
    /// Web page for the administrator.
    Admin,
    /// DNS proxy.
    Dnspr,
}

impl ServiceKind {
    /// Every kind.
    pub const ALL: [Self; 12] = [
        Self::Proxy,
        Self::Socks,
        Self::Tcppm,
        Self::Udppm,
        Self::Tlspr,
        Self::Auto,
        Self::Pop3p,
        Self::Imapp,
        Self::Smtpp,
        Self::Ftppr,
        Self::Admin,
        Self::Dnspr,
    ];

    /// Its command.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Proxy => "proxy",
            Self::Socks => "socks",
            Self::Tcppm => "tcppm",
            Self::Udppm => "udppm",
            Self::Tlspr => "tlspr",
            Self::Auto => "auto",
            Self::Pop3p => "pop3p",
            Self::Imapp => "imapp",
            Self::Smtpp => "smtpp",
            Self::Ftppr => "ftppr",
            Self::Admin => "admin",
            Self::Dnspr => "dnspr",
        }
    }

    /// What its clients can ask for.
    #[must_use]
    pub const fn operations(self) -> &'static [Operation] {
        use Operation::{
            Admin, Bind, Connect, DnsResolve, FtpData, FtpGet, FtpList, FtpPut, HttpConnect, HttpGet,
            HttpHead, HttpOther, HttpPost, HttpPut, UdpAssociate,
        };
        match self {
            Self::Proxy => &[
                HttpConnect,
                HttpGet,
                HttpPost,
                HttpHead,
                HttpPut,
                HttpOther,
                FtpGet,
                FtpPut,
                FtpList,
                FtpData,
            ],
            Self::Socks => &[Connect, UdpAssociate, Bind],
            Self::Auto => &[
                HttpConnect,
                Connect,
                HttpGet,
                HttpPost,
                HttpHead,
                HttpPut,
                HttpOther,
                UdpAssociate,
                Bind,
                FtpGet,
                FtpPut,
                FtpList,
                FtpData,
            ],
            Self::Ftppr => &[Connect, FtpGet, FtpPut, FtpList],
            Self::Tcppm | Self::Tlspr | Self::Pop3p | Self::Imapp | Self::Smtpp => &[Connect],
            Self::Udppm => &[UdpAssociate],
            Self::Admin => &[Admin],
            Self::Dnspr => &[DnsResolve],
        }
    }

    /// Whether its clients send UDP datagrams, and no TCP connection.
    #[must_use]
    pub const fn takes_datagrams(self) -> bool {
        match self {
            Self::Udppm | Self::Dnspr => true,
            Self::Proxy
            | Self::Socks
            | Self::Tcppm
            | Self::Tlspr
            | Self::Auto
            | Self::Pop3p
            | Self::Imapp
            | Self::Smtpp
            | Self::Ftppr
            | Self::Admin => false,
        }
    }

    /// Whether its access list is told a target.
    #[must_use]
    pub(crate) const fn has_target(self) -> bool {
        match self {
            Self::Admin | Self::Dnspr => false,
            Self::Proxy
            | Self::Socks
            | Self::Tcppm
            | Self::Udppm
            | Self::Tlspr
            | Self::Auto
            | Self::Pop3p
            | Self::Imapp
            | Self::Smtpp
            | Self::Ftppr => true,
        }
    }

    /// Whether it can learn the name of its client.
    #[must_use]
    pub(crate) const fn learns_names(self) -> bool {
        match self {
            Self::Tcppm | Self::Udppm | Self::Tlspr | Self::Dnspr => false,
            Self::Proxy
            | Self::Socks
            | Self::Auto
            | Self::Pop3p
            | Self::Imapp
            | Self::Smtpp
            | Self::Ftppr
            | Self::Admin => true,
        }
    }

    /// Whether its clients may speak HTTP to it, as to a proxy.
    #[must_use]
    pub(crate) const fn speaks_http(self) -> bool {
        match self {
            Self::Proxy | Self::Auto => true,
            Self::Socks
            | Self::Tcppm
            | Self::Udppm
            | Self::Tlspr
            | Self::Pop3p
            | Self::Imapp
            | Self::Smtpp
            | Self::Ftppr
            | Self::Admin
            | Self::Dnspr => false,
        }
    }

    /// Whether its clients may speak SOCKS.
    #[must_use]
    pub(crate) const fn speaks_socks(self) -> bool {
        match self {
            Self::Socks | Self::Auto => true,
            Self::Proxy
            | Self::Tcppm
            | Self::Udppm
            | Self::Tlspr
            | Self::Pop3p
            | Self::Imapp
            | Self::Smtpp
            | Self::Ftppr
            | Self::Admin
            | Self::Dnspr => false,
        }
    }
}
