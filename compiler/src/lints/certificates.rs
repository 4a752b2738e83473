//! Whether certificates are verified.
use crate::{
    fix::{Fix, Safety},
    sources::{Loc, Sources},
};

/// Puts `ssl_client_verify` above a line.
pub(super) fn verify_above(sources: &Sources, line: Loc) -> Option<Fix> {
    // Servers with certificates of their own are refused then.
    Fix::insert_above(sources, "verify certificates", Safety::Unsafe, line, "ssl_client_verify")
}
