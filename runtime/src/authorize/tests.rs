//! Chains, lists and caches, asked through sessions.
use std::sync::Arc;

use compiler::{
    program::acl::Operation,
    query::{self, Query, Resolution},
};
use grammar::Secret;

use crate::{
    session::{Ask, Credentials, Session},
    snapshot::Snapshot,
    testing::{ask, session, snapshot},
};

const USERS: &str = "users bob:CL:secret alice:CL:wonder\n";
/// Names that the tests ask for.
const NAMES: &str =
    "nserver 127.0.0.1:9\nnscache 512\nnsrecord a.test 127.0.0.1\nnsrecord b.test 127.0.0.2\n";

/// The code of a request, 0 if it passes, and the user that is logged.
async fn decide(session: &mut Session, login: &str, target: &str) -> (u16, Option<String>) {
    let ask = ask(login, target, Operation::HttpGet);
    let code = match session.permit(&ask).await {
        Ok(_) => 0,
        Err(failure) => failure.code,
    };
    assert_eq!(session.record.code, code, "a failure is in the record");
    let user = session.record.user.as_ref();
    (code, user.map(|user| String::from_utf8_lossy(user).into_owned()))
}

async fn code(snapshot: &Arc<Snapshot>, service: usize, client: &str, login: &str, target: &str) -> u16 {
    decide(&mut session(snapshot, service, client), login, target).await.0
}

#[tokio::test]
async fn the_first_type_that_knows_the_client_ends_the_chain_and_the_worst_failure_is_told() {
    let by_user = "allow * * 127.0.0.1\nallow bob * 127.0.0.2\n";
    for (config, cases) in [
        // An empty list passes what got past authentication.
        ("proxy\n", &[("", 0), ("bob:wrong", 0)][..]),
        ("auth strong\nproxy\n", &[("", 4), ("bob:secret", 0), ("bob:wrong", 6), ("eve:x", 5), ("bob", 5)]),
        ("auth useronly\nproxy\n", &[("", 4), ("bob:wrong", 0), ("eve", 0)]),
        // `none` does not walk the list.
        ("auth none\ndeny *\nproxy\n", &[("", 0), ("bob:wrong", 0)]),
        // For `iponly` the list does not see the name.
        ("auth iponly\nallow bob\nproxy\n", &[("bob:secret", 3), ("", 3)]),
        ("auth iponly\nallow -\nproxy\n", &[("bob:secret", 0), ("", 0)]),
        ("auth iponly\ndeny *\nproxy\n", &[("", 1)]),
        // A deny of a client that is known is final; one of `iponly` is not.
        ("auth useronly iponly\ndeny bob\nallow *\nproxy\n", &[("bob:x", 1), ("eve:x", 0), ("", 0)]),
        ("auth strong iponly\ndeny bob\nallow *\nproxy\n", &[("bob:secret", 1), ("bob:wrong", 0)]),
        (
            "auth iponly strong\nallow bob\nproxy\n",
            &[("", 4), ("bob:secret", 0), ("alice:wonder", 3), ("bob:wrong", 6)],
        ),
        ("auth strong none\nallow bob\nproxy\n", &[("alice:wonder", 3), ("bob:wrong", 0)]),
    ] {
        let snapshot = snapshot(&format!("{USERS}{config}"));
        for (login, expected) in cases {
            assert_eq!(
                code(&snapshot, 0, "127.0.0.1", login, "127.0.0.1:80").await,
                *expected,
                "{config}: {login}"
            );
        }
    }
    let snapshot = snapshot(&format!("{USERS}auth iponly strong\n{by_user}proxy\n"));
    assert_eq!(code(&snapshot, 0, "127.0.0.1", "", "127.0.0.1:80").await, 0);
    assert_eq!(code(&snapshot, 0, "127.0.0.1", "", "127.0.0.2:80").await, 4);
    assert_eq!(code(&snapshot, 0, "127.0.0.1", "bob:secret", "127.0.0.2:80").await, 0);
}

#[tokio::test]
async fn a_mapped_address_is_the_ipv4_address_that_it_is_on_both_sides() {
    let snapshot = snapshot("deny * 127.0.0.5\ndeny * * 127.0.0.0/8\nallow *\nproxy\n");
    for (client, target, expected) in [
        ("127.0.0.1", "10.0.0.1:80", 0),
        ("127.0.0.1", "127.0.0.1:80", 1),
        ("127.0.0.1", "::ffff:127.0.0.1:80", 1),
        ("127.0.0.5", "10.0.0.1:80", 1),
        ("::ffff:127.0.0.5", "10.0.0.1:80", 1),
    ] {
        assert_eq!(code(&snapshot, 0, client, "", target).await, expected, "{client} to {target}");
    }
}

#[tokio::test]
async fn who_may_not_ask_for_a_name_does_not_learn_whether_it_exists() {
    let names = format!("{NAMES}nsrecord none.test 0.0.0.0\n");
    let by_password = snapshot(&format!("{names}{USERS}auth strong\nallow bob\nproxy\n"));
    for (login, expected) in [("", 4), ("bob:wrong", 6), ("alice:wonder", 3)] {
        for target in ["a.test:80", "none.test:80"] {
            assert_eq!(code(&by_password, 0, "127.0.0.1", login, target).await, expected, "{login} {target}");
        }
    }
    let by_name = snapshot(&format!("{names}deny * * none.test\nallow *\nproxy\n"));
    assert_eq!(code(&by_name, 0, "127.0.0.1", "", "none.test:80").await, 1);
    // Who may is told that it does not.
    let ask = ask("bob:secret", "none.test:80", Operation::HttpGet);
    let mut session = session(&by_password, 0, "127.0.0.1");
    assert_eq!(session.open(&ask).await.unwrap_err().code, 100);
    assert_eq!(session.record.code, 100);
}

#[tokio::test]
async fn the_record_tells_what_was_asked_for_and_whether_it_is_logged() {
    let snapshot = snapshot(&format!("{NAMES}deny * * a.test\nnolog\nallow *\nproxy\n"));
    let mut session = session(&snapshot, 0, "127.0.0.1");
    assert_eq!(decide(&mut session, "bob:x", "a.test:81").await, (1, Some("bob".to_owned())));
    let record = &session.record;
    assert_eq!(record.host.as_deref(), Some(&b"a.test"[..]));
    assert_eq!((record.target, record.target_port), (Some([127, 0, 0, 1].into()), 81));
    assert!(record.nolog);
    // The next request is another one.
    session.record = session.record.next();
    assert_eq!(decide(&mut session, "", "b.test:80").await, (0, None));
    assert!(!session.record.nolog);
}

#[tokio::test]
async fn the_proxy_itself_is_no_target() {
    let snapshot = snapshot("allow *\nproxy\n");
    let mut session = session(&snapshot, 0, "127.0.0.1");
    for target in ["127.0.0.1:3128", "::ffff:127.0.0.1:3128"] {
        let failure = session.open(&ask("", target, Operation::Connect)).await.unwrap_err();
        assert_eq!(failure.code, 519, "{target}");
    }
}

#[tokio::test]
async fn what_is_remembered_is_who_the_client_is_and_the_list_is_asked_again() {
    for kind in ["cache", "cacheacl"] {
        let config = format!(
            "{USERS}authcache user,pass 60\nauth {kind} strong\nallow bob 127.0.0.1 127.0.0.1 80 HTTP_GET\ndeny *\nproxy\nflush\ndeny *\nproxy\n"
        );
        let snapshot = snapshot(&config);
        assert_eq!(code(&snapshot, 0, "127.0.0.1", "bob:secret", "127.0.0.1:80").await, 0, "{kind}");
        for (service, client, login, target, expected) in [
            (0, "127.0.0.1", "bob:secret", "127.0.0.1:80", 0),
            (0, "127.0.0.1", "bob:wrong", "127.0.0.1:80", 6),
            (0, "127.0.0.5", "bob:secret", "127.0.0.1:80", 1),
            (0, "127.0.0.1", "bob:secret", "127.0.0.2:80", 1),
            (0, "127.0.0.1", "bob:secret", "127.0.0.1:81", 1),
            (1, "127.0.0.1", "bob:secret", "127.0.0.1:80", 1),
        ] {
            let got = code(&snapshot, service, client, login, target).await;
            assert_eq!(got, expected, "{kind}: service {service}, {client}, {login}, {target}");
        }
        let post = ask("bob:secret", "127.0.0.1:80", Operation::HttpPost);
        assert_eq!(session(&snapshot, 0, "127.0.0.1").permit(&post).await.unwrap_err().code, 1);
    }
}

#[tokio::test]
async fn a_key_without_the_user_supplies_it_and_a_limit_refuses_other_addresses() {
    let by_address = snapshot(&format!("{USERS}authcache ip 60\nauth cache strong\nallow bob\nproxy\n"));
    assert_eq!(code(&by_address, 0, "127.0.0.1", "", "127.0.0.1:80").await, 4);
    assert_eq!(code(&by_address, 0, "127.0.0.1", "bob:secret", "127.0.0.1:80").await, 0);
    let mut later = session(&by_address, 0, "127.0.0.1");
    assert_eq!(decide(&mut later, "", "127.0.0.1:80").await, (0, Some("bob".to_owned())));
    assert_eq!(code(&by_address, 0, "127.0.0.5", "", "127.0.0.1:80").await, 4);

    let alone = snapshot(&format!("{USERS}authcache ip,limit 60\nauth cache strong\nallow *\nproxy\n"));
    assert_eq!(code(&alone, 0, "127.0.0.1", "bob:secret", "127.0.0.1:80").await, 0);
    assert_eq!(code(&alone, 0, "127.0.0.1", "", "127.0.0.1:80").await, 0);
    assert_eq!(code(&alone, 0, "127.0.0.5", "alice:wonder", "127.0.0.1:80").await, 10);

    let bound = snapshot(&format!("{USERS}authcache ip,user,limit 60\nauth cache strong\nallow *\nproxy\n"));
    assert_eq!(code(&bound, 0, "127.0.0.1", "bob:secret", "127.0.0.1:80").await, 0);
    assert_eq!(code(&bound, 0, "127.0.0.5", "bob:secret", "127.0.0.1:80").await, 10);
    assert_eq!(code(&bound, 0, "127.0.0.1", "bob:secret", "127.0.0.1:80").await, 0);
}

#[tokio::test]
async fn nobody_is_remembered_by_a_name_that_was_not_checked() {
    // `iponly` knows nobody: what a client claims there is no name to remember.
    let config = "authcache ip 60\nauth cache iponly\nallow * * 127.0.0.1\nallow admin\nproxy\n";
    let claimed = snapshot(config);
    assert_eq!(code(&claimed, 0, "127.0.0.1", "admin", "127.0.0.1:80").await, 0);
    assert_eq!(code(&claimed, 0, "127.0.0.1", "admin", "127.0.0.2:80").await, 4);
    // Who got in by name alone is unknown to a service that wants a password.
    let config = "authcache user,pass 60\nauth cache useronly\nallow *\nproxy\nauth cache strong\nproxy\n";
    let shared = snapshot(&format!("{USERS}{config}"));
    assert_eq!(code(&shared, 0, "127.0.0.1", "bob:wrong", "127.0.0.1:80").await, 0);
    assert_eq!(code(&shared, 1, "127.0.0.1", "bob:wrong", "127.0.0.1:80").await, 6);
}

/// Otherwise a wrong password would do once a right one was given.
#[tokio::test]
async fn only_what_stands_behind_a_cache_is_remembered() {
    for (chain, expected) in
        [("strong cache", 6), ("strong cacheacl", 6), ("cache strong", 0), ("strong cache strong", 6)]
    {
        let config = format!("{USERS}authcache user 60\nauth {chain}\nallow bob\nproxy\n");
        let snapshot = snapshot(&config);
        for (login, expected) in [("bob:wrong", 6), ("bob:secret", 0), ("bob:wrong", expected)] {
            assert_eq!(
                code(&snapshot, 0, "127.0.0.1", login, "127.0.0.1:80").await,
                expected,
                "{chain}: {login}"
            );
        }
    }
}

#[tokio::test]
async fn a_kept_connection_depends_on_entry_user_and_what_a_parent_is_told() {
    let config = "auth useronly\nallow bob\nparent 1000 socks5 127.0.0.1 1 * *\nallow *\nproxy\n";
    let snapshot = snapshot(config);
    let key = async |login: &str, target: &str| {
        session(&snapshot, 0, "127.0.0.1").permit(&ask(login, target, Operation::HttpGet)).await.unwrap()
    };
    let base = key("eve:x", "127.0.0.1:80").await;
    assert_eq!(base, key("eve:y", "127.0.0.1:80").await, "nobody is told the password");
    assert_ne!(base, key("eve:x", "127.0.0.1:81").await);
    assert_ne!(base, key("ann:x", "127.0.0.1:80").await);
    assert_ne!(
        key("bob:x", "127.0.0.1:80").await,
        key("bob:y", "127.0.0.1:80").await,
        "the parent is told it"
    );
}

#[tokio::test]
async fn where_a_parent_wants_the_client_s_name_a_type_that_can_know_it_is_tried() {
    let config = "auth iponly strong\nallow *\nparent 1000 socks5 127.0.0.1 1 * *\nproxy\n";
    let snapshot = snapshot(&format!("{USERS}{config}"));
    for (login, expected) in [("bob:secret", 0), ("bob:wrong", 6), ("", 4)] {
        assert_eq!(code(&snapshot, 0, "127.0.0.1", login, "127.0.0.1:80").await, expected, "{login}");
    }
}

/// What `cfgc trace` says of a login by an odd password is what happens.
#[tokio::test]
async fn odd_passwords_are_right_or_wrong_for_the_engine_too() {
    let [most, more] = [255, 256].map(|length| "p".repeat(length));
    let crypt = "$3$salt$MpDPDhWgYk3RMsr3Y0EZR1";
    let nt = "E0FBA38268D0EC66EF1CB452D5885E53";
    for (kept, given, expected) in [
        ("CL:secret", "secret", 0),
        ("CL:secret", "secret ", 6),
        ("CL:secret", "secret\0", 4),
        ("CL:secret", &more, 4),
        ("CL:a:b", "a:b", 0),
        ("CL:é", "é", 0),
        ("CL:", "", 0),
        ("CL:", "x", 6),
        (&format!("CL:{most}"), &most, 0),
        (&format!("CL:{more}"), &more, 4),
        (&format!("CL:{more}"), &most, 6),
        (&format!("CR:{crypt}"), "abc", 0),
        (&format!("CR:{crypt}"), "abc\0", 4),
        (&format!("CR:{crypt}"), &more, 4),
        ("CR:", "", 7),
        ("CR:", "x", 7),
        ("CR:plain", "plain", 7),
        ("CR:$3$salt$MpDP", "abc", 7),
        ("CR:$3$salt", "abc", 7),
        ("CR:$2y$10$abcdefghijklmnopqrstuv", "abc", 7),
        (&format!("NT:{nt}"), "abc", 0),
        (&format!("NT:{}", nt.to_lowercase()), "abc", 8),
    ] {
        let config = format!("users \"bob:{kept}\"\nauth strong\nallow bob\nproxy\n");
        let snapshot = snapshot(&config);
        let password = Secret::from(given.as_bytes());
        let credentials = Credentials::given(b"bob"[..].into(), Some(password.clone()));
        let ask = Ask { credentials, ..ask("", "127.0.0.1:80", Operation::HttpGet) };
        let done = session(&snapshot, 0, "127.0.0.1").permit(&ask).await;
        assert_eq!(done.map_or_else(|failure| failure.code, |_| 0), expected, "{config}{given:?}");
        let query = Query {
            service: 0,
            user: Some("bob".into()),
            password: Some(password),
            from: Some([127, 0, 0, 1].into()),
            target: Some(ask.target),
            written: None,
            port: ask.port,
            operation: ask.operation,
            at: None,
            resolved: Resolution::Unknown,
        };
        assert_eq!(query::decide(&snapshot.policy, &query).code.number(), expected, "{config}{given:?}");
        // The right password: the engine takes it for given where one can be.
        let right = Query { password: None, ..query };
        let engine = query::decide(&snapshot.policy, &right).code;
        assert!(expected != 0 || engine.passes(), "{config}: {engine}");
    }
}
