//! Certificates that are made here are examined.
use std::path::Path;

use compiler::{compile, sources::MemoryFiles};
use openssl::{
    asn1::Asn1Time,
    bn::BigNum,
    ec::{EcGroup, EcKey},
    hash::MessageDigest,
    nid::Nid,
    pkey::{PKey, Private},
    rsa::Rsa,
    symm::Cipher,
    x509::{
        X509, X509Name,
        extension::{
            AuthorityKeyIdentifier, BasicConstraints, KeyUsage, SubjectAlternativeName, SubjectKeyIdentifier,
        },
    },
};

use crate::{
    args::ServedBy,
    doctor::{
        examination::{Examination, Subject},
        host::{Host, recorded::Recorded},
    },
};

const DAY: i64 = 86_400;

/// A certificate in the making.
#[derive(Clone)]
struct Made {
    name: &'static str,
    /// In days from now.
    valid: (i64, i64),
    /// `None`: no basicConstraints.
    authority: Option<bool>,
    critical: bool,
    /// It may sign certificates; `None`: no keyUsage.
    signs: Option<bool>,
    subject_key: bool,
    authority_key: bool,
    alternative_name: bool,
}

impl Made {
    const SITE: Self = Self {
        name: "proxy.example",
        valid: (-1, 90),
        authority: Some(false),
        critical: true,
        signs: Some(false),
        subject_key: true,
        authority_key: true,
        alternative_name: true,
    };
    const AUTHORITY: Self = Self {
        name: "Example CA",
        valid: (-1, 3650),
        authority: Some(true),
        signs: Some(true),
        alternative_name: false,
        ..Self::SITE
    };

    /// Signed by `by`, or by itself.
    fn sign(&self, key: &PKey<Private>, by: Option<(&X509, &PKey<Private>)>, now: i64) -> X509 {
        let mut name = X509Name::builder().unwrap();
        name.append_entry_by_nid(Nid::COMMONNAME, self.name).unwrap();
        let name = name.build();
        let mut builder = X509::builder().unwrap();
        builder.set_version(2).unwrap();
        let serial = BigNum::from_u32(7).unwrap().to_asn1_integer().unwrap();
        builder.set_serial_number(&serial).unwrap();
        builder.set_subject_name(&name).unwrap();
        builder.set_issuer_name(by.map_or(&name, |(issuer, _)| issuer.subject_name())).unwrap();
        builder.set_pubkey(key).unwrap();
        builder.set_not_before(&Asn1Time::from_unix(now + self.valid.0 * DAY).unwrap()).unwrap();
        builder.set_not_after(&Asn1Time::from_unix(now + self.valid.1 * DAY).unwrap()).unwrap();
        if let Some(authority) = self.authority {
            let mut constraints = BasicConstraints::new();
            let constraints = if self.critical { constraints.critical() } else { &mut constraints };
            let constraints = if authority { constraints.ca() } else { constraints };
            builder.append_extension(constraints.build().unwrap()).unwrap();
        }
        if let Some(signs) = self.signs {
            let mut usage = KeyUsage::new();
            let usage = usage.critical().digital_signature();
            let usage = if signs { usage.key_cert_sign() } else { usage };
            builder.append_extension(usage.build().unwrap()).unwrap();
        }
        if self.subject_key {
            let context = builder.x509v3_context(by.map(|(issuer, _)| &**issuer), None);
            let extension = SubjectKeyIdentifier::new().build(&context).unwrap();
            builder.append_extension(extension).unwrap();
        }
        if let Some((issuer, _)) = by.filter(|_| self.authority_key) {
            let context = builder.x509v3_context(Some(issuer), None);
            let extension = AuthorityKeyIdentifier::new().keyid(true).build(&context).unwrap();
            builder.append_extension(extension).unwrap();
        }
        if self.alternative_name {
            let context = builder.x509v3_context(None, None);
            let extension = SubjectAlternativeName::new().dns(self.name).build(&context).unwrap();
            builder.append_extension(extension).unwrap();
        }
        builder.sign(by.map_or(key, |(_, key)| key), MessageDigest::sha256()).unwrap();
        builder.build()
    }
}

fn key() -> PKey<Private> {
    let curve = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1).unwrap();
    PKey::from_ec_key(EcKey::generate(&curve).unwrap()).unwrap()
}

fn text(certificates: &[&X509]) -> String {
    let pem =
        certificates.iter().map(|certificate| String::from_utf8(certificate.to_pem().unwrap()).unwrap());
    pem.collect()
}

fn key_text(key: &PKey<Private>) -> String {
    String::from_utf8(key.private_key_to_pem_pkcs8().unwrap()).unwrap()
}

/// `check: message` of all that is found about these files.
fn found(config: &str, files: &[(&str, &str)]) -> Vec<String> {
    let host = files.iter().fold(Recorded::named("tuned"), |host, (path, text)| host.with(path, text));
    let mut sources = MemoryFiles::default();
    sources.insert("3proxy.cfg", config);
    let compiled = compile(Path::new("3proxy.cfg"), &sources);
    let subject = Subject {
        sources: &compiled.sources,
        program: &compiled.program,
        served_by: ServedBy::ThreeProxy,
        process: None,
    };
    let mut examination = Examination::new(subject, &host);
    super::examine(&mut examination);
    let outcome = examination.finish();
    assert!(outcome.unchecked.is_empty());
    outcome.found.iter().map(|found| format!("{}: {}", found.finding.rule, found.finding.message)).collect()
}

const SERVE: &str = "ssl_server_cert /c\nssl_server_key /k\nssl_serv\nproxy -i127.0.0.1\n";
const INTERCEPT: &str = "ssl_server_ca_file /c\nssl_server_ca_key /k\nssl_mitm\nproxy -i127.0.0.1\n";

#[track_caller]
fn is(found: &[String], expected: &[&str]) {
    let holds = found.len() == expected.len()
        && found.iter().zip(expected).all(|(found, expected)| {
            let (check, part) = expected.split_once(": ").unwrap_or((expected, ""));
            found.starts_with(&format!("{check}: ")) && found.contains(part)
        });
    assert!(holds, "{found:#?} is not {expected:#?}");
}

#[test]
fn what_clients_are_shown() {
    let now = Recorded::named("tuned").now();
    let own = key();
    let site = |made: &Made| text(&[&made.sign(&own, None, now)]);
    for (made, expected) in [
        (Made::SITE, &[][..]),
        (Made { valid: (-90, -1), ..Made::SITE }, &["certificate-dates: ended on"]),
        (Made { valid: (1, 90), ..Made::SITE }, &["certificate-dates: is not valid before"]),
        (Made { valid: (-90, 29), ..Made::SITE }, &["certificate-dates: ends on"]),
        (Made { valid: (-90, 31), ..Made::SITE }, &[]),
        (Made { alternative_name: false, ..Made::SITE }, &["certificate-names: names no host"]),
    ] {
        is(&found(SERVE, &[("/c", &site(&made)), ("/k", &key_text(&own))]), expected);
    }
    // The same settings of two services are one finding; no TLS is none.
    let old = site(&Made { valid: (-90, -1), ..Made::SITE });
    let files = [("/c", old.as_str()), ("/k", &key_text(&own))];
    assert_eq!(found(&format!("{SERVE}socks -i127.0.0.1\n"), &files).len(), 1);
    assert_eq!(found(&SERVE.replace("ssl_serv\n", ""), &files), [] as [&str; 0]);
}

#[test]
fn files_hold_what_they_should() {
    let now = Recorded::named("tuned").now();
    let own = key();
    let (certificate, good) = (text(&[&Made::SITE.sign(&own, None, now)]), key_text(&own));
    let locked = own.private_key_to_pem_pkcs8_passphrase(Cipher::aes_128_cbc(), b"x").unwrap();
    let locked = String::from_utf8(locked).unwrap();
    for (file, private, expected) in [
        (Some("nothing"), Some(good.as_str()), "certificate-unreadable: `/c` holds no certificate"),
        (
            Some("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
            Some(&good),
            "certificate-unreadable: that can't be read",
        ),
        (None, Some(&good), "certificate-unreadable: `/c` can't be read"),
        (Some(&certificate), None, "certificate-unreadable: `/k` can't be read"),
        (Some(&certificate), Some("nothing"), "certificate-unreadable: `/k` holds no private key"),
        (Some(&certificate), Some(&locked), "certificate-unreadable: `/k` holds a key with a passphrase"),
        (Some(&certificate), Some(&key_text(&key())), "certificate-key: the key in `/k` is not that"),
    ] {
        let files: Vec<_> = [("/c", file), ("/k", private)]
            .into_iter()
            .filter_map(|(path, text)| Some((path, text?)))
            .collect();
        is(&found(SERVE, &files), &[expected]);
    }
}

#[test]
fn chains_are_in_order() {
    let now = Recorded::named("tuned").now();
    let (own, upper) = (key(), key());
    let authority = Made::AUTHORITY.sign(&upper, None, now);
    let site = Made::SITE.sign(&own, Some((&authority, &upper)), now);
    let stranger = Made::AUTHORITY.sign(&key(), None, now);
    let lax = Made { authority_key: false, ..Made::SITE }.sign(&own, Some((&authority, &upper)), now);
    for (chain, expected) in [
        (text(&[&site, &authority]), &[][..]),
        (text(&[&site]), &[]),
        (text(&[&site, &stranger]), &["certificate-chain: is not signed by that of"]),
        (text(&[&lax, &authority]), &["certificate-chain: clients that look strictly refuse"]),
    ] {
        is(&found(SERVE, &[("/c", &chain), ("/k", &key_text(&own))]), expected);
    }
}

#[test]
fn an_authority_can_sign() {
    let now = Recorded::named("tuned").now();
    let own = key();
    let strict = "authority-unusable: clients that look strictly refuse what `/c` signs";
    let lax = "authority-unusable: clients refuse what `/c` signs";
    for (made, expected) in [
        (Made::AUTHORITY, &[][..]),
        (Made { critical: false, ..Made::AUTHORITY }, &[strict]),
        (Made { signs: None, ..Made::AUTHORITY }, &[strict]),
        (Made { subject_key: false, ..Made::AUTHORITY }, &[strict]),
        (Made { signs: Some(false), ..Made::AUTHORITY }, &[lax]),
        (Made { authority: Some(false), ..Made::AUTHORITY }, &[lax]),
        (Made { valid: (-90, -1), ..Made::AUTHORITY }, &["certificate-dates: ended on"]),
    ] {
        let certificate = text(&[&made.sign(&own, None, now)]);
        is(&found(INTERCEPT, &[("/c", &certificate), ("/k", &key_text(&own))]), expected);
    }
    let short = PKey::from_rsa(Rsa::generate(1024).unwrap()).unwrap();
    let certificate = text(&[&Made::AUTHORITY.sign(&short, None, now)]);
    is(&found(INTERCEPT, &[("/c", &certificate), ("/k", &key_text(&short))]), &[strict]);
    // Another's key can't be tried.
    let certificate = text(&[&Made::AUTHORITY.sign(&own, None, now)]);
    is(&found(INTERCEPT, &[("/c", &certificate), ("/k", &key_text(&key()))]), &["certificate-key"]);
}
