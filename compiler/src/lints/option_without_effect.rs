//! `option-without-effect`
use grammar::option::{self, Services};

use super::rule::{Misread, rule};
use crate::{finding::Finding, program::trap::Trap};

rule! {
    /// An option that no service uses any more.
    ///
    /// 3proxy takes `-n` and does nothing with it, whatever the service. It is left over in many files, and harms nobody.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// proxy -n -a -i192.168.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// proxy -a -i192.168.0.1
    /// ```
    "option-without-effect",
    level: Allow,
    group: Style,
    since: "0.1.0",
    trap: Trap::OtherService => finding,
}

/// `None`: another kind of service uses it, which is `option-for-other-service`.
fn finding(word: Misread<'_>) -> Option<Finding> {
    let unquoted = word.unquoted();
    let (row, _) = option::find(&unquoted)?;
    let is_for_some = matches!(row.services, Services::Only(names) if !names.is_empty());
    let finding = || RULE.finding(word.at, format!("`{}` no longer has any effect", row.flag));
    (!is_for_some).then(|| finding().label("read and ignored").help("remove it"))
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn an_option_of_other_services_is_none() {
        check(
            "option-without-effect",
            "proxy -n -p3128\n#     ^ `-n` no longer has any effect\nsocks -a -n\n#        ^ `-n` no longer has any effect\n",
        );
        check("option-without-effect", "socks -a\ntcppm -h80 8080 192.0.2.1 80\n");
    }
}
