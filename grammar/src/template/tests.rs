//! Which texts are markers, and what is left of them.
use super::{MarkerKind, markers, mask};

#[test]
fn markers_are_found_and_what_looks_like_them_is_not() {
    use MarkerKind::{Comment, Control, Value};
    let cases: [(&str, &[(&str, MarkerKind, bool)]); 29] = [
        ("proxy -p{{ port }}\n", &[("{{ port }}", Value, true)]),
        ("{{ if .Auth }}\n", &[("{{ if .Auth }}", Control, true)]),
        ("{{- range .Users }}\n", &[("{{- range .Users }}", Control, true)]),
        ("log {{ end_point }}\n", &[("{{ end_point }}", Value, true)]),
        ("{% for u in users %}\nallow a\n", &[("{% for u in users %}", Control, true)]),
        ("flush {# why #}\n", &[("{# why #}", Comment, false)]),
        ("{#\n two\n lines\n#}\nflush\n", &[("{#\n two\n lines\n#}", Comment, true)]),
        ("{#- proxy\n{{ x }} -#}\nflush\n", &[("{#- proxy\n{{ x }} -#}", Comment, true)]),
        ("flush {#why#}\n", &[("{#why#}", Comment, false)]),
        ("{# why\nproxy\n", &[]),
        ("socks <%= args %>\n", &[("<%= args %>", Value, true)]),
        ("<% if x %>\n", &[("<% if x %>", Control, true)]),
        ("internal @INTERNAL_IP@\n", &[("@INTERNAL_IP@", Value, true)]),
        ("log @daemon\n", &[]),
        ("users ${LOGIN}:CL:${PASSWORD:-x}\n", &[("${LOGIN}", Value, true), ("${PASSWORD:-x}", Value, true)]),
        ("users $LOGIN:CL:$PASSWORD\n", &[("$LOGIN", Value, true), ("$PASSWORD", Value, true)]),
        ("proxy -p$PROXY_PORT\n", &[("$PROXY_PORT", Value, true)]),
        ("users $PASSWD\n", &[("$PASSWD", Value, false)]),
        ("users $/etc/3proxy/passwd\n", &[]),
        ("users $PASSWD.txt\n", &[]),
        ("users \"a:CR:$1$salt$ABCDEFGH\"\n", &[]),
        ("users a:CL:pa$SECRET\n", &[]),
        ("users $(cat /x | sed (s))\n", &[("$(cat /x | sed (s))", Value, true)]),
        ("$(awk '{print}'\n x)\n", &[("$(awk '{print}'\n x)", Control, true)]),
        ("system \"kill $(cat x)\"\n", &[("$(cat x)", Value, false)]),
        ("# {{ ansible_managed }}\nproxy\n", &[]),
        ("logformat \"G{%t,{%U}}\"\n", &[]),
        ("logformat \"L<%d %m>\"\n", &[]),
        ("log {{ a\n}}\n", &[]),
    ];
    for (text, expected) in cases {
        let found = markers(text.as_bytes());
        let found: Vec<_> = found
            .iter()
            .map(|marker| {
                let at = std::str::from_utf8(marker.span.of(text.as_bytes())).unwrap();
                (at, marker.kind, marker.certain)
            })
            .collect();
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn placeholders_are_found_and_what_looks_like_them_is_not() {
    let cases: [(&str, &[&str]); 14] = [
        ("internal SERVER_B_IP_PLACEHOLDER\n", &["SERVER_B_IP_PLACEHOLDER"]),
        ("maxconn _maxconn_\n", &["_maxconn_"]),
        ("users __NAME__:CL:__PASS__\n", &["__NAME__", "__PASS__"]),
        ("users USER_PWD\n", &["USER_PWD"]),
        ("proxy -pSERVER_PORT -i__IP__\n", &["SERVER_PORT", "__IP__"]),
        ("log /var/log/MY_NAME.log\n", &["MY_NAME"]),
        ("allow * * * * HTTP_GET,HTTP_CONNECT\n", &[]),
        ("socks -olSO_REUSEPORT,TCP_NODELAY\n", &[]),
        ("ssl_server_ciphersuites TLS_AES_128_GCM_SHA256\n", &[]),
        ("allow my_user _x a_ A_B CL\n", &[]),
        ("# SERVER_IP\n", &[]),
        ("ssl_server_cert x\n", &[]),
        ("users $USER_PWD\n", &[]),
        ("logformat L__%U\n", &[]),
    ];
    for (text, expected) in cases {
        let found: Vec<&str> = super::placeholders(text.as_bytes())
            .map(|marker| text.get(marker.span.range()).unwrap())
            .collect();
        assert_eq!(found, expected, "{text}");
        assert_eq!(
            super::holds_placeholder(text.as_bytes()) && !text.starts_with('#'),
            !expected.is_empty(),
            "{text}"
        );
    }
}

#[test]
fn a_file_may_say_by_its_name_that_it_is_a_template() {
    use super::Template::{Auto, No, Yes};
    for (path, given, expected) in [
        ("3proxy.cfg.j2", Auto, Yes),
        ("etc/3proxy.cfg.TEMPLATE", Auto, Yes),
        ("3proxy.cfg.in", No, No),
        ("3proxy.cfg", Auto, Auto),
        ("j2", Auto, Auto),
    ] {
        assert_eq!(given.for_file(std::path::Path::new(path)), expected, "{path}");
    }
    assert_eq!(Yes.markers(b"maxconn _n_ {{ SERVER_IP }}\n").len(), 2);
    assert_eq!(Auto.markers(b"maxconn _n_\n").len(), 0);
}

#[test]
fn a_masked_text_keeps_its_places() {
    for (text, expected, lines) in [
        ("proxy -p{{ p }}\n", "proxy -p???????\n", false),
        ("{% if x %}\nproxy\n{% endif %}\n", "          \nproxy\n           \n", true),
        ("{{ section }}\nproxy\n", "             \nproxy\n", true),
        ("{% if x %}daemon{% endif %}\n", "??????????daemon???????????\n", true),
        ("flush {# a\nb #}\n", "flush     \n    \n", false),
        ("a {% if x %} \nb", "a ?????????? \nb", true),
        ("users {% for %}{{ a }}{% \nend %}\n", "users ??????????????????????????\n", true),
    ] {
        let masked = mask(text.as_bytes(), &markers(text.as_bytes()));
        let shown: Vec<u8> =
            masked.text.iter().map(|byte| if *byte == super::UNKNOWN { b'?' } else { *byte }).collect();
        assert_eq!(
            (std::str::from_utf8(&shown).unwrap(), !masked.lines.is_empty()),
            (expected, lines),
            "{text}"
        );
    }
}

/// Counts what is looked at by what is left to look at: a text full of openings takes no more for being longer.
#[test]
fn ends_are_looked_for_once() {
    let mut next = super::Next::new(b"}}");
    let text = b"{{{{{{ }} {{";
    assert_eq!(next.behind(text, 0), Some(9));
    // Known by now, so it is not looked for in another text.
    assert_eq!(next.behind(b"", 2), Some(9));
    assert_eq!(next.behind(text, 8), None);
    assert_eq!(next.behind(b"              }}", 10), None);
}

#[test]
fn any_text_can_be_masked() {
    for text in [
        "{{",
        "{%",
        "{% ",
        "$",
        "$(",
        "${",
        "@",
        "@A",
        "<%",
        "<%=",
        "{{}}",
        "$(()",
        "\u{fc}{{ \u{fc} }}\u{fc}",
    ] {
        let masked = mask(text.as_bytes(), &markers(text.as_bytes()));
        assert_eq!(masked.text.len(), text.len(), "{text}");
    }
}
