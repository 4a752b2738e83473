//! `sql-log-injection`
use std::collections::BTreeSet;

use grammar::value::log_format;

use super::rule::{Lint, rule};
use crate::program::log::LogTarget;

rule! {
    /// A log format for a database does not filter quotes out of what clients send.
    ///
    /// The record is a statement, and a user name, a host or a URL is put into it as it came: with a `'` in it, it goes on as SQL. The
    /// format begins with the characters to keep out and the one that stands for them: `-'+_`.
    ///
    /// ```3proxy,fires
    /// log &proxylog,user,secret
    /// logformat "LINSERT INTO log VALUES (%t, '%U', '%n')"
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// proxy
    /// ```
    ///
    /// Use instead (with a backslash for databases that know it, as MySQL):
    ///
    /// ```3proxy,clean
    /// log &proxylog,user,secret
    /// logformat "-'\+_LINSERT INTO log VALUES (%t, '%U', '%n')"
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// proxy
    /// ```
    ///
    /// Numbers and addresses need no filter:
    ///
    /// ```3proxy,clean
    /// log &proxylog,user,secret
    /// logformat "LINSERT INTO log VALUES (%t, '%C', %I, %O)"
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// proxy
    /// ```
    "sql-log-injection",
    level: Deny,
    group: Security,
    since: "0.1.0",
    reads: Settings,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let mut told = BTreeSet::new();
    for service in &lint.program.services {
        let log = &service.log;
        let Some(format) = log.format.as_ref().filter(|_| matches!(log.target.value, LogTarget::Sql(_)))
        else {
            continue;
        };
        let read = log_format(format.value.as_bytes()).value;
        let filtered = read.filter.as_ref().is_some_and(|filter| filter.bytes.as_bytes().contains(&b'\''));
        let Some(field) = from_client(read.body.as_bytes()).filter(|_| !filtered) else { continue };
        let at = format.at.unwrap_or(service.at);
        if !told.insert(at) {
            continue;
        }
        let field = char::from(field);
        let mut finding = RULE
            .finding(
                at,
                format!("a client that sends a `'` can inject SQL, because `%{field}` is not filtered"),
            )
            .label("quotes are not filtered");
        if let Some(target) = log.target.at {
            finding = finding.also(target, "records are statements for this database");
        }
        lint.report(
            finding
                .also(service.at, "of this service")
                .help("begin the format with `-'\\+_`: quotes and backslashes become `_`"),
        );
    }
}

/// The first field of a format that clients choose: user, host, or what they ask for.
fn from_client(format: &[u8]) -> Option<u8> {
    let mut fields = format.split(|byte| *byte == b'%').skip(1);
    fields.find_map(|rest| {
        // `%1-2T` is a part of the text.
        let letter = rest.iter().copied().find(|byte| !byte.is_ascii_digit() && *byte != b'-')?;
        matches!(letter, b'U' | b'n' | b'T').then_some(letter)
    })
}

#[cfg(test)]
mod tests {
    use super::from_client;
    use crate::lints::tests::check;

    #[test]
    fn what_clients_choose_is_known_by_its_letter() {
        for (format, field) in [
            ("L%t %U", Some(b'U')),
            ("L%t %I %1-1T %C", Some(b'T')),
            ("G%d-%m %n", Some(b'n')),
            ("L%t Unique %C %I", None),
            ("L%", None),
        ] {
            assert_eq!(from_client(format.as_bytes()), field, "{format}");
        }
    }

    #[test]
    fn only_a_database_takes_it_for_sql() {
        let rest = "logformat \"L'%U'\"\nproxy\n";
        check("sql-log-injection", &format!("log /var/log/3proxy D\n{rest}"));
        check("sql-log-injection", "log &db\nproxy\n");
        check(
            "sql-log-injection",
            "log &db\nlogformat \"- +_L'%U'\"\n#         ^ not filtered\nproxy\nsocks\n",
        );
    }
}
