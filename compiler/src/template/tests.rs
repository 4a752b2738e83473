//! What is said of templates, and what is not.
use std::path::Path;

use crate::{
    compile, compile_with,
    options::{CompileOptions, Template},
    sources::MemoryFiles,
};

/// The rules that find something in `text`, with the lines, apart from those that say that it is a template or only advise.
fn found(text: &str, template: Template) -> Vec<(&'static str, u32)> {
    let mut files = MemoryFiles::default();
    files.insert("main", text);
    files.insert("more", "allow *\n");
    let compiled =
        compile_with(Path::new("main"), &files, &CompileOptions { template, ..CompileOptions::default() });
    let lines = compiled.findings.iter().filter(|finding| finding.level > crate::finding::Level::Allow);
    lines.map(|finding| (finding.rule, compiled.sources.line_column(finding.at).line)).collect()
}

#[track_caller]
fn check(text: &str, expected: &[(&str, u32)]) {
    assert_eq!(found(text, Template::Auto), expected, "{text}");
}

#[test]
fn a_marker_is_no_fault_wherever_it_stands() {
    for line in [
        "internal {{ ip }}",
        "external ${EXTERNAL}",
        "maxconn {{ maxconn | default(100) }}",
        "timeouts {{ timeouts }}",
        "users {{ u.name }}:{{ u.type | default('CL') }}:{{ u.password }}",
        "users ${LOGIN}:CL:${PASSWORD}",
        "users $LOGIN:CL:$PASSWORD",
        "users ${{ path }}/{{ name }}.auth",
        "auth {{ auth }}",
        "allow {{ users }} {{ sources }} * {{ ports }} {{ operations }} {{ days }} {{ hours }}",
        "allow *\nparent {{ weight }} {{ type }} {{ host }} {{ port }}\ntlspr -i127.0.0.1",
        "include {{ path }}/more.cfg",
        "log {{ path }} {{ rotation }}",
        "log {{ path }}\nlogformat \"{{ format }}\"",
        "nserver {{ ns }}",
        "nscache {{ size }}",
        "bandlimin {{ rate }} {{ user }}",
        "proxy -p{{ port }} -i{{ ip }} {{ args }}",
        "tcppm {{ port }} {{ host }} {{ port }}",
        "socks -p@SOCKS_PORT@ -e@EXTERNAL@",
        "ssl_server_min_proto_version {{ tls }}\nproxy -i127.0.0.1",
        "{{ command }} {{ argument }}",
        "{{ lines }}",
        "{% if daemon %}daemon{% endif %}",
        "{% for user in users %}\nallow {{ user }}\n{% endfor %}",
        "{# a note,\n  in two lines #}\ninternal {{ ip }}",
        "<% if x %>\nproxy\n<% else %>\nsocks\n<% end %>",
        "$(awk '{print \"flush\\n\"}' \\\n ${FILE})",
    ] {
        check(&format!("{line}\n"), &[]);
        check(
            &format!("internal 127.0.0.1\nauth iponly\nallow *\nproxy\n{line}\nflush\nallow *\nsocks\n"),
            &[],
        );
    }
}

#[test]
fn what_is_wrong_beside_a_marker_is_found() {
    check("internal {{ ip }}\nfrobnicate\n", &[("unknown-directive", 2)]);
    check("proxy -p3128x -e{{ ip }}\n", &[("port-malformed", 1)]);
    check("auth iponly\nallow * 10.0.0.300\nproxy -p{{ port }}\n", &[("invalid-value", 2)]);
    check("{% if x %}\nallow * * * 80;443\n{% endif %}\n", &[("port-list-malformed", 2)]);
    // Behind a marker the columns are not known.
    check("allow {{ who }} 10.0.0.300\n", &[]);
}

#[test]
fn order_is_judged_where_the_lines_are_known() {
    let behind = [("setting-after-service", 3)];
    check("users {{ login }}:CL:x\nproxy -i127.0.0.1\nauth strong\n", &behind);
    check("internal {{ ip }}\nproxy\nauth strong\n", &behind);
    check("{% if x %}\nproxy\nauth strong\n{% endif %}\n", &[]);
    check("proxy -i127.0.0.1\nauth strong\ninclude {{ more }}\n", &[]);
}

#[test]
fn what_another_line_leaves_open_is_not_judged() {
    for (known, open, rule) in [
        ("rotate 0", "rotate {{ keep }}", "archiver-without-rotate"),
        ("log /var/log/a", "log {{ log }}", "rotate-without-type"),
        ("nscache 0", "nscache {{ size }}", "nsrecord-without-nscache"),
        ("auth strong cache", "auth strong {{ more }} cache", "auth-cache-after-real-type"),
        ("auth strong cache", "auth strong cache\n{{ more }}", "auth-cache-after-real-type"),
    ] {
        let text = |line: &str| {
            format!(
                "{line}\narchiver gz /usr/bin/gzip %F\nlog /var/log/b{}\n{}nsrecord a.example 192.0.2.1\nauthcache user,pass\nproxy -i127.0.0.1\n",
                if rule == "archiver-without-rotate" { " D" } else { "" },
                if rule == "rotate-without-type" { "rotate 5\n" } else { "" },
            )
        };
        let found = |line: &str| {
            let mut files = MemoryFiles::default();
            files.insert("main", text(line));
            let compiled = compile_with(Path::new("main"), &files, &CompileOptions::default());
            compiled.findings.iter().filter(|finding| finding.rule == rule).count()
        };
        assert_eq!((found(known), found(open)), (1, 0), "{rule}: {open}");
    }
}

#[test]
fn decisions_are_judged_where_no_marker_changes_them() {
    check("log {{ log }}\nauth iponly\nallow *\nproxy\n", &[("open-proxy", 4)]);
    for unknown in ["internal {{ ip }}", "auth {{ auth }}", "deny {{ what }}", "{{ more }}"] {
        check(&format!("auth iponly\nallow * 0.0.0.0/0\n{unknown}\nproxy\n"), &[]);
    }
}

#[test]
fn what_is_run_is_no_template() {
    let text = "users a:CL:x\nauth strong\nallow a\nproxy -i127.0.0.1 -p{{ port }}\n";
    assert!(found(text, Template::Auto).is_empty());
    assert_eq!(found(text, Template::No).first(), Some(&("port-malformed", 4)));
    let mut files = MemoryFiles::default();
    files.insert("main", text);
    assert!(
        compile(Path::new("main"), &files).findings.iter().any(|finding| finding.rule == "port-malformed")
    );
}

#[test]
fn what_is_no_certain_marker_is_one_on_request() {
    let text = "users $PASSWD\nproxy -i127.0.0.1\n";
    assert_eq!(found(text, Template::Auto), [("include-missing", 1)]);
    assert!(found(text, Template::Yes).is_empty());
    assert!(!found("frobnicate\n", Template::Yes).is_empty());
}

#[test]
fn an_allowance_for_what_is_not_known_is_not_unused() {
    let unread = CompileOptions { includes: false, ..CompileOptions::default() };
    let unused = |text: &str, options: &CompileOptions| {
        let mut files = MemoryFiles::default();
        files.insert("main", text);
        let found = compile_with(Path::new("main"), &files, options).findings;
        found.iter().filter(|finding| finding.rule == "unused-allowance").count()
    };
    for (text, expected) in [
        ("include more\n# cfgc: allow(open-proxy) a lab\nproxy\n", 0),
        ("{{ more }}\n# cfgc: allow(open-proxy) a lab\nproxy\n", 0),
        ("# cfgc: allow(cleartext-password) a lab\nusers {{ users }}\n", 0),
        ("# cfgc: allow(cleartext-password) a lab\nusers $more\n", 0),
        // What stands in one line is known.
        ("include more\n# cfgc: allow(port-list-malformed) a lab\nallow *\n", 1),
        ("# cfgc: allow(open-proxy) a lab\nmaxconn 5\n", 1),
        ("include more\n# cfgc: allow(no-such-rule) a lab\nproxy\n", 1),
    ] {
        assert_eq!(unused(text, &unread), expected, "{text}");
    }
}
