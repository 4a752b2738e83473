//! What is hidden of lines, and nothing else.
use grammar::directive;

use super::Script;

fn hold<'a>(script: Script, lines: impl IntoIterator<Item = (&'a str, &'a str)>) {
    let masked = lines.into_iter().map(|(line, shown)| (line, masked(script, line), shown));
    let wrong: Vec<_> = masked.filter(|(_, masked, shown)| masked != shown).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn masked(script: Script, line: &str) -> String {
    let mut shown = line.to_owned();
    for range in script.secrets(line.as_bytes()).into_iter().rev() {
        shown.replace_range(range, "***");
    }
    shown
}

#[test]
fn secrets_of_commands_are_hidden_and_nothing_else() {
    let lines = [
        ("users bob:CL:secret \"al:CR:$1$s$h\"", "users bob:CL:*** \"al:CR:***\""),
        ("users bob:secret", "users bob:***"),
        ("users bob:CL:se\"$cret\"", "users bob:CL:***"),
        ("users al:CR:\"$1$s$h\"", "users al:CR:\"***\""),
        ("users user1: CL: pass1", "users user1: CL: ***"),
        ("users al:CR:$1$salt$hash $/etc/users ", "users al:CR:*** $/etc/users "),
        ("users al:CR:$1$salt$hash $/etc/users", "users al:CR:*** $/etc/users"),
        ("users $/etc/users", "users $/etc/users"),
        ("users $1$salt$hash ", "users *** "),
        ("users bob:CR:$1$salt$hash", "users bob:CR:***"),
        ("users \"bob:CL:secret", "users ***"),
        ("  users bob:CL:secret", "  users bob:CL:***"),
        ("radius s3cret 127.0.0.1:1812", "radius *** 127.0.0.1:1812"),
        ("radius $s3cret 127.0.0.1", "radius *** 127.0.0.1"),
        ("radius $/run/secret 127.0.0.1", "radius $/run/secret 127.0.0.1"),
        ("radius \"s3 cret\" 127.0.0.1", "radius \"***\" 127.0.0.1"),
        ("radius 127.0.0.1:1812 secret", "radius *** ***"),
        ("parent 1000 http 10.0.0.1 3128 secret", "parent 1000 http 10.0.0.1 3128 ***"),
        ("parent 1000 http 10.0.0.1 3128 *", "parent 1000 http 10.0.0.1 3128 *"),
        ("parent http 1000 10.0.0.1 3128 bob secret", "parent http 1000 10.0.0.1 3128 bob ***"),
        ("parent http secret 10.0.0.1 3128 bob", "parent http *** 10.0.0.1 *** ***"),
        ("radius secret [::1]:1812/::1 10.0.0.300 s2", "radius *** [::1]:1812/::1 *** ***"),
        ("users al:CL:pa\"$word\"", "users al:CL:***"),
        ("parent 1000 http 10.0.0.1:3128 bob secret", "parent 1000 http 10.0.0.1:3128 *** ***"),
        ("parent 1000 http 10.0.0.1 bob secret", "parent 1000 http 10.0.0.1 *** ***"),
        ("parent http 10.0.0.1 3128 bob secret", "parent http 10.0.0.1 *** *** ***"),
        ("parent 1000 http proxy.example.com secret", "parent 1000 http proxy.example.com ***"),
        ("parent 1000 http 10.0.0.1 3128 bob:secret", "parent 1000 http 10.0.0.1 3128 ***"),
        ("parent 1000 http secret 10.0.0.1 3128 bob", "parent 1000 http *** 10.0.0.1 *** ***"),
        ("parent 1000 htpp proxy1 3128 bob secret", "parent 1000 htpp proxy1 3128 bob ***"),
        ("parent 1000 http proxy1 3128 bob secret two", "parent 1000 http proxy1 3128 bob *** ***"),
        ("parent 1000 http h {{ port }} bob secret", "parent 1000 http h {{ port }} bob ***"),
        ("parent 1000 http http://bob:secret@10.0.0.1 3128 a b", "parent 1000 http ***@10.0.0.1 *** *** ***"),
        ("allow * * http://u:secret@h/", "allow * * ***@h/"),
        ("allow * * a.com,http://u:secret@h/", "allow * * a.com,***@h/"),
        ("allow bob:CL:secret", "allow bob:CL:***"),
        ("allow bob:CL: secret x", "allow bob:CL: *** x"),
        ("nserver bob:NT:secret", "nserver bob:NT:***"),
        ("logformat \"L%U:%C@%R\"", "logformat \"L%U:%C@%R\""),
        ("parent 1000 socks5 127.0.0.1 1080 me secret", "parent 1000 socks5 127.0.0.1 1080 me ***"),
        ("parent 1000 socks5 127.0.0.1 1080 me $secret", "parent 1000 socks5 127.0.0.1 1080 me ***"),
        ("parent 1000 http me:secret@host 1080", "parent 1000 http *** ***"),
        ("parent 1000 http \"http://me:secret@host\" 1", "parent 1000 http \"***\" ***"),
        ("parent 1000 socks5 127.0.0.1 1080", "parent 1000 socks5 127.0.0.1 1080"),
        ("log &base,me,secret", "log &base,***"),
        ("log & base,me,secret", "log & base,***"),
        ("log &base, me, secret", "log &base,***"),
        ("log \"&base,me,secret\" D", "log \"&base,***\" D"),
        ("allow a:b 10.0.0.1", "allow a:*** 10.0.0.1"),
        ("allow \"a b", "allow \"a b"),
        ("nserver \"http://bob:secret@h", "nserver ***"),
        ("deny \"bob:CL:secret", "deny ***"),
        ("log \"&db,user,secret", "log ***"),
        ("users \"bob:CL:x\" $secret", "users \"bob:CL:***\" ***"),
        ("users $passwd $/etc/users.txt $more.txt", "users $passwd $/etc/users.txt $more.txt"),
        ("users $bob:CL:secret", "users $bob:CL:***"),
        ("auth radius secret 127.0.0.1", "auth radius *** 127.0.0.1"),
        ("auth radius strong", "auth radius strong"),
        ("auth strong users bob:secret", "auth strong users bob:***"),
        (
            "allow * parent 1000 socks5 10.0.0.1 1080 bob secret",
            "allow * parent 1000 socks5 10.0.0.1 1080 bob ***",
        ),
        ("log radius D", "log radius D"),
        ("proxy -p3128", "proxy -p3128"),
        ("", ""),
    ];
    hold(Script::Lines, lines);
}

#[test]
fn secrets_in_fields_where_none_should_be_are_hidden_and_nothing_else() {
    let lines = [
        ("allow bob:secret", "allow bob:***"),
        ("deny bob:secret,al:other", "deny bob:***,al:***"),
        ("deny bob:sec,ret,al:other,bo", "deny bob:***,al:***"),
        ("deny \"al,bob:secret\"", "deny \"al,bob:***\""),
        (
            "deny ::1,10.0.0.1:80,fe80::1-fe80::2,2001:db8::/32",
            "deny ::1,10.0.0.1:80,fe80::1-fe80::2,2001:db8::/32",
        ),
        ("allow bob:12345", "allow bob:***"),
        ("bandlimin 1000 bob:secret", "bandlimin 1000 bob:***"),
        ("allow * bob:secret", "allow * bob:***"),
        ("allow * * mail.a.test:25,host:80", "allow * * mail.a.test:25,host:80"),
        ("allow * * * * * 1-5 08:00:00-18:00:00", "allow * * * * * 1-5 08:00:00-18:00:00"),
        ("nserver bob:secret", "nserver bob:***"),
        ("nserver dns1:5353/tcp", "nserver dns1:5353/tcp"),
        ("admin bob:secret", "admin bob:***"),
        ("tcppm -p1 25 mail 25", "tcppm -p1 25 mail 25"),
        ("plugin /a.so init bob:secret", "plugin /a.so init bob:***"),
        ("plugin C:\\a.dll C:\\b.cfg", "plugin C:\\a.dll C:\\b.cfg"),
        ("ssl_server_ciphers HIGH:MEDIUM", "ssl_server_ciphers HIGH:MEDIUM"),
        ("log http://h/?user=me&password=secret", "log http://h/?user=me&password=***"),
        ("log /var/log/x?token=secret&a=b D", "log /var/log/x?token=*** D"),
        ("allow * * http://h/?api_key=secret", "allow * * http://h/?api_key=***"),
        ("plugin /a.so init \"password=secret\"", "plugin /a.so init \"password=***\""),
        ("ssl_client_key \"-----BEGIN RSA PRIVATE KEY-----secret\"", "ssl_client_key \"-----BEGIN***"),
        ("ssl_client_key -----BEGIN PRIVATE KEY-----", "ssl_client_key -----BEGIN***"),
        ("log &db user secret", "log &db ***"),
        ("log &db;user;secret", "log &db;***"),
        ("log &db/user/secret D", "log &db/*** D"),
        ("log &DSN=x;UID=u;PWD=secret", "log &DSN=***"),
        ("log \"&DSN=x;UID=u;PWD=secret,u,p\" D", "log \"&DSN=***\" D"),
        ("log \"&db\" user secret", "log \"&db\"***"),
        ("log &db D", "log &db D"),
        ("log \"&db\"", "log \"&db\""),
        ("log radius secret", "log radius ***"),
        ("log radius \"secret\" D", "log radius \"***\" D"),
        ("log radius 10.0.0.1:1813", "log radius 10.0.0.1:1813"),
    ];
    hold(Script::Lines, lines);
}

#[test]
fn a_plain_line_has_no_secret() {
    let words = [
        "",
        "allow",
        "log",
        "users",
        "usres",
        "radius",
        "parnet",
        "parent",
        "prent",
        "proxy",
        "frobnicate",
        "CL",
        "NT",
        "secret",
        "10.0.0.1",
        "80,443",
        "*",
        "-p1",
    ];
    let mut plain = 0;
    for n in 0..words.len().pow(4) {
        let word = |place: u32| words[n / words.len().pow(place) % words.len()];
        let line = [word(0), word(1), word(2), word(3)].join(" ");
        if super::is_plain(line.as_bytes()) {
            plain += 1;
            assert!(super::of_split(line.as_bytes()).is_empty(), "{line}");
        }
    }
    assert!(plain > 1000, "{plain}");
}

#[test]
fn secrets_of_lines_that_are_none_are_hidden_and_nothing_else() {
    let lines = [
        ("#users bob:secret", "#users bob:***"),
        ("usrs bob:secret", "usrs bob:***"),
        ("whatever bob:cl:secret", "whatever bob:cl:***"),
        ("whatever bob:secret", "whatever bob:***"),
        ("unknown \"secret", "unknown ***"),
        ("bob:CL:secret al:CR:$1$s$h", "bob:CL:*** al:CR:***"),
        ("bob:secret", "bob:***"),
        ("bob:", "bob:"),
        ("bob:CL: secret", "bob:***"),
        ("bob : CL : secret", "bob : ***"),
        ("bob: secret", "bob: ***"),
        ("\"bob:MD5:secret", "***"),
        ("//users bob:secret", "//users bob:***"),
        ("rem users bob:secret", "rem users bob:***"),
        ("adduser bob secret", "adduser ***"),
        ("radius-server secret 10.0.0.1", "radius-server ***"),
        ("radius\u{a0}secret 10.0.0.1", "radius\u{a0}*** 10.0.0.1"),
        ("logfile &base,me,secret", "logfile &base,***"),
        ("{% if x %}users bob:secret{% endif %}", "{% if x %}users bob:***{% endif %}"),
        ("{{#if x}}radius secret 10.0.0.1{{/if}}", "{{#if x}}radius *** 10.0.0.1{{/if}}"),
        ("MIIEpAIBAAKCAQEAxFZ0kDq7e1k2kq3kzQm0r8ZcYw3XbYt1", "***"),
        ("allow MIIEpAIBAAKCAQEAxFZ0kDq7e1k2kq3kzQm0r8ZcYw3XbYt1", "allow ***"),
        ("frobnicate 10.0.0.1:80", "frobnicate 10.0.0.1:80"),
        ("# cfgc:allow(open-proxy) why", "# cfgc:allow(open-proxy) why"),
        ("PASSWORD=hunter2", "PASSWORD=***"),
        ("secret=\"hunter2\"", "secret=***"),
        ("export PASS=hunter2", "export PASS=***"),
        ("proxy -p3128 password=hunter2", "proxy -p3128 password=***"),
        ("pwd hunter2", "pwd ***"),
        ("api_token hunter2", "api_token ***"),
        ("bob;CL;secret", "bob;***"),
        ("# cfgc: users bob:CL:secret", "# cfgc: users bob:CL:***"),
        ("# Note: not in force", "# Note: not in force"),
        ("# Password: hunter2 x", "# Password: ***"),
        ("# the password is hunter2", "# the password is ***"),
        ("# pwd=hunter2", "# pwd=***"),
        ("# users bob:CL:secret password: hunter2", "# users bob:CL:*** password: ***"),
        ("# bob:CL:secret token: x y", "# bob:CL:*** token: ***"),
        ("-- radius secret 10.0.0.1", "-- radius *** 10.0.0.1"),
        ("// parent 1000 http h 3128 bob secret", "// parent 1000 http h 3128 bob ***"),
        ("<!-- radius secret 10.0.0.1", "<!-- radius *** 10.0.0.1"),
        ("REM radius secret 10.0.0.1", "REM radius *** 10.0.0.1"),
        ("#! users bob:secret", "#! users bob:***"),
        ("MIIEpAIBAAKCAQEAxFZ0kDq7pSk1k2kq3kzQm0r8ZcYw3XbYt1", "***"),
    ];
    hold(Script::Lines, lines);
}

#[test]
fn what_a_backslash_was_to_continue_is_hidden() {
    for (text, shown) in [
        ("radius \\\nsecret 10.0.0.1\n", "***"),
        ("parent 1000 http h 3128 bob \\\n  secret\n", "  ***"),
        ("users bob:CL:x \\\n al:CL:y \\\n bo:CL:z\n", " ***"),
        ("log \\\n&base,me,secret\n", "***"),
        ("allow \\\nbob\n", "bob"),
        ("users\n  al secret\n", "  ***"),
        ("parent 1000 http h 3128\n  bob secret\n", "  ***"),
        ("radius\n\tsecret 10.0.0.1\n", "\t***"),
        ("users a:CL:x\n  allow bob\n", "  allow bob"),
        ("flush\n  bob alice\n", "  bob alice"),
        ("radius secret 10.0.0.1\nallow bob\n", "allow bob"),
        ("radius secret 10.0.0.1\n# allow bob\n", "# allow bob"),
        ("# users bob:CL:a \\\n  secret\n", "  ***"),
        ("parent 1000 socks5 h 1080\nbob secret\n", "***"),
        ("users bob:CL:\nsecret\n", "***"),
        ("users bob:CL:x\nalow bob\n", "alow bob"),
        ("MIIEpAIBAAKCAQEAxFZ0kDq7e1k2kq3kzQm0r8ZcYw3XbYt1\nAQAB==\n", "***"),
    ] {
        let start = text.trim_end().rfind('\n').unwrap() + 1;
        let script = Script::Lines.at(text.as_bytes(), start);
        assert_eq!(masked(script, text.get(start..).unwrap().trim_end()), shown, "{text}");
    }
}

#[test]
fn secrets_of_a_spliced_file_are_hidden() {
    let words = |name: &str| Script::Words(directive::find(name.as_bytes()));
    assert_eq!(masked(words("users"), "bob:secret al:CR:$1$s$h"), "bob:*** al:CR:***");
    assert_eq!(masked(words("radius"), "s3cret"), "***");
    assert_eq!(masked(words("parent"), "10.0.0.1 3128 bob s3cret"), "10.0.0.1 *** *** ***");
    assert_eq!(masked(words("deny"), "10.0.0.1,10.0.0.2"), "10.0.0.1,10.0.0.2");
    assert_eq!(masked(Script::Words(None), "bob:CL:secret x"), "bob:CL:*** x");
}
