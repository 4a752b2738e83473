//! Access lists: entries, what they compare, and the lists as services copied them.
//!
//! 3proxy appends each `allow`, `deny` and `redirect` to one current list; `flush` starts a new one; a service copies the list
//! as it stands. So the lists that services hold are prefixes of few long ones. Only the last entry of a list can still
//! change after a service copied it (`parent`, `nolog` and `weight` extend it), so a copy is: the list, how many of its
//! entries, and which version of the last one.
use std::net::IpAddr;

use grammar::{Secret, Text};

use super::service::ServiceKind;
use crate::sources::Loc;

/// Every access list and entry of a Program.
#[derive(Clone, Debug, Default)]
pub struct Acls {
    /// Entries, in file order; a later version of an entry is an entry of its own.
    pub aces: Vec<Ace>,
    /// Parents, in file order: an entry's parents are a range of these.
    pub parents: Vec<Parent>,
    /// What stood between two `flush`es, in order.
    pub lists: Vec<Vec<AceId>>,
}

/// Index into [`Acls::aces`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AceId(pub u32);

/// Index into [`Acls::lists`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ListId(pub u32);

/// A list as a service copied it. An empty list is `None` where one of these is optional.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AclRef {
    /// The list.
    pub list: ListId,
    /// How many of its entries; at least 1.
    pub len: u32,
    /// The last entry, as it was when the list was copied.
    pub last: AceId,
}

/// What an entry decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Let the request pass, directly or through the entry's parents.
    Allow,
    /// Refuse it.
    Deny,
}

/// One `allow`, `deny` or `redirect` line (an access-control entry).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ace {
    /// The line.
    pub at: Loc,
    /// What it decides.
    pub action: Action,
    /// What it compares.
    pub matcher: Matcher,
    /// Range of [`Acls::parents`]. Not empty: the entry redirects.
    pub parents: (u32, u32),
    /// `nolog`: its requests leave no log record.
    pub nolog: bool,
    /// The entry matches only while no earlier match of the request set a higher weight; 0 always matches.
    pub weight: i32,
}

impl Ace {
    /// It has parents: a matching request goes through them.
    #[must_use]
    pub const fn redirects(&self) -> bool {
        self.parents.0 < self.parents.1
    }
}

/// The fields of an entry, as an access list or a limit list compares them. All must match.
///
/// A field that is missing or `*` is `None`. A field whose list has no item left (`,`) is `None` too, as in 3proxy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Matcher {
    /// Names, exact; `-` is the client that gave none.
    pub users: Option<ItemList>,
    /// Client addresses.
    pub sources: Option<Box<[AddressRange]>>,
    /// Target addresses and names: alternatives of each other.
    pub targets: Option<Box<Targets>>,
    /// Target ports.
    pub ports: Option<Box<[PortRange]>>,
    /// Operations.
    pub operations: Option<Operations>,
    /// Days.
    pub weekdays: Option<Weekdays>,
    /// Times of the day.
    pub periods: Option<Box<[Period]>>,
}

impl Matcher {
    /// Whether it stands for the fields of an entry that 3proxy refuses: nobody matches.
    #[must_use]
    pub(crate) fn is_refused(&self) -> bool {
        self.users.as_ref().is_some_and(ItemList::is_empty)
    }

    /// Whether it is for all requests: it lists nothing, or all that there is.
    #[must_use]
    pub(crate) fn lists_nothing(&self) -> bool {
        let Self { users, sources, targets, ports, operations, weekdays, periods } = self;
        let whole = |ranges: &[AddressRange]| ranges.iter().any(AddressRange::is_whole);
        users.is_none()
            && operations.is_none()
            && weekdays.is_none()
            && periods.is_none()
            && sources.as_deref().is_none_or(whole)
            && ports
                .as_deref()
                .is_none_or(|ports| ports.iter().any(|range| range.first <= 1 && range.last == u16::MAX))
            && targets.as_deref().is_none_or(|targets| {
                let any = |name: NamePattern<'_>| name.text().is_empty();
                whole(&targets.addresses) || targets.names.iter().any(any)
            })
    }

    /// Whether it lists nothing but users, if anything.
    #[must_use]
    pub(crate) fn lists_users_at_most(&self) -> bool {
        let Self { users: _, sources, targets, ports, operations, weekdays, periods } = self;
        let clients = sources.is_none() && weekdays.is_none() && periods.is_none();
        clients && targets.is_none() && ports.is_none() && operations.is_none()
    }

    /// How many users, addresses, names, ports and periods it lists.
    #[must_use]
    pub fn values(&self) -> usize {
        let targets =
            self.targets.as_ref().map_or(0, |targets| targets.addresses.len() + targets.names.iter().count());
        let list = |len: Option<usize>| len.unwrap_or_default();
        list(self.users.as_ref().map(|users| users.iter().count()))
            + list(self.sources.as_ref().map(|sources| sources.len()))
            + targets
            + list(self.ports.as_ref().map(|ports| ports.len()))
            + list(self.periods.as_ref().map(|periods| periods.len()))
    }
}

pub use grammar::value::{
    AddressRange, ItemList, NamePattern, NamePatterns, Operation, Operations, Period, PortRange, Targets,
    Weekdays,
};

/// A `parent` line: an upstream proxy, an external address, or a local redirection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parent {
    /// The line.
    pub at: Loc,
    /// In thousandths: the probability to be drawn from its group. 1 to 1000.
    pub weight: u16,
    /// What is spoken to it.
    pub kind: ParentKind,
    /// A trailing `s` of the type: TLS to the parent.
    pub secure: bool,
    /// Where it is.
    pub host: ParentHost,
    /// 0: the port of the request is kept.
    pub port: u16,
    /// User name for it; `*`: the client's own credentials.
    pub user: Option<Text>,
    /// Password for it.
    pub password: Option<Secret>,
}

/// What is spoken to a parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParentKind {
    /// The plain connection is the tunnel.
    Tcp,
    /// HTTP with the absolute URI.
    Http,
    /// HTTP CONNECT with the address.
    Connect,
    /// HTTP CONNECT with the name.
    ConnectName,
    /// SOCKS4 with the address.
    Socks4,
    /// SOCKS4a with the name.
    Socks4Name,
    /// SOCKS4 with a short answer.
    Socks4Short,
    /// SOCKS5 with the address.
    Socks5,
    /// SOCKS5 with the name.
    Socks5Name,
    /// SOCKS5 with a short answer.
    Socks5Short,
    /// No proxy: sets the source address of the outgoing connection.
    ExternalAddress,
    /// PROXY protocol header, then the next hop's own negotiation.
    ProxyProtocol,
    /// POP3 service, locally.
    Pop3,
    /// IMAP service, locally.
    Imap,
    /// SMTP service, locally.
    Smtp,
    /// FTP service, locally.
    Ftp,
    /// Admin page, locally.
    Admin,
    /// TLS sniffing, locally.
    Tls,
    /// DNS, locally.
    Dns,
}

impl ParentKind {
    /// Every type, as it is written without the `s` for TLS.
    pub(crate) const WORDS: [(&str, Self); 19] = [
        ("tcp", Self::Tcp),
        ("connect", Self::Connect),
        ("socks4", Self::Socks4),
        ("socks5", Self::Socks5),
        ("http", Self::Http),
        ("pop3", Self::Pop3),
        ("imap", Self::Imap),
        ("smtp", Self::Smtp),
        ("ftp", Self::Ftp),
        ("connect+", Self::ConnectName),
        ("socks4+", Self::Socks4Name),
        ("socks5+", Self::Socks5Name),
        ("socks4b", Self::Socks4Short),
        ("socks5b", Self::Socks5Short),
        ("admin", Self::Admin),
        ("extip", Self::ExternalAddress),
        ("tls", Self::Tls),
        ("ha", Self::ProxyProtocol),
        ("dns", Self::Dns),
    ];

    /// As it is written.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::WORDS.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }
}

/// Where a parent is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ParentHost {
    /// An address; all zeros keeps the address of the request.
    Address(IpAddr),
    /// `ADDRESS/LENGTH` of an `extip`: random bits below the prefix.
    Prefix(IpAddr, u8),
    /// A name, resolved when the configuration is loaded.
    Name(Text),
    /// A Unix socket.
    Unix(Text),
}

impl Acls {
    /// The entries of a list as a service copied it, in order.
    pub fn entries(&self, acl: AclRef) -> impl Iterator<Item = (AceId, &Ace)> {
        self.entries_from(acl, 0)
    }

    /// The same from the `from`th entry on, and in any case the last.
    pub(crate) fn entries_from(&self, acl: AclRef, from: u32) -> impl Iterator<Item = (AceId, &Ace)> {
        let copied = self.lists.get(acl.list.0 as usize).map_or(&[][..], Vec::as_slice);
        let before = acl.len.saturating_sub(1) as usize;
        let ids = copied.get(from as usize..before).unwrap_or_default().iter().copied().chain([acl.last]);
        ids.filter_map(|id| Some((id, self.ace(id)?)))
    }

    /// An entry.
    #[must_use]
    pub fn ace(&self, id: AceId) -> Option<&Ace> {
        self.aces.get(id.0 as usize)
    }

    /// The parents of an entry, in the order in which they are drawn.
    #[must_use]
    pub fn parents(&self, ace: &Ace) -> &[Parent] {
        self.parents.get(ace.parents.0 as usize..ace.parents.1 as usize).unwrap_or_default()
    }
}

impl Parent {
    /// Address and port both zero: the request is handed to a service of this process.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.port == 0 && matches!(self.host, ParentHost::Address(address) if address.is_unspecified())
    }

    /// The kind of service that a local redirection hands the request to.
    #[must_use]
    pub fn redirects_to(&self) -> Option<ServiceKind> {
        use ParentKind as Kind;
        let kind = match self.kind {
            Kind::Http | Kind::Connect | Kind::ConnectName => ServiceKind::Proxy,
            Kind::Socks4 | Kind::Socks4Name | Kind::Socks4Short => ServiceKind::Socks,
            Kind::Socks5 | Kind::Socks5Name | Kind::Socks5Short => ServiceKind::Socks,
            Kind::Tcp => ServiceKind::Tcppm,
            Kind::Pop3 => ServiceKind::Pop3p,
            Kind::Imap => ServiceKind::Imapp,
            Kind::Smtp => ServiceKind::Smtpp,
            Kind::Ftp => ServiceKind::Ftppr,
            Kind::Admin => ServiceKind::Admin,
            Kind::Tls => ServiceKind::Tlspr,
            Kind::Dns => ServiceKind::Dnspr,
            Kind::ExternalAddress | Kind::ProxyProtocol => return None,
        };
        self.is_local().then_some(kind)
    }

    /// User `*`: the client's own name and password are sent to it.
    #[must_use]
    pub fn wants_client_credentials(&self) -> bool {
        self.user.as_ref().is_some_and(|user| user.as_bytes() == b"*")
    }
}

impl std::fmt::Display for ParentHost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Address(address) => address.fmt(f),
            Self::Prefix(address, length) => write!(f, "{address}/{length}"),
            Self::Name(name) => name.fmt(f),
            Self::Unix(path) => path.fmt(f),
        }
    }
}

/// `TYPE HOST PORT`, as in a `parent` line, without the credentials.
impl std::fmt::Display for Parent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let secure = if self.secure { "s" } else { "" };
        write!(f, "{}{secure} {} {}", self.kind.name(), self.host, self.port)
    }
}
