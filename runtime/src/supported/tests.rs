//! What is refused by name, and what passes because it changes nothing.
use std::{io, path::Path};

use compiler::sources::Files;

struct Text(&'static str);

impl Files for Text {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        if path == Path::new("3proxy.cfg") { Ok(self.0.into()) } else { Err(io::ErrorKind::NotFound.into()) }
    }
}

/// What of a configuration is refused, each with its line.
fn refused(text: &'static str) -> Vec<String> {
    let compiled = compiler::compile(Path::new("3proxy.cfg"), &Text(text));
    assert!(!compiled.findings.iter().any(|finding| finding.refused), "{text}: {:?}", compiled.findings);
    let findings = super::check(&compiled.sources, &compiled.program);
    let names = findings.iter().map(|finding| {
        let what = finding.message.strip_suffix(" is not executed by `cfgc run` yet").unwrap();
        let name = what.strip_prefix('`').and_then(|what| what.strip_suffix('`')).unwrap_or(what);
        format!("{}:{name}", compiled.sources.line_column(finding.at).line)
    });
    names.collect()
}

#[test]
fn what_is_executed_or_changes_nothing_passes() {
    for text in [
        "",
        "proxy -a -u2 -n -C -b8192 -t -l -fL%T -46 -S65536 -h127.0.0.1\nsocks -6 -U1 -Ni127.0.0.1\ntcppm 9 127.0.0.1 80\nudppm -s 9 127.0.0.1 53\n",
        "nserver 127.0.0.1\nnscache 512\nnsrecord a 127.0.0.1\nauthnserver 127.0.0.1\nproxy\n",
        "fakeresolve\nproxy\n",
        "log /tmp/l D\nlogformat L%T\nrotate 5\nproxy\n",
        "log /tmp/l\narchiver gz gzip %F\nproxy\n",
        "timeouts 1 5 30 60 180 1800 15 60\nparentretries 3\nmonitor /tmp/x\nstacksize 8192\ndelimchar @\nservice\npidfile /tmp/p\nproxy\n",
        "plugin /usr/lib/x ssl_plugin\nplugin /usr/lib/x pcre_plugin\nproxy\n",
        "users ann:CL:x\nauthcache user,pass 60\nauth cache strong\nallow ann\nproxy\n",
        "auth iponly\nallow *\nparent 1000 socks5 127.0.0.1 1080\nallow *\nparent 1000 extip 127.0.0.1 0\nproxy\n",
        "proxy -olSO_REUSEPORT,SO_KEEPALIVE -ocTCP_NODELAY -osTCP_NODELAY\n",
        "proxy -s0 -gfoo\n",
        "tlspr -P443 -c4 -H\nauto -P443 -H\nproxy -H\nsocks -H\n",
        "nserver 127.0.0.1\ndnspr -F127.0.0.1\ndnspr -p54 -s\n",
        "nserver 127.0.0.1\nauth dnsname\nproxy\n",
        "connlim 1 0 *\nconnlim 5 60 *\nbandlimin 1000 *\nbandlimout 1000 *\nproxy\n",
        "counter /tmp/c D /tmp/r\ncountin 1 D 1 *\ncountout 2 N 1 *\ncountall 0 H 1 *\nproxy\n",
        "countin 1000001 D 1 *\nproxy\n",
        "nobandlimin\nnoconnlim\nnocountin\nproxy\n",
        "noforce\nproxy\n",
    ] {
        assert_eq!(refused(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn what_is_not_executed_is_refused_by_name_and_line() {
    for (text, expected) in [
        (
            "admin\nsmtpp\npop3p\nimapp\nftppr\n",
            // However many there are, each is named.
            &["1:admin", "2:smtpp", "3:pop3p", "4:imapp", "5:ftppr"][..],
        ),
        ("radius secret 127.0.0.1\nauth radius\nproxy\n", &["2:radius"]),
        ("nserver 127.0.0.1\ndnspr -H\nudppm -H 9 127.0.0.1 9\n", &["2:-H", "3:-H"]),
        ("tlspr -Ximap\nauto -Xpop3\n", &["1:-X", "2:-X"]),
        ("proxy -s -g1,2,3\n", &["1:-s", "1:-g"]),
        ("proxy -osTCP_CORK\n", &["1:TCP_CORK"]),
        ("log @ident\nproxy\n", &["1:log @"]),
        ("log radius\nproxy\n", &["1:log radius"]),
        ("logdump 1000 1000\nproxy\n", &["1:logdump"]),
        ("log /tmp/l D\nrotate 5\narchiver gz gzip %F\nproxy\n", &["3:archiver"]),
        (
            "counter /tmp/c\ncountin 1000000 D 1 *\ncountin 1000001 D 1 *\nproxy\n",
            &["3:a counter number above 1000000"],
        ),
        ("daemon\nsetuid 1\nsetgid 1\nproxy\n", &["1:daemon", "2:setuid", "3:setgid"]),
        ("chroot /tmp\nproxy\n", &["1:chroot"]),
        ("system ls\nproxy\n", &["1:system"]),
        ("plugin /usr/lib/x start\nproxy\n", &["1:plugin"]),
        ("pcre request deny x\nproxy\n", &["1:pcre"]),
        ("dialer ls\nproxy\n", &["1:dialer"]),
        ("maxseg 1000\nproxy\n", &["1:maxseg"]),
        ("config /tmp/x\nproxy\n", &["1:config"]),
        ("force\nproxy\n", &["1:force"]),
        ("proxy -iunix:/tmp/s\n", &["1:unix:"]),
        (
            "allow *\nparent 1000 connects 127.0.0.1 1\nallow *\nparent 1000 pop3 0.0.0.0 0\nproxy\n",
            &["2:a parent by TLS", "4:a local redirection"],
        ),
        ("ssl_server_cert /c\nssl_server_key /k\nssl_serv\nproxy\n", &["3:ssl_serv"]),
    ] {
        assert_eq!(refused(text), expected, "{text}");
    }
}
