//! The name of this host, as servers are told it.
use std::sync::OnceLock;

/// The host's name, as it was when it was first asked for. A header field must hold it, so other bytes are left out.
pub(super) fn host_name() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| {
        let mut name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        name.retain(|letter| letter.is_ascii_alphanumeric() || "-._".contains(letter));
        if name.is_empty() { "localhost".to_owned() } else { name }
    })
}
