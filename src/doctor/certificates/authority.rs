//! Whether a certificate can sign others, as those see it who verify what it signed.
use compiler::{finding::Level, sources::Loc};
use openssl::{
    asn1::Asn1Time,
    bn::{BigNum, MsbOption},
    ec::{EcGroup, EcKey},
    error::ErrorStack,
    hash::MessageDigest,
    nid::Nid,
    pkey::{PKey, Private},
    stack::Stack,
    x509::{
        X509, X509Builder, X509Name, X509StoreContext,
        extension::{
            AuthorityKeyIdentifier, BasicConstraints, ExtendedKeyUsage, KeyUsage, SubjectAlternativeName,
            SubjectKeyIdentifier,
        },
        store::X509StoreBuilder,
        verify::{X509VerifyFlags, X509VerifyParam},
    },
};

use crate::doctor::{
    checks::AUTHORITY_UNUSABLE,
    examination::{Diagnosis, Examination},
};

/// Signs a certificate for a site, and looks at it as clients do: first as most, then strictly.
pub(super) fn examine(
    examination: &mut Examination<'_>,
    certificates: &[X509],
    key: Option<&PKey<Private>>,
    file: &str,
    at: Loc,
) {
    let (Some(authority), Some(key)) = (certificates.first(), key) else { return };
    // Another's key is reported; it signs nothing that could be verified.
    if !authority.public_key().is_ok_and(|public| public.public_eq(key)) {
        return;
    }
    let site = match site(authority, key, examination.host.now()) {
        Ok(site) => site,
        Err(error) => {
            return examination.unchecked(&AUTHORITY_UNUSABLE, format!("`{file}` can't sign: {error}"));
        }
    };
    let chain: Vec<X509> = std::iter::once(site).chain(certificates.iter().cloned()).collect();
    let (level, who, why) = match (verify(&chain, false), verify(&chain, true)) {
        (Err(why), _) => (Level::Deny, "clients", why),
        (Ok(()), Err(why)) => (Level::Warn, "clients that look strictly", why),
        (Ok(()), Ok(())) => return,
    };
    let message = format!("{who} refuse what `{file}` signs: {why}");
    let help = "make it anew with `basicConstraints=critical,CA:TRUE`, `keyUsage=critical,keyCertSign,cRLSign` and a `subjectKeyIdentifier`";
    let diagnosis = Diagnosis::new(&AUTHORITY_UNUSABLE, level, at, message)
        .label("this authority signs what clients are shown");
    examination.found(diagnosis.help(help));
}

/// Verifies the first of `certificates`, trusting the last; dates are not looked at.
///
/// # Errors
/// Why it does not hold, in OpenSSL's words.
pub(super) fn verify(certificates: &[X509], strictly: bool) -> Result<(), String> {
    let (Some(first), Some(last)) = (certificates.first(), certificates.last()) else { return Ok(()) };
    let verified = (|| {
        let mut flags = X509VerifyFlags::PARTIAL_CHAIN | X509VerifyFlags::NO_CHECK_TIME;
        if strictly {
            flags |= X509VerifyFlags::X509_STRICT;
        }
        let mut parameters = X509VerifyParam::new()?;
        parameters.set_flags(flags)?;
        // Keys and digests: OpenSSL's own least, and that of Debian and those after it.
        parameters.set_auth_level(if strictly { 2 } else { 1 });
        let mut store = X509StoreBuilder::new()?;
        store.add_cert(last.clone())?;
        store.set_param(&parameters)?;
        let mut between = Stack::new()?;
        for certificate in certificates.iter().skip(1) {
            between.push(certificate.clone())?;
        }
        let mut context = X509StoreContext::new()?;
        context.init(&store.build(), first, &between, |context| {
            let verified = context.verify_cert()?;
            Ok((!verified).then(|| context.error().error_string()))
        })
    })();
    match verified {
        Ok(None) => Ok(()),
        Ok(Some(why)) => Err(why.to_owned()),
        Err(error) => Err(ErrorStack::to_string(&error)),
    }
}

/// A certificate for a site, without a fault of its own, signed by `authority`.
fn site(authority: &X509, key: &PKey<Private>, now: i64) -> Result<X509, ErrorStack> {
    let curve = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1)?;
    let own = PKey::from_ec_key(EcKey::generate(&curve)?)?;
    let mut name = X509Name::builder()?;
    name.append_entry_by_nid(Nid::COMMONNAME, "site.example")?;
    let name = name.build();
    let mut serial = BigNum::new()?;
    serial.rand(64, MsbOption::MAYBE_ZERO, false)?;
    let mut builder = X509Builder::new()?;
    builder.set_version(2)?;
    builder.set_serial_number(serial.to_asn1_integer()?.as_ref())?;
    builder.set_subject_name(&name)?;
    builder.set_issuer_name(authority.subject_name())?;
    builder.set_pubkey(&own)?;
    builder.set_not_before(Asn1Time::from_unix(now)?.as_ref())?;
    builder.set_not_after(Asn1Time::from_unix(now.saturating_add(86_400))?.as_ref())?;
    builder.append_extension(BasicConstraints::new().critical().build()?)?;
    builder.append_extension(KeyUsage::new().critical().digital_signature().build()?)?;
    builder.append_extension(ExtendedKeyUsage::new().server_auth().build()?)?;
    let context = builder.x509v3_context(Some(authority), None);
    let subject_key = SubjectKeyIdentifier::new().build(&context)?;
    let names = SubjectAlternativeName::new().dns("site.example").build(&context)?;
    // An authority without a key identifier has none to repeat.
    let authority_key = AuthorityKeyIdentifier::new().keyid(false).build(&context);
    builder.append_extension(subject_key)?;
    builder.append_extension(names)?;
    if let Ok(authority_key) = authority_key {
        builder.append_extension(authority_key)?;
    }
    builder.sign(key, MessageDigest::sha256())?;
    Ok(builder.build())
}
