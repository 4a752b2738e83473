//! What clients and servers say, without I/O: bytes in, meaning out.
pub mod http;
pub mod socks;
