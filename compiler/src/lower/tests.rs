//! What scripts yield: the state that services copy, includes and `$file`s, and how cost grows.
use std::{collections::HashSet, path::Path};

use grammar::directive;

use super::{BY_NAME, FAMILIES, lower};
use crate::{
    Compiled,
    options::CompileOptions,
    program::{
        acl::{Action, ParentHost},
        auth::AuthType,
        log::LogTarget,
        service::{ListenAddress, ServiceKind},
        trap::Trap,
    },
    sources::MemoryFiles,
};

/// Lowers `text`, with other files beside it.
fn lowered(text: &str, others: &[(&str, &str)]) -> Compiled {
    let mut files = MemoryFiles::default();
    files.insert("3proxy.cfg", text);
    for (path, text) in others {
        files.insert(*path, *text);
    }
    lower(Path::new("3proxy.cfg"), &files, &CompileOptions::default())
}

/// The rules of the findings, with their lines.
fn found(compiled: &Compiled) -> Vec<(u32, &'static str)> {
    compiled
        .findings
        .iter()
        .map(|finding| (compiled.sources.line_column(finding.at).line, finding.rule))
        .collect()
}

/// The entries that a service copied, each as the line that made it, whether it allows, and the number of its parents.
fn entries(compiled: &Compiled, service: usize) -> Vec<(u32, bool, usize)> {
    let acls = &compiled.program.acls;
    let copied = compiled.program.services[service].acl.into_iter().flat_map(|acl| acls.entries(acl));
    copied
        .map(|(_, ace)| {
            let line = compiled.sources.line_column(ace.at).line;
            (line, ace.action == Action::Allow, acls.parents(ace).len())
        })
        .collect()
}

#[test]
fn an_option_of_a_port_mapper_takes_nothing_of_its_arguments() {
    for (options, expected) in [("-C", Some(0)), ("-C0 -u", Some(0)), ("-C1", Some(1)), ("-u", None)] {
        let compiled = lowered(&format!("tcppm {options} 10022 127.0.0.1 22\n"), &[]);
        let service = compiled.program.services.first().unwrap();
        assert_eq!(service.options.half_close.map(|set| set.value), expected, "{options}");
        assert!(compiled.findings.iter().all(|finding| !finding.refused), "{options}");
    }
}

#[test]
fn every_command_of_the_language_has_one_meaning() {
    let mut seen = HashSet::new();
    for (name, _) in FAMILIES.iter().flat_map(|family| family.iter()) {
        assert!(seen.insert(*name), "{name} is handled twice");
        assert!(directive::find(name.as_bytes()).is_some(), "{name} is no command");
    }
    for row in directive::all() {
        // `end` with an argument is unknown; without one it ends the walk.
        assert!(BY_NAME.contains_key(row.name) || row.name == "end", "{} does nothing", row.name);
    }
}

#[test]
fn a_service_copies_the_settings_before_it() {
    let compiled = lowered(
        "proxy\nmaxconn 7\ninternal 127.0.0.1\nauth strong cache\nlogformat L%t\nsocks -p99 -e10.0.0.1\nauth none\n",
        &[],
    );
    let [first, second] = compiled.program.services.as_slice() else { panic!("two services") };
    assert_eq!((first.kind, first.listen.port.value, first.maxconn.value), (ServiceKind::Proxy, 3128, 500));
    assert_eq!(first.listen.address.value, ListenAddress::Ip([0, 0, 0, 0].into()));
    assert_eq!(first.chain.value.iter().map(|step| step.kind).collect::<Vec<_>>(), [AuthType::IpOnly]);
    assert_eq!((second.kind, second.listen.port.value, second.maxconn.value), (ServiceKind::Socks, 99, 7));
    assert_eq!(second.listen.address.value, ListenAddress::Ip([127, 0, 0, 1].into()));
    assert_eq!(second.external.v4.value.to_string(), "10.0.0.1");
    let chain: Vec<_> = second.chain.value.iter().map(|step| step.kind).collect();
    assert_eq!(chain, [AuthType::Strong, AuthType::Cache]);
    assert_eq!((first.log.format.is_none(), second.log.format.is_some()), (true, true));
    assert_eq!(compiled.program.behind_services.len(), 1);
}

#[test]
fn a_list_grows_and_its_last_entry_may_still_change() {
    let compiled = lowered(
        "allow a\nproxy\nparent 1000 socks5 10.0.0.1 1080\nproxy -p1\ndeny b\nnolog\nproxy -p2\nflush\nproxy -p3\nallow c\n",
        &[],
    );
    assert_eq!(entries(&compiled, 0), [(1, true, 0)]);
    assert_eq!(entries(&compiled, 1), [(1, true, 1)]);
    assert_eq!(entries(&compiled, 2), [(1, true, 1), (5, false, 0)]);
    assert_eq!(entries(&compiled, 3), []);
    let acls = &compiled.program.acls;
    let last = |service: usize| compiled.program.services[service].acl.and_then(|acl| acls.ace(acl.last));
    assert!(last(2).unwrap().nolog && !last(1).unwrap().nolog);
    assert_eq!(compiled.program.leftover_acl.map(|acl| acl.len), Some(1));
    assert_eq!(compiled.program.flushed_unused().next(), None);
}

#[test]
fn entries_that_no_service_copied_are_known() {
    let compiled = lowered("allow a\nproxy\nallow b\nflush\nallow c\nproxy -p1\n", &[]);
    let unused = compiled.program.flushed_unused().filter_map(|id| compiled.program.acls.ace(id));
    assert_eq!(unused.map(|ace| compiled.sources.line_column(ace.at).line).collect::<Vec<_>>(), [3]);
    assert_eq!(compiled.program.leftover_acl, None);
}

#[test]
fn parents_are_of_many_kinds() {
    let compiled = lowered(
        "allow *\nparent 500 socks5s proxy.example 1080 u p\nparent 500 extip fd00::/64 0\nredirect 10.0.0.1 80 * 10.0.0.9\nproxy\n",
        &[],
    );
    let acls = &compiled.program.acls;
    let hosts: Vec<_> =
        acls.parents.iter().map(|parent| (parent.secure, parent.weight, &parent.host)).collect();
    assert_eq!(hosts.len(), 3);
    assert!(
        matches!(hosts[0], (true, 500, ParentHost::Name(name)) if name.to_str() == Some("proxy.example"))
    );
    assert!(matches!(hosts[1], (false, 500, ParentHost::Prefix(_, 64))));
    assert!(matches!(hosts[2], (false, 1000, ParentHost::Address(_))));
    assert_eq!(entries(&compiled, 0), [(1, true, 2), (4, true, 1)]);
    assert_eq!(format!("{:?}", acls.parents[0].password), "Some(***)");
}

#[test]
fn the_walk_goes_on_behind_what_3proxy_refuses() {
    let compiled = lowered(
        "auth strng\nallow * host.example\nflush now\nallow * * * http * * *\nparent 0 socks9 10.0.0.1\nproxy -p 1\nend now\nnolog\n\
         tcppm 0 10.0.0.1 80\nsocks\n",
        &[],
    );
    assert_eq!(
        found(&compiled),
        [
            (1, "unknown-auth-type"),
            (2, "invalid-value"),
            (3, "argument-count"),
            (4, "invalid-value"),
            (5, "argument-count"),
            (6, "unknown-option"),
            (7, "argument-count"),
            // It extends what stands for the entry of line 4.
            (8, "nolog-misplaced"),
            (9, "port-mapper-arguments"),
        ]
    );
    let mut refused = compiled.findings.iter().filter(|finding| finding.rule != "nolog-misplaced");
    assert!(refused.all(|finding| finding.refused));
    assert_eq!(compiled.program.services.len(), 2);
}

#[test]
fn includes_run_where_they_stand() {
    let compiled = lowered(
        "auth iponly\ninclude acl.cfg\nproxy\ninclude nowhere.cfg\ninclude loop.cfg\nend\nnonsense\n",
        &[("acl.cfg", "allow a\nbad\nend\nnever\n"), ("loop.cfg", "deny b\ninclude loop.cfg\n")],
    );
    assert_eq!(found(&compiled), [(2, "unknown-directive"), (4, "include-missing"), (2, "include-cycle")]);
    assert_eq!(entries(&compiled, 0), [(1, true, 0)]);
    let bad = &compiled.findings[0];
    let source = compiled.sources.get(bad.at.file).unwrap();
    assert_eq!(source.path, Path::new("acl.cfg"));
    assert_eq!(compiled.sources.text(source.included_at.unwrap()), b"include acl.cfg");
}

#[test]
fn includes_that_multiply_come_to_an_end() {
    // Each level names the next one twice: 2^40 files if nobody counted.
    let levels: Vec<_> = (0..40)
        .map(|level| (format!("{level}"), format!("include {0}\ninclude {0}\n", level + 1)))
        .chain([("40".to_owned(), String::new())])
        .collect();
    let levels: Vec<_> = levels.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let compiled = lowered("include 0\n", &levels);
    assert!(compiled.findings.iter().any(|finding| finding.rule == "include-cycle"));
}

#[test]
fn the_words_of_a_file_stand_for_its_name() {
    let compiled = lowered(
        "users $pw $nofile\nallow * 10.0.$nets\ndeny * * $missing\nproxy\n",
        &[("pw", "ann:CL:\"a b\"\nbob:CL:$x\n\n"), ("nets", "0.1,10.1.0.0/16 c.example\n")],
    );
    let names: Vec<_> = compiled.program.users.iter().map(|user| user.name.to_string()).collect();
    assert_eq!(names, ["ann", "bob"]);
    assert_eq!(compiled.sources.text(compiled.program.users[1].at), b"bob:CL:$x");
    assert_eq!(found(&compiled), [(1, "include-missing"), (3, "include-missing")]);
    let acls = &compiled.program.acls;
    assert_eq!(acls.aces.len(), 1, "an entry whose file is missing is no entry");
    let matcher = &acls.aces[0].matcher;
    assert_eq!(matcher.sources.as_ref().map(|list| list.len()), Some(2));
    assert!(matcher.targets.is_some());
}

#[test]
fn traps_say_which_part_of_which_word() {
    let compiled = lowered("allow * * 10.0.0.300,ok.example 80;443\nproxy -p70000\n", &[]);
    let traps: Vec<_> = compiled
        .program
        .traps
        .iter()
        .map(|trapped| (compiled.sources.text(trapped.at), compiled.sources.text(trapped.word)))
        .collect();
    assert_eq!(
        traps,
        [(&b"10.0.0.300"[..], &b"10.0.0.300,ok.example"[..]), (b";443", b"80;443"), (b"70000", b"-p70000"),]
    );
    // A word that 3proxy refuses is told once.
    let refused = lowered("maxconn many\n", &[]);
    assert_eq!((found(&refused), refused.program.traps.len()), (vec![(1, "invalid-value")], 0));
}

#[test]
fn what_shifts_the_columns_of_an_entry_is_told_once() {
    for (text, rule, refused) in [
        ("allow a # the boss\n", "trailing-comment", true),
        ("deny a 10.0.0.1 # not 80;443 x\n", "trailing-comment", true),
        ("bandlimin 64000 a # all of them\n", "trailing-comment", true),
        ("allow a * *.a.example, *.b.example 443\n", "acl-column-mixup", true),
        ("deny * * 10.0.0.0/8, 192.168.0.0/16, 172.16.0.0/12\n", "acl-column-mixup", true),
        ("connlim 3 0 a, b 10.0.0.1 x\n", "acl-column-mixup", true),
        ("allow * 10.0.0.1 x y\n", "invalid-value", true),
    ] {
        let compiled = lowered(text, &[]);
        let told: Vec<_> = compiled.findings.iter().map(|finding| (finding.rule, finding.refused)).collect();
        assert_eq!((told, compiled.program.traps.len()), (vec![(rule, refused)], 0), "{text}");
    }
    // What stands before it is told, too; where 3proxy refuses nothing, the rule that reads the entry tells it.
    let compiled = lowered("allow * x 10.0.0.1, 10.0.0.2 HTTP\nallow * * 10.0.0.1, 80;443\n", &[]);
    assert_eq!(found(&compiled), [(1, "invalid-value")]);
    let compiled = lowered("deny * * 10.0.0.0/8, 192.168.0.0/16\n", &[]);
    assert_eq!((found(&compiled), compiled.program.traps.len()), (Vec::new(), 0));
}

#[test]
fn a_comment_behind_a_command_is_told_once() {
    let compiled =
        lowered("allow #all\nproxy -p1 #web\nparent 1000 socks5 10.0.0.1 1080 #u #p\nflush # all\n", &[]);
    assert_eq!(found(&compiled), [(1, "trailing-comment"), (2, "unknown-option"), (4, "argument-count")]);
    let help = compiled.findings.iter().filter_map(|finding| finding.help.as_deref());
    assert!(help.clone().count() == 3 && help.clone().all(|help| help.contains("comment")));
}

#[test]
fn there_is_one_log_file() {
    let compiled = lowered(
        "log a.log D\nproxy\nlog\nproxy -p1\nproxy -p2 -lown.log\nlog b.log\nproxy -p3\nlog @id\nproxy -p4\n",
        &[],
    );
    let targets: Vec<_> = compiled
        .program
        .services
        .iter()
        .map(|service| match &service.log.target.value {
            LogTarget::File { path, .. } => path.to_string(),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(targets, ["b.log", "b.log", "own.log", "b.log", "Syslog(\"id\")"]);
}

#[test]
fn a_name_where_an_address_is_wanted_is_left_to_the_host() {
    let compiled =
        lowered("nserver ns.example\ninternal localhost\nexternal out.example\nproxy -i127.0.0.300\n", &[]);
    assert_eq!(found(&compiled), [(1, "nserver-is-name")]);
    let left: Vec<_> = compiled.program.unmodelled.iter().map(|at| compiled.sources.text(*at)).collect();
    assert_eq!(left, [&b"ns.example"[..], b"out.example"]);
    let service = &compiled.program.services[0];
    assert_eq!(service.listen.address.value, ListenAddress::Ip([127, 0, 0, 1].into()));
    let traps: Vec<_> = compiled.program.traps.iter().map(|trapped| trapped.trap).collect();
    assert_eq!(traps, [Trap::ExternalName, Trap::ListenAddress]);
}

#[test]
fn what_a_plugin_may_have_brought_is_not_refused() {
    let text =
        "plugin /x/ssl.so ssl_plugin\nfoo\nplugin /x/ldap.so ldap_plugin\nldapconnect x\nauth ldap\nproxy\n";
    let compiled = lowered(text, &[]);
    assert_eq!(found(&compiled), [(2, "unknown-directive")]);
    assert_eq!(compiled.program.unmodelled.len(), 3);
}

#[test]
fn services_share_a_list_that_grows() {
    let script = |services: usize| {
        (0..services)
            .map(|index| format!("allow u{index}\nproxy -p{}\n", 1 + index % 60_000))
            .collect::<String>()
    };
    let compiled = lowered(&script(2000), &[]);
    let acls = &compiled.program.acls;
    // One entry a line and one list in all, whatever the number of services.
    assert_eq!((acls.aces.len(), acls.lists.len(), acls.lists[0].len()), (2000, 1, 2000));
    assert_eq!(compiled.program.services[1234].acl.map(|acl| acl.len), Some(1235));
}

#[test]
fn what_is_included_in_all_is_bounded_and_that_is_said_once() {
    // Bytes are counted, and words: what a short one becomes takes many times its bytes.
    for (list, fits) in [("a".repeat(8 << 20), 32), ("a ".repeat(1023), 512)] {
        let lines = "flush $list\n".repeat(fits + 2);
        let compiled =
            lowered(&format!("{lines}include more\nproxy\n"), &[("list", &list), ("more", "socks\n")]);
        let found = found(&compiled);
        let of = |rule: &str| {
            found.iter().filter(|(_, name)| *name == rule).map(|(line, _)| *line as usize).collect::<Vec<_>>()
        };
        assert_eq!(of("argument-count").len(), fits);
        assert_eq!(of("include-cycle"), [fits + 1]);
        assert_eq!(compiled.program.services.len(), 1);
    }
}

#[test]
fn a_list_may_be_named_by_many_lines() {
    let lines = "allow $users\n".repeat(20_000);
    let compiled =
        lowered(&format!("{lines}include more\n"), &[("users", "alice,bob\n"), ("more", "socks\n")]);
    assert_eq!(found(&compiled), []);
    assert_eq!(compiled.program.services.len(), 1);
}

#[test]
fn so_many_files_are_included_and_no_more() {
    let lines = "include empty\n".repeat(16_386);
    assert_eq!(found(&lowered(&lines, &[("empty", "#\n")])), [(16_385, "include-cycle")]);
}

#[test]
fn behind_a_chroot_files_are_looked_for_in_it() {
    let mut files = MemoryFiles::default();
    files.insert("3proxy.cfg", "include /before\nchroot /jail/ proxy proxy\ninclude /conf/3proxy.cfg\n");
    files.insert("/before", "flush\n");
    files.insert("/jail/conf/3proxy.cfg", "users $conf/passwd\ninternal 127.0.0.1\nsocks\n");
    files.insert("/jail/conf/passwd", "bob:CL:secret\n");
    let compiled = lower(Path::new("3proxy.cfg"), &files, &CompileOptions::default());
    assert!(compiled.findings.is_empty(), "{:?}", compiled.findings);
    assert_eq!((compiled.program.services.len(), compiled.program.users.len()), (1, 1));
    let paths: Vec<_> = compiled.sources.iter().map(|(_, source)| source.path.as_path()).collect();
    let expected = ["3proxy.cfg", "/before", "/jail/conf/3proxy.cfg", "/jail/conf/passwd"];
    assert_eq!(paths, expected.map(Path::new));
}
