//! What the client sees in the end.
use compiler::{
    program::{
        acl::Operation,
        service::{Service, ServiceKind},
    },
    trace::Case,
};
use runtime::{Page, status5};

/// What the proxy answers.
pub(super) struct Reply {
    pub(super) protocol: &'static str,
    /// HTTP status, or the status byte of a SOCKS 5 reply.
    pub(super) status: Option<u16>,
    pub(super) text: String,
}

/// The answer to a request with this end; `None`: this version does not serve such a service, so there is none.
pub(super) fn of(service: &Service, case: &Case) -> Option<Reply> {
    let code = case.answer.code.number();
    match service.kind {
        ServiceKind::Proxy => Some(http(service, code, case.query.operation)),
        ServiceKind::Socks => Some(Reply {
            protocol: "socks",
            status: Some(status5(code).into()),
            text: format!(
                "SOCKS 5 reply {} ({}), SOCKS 4 reply {}",
                status5(code),
                status5_name(status5(code)),
                if code == 0 { "90 (granted)" } else { "91 (rejected)" }
            ),
        }),
        ServiceKind::Tcppm => Some(Reply {
            protocol: "tcp",
            status: None,
            text: if code == 0 { "the bytes of the target" } else { "the connection is closed" }.to_owned(),
        }),
        _ => None,
    }
}

fn http(service: &Service, code: u16, operation: Operation) -> Reply {
    let asks_name = service.options.need_user.is_none_or(|need| need.value > 0);
    let status = Page::of_code(code, asks_name).map(Page::status);
    let (status, text) = match status {
        Some((status, reason)) => (Some(status), format!("HTTP {status} {reason}")),
        None if code == 0 && operation == Operation::HttpConnect => {
            (Some(200), "HTTP 200 Connection established".to_owned())
        }
        None if code == 0 => (None, "the server's answer".to_owned()),
        None => (None, "the connection is closed".to_owned()),
    };
    Reply { protocol: "http", status, text }
}

/// As RFC 1928 calls it.
const fn status5_name(status: u8) -> &'static str {
    match status {
        0 => "succeeded",
        2 => "not allowed by ruleset",
        4 => "host unreachable",
        5 => "connection refused",
        7 => "command not supported",
        8 => "address type not supported",
        _ => "general failure",
    }
}
