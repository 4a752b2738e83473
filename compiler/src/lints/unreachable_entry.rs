//! `unreachable-entry`
use super::{
    rule::{Lint, rule},
    shadowed::{explain, level, tells},
};
use crate::{
    analysis::{lists::Copies, shadow::Shadowed},
    finding::Finding,
    program::{Program, acl::Action},
};

rule! {
    /// No request reaches this entry: those before it decide all that it matches.
    ///
    /// Entries are checked in order, and the first that matches decides. So specific entries must come before general ones. A `deny`
    /// below an `allow` of the same requests refuses nothing:
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// deny * 10.0.0.66
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// deny * 10.0.0.66
    /// allow * 10.0.0.0/8
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// It may take several entries to shadow one. Who has no password is not let to the list of a service that asks for one, so here
    /// these two let everybody pass:
    ///
    /// ```3proxy,fires
    /// users alice:CL:wonderland bob:CL:builder
    /// auth strong
    /// allow alice
    /// allow bob
    /// deny * * 127.0.0.0/8,10.0.0.0/8
    /// proxy
    /// ```
    ///
    /// Entries that other services left in the list are reported as `acl-inherited-without-flush`, and those that would do the same as
    /// the ones before them as `redundant-entry`.
    "unreachable-entry",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    parts: ["parent-unreachable"],
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let copies = Copies::of(program);
    for shadowed in lint.shadowed().iter() {
        if tells(program, shadowed) && copies.left_by(shadowed).is_none() {
            lint.report(finding(program, shadowed));
        }
    }
}

fn finding(program: &Program, shadowed: &Shadowed) -> Finding {
    let own = program.acls.ace(shadowed.entry);
    let denies = own.is_some_and(|own| own.action == Action::Deny);
    let message = match (denies && shadowed.passing(program).is_some(), shadowed.by.len()) {
        (true, 1) => "this `deny` refuses nothing, because an entry before it allows those requests",
        (true, _) => "this `deny` refuses nothing: entries before it decide those requests",
        (false, 1) => "no request reaches this entry: one before it decides all that it matches",
        (false, _) => "no request reaches this entry: those before it decide all that it matches",
    };
    let at = own.map(|own| own.at).unwrap_or_default();
    let mut finding = RULE
        .finding(at, message)
        .part(own.filter(|own| !program.acls.parents(own).is_empty()).map(|_| "parent-unreachable"))
        .label("never reached")
        .help("move it above the first entry that decides its requests, or remove it");
    finding.level = level(program, shadowed);
    explain(finding, program, shadowed)
}

#[cfg(test)]
mod tests {
    use crate::{
        finding::Level,
        lints::tests::{check, findings},
    };

    const HEAD: &str = "internal 127.0.0.1\nusers alice:CL:x bob:CL:y\n";

    /// `lines` with `#!` before what must be found, nothing else being so.
    #[track_caller]
    fn marked(lines: &str) {
        let marks = lines.lines().map(|line| match line.strip_prefix("#!") {
            Some(line) => format!("{line}\n#^\n"),
            None => format!("{line}\n"),
        });
        check("unreachable-entry", &format!("{HEAD}{}", marks.collect::<String>()));
    }

    #[test]
    fn one_entry_takes_all() {
        for lines in [
            "allow *\n#!deny * * bad.example\nproxy",
            "allow *\n#!deny *\nproxy",
            "allow *\n#!allow alice\nauth strong\nproxy",
            "deny *\n#!allow alice\nauth strong\nproxy",
            "allow * * *.example.com\n#!deny * * www.example.com\nproxy",
            "allow * 10.0.0.0/8\n#!deny * 10.0.0.1-10.0.0.9 * 80\nallow *\nproxy",
            "allow * * * 1-65535\n#!deny * * * 25\nproxy",
            "allow *\nparent 1000 socks5 192.0.2.1 1080\n#!allow *\nparent 1000 socks5 192.0.2.2 1080\nproxy",
            "allow * * * * * 1-5\n#!deny * * * 25 * 2,3\nproxy",
            "allow * ::ffff:10.0.0.0/104\n#!deny * 10.1.0.0/16\nproxy",
            // It has one target.
            "allow * * mail.example.com 25\n#!deny * 10.0.0.1\ntcppm 2525 mail.example.com 25",
            "allow * * *.com\n#!deny * * * 25\ntcppm 2525 mail.example.com 25\ntcppm 2526 mx.example.com 25",
            "allow * * 192.0.2.0/24\n#!deny * 10.0.0.1 192.0.2.7\ntcppm 2525 192.0.2.7 25",
        ] {
            marked(lines);
        }
    }

    #[test]
    fn several_entries_take_all() {
        for lines in [
            "allow * 10.0.0.0/9\nallow * 10.128.0.0/9\n#!deny * 10.0.0.0/8\nallow *\nproxy",
            "auth strong\nallow alice\nallow bob\n#!deny * * 10.0.0.0/8\nproxy",
            "allow * * * * HTTP,FTP\nallow * * * * HTTPS\n#!deny * * bad.example\nproxy",
            "allow * * * * * 0-3\ndeny * * * * * 4-6\n#!allow * * 10.0.0.1\nproxy",
        ] {
            marked(lines);
        }
    }

    #[test]
    fn what_some_request_reaches_is_none() {
        for lines in [
            "deny * * bad.example\nallow *\nproxy",
            "allow * 10.0.0.0/8\ndeny *\nproxy",
            "auth strong\nallow alice\ndeny * * bad.example\nproxy",
            // The end of a list is there for what nobody thought of.
            "auth strong\nallow alice,bob\ndeny *\nproxy",
            "allow * * * * HTTP,HTTPS,FTP\ndeny *\nproxy",
            "allow * 0.0.0.0/0\ndeny *\nproxy",
            // Duplicates harm nobody.
            "allow * 10.0.0.1\nallow * 10.0.0.1\ndeny *\nproxy",
            "deny * * *.bad.example\ndeny * * www.bad.example\nallow *\nproxy",
            // The second walk, behind a local redirection.
            "allow * * * 80\nparent 1000 http 0.0.0.0 0\nallow * * * 80 HTTP\nallow *\nsocks",
            "allow * * * * * * * 3\nallow * * * * * * * 2\nproxy",
            "auth none\nallow *\ndeny * * bad.example\nproxy",
            "allow * * mail.example.com 25\ndeny * 10.0.0.1\ntcppm 2525 mail.example.com 25\nproxy",
            "allow * * mail.example.com 25\ndeny * 10.0.0.1\ntcppm 2525 mail.example.com 26",
            "allow * * mail.example.com 25\ndeny * 10.0.0.1\ntcppm 1 mail.example.com 25\ntcppm 2 b.example.com 25",
            "allow * * mail.example.com 25\ndeny *\ntcppm 2525 mail.example.com 25",
            "deny * * other.example.com\nallow *\ntcppm 2525 mail.example.com 25",
            "allow * * 192.0.2.0/24\ndeny * 10.0.0.1\ntcppm 2525 mail.example.com 25",
            // Nobody's request at all: other rules tell.
            "allow *\ndeny bob\nproxy",
        ] {
            marked(lines);
        }
    }

    #[test]
    fn a_bind_passes_over_parents() {
        let text = "allow *\nparent 1000 socks5 192.0.2.1 1080\ndeny * * 10.0.0.0/8\nsocks -i127.0.0.1\n";
        let found = findings("unreachable-entry", text);
        assert!(found.len() == 1 && found[0].notes.iter().any(|note| note.contains("BIND")), "{found:#?}");
        assert_eq!(findings("unreachable-entry", &text.replace("* * 10", "* * 10.0.0.0/8 * BIND #")), []);
    }

    #[test]
    fn only_a_deny_that_names_what_it_refuses_is_refused() {
        for (lines, level) in [
            ("allow *\ndeny *", Level::Warn),
            ("allow *\ndeny * 0.0.0.0/0,::/0", Level::Warn),
            ("allow *\ndeny * 10.0.0.1", Level::Deny),
            ("deny *\nallow * 10.0.0.1", Level::Warn),
            ("deny * * * 1-1000\nallow * * * 25,80", Level::Warn),
        ] {
            let found = findings("unreachable-entry", &format!("{lines}\nproxy -i127.0.0.1\n"));
            assert_eq!(found.iter().map(|finding| finding.level).collect::<Vec<_>>(), [level], "{lines}");
        }
    }
}
