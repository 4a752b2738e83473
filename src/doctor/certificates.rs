//! Certificates and keys: whether they can be read, fit each other, and are good enough for those who verify them.
mod authority;
mod pem;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, path::PathBuf};

use compiler::{
    finding::Level,
    program::{Set, tls::Tls},
    sources::Loc,
};
use grammar::Text;
use openssl::{
    asn1::Asn1Time,
    pkey::{PKey, Private},
    x509::X509,
};

use super::{
    checks::{
        CERTIFICATE_CHAIN, CERTIFICATE_DATES, CERTIFICATE_KEY, CERTIFICATE_NAMES, CERTIFICATE_UNREADABLE,
    },
    examination::{Diagnosis, Examination},
    files::path,
};

/// How many seconds before its end a certificate is reported: 30 days.
const SOON: i64 = 30 * 86_400;

/// What a certificate is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Purpose {
    /// Shown to clients.
    Serve,
    /// Shown to servers.
    Identify,
    /// Signs what clients are shown for the sites that they ask for.
    Sign,
    /// Its signatures are trusted.
    Trust,
}

/// A certificate file, and the key file that belongs to it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    certificate: PathBuf,
    key: Option<PathBuf>,
    purpose: Purpose,
}

pub(super) fn examine(examination: &mut Examination<'_>) {
    // Services share settings: each pair is examined once, at the first line that names it.
    let mut pairs = BTreeMap::new();
    for service in &examination.subject.program.services {
        for (pair, at) in used(examination, &service.tls) {
            pairs.entry(pair).or_insert(at.unwrap_or(service.at));
        }
    }
    for (pair, at) in pairs {
        examine_pair(examination, &pair, at);
    }
}

/// The certificates that a service uses, and where they are named.
fn used(examination: &Examination<'_>, tls: &Tls) -> Vec<(Pair, Option<Loc>)> {
    let pair = |certificate: &Option<Set<Text>>, key: &Option<Set<Text>>, purpose| {
        let certificate = certificate.as_ref()?;
        let key = key.as_ref().map(|key| path(examination, &key.value));
        Some((Pair { certificate: path(examination, &certificate.value), key, purpose }, certificate.at))
    };
    let Tls { server, client, .. } = tls;
    let mut pairs = Vec::new();
    if tls.serve.is_some() {
        pairs.extend(pair(&server.certificate, &server.key, Purpose::Serve));
        // Who is a client, by its certificate.
        pairs.extend(pair(&server.ca_file, &None, Purpose::Trust).filter(|_| server.verify.is_some()));
    }
    if tls.intercept.is_some() {
        pairs.extend(pair(&server.ca_file, &server.ca_key, Purpose::Sign));
    }
    if tls.connect.is_some() || tls.intercept.is_some() {
        pairs.extend(pair(&client.certificate, &client.key, Purpose::Identify));
        pairs.extend(pair(&client.ca_file, &None, Purpose::Trust).filter(|_| client.verify.is_some()));
    }
    pairs
}

fn examine_pair(examination: &mut Examination<'_>, pair: &Pair, at: Loc) {
    let file = pair.certificate.display().to_string();
    let certificates = match pem::certificates(examination.host, &pair.certificate) {
        Ok(certificates) => certificates,
        Err(why) => return unreadable(examination, at, &format!("`{file}` {why}")),
    };
    let Some(first) = certificates.first() else { return };
    // Of many roots some are always old.
    let dated = if pair.purpose == Purpose::Trust { &[] } else { certificates.as_slice() };
    for certificate in dated {
        dates(examination, certificate, &file, at);
    }
    let key = pair.key.as_ref().and_then(|path| match pem::private_key(examination.host, path) {
        Ok(key) => Some(key),
        Err(why) => {
            unreadable(examination, at, &format!("`{}` {why}", path.display()));
            None
        }
    });
    if let (Some(key), Some(path)) = (&key, &pair.key) {
        fits(examination, first, key, [&file, &path.display().to_string()], at);
    }
    match pair.purpose {
        Purpose::Serve => {
            names(examination, first, &file, at);
            chain(examination, &certificates, &file, at);
        }
        Purpose::Sign => authority::examine(examination, &certificates, key.as_ref(), &file, at),
        Purpose::Identify | Purpose::Trust => {}
    }
}

fn unreadable(examination: &mut Examination<'_>, at: Loc, message: &str) {
    let message = message.to_owned();
    let help = "name a file in PEM form that the proxy's user can read, with a key that has no passphrase";
    examination.found(Diagnosis::new(&CERTIFICATE_UNREADABLE, Level::Deny, at, message).help(help));
}

/// Whose it is, as people know it.
fn subject(certificate: &X509) -> String {
    let entries = certificate.subject_name().entries();
    let names = entries.filter_map(|entry| entry.data().to_string().ok());
    names.last().unwrap_or_else(|| "a certificate without a name".to_owned())
}

fn dates(examination: &mut Examination<'_>, certificate: &X509, file: &str, at: Loc) {
    let now = examination.host.now();
    let (Ok(today), Ok(soon)) = (Asn1Time::from_unix(now), Asn1Time::from_unix(now.saturating_add(SOON)))
    else {
        return;
    };
    let (from, until) = (certificate.not_before(), certificate.not_after());
    let (level, what, seen) = if until < today {
        (Level::Deny, format!("ended on {until}"), until)
    } else if from > today {
        (Level::Deny, format!("is not valid before {from}"), from)
    } else if until < soon {
        (Level::Warn, format!("ends on {until}"), until)
    } else {
        return;
    };
    let message = format!("the certificate of `{}` in `{file}` {what}", subject(certificate));
    let diagnosis = Diagnosis::new(&CERTIFICATE_DATES, level, at, message)
        .values(seen, "valid now, and for 30 days more");
    examination.found(diagnosis.help("renew it"));
}

fn fits(
    examination: &mut Examination<'_>,
    certificate: &X509,
    key: &PKey<Private>,
    files: [&str; 2],
    at: Loc,
) {
    if certificate.public_key().is_ok_and(|public| public.public_eq(key)) {
        return;
    }
    let [certificate_file, key_file] = files;
    let message = format!("the key in `{key_file}` is not that of the certificate in `{certificate_file}`");
    let help =
        "name the key that the certificate was made for; its own certificate must be the first in the file";
    examination.found(Diagnosis::new(&CERTIFICATE_KEY, Level::Deny, at, message).help(help));
}

fn names(examination: &mut Examination<'_>, certificate: &X509, file: &str, at: Loc) {
    if certificate.subject_alt_names().is_some_and(|names| !names.is_empty()) {
        return;
    }
    let message = format!(
        "the certificate of `{}` in `{file}` names no host in the way that clients look for",
        subject(certificate)
    );
    let diagnosis = Diagnosis::new(&CERTIFICATE_NAMES, Level::Deny, at, message)
        .values("no subjectAltName", "the names that clients connect to");
    let help = "make it anew with the proxy's names (`openssl req -x509 -addext subjectAltName=DNS:proxy.example.com …`)";
    examination.found(diagnosis.help(help));
}

/// Each certificate is signed by the next, and all bear a strict look.
fn chain(examination: &mut Examination<'_>, certificates: &[X509], file: &str, at: Loc) {
    for pair in certificates.windows(2) {
        let [lower, upper] = pair else { continue };
        let signed = upper.public_key().is_ok_and(|key| lower.verify(&key).unwrap_or(false));
        if !signed {
            let message = format!(
                "in `{file}` the certificate of `{}` is not signed by that of `{}` behind it",
                subject(lower),
                subject(upper)
            );
            let help = "put the proxy's certificate first, behind it the one that signed it, and so on";
            return examination
                .found(Diagnosis::new(&CERTIFICATE_CHAIN, Level::Deny, at, message).help(help));
        }
    }
    if let Err(why) = authority::verify(certificates, true) {
        let message = format!("clients that look strictly refuse the certificates in `{file}`: {why}");
        let help = "make them anew with the extensions that RFC 5280 asks for, and a key of 2048 bits (RSA) or 256 (EC)";
        examination.found(Diagnosis::new(&CERTIFICATE_CHAIN, Level::Warn, at, message).help(help));
    }
}
