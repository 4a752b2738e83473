//! What is often written wrong, as other programs and other pages want it, and what the finding says to write.
use std::path::Path;

use crate::support::mending;
use compiler::{
    compile,
    finding::Level,
    fix::{self, Safety},
    sources::MemoryFiles,
};

/// A line as it is written, and as it should be: what `--unsafe-fixes` makes of it.
const MENDED: [(&str, &str); 29] = [
    ("parent 1000 socks5 203.0.113.5:1080", "parent 1000 socks5 203.0.113.5 1080"),
    ("parent 1000 http proxy.example:3128", "parent 1000 http proxy.example 3128"),
    ("parent 1000 connect [2001:db8::1]:3128", "parent 1000 connect 2001:db8::1 3128"),
    ("parent socks5 1000 203.0.113.5 1080", "parent 1000 socks5 203.0.113.5 1080"),
    ("allow bob 10.0.0.0/255.0.0.0", "allow bob 10.0.0.0/8"),
    ("allow bob 192.168.1.*", "allow bob 192.168.1.0/24"),
    ("allow bob * 198.51.100.*", "allow bob * 198.51.100.0/24"),
    ("allow bob * * https", "allow bob * * 443"),
    ("allow bob * * 80;443", "allow bob * * 80,443"),
    ("allow bob * * * GET,CONNECT", "allow bob * * * HTTP_GET,CONNECT"),
    ("allow bob * * * * Mon-Fri", "allow bob * * * * 1-5"),
    ("allow bob * * * * 1-5 9-18", "allow bob * * * * 1-5 09:00:00-18:00:00"),
    ("socks 1081 -i127.0.0.1", "socks -p1081 -i127.0.0.1"),
    ("socks -p 1081 -i127.0.0.1", "socks -p1081 -i127.0.0.1"),
    ("socks -p=1081 -i127.0.0.1", "socks -p1081 -i127.0.0.1"),
    ("socks --port=1081 -i127.0.0.1", "socks -p1081 -i127.0.0.1"),
    ("socks5 -p1081 -i127.0.0.1", "socks -p1081 -i127.0.0.1"),
    ("http -p3130 -i127.0.0.1", "proxy -p3130 -i127.0.0.1"),
    ("maxconn=1000", "maxconn 1000"),
    ("maxconn = 1000", "maxconn 1000"),
    ("logfile /var/log/3proxy.log D", "log /var/log/3proxy.log D"),
    ("permit bob", "allow bob"),
    ("auth basic", "auth strong"),
    ("auth = strong", "auth strong"),
    ("nserver = 192.0.2.53", "nserver 192.0.2.53"),
    ("nserver=192.0.2.53", "nserver 192.0.2.53"),
    ("proxy 8080 -i127.0.0.1", "proxy -p8080 -i127.0.0.1"),
    ("authcache ip, user 60", "authcache ip,user 60"),
    ("allow 10.0.0.0/8", "allow * 10.0.0.0/8"),
];

/// A line, and what its finding says to write.
const TOLD: [(&str, &str); 16] = [
    // What may be a password takes the place of a fix.
    (
        "parent http 203.0.113.5 3128 carol abcd1987",
        "write the weight first, 1000 for a parent that is always used",
    ),
    ("parent 1000 http bob:secret@203.0.113.5 3128", "write the user and the password behind the port"),
    ("parent http 203.0.113.5 3128", "write the weight first, 1000 for a parent that is always used"),
    ("socks -i127.0.0.1:1081", "write the port apart: `-i127.0.0.1 -p1081`"),
    ("internal 127.0.0.1:1081", "write `internal 127.0.0.1`, and the port at the service: `-p1081`"),
    ("allow bob@10.0.0.0/8", "write the sources in their own field: `bob 10.0.0.0/8`"),
    ("bandlimin 10M bob", "write the rate in digits only: `10000000`"),
    ("timeouts 1,5,30,60", "separate numbers with spaces"),
    ("maxconn 1,000", "write digits only, without a comma"),
    ("connlim 100 bob", "write `connlim RATE PERIOD USERLIST [SOURCELIST] [TARGETLIST] …`"),
    ("udppm 53 192.0.2.53", "write `udppm [OPTIONS] SRCPORT DSTADDR DSTPORT`"),
    ("tcppm 3389 203.0.113.5:3389", "write the port apart: `203.0.113.5 3389`"),
    ("tcppm -i127.0.0.1 3389 203.0.113.5:3389", "write the port apart: `203.0.113.5 3389`"),
    ("allow bob * * * -", "write `*` for any"),
    ("nserver 192.0.2.53 192.0.2.54", "write a line `nserver SERVER` for each"),
    ("parent 1000 socks 203.0.113.5 1080", "write `socks5`, or `socks4` if that is what the parent speaks"),
];

/// A right configuration, but for `line`.
fn with(line: &str) -> MemoryFiles {
    let mut files = MemoryFiles::default();
    let text = format!(
        "nserver 192.0.2.1\nmaxconn 1000\nusers \"bob:CL:a horse, a staple\"\nauth strong\n\
         allow bob * 203.0.113.7\n{line}\nallow bob\ndeny *\nproxy -i127.0.0.1\n"
    );
    files.insert("3proxy.cfg", text.as_str());
    files
}

fn denied(files: &MemoryFiles) -> Vec<String> {
    let compiled = compile(Path::new("3proxy.cfg"), files);
    let denied = compiled.findings.iter().filter(|finding| finding.level == Level::Deny);
    denied.map(|finding| format!("{}: {}", finding.rule, finding.message)).collect()
}

#[test]
fn what_is_often_written_wrong_is_mended() {
    for (written, right) in MENDED {
        let files = with(written);
        assert_eq!(denied(&files).len(), 1, "one cause is one finding: {written}: {:#?}", denied(&files));
        let mut mended =
            fix::mend(&files, &|files| compile(Path::new("3proxy.cfg"), files), &[], Safety::Unsafe);
        let after =
            mended.changed.remove(Path::new("3proxy.cfg")).unwrap_or_else(|| panic!("no fix: {written}"));
        let after = String::from_utf8(after.after).unwrap();
        assert!(after.lines().any(|line| line == right), "{written}: {after}");
        assert_eq!(denied(&with(right)), [""; 0], "{right}");
    }
}

/// What holds of every fix: also where the mistake stands in the first line that decides, or in the only service.
#[test]
fn a_fix_of_them_changes_nothing_else() {
    let rest = "auth iponly\nallow * 10.0.0.0/8\nparent 500 socks5 192.0.2.10 1080\n";
    for (written, _) in MENDED {
        for text in [
            format!("{written}\n{rest}"),
            format!("{rest}{written}\n{rest}"),
            format!("{rest}proxy\n{written}\nproxy -p1\n"),
        ] {
            let mut files = MemoryFiles::default();
            files.insert("3proxy.cfg", text.as_str());
            mending::hold(Path::new("3proxy.cfg"), &files);
        }
        mending::hold(Path::new("3proxy.cfg"), &with(written));
    }
}

#[test]
fn what_is_often_written_wrong_is_explained() {
    for (written, help) in TOLD {
        let compiled = compile(Path::new("3proxy.cfg"), &with(written));
        let helps: Vec<_> = compiled.findings.iter().filter_map(|finding| finding.help.as_deref()).collect();
        assert!(helps.contains(&help), "{written}: {helps:#?}");
    }
}

/// One cause is one finding, whatever 3proxy makes of the rest of the line and of those behind it.
#[test]
fn what_only_follows_is_not_told() {
    for (written, rule) in [
        ("users bob CL abcd1987\nauth strong", "user-dropped"),
        ("users \"bob:CL:abcd1987\nauth strong", "unclosed-quote"),
        ("users = bob:CL:abcd1987\nauth strong", "user-dropped"),
        ("users bob:CL:abcd1987\nauth strong # asks for a password", "unknown-auth-type"),
        ("users bob:CL:abcd1987\nauth # strong", "unknown-auth-type"),
        ("users bob:CL:abcd1987\nauth = strong", "unknown-auth-type"),
    ] {
        let mut files = MemoryFiles::default();
        let text = format!("nserver 192.0.2.1\n{written}\nallow bob\ndeny *\nproxy -i127.0.0.1\n");
        files.insert("3proxy.cfg", text.as_str());
        let found = compile(Path::new("3proxy.cfg"), &files).findings;
        let found = found.iter().filter(|finding| matches!(finding.level, Level::Deny | Level::Warn));
        assert_eq!(found.map(|finding| finding.rule).collect::<Vec<_>>(), [rule], "{written}");
    }
}
