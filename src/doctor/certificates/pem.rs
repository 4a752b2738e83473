//! Certificates and keys in files.
use std::path::Path;

use openssl::{
    pkey::{PKey, Private},
    x509::X509,
};

use crate::doctor::host::Host;

/// The certificates in a file, at least one.
///
/// # Errors
/// What is wrong with the file, to stand behind its name.
pub(super) fn certificates(host: &dyn Host, path: &Path) -> Result<Vec<X509>, String> {
    let text = host.read(path).map_err(|error| format!("can't be read: {error}"))?;
    match X509::stack_from_pem(&text) {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        Ok(_) => Err("holds no certificate in PEM form".to_owned()),
        Err(_) => Err("holds a certificate that can't be read".to_owned()),
    }
}

/// The private key in a file. Nobody is asked for a passphrase: a service has none to give.
///
/// # Errors
/// What is wrong with the file, to stand behind its name.
pub(super) fn private_key(host: &dyn Host, path: &Path) -> Result<PKey<Private>, String> {
    let text = host.read(path).map_err(|error| format!("can't be read: {error}"))?;
    PKey::private_key_from_pem_passphrase(&text, b"").map_err(|_| {
        let encrypted = text.windows(9).any(|window| window == b"ENCRYPTED");
        let what =
            if encrypted { "holds a key with a passphrase" } else { "holds no private key in PEM form" };
        what.to_owned()
    })
}
