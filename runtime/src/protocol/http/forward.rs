//! The heads that go on: a request towards its server or parent, a response towards its client.
//!
//! Order and spelling of fields stay as they came. What delimits the body is written from what was understood, once.
use std::net::{IpAddr, SocketAddr};

use super::{
    body::Body,
    credentials,
    fields::{self, Keep},
    head::{Field, Head, RequestLine},
    target::{Form, RequestTarget, Scheme},
};
use crate::session::Credentials;

/// How much of the client a server is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Disclosure {
    /// `Forwarded`, with the client's address: without `-a`.
    Forwarded,
    /// Nothing: `-a`.
    Nothing,
    /// `Via`, and `X-Forwarded-For` with this address: an invented one (`-a1`) or the client's (`-a2`).
    Via(IpAddr),
}

/// A request on its way.
#[derive(Clone, Debug)]
pub(crate) struct Request<'a> {
    /// Its head as it came.
    pub head: &'a Head<'a>,
    /// Its first line.
    pub line: RequestLine<'a>,
    /// Its target, by the first line.
    pub target: RequestTarget<'a>,
    /// The host by which it was judged: the target's, or of an origin-form request its `Host`.
    pub authority: &'a [u8],
    /// How the target is to be written: to a server in origin form, to a parent in absolute form.
    pub form: Form,
    /// How its body is delimited.
    pub body: Body,
    /// Whether the client wants its connection kept.
    pub keep: Keep,
    /// What it offers to change to.
    pub upgrade: Option<&'a [u8]>,
    /// `-T`: fields that are for this hop go on, except those about the connection and credentials for this proxy.
    pub transparent: bool,
    /// Credentials for the server: they take the place of the client's own `Authorization`.
    pub authorization: Option<&'a Credentials>,
    /// Credentials for the parent.
    pub proxy_authorization: Option<&'a Credentials>,
}

/// Who forwards, and for whom.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hop<'a> {
    /// How much of the client is told.
    pub disclosure: Disclosure,
    /// The client.
    pub client: SocketAddr,
    /// Where it connected to.
    pub local: SocketAddr,
    /// Name of this host.
    pub host: &'a str,
    /// Port that the service is configured with.
    pub port: u16,
}

impl Request<'_> {
    /// Writes the head.
    pub(crate) fn write(&self, hop: &Hop<'_>, out: &mut Vec<u8>) {
        self.write_line(out);
        if self.target.form != Form::Origin && self.head.values("host").next().is_none() {
            put(out, b"Host", self.authority);
        }
        let mut written = Written::default();
        for field in &self.head.fields {
            self.write_field(field, &mut written, out);
        }
        hop.write(out);
        match self.keep {
            Keep::Asked => put(out, b"Connection", b"keep-alive"),
            Keep::Close => put(out, b"Connection", b"close"),
            Keep::Implied => {}
        }
        if let Some(credentials) = self.authorization {
            put(out, b"Authorization", credentials::basic(credentials).as_bytes());
        }
        if let Some(credentials) = self.proxy_authorization {
            put(out, b"Proxy-Authorization", credentials::basic(credentials).as_bytes());
        }
        out.extend_from_slice(b"\r\n");
    }

    fn write_line(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.line.method);
        out.push(b' ');
        match self.form {
            Form::Authority => out.extend_from_slice(self.authority),
            Form::Origin => write_path(self.target.path, out),
            Form::Absolute => {
                out.extend_from_slice(match self.target.scheme {
                    Scheme::Http => b"http://",
                    Scheme::Ftp => b"ftp://",
                });
                out.extend_from_slice(self.authority);
                write_path(self.target.path, out);
            }
        }
        out.push(b' ');
        out.extend_from_slice(self.line.version.text().as_bytes());
        out.extend_from_slice(b"\r\n");
    }

    fn write_field(&self, field: &Field<'_>, written: &mut Written, out: &mut Vec<u8>) {
        if field.is("content-length") {
            if let (Body::Length(length), true) = (self.body, written.first_length()) {
                put(out, field.name, length.to_string().as_bytes());
            }
        } else if field.is("transfer-encoding") {
            if self.body == Body::Chunked {
                put(out, field.name, b"chunked");
            }
        } else if field.is("host") && self.target.form != Form::Origin {
            // The list judged the target, so that is what the server is to answer for (RFC 9112, section 3.2.2).
            put(out, field.name, self.authority);
        } else if field.is("connection") || field.is("upgrade") {
            match self.upgrade {
                Some(_) if field.is("connection") && written.first_connection() => {
                    put(out, field.name, b"Upgrade")
                }
                Some(protocols) if field.is("upgrade") && written.first_upgrade() => {
                    put(out, field.name, protocols)
                }
                _ => {}
            }
        } else if !self.drops(field) {
            put(out, field.name, field.value);
        }
    }

    fn drops(&self, field: &Field<'_>) -> bool {
        is_continue(field)
            || fields::is_proxy_authorization(field)
            || fields::is_connection(field)
            || (!self.transparent && fields::is_hop_by_hop(field, self.head))
            || (self.authorization.is_some() && field.is("authorization"))
    }
}

/// Whether it is the `Expect` that the proxy answers itself.
#[must_use]
pub(crate) fn is_continue(field: &Field<'_>) -> bool {
    field.is("expect") && field.value.get(..3).is_some_and(|start| start == b"100")
}

/// Which of the fields that go on once have been written.
#[derive(Debug, Default)]
struct Written {
    length: bool,
    connection: bool,
    upgrade: bool,
}

impl Written {
    const fn first_length(&mut self) -> bool {
        !std::mem::replace(&mut self.length, true)
    }

    const fn first_connection(&mut self) -> bool {
        !std::mem::replace(&mut self.connection, true)
    }

    const fn first_upgrade(&mut self) -> bool {
        !std::mem::replace(&mut self.upgrade, true)
    }
}

impl Hop<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        match self.disclosure {
            Disclosure::Nothing => {}
            Disclosure::Forwarded => {
                let node = |address: SocketAddr| match address {
                    SocketAddr::V4(_) => address.to_string(),
                    SocketAddr::V6(_) => format!("\"{address}\""),
                };
                let value = format!("for={};by={}:{}", node(self.client), self.host, self.local.port());
                put(out, b"Forwarded", value.as_bytes());
            }
            Disclosure::Via(address) => {
                put(out, b"Via", format!("1.1 {}:{} (cfgc)", self.host, self.port).as_bytes());
                put(out, b"X-Forwarded-For", address.to_string().as_bytes());
            }
        }
    }
}

/// A response on its way.
#[derive(Clone, Debug)]
pub(crate) struct Response<'a> {
    /// Its head as it came.
    pub head: &'a Head<'a>,
    /// Its status.
    pub status: u16,
    /// How its body is delimited on the way to the client.
    pub body: Body,
    /// Whether the client's connection is kept; `Implied`: it need not be told.
    pub keep: Keep,
    /// `-T`: `Proxy-…` fields go on.
    pub transparent: bool,
    /// Servers that authenticate the connection instead of the request (NTLM) can do so: this proxy keeps a server connection to
    /// one client connection, and says so.
    pub session_authentication: bool,
}

impl Response<'_> {
    /// Writes the head.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.head.line);
        out.extend_from_slice(b"\r\n");
        let mut length_written = false;
        for field in &self.head.fields {
            if field.is("content-length") {
                let passes = match self.body {
                    Body::Length(_) => true,
                    Body::None => self.status >= 200 && self.status != 204,
                    Body::Chunked | Body::Close => false,
                };
                if passes && !std::mem::replace(&mut length_written, true) {
                    put(out, field.name, field.value);
                }
            } else if !self.drops(field) {
                put(out, field.name, field.value);
            }
        }
        if self.status == 101 {
            put(out, b"Connection", b"Upgrade");
        }
        if self.session_authentication && self.head.values("www-authenticate").next().is_some() {
            put(out, b"Proxy-support", b"Session-Based-Authentication");
            put(out, b"Connection", b"Proxy-support");
        }
        match self.keep {
            _ if self.status < 200 => {}
            Keep::Asked => put(out, b"Connection", b"keep-alive"),
            Keep::Close => put(out, b"Connection", b"close"),
            Keep::Implied => {}
        }
        out.extend_from_slice(b"\r\n");
    }

    fn drops(&self, field: &Field<'_>) -> bool {
        if field.is("upgrade") {
            return !matches!(self.status, 101 | 426);
        }
        if field.is("transfer-encoding") {
            // A server that answers HTTP/1.0 in chunks: they are taken apart for the client.
            let apart = self.body == Body::Close && self.head.lists("transfer-encoding", "chunked");
            return apart || self.status < 200 || self.status == 204;
        }
        fields::is_connection(field) || (!self.transparent && fields::is_hop_by_hop(field, self.head))
    }
}

fn put(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    for part in [name, b": ", value, b"\r\n"] {
        out.extend_from_slice(part);
    }
}

/// The path, which a target may lack, with the blanks encoded that would end it.
fn write_path(path: &[u8], out: &mut Vec<u8>) {
    if !path.starts_with(b"/") {
        out.push(b'/');
    }
    for &byte in path {
        match byte {
            b' ' => out.extend_from_slice(b"%20"),
            _ => out.push(byte),
        }
    }
}

#[cfg(test)]
mod tests;
