//! `https-port-without-connect`
use grammar::value::{PortRange, items};

use super::{
    columns::{OPERATIONS, columns},
    rule::{Lint, rule},
};
use crate::{
    finding::Finding,
    fix::{Edit, Fix, Safety},
    program::{
        acl::{Ace, Action, Operation, Parent},
        service::Service,
    },
    sources::{Loc, Sources},
};

/// The port of HTTPS.
const HTTPS: u16 = 443;

rule! {
    /// An entry allows port 443 for plain HTTP only, and nothing allows the CONNECT method there.
    ///
    /// A browser asks an HTTP proxy for an `https://` site by the CONNECT method. `HTTP` stands for all methods but this one, which is
    /// `HTTPS` or `HTTP_CONNECT`. So every `https://` site is refused.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 192.168.0.0/16 * 80,443 HTTP
    /// deny *
    /// proxy -i192.168.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,fixed
    /// auth iponly
    /// allow * 192.168.0.0/16 * 80,443 HTTP,HTTPS
    /// deny *
    /// proxy -i192.168.0.1
    /// ```
    ///
    /// CONNECT may also have an entry of its own, which allows it or refuses it on purpose:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 192.168.0.0/16 * 80,443 HTTP
    /// allow * 192.168.0.0/16 * 443 HTTPS
    /// proxy -i192.168.0.1
    /// ```
    "https-port-without-connect",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    check: check,
}

/// The most entries that a fix changes.
const MOST_FIXED: usize = 64;

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    for list in lint.asked_lists().iter() {
        let local = |ace: &Ace| program.acls.parents(ace).iter().any(Parent::is_local);
        let decides = |(_, ace): (_, &Ace)| local(ace) || decides_connect(ace);
        if program.acls.entries(list.acl).any(decides) {
            continue;
        }
        let entries = program.acls.entries(list.acl).map(|(_, ace)| ace).enumerate();
        let mut forgetting = entries.filter(|(_, ace)| forgets_connect(ace)).peekable();
        let Some((place, _)) = forgetting.peek() else { continue };
        let speaks_http = |service: &&Service| service.kind.speaks_http();
        if let Some(service) = list.asking(program, *place).find(speaks_http) {
            let forgetting: Vec<&Ace> = forgetting.map(|(_, ace)| ace).collect();
            if let Some(finding) = finding(lint.sources, &forgetting, service) {
                lint.report(finding);
            }
        }
    }
}

/// Whether an entry allows CONNECT to the port of HTTPS, or names it to refuse it.
fn decides_connect(ace: &Ace) -> bool {
    let operations = ace.matcher.operations;
    let named = operations.is_some_and(|listed| listed.has(Operation::HttpConnect));
    let has_port = ace
        .matcher
        .ports
        .as_ref()
        .is_none_or(|ports| ports.iter().any(|range| (range.first..=range.last).contains(&HTTPS)));
    has_port && (named || operations.is_none() && ace.action == Action::Allow)
}

/// Whether an entry allows that port by name, for HTTP without CONNECT.
fn forgets_connect(ace: &Ace) -> bool {
    let is_https =
        |ports: &[PortRange]| ports.iter().any(|range| (range.first, range.last) == (HTTPS, HTTPS));
    ace.action == Action::Allow
        && !ace.matcher.is_refused()
        && ace.matcher.operations.is_some_and(|listed| listed.has(Operation::HttpGet))
        && ace.matcher.ports.as_deref().is_some_and(is_https)
}

/// The list lacks it, so one finding is for all entries that do.
fn finding(sources: &Sources, forgetting: &[&Ace], service: &Service) -> Option<Finding> {
    let (first, more) = forgetting.split_first()?;
    let place = operations_of(sources, first);
    let written = place.map(|at| String::from_utf8_lossy(sources.text(at)).into_owned());
    let shown = written.unwrap_or_else(|| "HTTP".to_owned());
    let of_socks = items(shown.as_bytes()).any(|(_, item)| item == b"CONNECT");
    let (message, label) = if of_socks {
        let message = "`https://` sites are refused: `CONNECT` is an operation of SOCKS, and no entry allows `HTTPS` on port 443";
        (message.to_owned(), "`HTTPS` or `HTTP_CONNECT` is the CONNECT method of HTTP")
    } else {
        let message = format!(
            "`https://` sites are refused: `{shown}` does not include CONNECT, and no other entry allows it on port 443"
        );
        (message, "not the CONNECT method")
    };
    let finding = RULE
        .finding(place.unwrap_or(first.at), message)
        .label(label)
        .also(service.at, "this service uses the list")
        .help("add `HTTPS` to the operations")
        .fix(added(sources, forgetting));
    Some(match more.len() {
        0 => finding,
        1 => finding.note("The same is true of one more entry of this list."),
        more => finding.note(format!("The same is true of {more} more entries of this list.")),
    })
}

fn operations_of(sources: &Sources, ace: &Ace) -> Option<Loc> {
    columns(sources, ace.at).get(OPERATIONS).copied()
}

/// Adds CONNECT behind the operations of each entry. `None`: of one it can't be seen where, or there are too many.
fn added(sources: &Sources, forgetting: &[&Ace]) -> Option<Fix> {
    let edit = |ace: &&Ace| {
        let mut behind = operations_of(sources, ace).filter(|at| !sources.text(*at).contains(&b'"'))?;
        behind.span.start = behind.span.end;
        Some(Edit { at: behind, text: ",HTTPS".to_owned() })
    };
    let edits =
        Some(forgetting).filter(|all| all.len() <= MOST_FIXED)?.iter().map(edit).collect::<Option<_>>()?;
    Some(Fix { title: "add `HTTPS`".into(), safety: Safety::Unsafe, edits })
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::{check, findings};

    #[test]
    fn whoever_decides_connect_knows_of_it() {
        for others in [
            "allow * * * 443 HTTP_CONNECT",
            "allow a",
            "allow a * * 400-500",
            "deny * * * * HTTPS",
            "allow * * * * HTTP,HTTPS 1-5",
            "allow * * * 80\nparent 1000 http 0.0.0.0 0",
        ] {
            let text =
                format!("users a:CL:x\nauth strong\nallow * * * 80,443 HTTP\n{others}\ndeny *\nproxy\n");
            check("https-port-without-connect", &text);
        }
    }

    #[test]
    fn what_socks_calls_connect_is_told_from_the_method() {
        for (operations, told) in
            [("HTTP", false), ("HTTP,CONNECT", true), ("CONNECT,HTTP", true), ("HTTP,CONNECTX", false)]
        {
            let text = format!("auth iponly\nallow * * * 443 {operations}\ndeny *\nproxy\n");
            let found = findings("https-port-without-connect", &text);
            let messages: Vec<_> =
                found.iter().map(|one| one.message.contains("operation of SOCKS")).collect();
            let is_refused = operations.contains('X');
            assert_eq!(messages, if is_refused { vec![] } else { vec![told] }, "{operations}");
        }
    }

    #[test]
    fn only_an_http_proxy_is_asked_for_sites() {
        let found = |text: &str| findings("https-port-without-connect", text).len();
        let list = "users a:CL:x\nauth strong\nallow a * * 80,443 HTTP_GET,HTTP_POST\nallow a * * 80 HTTPS\n";
        assert_eq!(found(&format!("{list}auto\n")), 1);
        assert_eq!(found(&format!("{list}socks\n")), 0);
        // A range is no port that somebody thought of, and neither is 8443.
        for ports in ["1-65535", "80,8443", "*"] {
            assert_eq!(found(&format!("auth iponly\nallow * * * {ports} HTTP\nproxy\n")), 0, "{ports}");
        }
        // Two services with one list have one finding.
        assert_eq!(found(&format!("{list}proxy\nproxy -p1\n")), 1);
    }
}
