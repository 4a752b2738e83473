//! `operation-impossible-for-service`
use grammar::value::OPERATION_WORDS;

use super::{
    columns::columns,
    rule::{Lint, rule},
};
use crate::{
    finding::{Finding, Level},
    fix::{Fix, Safety},
    program::acl::{Ace, Action, Operation, Operations, Parent},
    sources::{Loc, Sources},
};

rule! {
    /// The entry is for operations that no service with this list can be asked for, so it never matches.
    ///
    /// `CONNECT` is what SOCKS and port mappers do. The method of HTTP is `HTTP_CONNECT`, or `HTTPS`:
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8 * 443 CONNECT
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,fixed
    /// auth iponly
    /// allow * 10.0.0.0/8 * 443 HTTP_CONNECT
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// And SOCKS does not know what is spoken in a connection:
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8 * 80,443 HTTP,HTTPS
    /// socks -i10.0.0.1
    /// ```
    ///
    /// ```3proxy,fixed
    /// auth iponly
    /// allow * 10.0.0.0/8 * 80,443 CONNECT
    /// socks -i10.0.0.1
    /// ```
    ///
    /// A list that services of several kinds share may have entries for each:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8 * 80,443 HTTP,HTTPS
    /// allow * 10.0.0.0/8 * 80,443 CONNECT
    /// proxy -i10.0.0.1
    /// socks -i10.0.0.1
    /// ```
    "operation-impossible-for-service",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    for list in lint.asked_lists().iter() {
        // A redirected request comes as one of the other service's.
        let local = |ace: &Ace| program.acls.parents(ace).iter().any(Parent::is_local);
        if program.acls.entries(list.acl).any(|(_, ace)| local(ace)) {
            continue;
        }
        for (place, (_, ace, can)) in list.entries(program).enumerate() {
            let Some(listed) = ace.matcher.operations else { continue };
            let meets = Operation::ALL.iter().any(|one| listed.has(*one) && can.has(*one));
            if let (false, Some(service)) = (meets, list.asking(program, place).next()) {
                let found = finding(lint.sources, ace, listed, can, (service.kind.name(), service.at));
                lint.report(found);
            }
        }
    }
}

fn finding(
    sources: &Sources,
    ace: &Ace,
    listed: Operations,
    can: Operations,
    (kind, service): (&str, Loc),
) -> Finding {
    let column = columns(sources, ace.at).get(4).copied();
    let written = column.map(|at| String::from_utf8_lossy(sources.text(at)).into_owned());
    let shown = written.unwrap_or_else(|| "its operations".to_owned());
    let finding = RULE
        .finding(
            column.unwrap_or(ace.at),
            format!("this entry never matches, because `{kind}` never gets requests for `{shown}`"),
        )
        .label("never matches")
        .also(service, "this service uses the list");
    let http = |one: &&Operation| matches!(one, Operation::HttpConnect) || is_http(**one);
    let tunnels = Operation::ALL.iter().filter(http).any(|one| listed.has(*one));
    let (instead, help) = if listed.has(Operation::Connect) && can.has(Operation::HttpConnect) {
        ("HTTP_CONNECT", "write `HTTP_CONNECT` for the method of HTTP, and `HTTP` for the others")
    } else if tunnels && can.has(Operation::Connect) {
        ("CONNECT", "write `CONNECT`: what is spoken in a connection is not known")
    } else {
        // Harm is only done if the entry was to let someone pass.
        let mut finding = finding.help(format!("write operations of `{kind}` here, or remove the entry"));
        finding.level = if ace.action == Action::Deny { Level::Warn } else { finding.level };
        return finding;
    };
    let whole = |at: &Loc| OPERATION_WORDS.iter().any(|(word, _)| sources.text(*at) == word.as_bytes());
    let plain =
        |at: &Loc| sources.text(*at).iter().all(|byte| byte.is_ascii_alphabetic() || b"_,".contains(byte));
    // Of several operations one may be meant for something else.
    let fit = column.filter(|at| if instead == "CONNECT" { plain(at) } else { whole(at) });
    let fix = fit.map(|at| Fix::replace(format!("write `{instead}`"), Safety::Unsafe, at, instead));
    finding.help(help).fix(fix)
}

const fn is_http(operation: Operation) -> bool {
    use Operation::{HttpGet, HttpHead, HttpOther, HttpPost, HttpPut};
    matches!(operation, HttpGet | HttpHead | HttpOther | HttpPost | HttpPut)
}

#[cfg(test)]
mod tests {
    use crate::{
        finding::Level,
        lints::tests::{check, findings},
    };

    #[test]
    fn what_some_service_can_be_asked_for_is_possible() {
        for lines in [
            "allow * * * * CONNECT,HTTPS\nproxy",
            "allow * * * * CONNECT\nallow * * * * HTTP\nauto",
            "allow * * * * HTTP\nproxy\nallow * * * * CONNECT\nsocks",
            "allow * * * 80\nparent 1000 http 0.0.0.0 0\nallow * * * * HTTP\nsocks",
            "allow * * * * ADMIN\nadmin",
            "auth none\nallow * * * * BIND\nproxy",
            "allow * * * * FTP_GET\nftppr",
        ] {
            check("operation-impossible-for-service", &format!("internal 127.0.0.1\n{lines}\n"));
        }
    }

    #[test]
    fn the_service_that_has_the_entry_counts() {
        check(
            "operation-impossible-for-service",
            r"
internal 127.0.0.1
allow * * * * CONNECT
socks
allow * * * * CONNECT,BIND
#             ^ `proxy` never gets requests for `CONNECT,BIND`
proxy
flush
deny * * * * HTTP_POST
#            ^ `tlspr` never gets requests for `HTTP_POST`
allow *
tlspr
",
        );
    }

    #[test]
    fn to_deny_what_nobody_can_ask_for_is_harmless() {
        for (line, level) in [
            ("deny * * * * BIND,UDPASSOC", Level::Warn),
            ("deny * * * * CONNECT", Level::Deny),
            ("allow * * * * UDPASSOC", Level::Deny),
        ] {
            let found = findings(
                "operation-impossible-for-service",
                &format!("{line}\nallow *\nproxy -i127.0.0.1\n"),
            );
            assert_eq!(found.iter().map(|finding| finding.level).collect::<Vec<_>>(), [level], "{line}");
        }
    }
}
