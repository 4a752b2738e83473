//! A version of TLS that 3proxy does not know.
use super::rule::{Misread, rule};
use crate::{finding::Finding, fix::Safety, program::trap::Trap};

rule! {
    /// A TLS version that 3proxy does not know sets no limit: any version that the library has is accepted.
    ///
    /// It knows `TLSv1`, `TLSv1.1`, `TLSv1.2`, `TLSv1.3` and `SSLv3`, in any case.
    ///
    /// ```3proxy,fires
    /// ssl_server_min_proto_version 1.2
    /// ssl_server_cert /etc/3proxy/cert.pem
    /// ssl_server_key /etc/3proxy/key.pem
    /// ssl_serv
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// proxy -i192.168.0.1
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,fixed
    /// ssl_server_min_proto_version TLSv1.2
    /// ssl_server_cert /etc/3proxy/cert.pem
    /// ssl_server_key /etc/3proxy/key.pem
    /// ssl_serv
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// proxy -i192.168.0.1
    /// ```
    ///
    /// ```3proxy,clean
    /// ssl_client_min_proto_version tlsv1.3
    /// ssl_client_max_proto_version
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// proxy -i192.168.0.1
    /// ```
    "tls-version-unknown",
    level: Deny,
    group: Security,
    since: "0.1.0",
    trap: Trap::TlsVersion => finding,
}

/// The versions, by their digits.
const VERSIONS: [(&str, &str); 5] =
    [("13", "TLSv1.3"), ("12", "TLSv1.2"), ("11", "TLSv1.1"), ("10", "TLSv1"), ("1", "TLSv1")];

fn finding(word: Misread<'_>) -> Finding {
    let finding = RULE
        .finding(word.at, format!("`{}` is not a TLS version that 3proxy knows", word.cited()))
        .label("sets no limit");
    match meant(word.text) {
        Some(version) => {
            let title = format!("write `{version}`");
            finding.help(title.clone()).fix(word.replaced(title, Safety::Unsafe, version))
        }
        None => finding.help("write `TLSv1.2` or `TLSv1.3`"),
    }
}

/// The version whose digits stand in `text`, if no other letters than those of TLS do.
fn meant(text: &[u8]) -> Option<&'static str> {
    let digits: String =
        text.iter().filter(|byte| byte.is_ascii_digit()).map(|byte| char::from(*byte)).collect();
    let others = text.iter().filter(|byte| !byte.is_ascii_digit());
    let plain = others.into_iter().all(|byte| b"tlsv._- ".contains(&byte.to_ascii_lowercase()));
    VERSIONS.iter().find(|(known, _)| plain && *known == digits).map(|(_, version)| *version)
}

#[cfg(test)]
mod tests {
    use super::meant;

    #[test]
    fn the_digits_say_what_was_meant() {
        assert_eq!(
            ["1.2", "TLS1.3", "tls_1_2", "TLSv1.0", "SSLv2", "DTLSv1.2", "high", "TLSv1.4"]
                .map(|text| meant(text.as_bytes())),
            [Some("TLSv1.2"), Some("TLSv1.3"), Some("TLSv1.2"), Some("TLSv1"), None, None, None, None]
        );
    }
}
