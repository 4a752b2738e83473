//! An option that does nothing on this kind of service.
use grammar::option::{self, Services};

use super::rule::{Misread, rule};
use crate::{
    finding::{Finding, Level},
    program::trap::Trap,
};

rule! {
    /// An option that this kind of service does not use is read and ignored.
    ///
    /// 3proxy takes every option on every service. `-a` hides the client's address in an HTTP request: a SOCKS service sends
    /// none, so the option has no effect there.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// socks -a -i192.168.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// proxy -a -i192.168.0.1
    /// socks -i192.168.0.1
    /// ```
    "option-for-other-service",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    trap: Trap::OtherService => finding,
}

/// `None`: no kind of service uses it, which is `option-without-effect`.
fn finding(word: Misread<'_>) -> Option<Finding> {
    let service = word.sources.values(word.at);
    let kind =
        service.first().map(|(_, name)| String::from_utf8_lossy(name).into_owned()).unwrap_or_default();
    let unquoted = word.unquoted();
    let row = option::find(&unquoted).map(|(row, _)| row)?;
    let (flag, Services::Only(names)) = (row.flag, row.services) else { return None };
    if names.is_empty() {
        return None;
    }
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let mut finding = RULE
        .finding(word.at, format!("`{flag}` has no effect on a service of kind `{kind}`"))
        .label("read and ignored")
        .note(format!("It has an effect only on {}.", names.join(", ")))
        .help("remove it");
    // It is copied from one service to the next, and what it hides no other kind shows.
    if flag == "-a" {
        finding.level = Level::Allow;
    }
    Some(finding)
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn options_of_the_service_and_of_all_are_silent() {
        check("option-for-other-service", "proxy -n -a1 -p3128 -t\n");
        check("option-for-other-service", "auto -a -u -c2\nudppm -s 53 192.0.2.1 53\nftppr -h192.0.2.1\n");
        check(
            "option-for-other-service",
            "tcppm -h80 8080 192.0.2.1 80\n#     ^ `-h` has no effect on a service\n",
        );
    }
}
