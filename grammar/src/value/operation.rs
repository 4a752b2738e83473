//! Operations: what a client asks to be done.

/// One operation of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Operation {
    /// A connection through SOCKS or a port mapper.
    Connect,
    /// SOCKS BIND.
    Bind,
    /// SOCKS UDP association, or a UDP port mapper.
    UdpAssociate,
    /// Reserved by 3proxy for ICMP.
    IcmpAssociate,
    /// HTTP GET.
    HttpGet,
    /// HTTP PUT.
    HttpPut,
    /// HTTP POST.
    HttpPost,
    /// HTTP HEAD.
    HttpHead,
    /// HTTP CONNECT.
    HttpConnect,
    /// Any other HTTP method.
    HttpOther,
    /// FTP download.
    FtpGet,
    /// FTP upload.
    FtpPut,
    /// FTP listing.
    FtpList,
    /// FTP data connection.
    FtpData,
    /// A DNS query through `dnspr`.
    DnsResolve,
    /// The admin page.
    Admin,
}

impl Operation {
    /// Whether 3proxy lets an entry with parents decide it: not BIND, ICMP or those below HTTP other than a plain connection.
    #[must_use]
    pub const fn can_be_redirected(self) -> bool {
        !matches!(self, Self::Bind | Self::IcmpAssociate)
    }
}

/// A set of operations, as an entry lists them.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Operations(u16);

impl Operations {
    /// Of one operation.
    #[must_use]
    pub const fn of(operation: Operation) -> Self {
        Self(1 << operation as u8)
    }

    /// Operations of either.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether `operation` is one of them.
    #[must_use]
    pub const fn has(self, operation: Operation) -> bool {
        self.0 & Self::of(operation).0 != 0
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl std::fmt::Debug for Operations {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Operations({:#b})", self.0)
    }
}
