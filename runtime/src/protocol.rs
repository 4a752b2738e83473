//! What clients and servers say, without I/O: bytes in, meaning out.
pub(crate) mod http;
pub mod socks;
