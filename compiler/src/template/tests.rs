//! What is said of templates, and what is not.
mod property;

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
        "users bob:NT:{{ hash }} al:CR:{{ hash }} \"cy:CR:{{ hash }}\" di:CL:{{ password }} ed:CR:@HASH@",
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
        "socks -p@SOCKS_PORT@ -i@INTERNAL@ -e@EXTERNAL@",
        "ssl_server_min_proto_version {{ tls }}\nproxy -i127.0.0.1",
        "{{ command }} {{ argument }}",
        "{{ lines }}",
        "{% if daemon %}daemon{% endif %}",
        "{% for user in users %}\nallow {{ user }}\n{% endfor %}",
        "{# a note,\n  in two lines #}\ninternal {{ ip }}",
        "{#\n  a note\nin four lines, of which none is read: frobnicate\n#}\ninternal 127.0.0.1",
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
    check("proxy -p3128x -e{{ ip }}\n", &[("open-proxy", 1), ("port-malformed", 1)]);
    check("auth iponly\nallow * 10.0.0.300\nproxy -p{{ port }}\n", &[("invalid-value", 2)]);
    check("{% if x %}\nallow * * * 80;443\n{% endif %}\n", &[("port-list-malformed", 2)]);
    check("proxy -p {{ port }} -i127.0.0.1\n", &[("unknown-option", 1)]);
    check("socks -i {{ address }}\n", &[("unknown-option", 1)]);
    check(
        "proxy -i127.0.0.1\n  nserver {{ server }}\n  deny * * {{ ban }}\n",
        &[("indented-directive", 2), ("indented-directive", 3)],
    );
    check("{% if x -%}\n  deny * * {{ ban }}\n{%- endif %}\n", &[]);
    // A marker is one column, an unread file any number.
    check("allow {{ who }} 10.0.0.300\n", &[("invalid-value", 1)]);
    check("allow {{ who }},bob * * 80;443\n", &[("port-list-malformed", 1)]);
    check("allow {% if x %}a b{% endif %} 10.0.0.300\n", &[]);
    let unread = CompileOptions { includes: false, ..CompileOptions::default() };
    assert!(rules("allow $who 10.0.0.300\n", &unread).is_empty());
}

#[test]
fn order_is_judged_where_the_lines_are_known() {
    let behind = [("setting-after-service", 3)];
    check("users {{ login }}:CL:x\nproxy -i127.0.0.1\nauth strong\n", &behind);
    check("internal {{ ip }}\nproxy\nauth strong\n", &behind);
    check("{% if x %}\nproxy\nauth strong\n{% endif %}\n", &[]);
    check("proxy -i127.0.0.1\nauth strong\ninclude {{ more }}\n", &[]);
    check("proxy -i127.0.0.1 -p{{ port }}\nmaxconn {{ most }}\n", &[("setting-after-service", 2)]);
    check("proxy -i127.0.0.1\nauth {{ auth }}\n", &[]);
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

#[test]
fn users_that_are_not_known_silence_rules_about_users_alone() {
    for users in ["users $/etc/passwd", "users ${A}:CL:${B}", "users {{ user }} a:CL:x"] {
        let text =
            format!("{users}\nauth none\nallow * * * 80\nproxy -p3128\nlog {{{{ log }}}}\nmaxconn 5\n");
        let options = CompileOptions { includes: false, ..CompileOptions::default() };
        let found = rules(&text, &options);
        for rule in ["open-proxy", "acl-under-auth-none", "setting-after-service"] {
            assert!(found.contains(&rule), "{text}: {found:?}");
        }
    }
    // Which users there are is not known.
    let unread = CompileOptions { includes: false, ..CompileOptions::default() };
    let strong = "users $/etc/passwd\nauth strong\nallow bob\nproxy -i127.0.0.1\n";
    assert!(rules(strong, &unread).is_empty());
}

#[test]
fn what_stands_behind_a_service_does_not_change_it() {
    let unread = CompileOptions { includes: false, ..CompileOptions::default() };
    for behind in ["include /etc/more", "include {{ more }}", "{{ more }}", "{% if x %}\nsocks\n{% endif %}"]
    {
        let text = format!("auth none\nallow a\nproxy -p3128\nadmin -p80\n{behind}\n");
        let found = rules(&text, &unread);
        assert_eq!(found, ["acl-under-auth-none", "open-proxy", "admin-exposed"], "{text}");
        let between = format!("auth iponly\nallow * * * 443\n{behind}\nproxy\n");
        assert!(rules(&between, &unread).is_empty(), "{between}");
    }
    let before = "include /etc/more\nproxy -i127.0.0.1\nauth strong\n";
    assert_eq!(rules(before, &unread), ["setting-after-service"]);
}

#[test]
fn a_port_or_a_limit_that_is_not_known_changes_no_list() {
    let text = |port: &str| {
        format!(
            "users a:CL:correcthorse\nauth strong cache\nallow *\nparent 500 http 192.0.2.9 3128\ndeny * * 192.0.2.0/24\nproxy -i127.0.0.1 -p{port}\n"
        )
    };
    let known = rules(&text("3128"), &CompileOptions::default());
    for rule in ["auth-cache-after-real-type", "parent-weights-leak", "unreachable-entry"] {
        assert!(known.contains(&rule), "{known:?}");
    }
    assert_eq!(rules(&text("{{ port }}"), &CompileOptions::default()), known);
}

#[test]
fn a_port_that_is_not_known_lets_nobody_in() {
    for service in ["socks -p@PORT@", "proxy -p${PORT} -e{{ external }}"] {
        let text = format!("auth none\n{service}\n");
        assert!(rules(&text, &CompileOptions::default()).contains(&"open-proxy"), "{text}");
    }
    for service in ["socks -i@ADDRESS@", "socks -p80 {{ options }}", "socks @PORT@"] {
        assert!(
            rules(&format!("auth none\n{service}\n"), &CompileOptions::default()).is_empty(),
            "{service}"
        );
    }
}

#[test]
fn a_number_that_is_not_known_silences_what_rests_on_it_alone() {
    let list = "auth iponly\nallow *\ndeny * 10.0.0.66\n";
    for line in [
        "proxy -i127.0.0.1 -p@PORT@",
        "bandlimin {{ rate }} *\nproxy -i127.0.0.1",
        "connlim ${N} 0 *\nproxy -i127.0.0.1",
    ] {
        let text = format!("{list}{line}\n");
        assert!(rules(&text, &CompileOptions::default()).contains(&"unreachable-entry"), "{text}");
    }
    let conflict = "auth iponly\nallow * 10.0.0.0/8\nproxy -i10.0.0.1 -p80\nsocks -i0.0.0.0 -p";
    for (port, found) in [("80", true), ("@PORT@", false)] {
        let text = format!("{conflict}{port}\n");
        assert_eq!(rules(&text, &CompileOptions::default()).contains(&"port-conflict-any"), found, "{text}");
    }
}

/// The rules that do more than advise.
fn rules(text: &str, options: &CompileOptions) -> Vec<&'static str> {
    let mut files = MemoryFiles::default();
    files.insert("main", text);
    let found = compile_with(Path::new("main"), &files, options).findings;
    found.iter().filter(|it| it.level > crate::finding::Level::Allow).map(|it| it.rule).collect()
}

#[test]
fn a_block_silences_only_what_rests_on_its_lines() {
    let rest = "auth none\nallow *\nproxy\nmaxconn 100\n";
    let found = |block: &str| found(&format!("{block}{rest}"), Template::Auto);
    let rules = |block: &str| found(block).into_iter().map(|(rule, _)| rule).collect::<Vec<_>>();
    for line in ["nserver 192.0.2.1", "rotate 30", "users a:CL:{{ x }}", "bandlimin 1000000 *"] {
        for (open, close) in [("{% if x %}", "{% endif %}"), ("{%- for y in z %}", "{% endfor -%}")] {
            let block = format!("{open}\n{line}\n{close}\n");
            let told = rules(&block);
            assert!(
                told.contains(&"open-proxy") && told.contains(&"setting-after-service"),
                "{block}{told:?}"
            );
            // It may be there, and may not.
            assert!(found(&block).iter().all(|(_, at)| *at > 3), "{block}");
        }
    }
    for line in ["allow a", "auth strong", "internal 127.0.0.1", "proxy -p1", "include x", "frobnicate"] {
        let told = rules(&format!("{{% if x %}}\n{line}\n{{% endif %}}\n"));
        assert!(!told.contains(&"open-proxy"), "{line}: {told:?}");
    }
}

#[test]
fn an_allowance_in_a_block_is_not_called_unused_for_what_is_not_claimed_there() {
    let text = |rule: &str, line: &str| {
        format!(
            "{{% if x %}}\n# cfgc: allow({rule}) so it is\n{line}\n{{% endif %}}\nauth iponly\nallow * 10.0.0.0/8\nproxy\n"
        )
    };
    // What rests on the line alone is claimed, so that an allowance of it may be unused.
    for (rule, line, unused) in [
        ("bandlim-unit", "bandlimin 1000000 *", true),
        ("bandlim-unit", "bandlimin 1000 *", false),
        ("nserver-to-itself", "nserver 192.0.2.1", false),
    ] {
        let found = found(&text(rule, line), Template::Auto);
        assert_eq!(found.iter().any(|(rule, _)| *rule == "unused-allowance"), unused, "{line}: {found:?}");
    }
}
