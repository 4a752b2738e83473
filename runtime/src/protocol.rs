//! What clients and servers say, without I/O: bytes in, meaning out.
pub(crate) mod dns;
pub(crate) mod http;
pub(crate) mod proxy_header;
pub(crate) mod socks;
pub(crate) mod tls;
