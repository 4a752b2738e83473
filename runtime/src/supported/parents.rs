//! Which parents are not executed yet.
use compiler::program::{
    acl::{Acls, Parent, ParentHost, ParentKind},
    auth::LONGEST_CREDENTIAL,
};

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
    let is_socks5 =
        matches!(parent.kind, ParentKind::Socks5 | ParentKind::Socks5Name | ParentKind::Socks5Short);
    if is_socks5 && longest_credential(parent) > LONGEST_CREDENTIAL {
        // 3proxy sends what is left of its length when 256 is taken off.
        return Some("a name or password of more than 255 bytes for a SOCKS 5 parent");
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

fn longest_credential(parent: &Parent) -> usize {
    let user = parent.user.as_ref().map_or(0, |user| user.as_bytes().len());
    let password = parent.password.as_ref().map_or(0, |password| password.expose().len());
    user.max(password)
}
