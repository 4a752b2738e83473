//! Which parents are not executed yet.
use compiler::program::acl::{Acls, Parent, ParentHost, ParentKind};

use super::Refused;

pub(super) fn check(acls: &Acls, refused: &mut Refused) {
    for parent in &acls.parents {
        if let Some(what) = unexecuted(parent) {
            refused.at(parent.at, what);
        }
    }
}

fn unexecuted(parent: &Parent) -> Option<&'static str> {
    if parent.secure {
        return Some("a parent by TLS");
    }
    if matches!(parent.host, ParentHost::Unix(_)) {
        return Some("unix:");
    }
    let kind = match parent.kind {
        ParentKind::ExternalAddress | ParentKind::ProxyProtocol => return None,
        _ if parent.is_local() => return Some("a local redirection"),
        ParentKind::Tcp
        | ParentKind::Http
        | ParentKind::Connect
        | ParentKind::ConnectName
        | ParentKind::Socks4
        | ParentKind::Socks4Name
        | ParentKind::Socks4Short
        | ParentKind::Socks5
        | ParentKind::Socks5Name
        | ParentKind::Socks5Short => return None,
        ParentKind::Pop3 => "parent pop3",
        ParentKind::Imap => "parent imap",
        ParentKind::Smtp => "parent smtp",
        ParentKind::Ftp => "parent ftp",
        ParentKind::Admin => "parent admin",
        ParentKind::Tls => "parent tls",
        ParentKind::Dns => "parent dns",
    };
    Some(kind)
}
