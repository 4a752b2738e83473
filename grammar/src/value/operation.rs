//! Operations: what a client asks to be done.
use super::list::{is_any, items};
use crate::Span;

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
    /// Every operation, each at its number.
    pub const ALL: [Self; 16] = [
        Self::Connect,
        Self::Bind,
        Self::UdpAssociate,
        Self::IcmpAssociate,
        Self::HttpGet,
        Self::HttpPut,
        Self::HttpPost,
        Self::HttpHead,
        Self::HttpConnect,
        Self::HttpOther,
        Self::FtpGet,
        Self::FtpPut,
        Self::FtpList,
        Self::FtpData,
        Self::DnsResolve,
        Self::Admin,
    ];

    /// Whether it is for a target: without one there is no way through a parent.
    #[must_use]
    pub const fn has_target(self) -> bool {
        !matches!(self, Self::DnsResolve | Self::Admin)
    }

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

impl From<&[Operation]> for Operations {
    fn from(operations: &[Operation]) -> Self {
        operations.iter().fold(Self::default(), |set, operation| set.with(Self::of(*operation)))
    }
}

/// Every word of an operation field, and what it stands for.
pub const OPERATION_WORDS: [(&str, &[Operation]); 19] = {
    use Operation::{
        Admin, Bind, Connect, DnsResolve, FtpData, FtpGet, FtpList, FtpPut, HttpConnect, HttpGet, HttpHead,
        HttpOther, HttpPost, HttpPut, IcmpAssociate, UdpAssociate,
    };
    [
        ("CONNECT", &[Connect]),
        ("BIND", &[Bind]),
        ("UDPASSOC", &[UdpAssociate]),
        ("ICMPASSOC", &[IcmpAssociate]),
        ("HTTP_GET", &[HttpGet]),
        ("HTTP_PUT", &[HttpPut]),
        ("HTTP_POST", &[HttpPost]),
        ("HTTP_HEAD", &[HttpHead]),
        ("HTTP_OTHER", &[HttpOther]),
        ("HTTP_CONNECT", &[HttpConnect]),
        ("HTTP", &[HttpGet, HttpPut, HttpPost, HttpHead, HttpOther]),
        ("HTTPS", &[HttpConnect]),
        ("FTP_GET", &[FtpGet]),
        ("FTP_PUT", &[FtpPut]),
        ("FTP_LIST", &[FtpList]),
        ("FTP_DATA", &[FtpData]),
        ("FTP", &[FtpGet, FtpPut, FtpList, FtpData]),
        ("ADMIN", &[Admin]),
        ("DNSRESOLVE", &[DnsResolve]),
    ]
};

/// The operation field of an entry: words at commas; `None`: it restricts nothing.
///
/// # Errors
/// The first word that is no operation: 3proxy rejects the file.
pub fn operations(word: &[u8]) -> Result<Option<Operations>, Span> {
    if is_any(word) {
        return Ok(None);
    }
    let mut set = Operations::default();
    for (at, item) in items(word) {
        let (_, meant) = OPERATION_WORDS.iter().find(|(name, _)| name.as_bytes() == item).ok_or(at)?;
        set = set.with(Operations::from(*meant));
    }
    Ok((!set.is_empty()).then_some(set))
}

impl std::fmt::Debug for Operations {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Operations({:#b})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::{OPERATION_WORDS, Operation, Operations, operations};
    use crate::Span;

    #[test]
    fn words_add_up() {
        let set = operations(b"HTTP,,CONNECT").unwrap().unwrap();
        assert!(set.has(Operation::HttpGet) && set.has(Operation::HttpOther) && set.has(Operation::Connect));
        assert!(!set.has(Operation::HttpConnect) && !set.has(Operation::FtpGet));
        assert_eq!(operations(b"HTTPS"), operations(b"HTTP_CONNECT"));
        assert_eq!((operations(b"*"), operations(b",")), (Ok(None), Ok(None)));
        for (word, meant) in OPERATION_WORDS {
            assert_eq!(operations(word.as_bytes()), Ok(Some(Operations::from(meant))), "{word}");
        }
    }

    #[test]
    fn an_unknown_word_is_refused_where_it_stands() {
        assert_eq!(operations(b"CONNECT,connect"), Err(Span::new(8, 15)));
        assert_eq!(operations(b"*,BIND"), Err(Span::new(0, 1)));
    }
}
