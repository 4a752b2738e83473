//! Entries and parents.
use compiler::program::acl::{self, Ace, Action};
use serde::Serialize;

use super::{Places, value::Fields};

#[derive(Serialize)]
pub(super) struct Entry {
    at: String,
    action: &'static str,
    #[serde(flatten)]
    fields: Fields,
    /// Its parents, from this index on, up to, not including, that one.
    parents: (u32, u32),
    nolog: bool,
    weight: i32,
}

#[derive(Serialize)]
pub(super) struct Parent {
    at: String,
    weight: u16,
    r#type: &'static str,
    tls: bool,
    host: String,
    port: u16,
    user: Option<String>,
    password: Option<&'static str>,
}

pub(super) fn entry(places: Places<'_>, ace: &Ace) -> Entry {
    let Ace { at, action, matcher, parents, nolog, weight } = ace;
    Entry {
        at: places.of(*at),
        action: match action {
            Action::Allow => "allow",
            Action::Deny => "deny",
        },
        fields: Fields::of(places, *at, matcher),
        parents: *parents,
        nolog: *nolog,
        weight: *weight,
    }
}

pub(super) fn parent(places: Places<'_>, parent: &acl::Parent) -> Parent {
    let acl::Parent { at, weight, kind, secure, host, port, user, password } = parent;
    Parent {
        at: places.of(*at),
        weight: *weight,
        r#type: kind.name(),
        tls: *secure,
        host: places.shown(*at, &host.to_string()),
        port: *port,
        user: user.as_ref().map(|user| places.shown(*at, &user.to_string())),
        password: password.as_ref().map(|_| "***"),
    }
}
