//! Which requests share an entry, how long it counts, and that what is remembered changes no verdict.
use std::net::SocketAddr;

use compiler::program::{acl::Operation, auth::AuthStep};
use grammar::Secret;
use proptest::prelude::*;

use super::*;
use crate::{
    session::{Credentials, TargetName},
    snapshot::Snapshot,
    testing::{ask, reloaded, session, snapshot},
};

const CHAIN: [AuthStep; 2] =
    [AuthStep { kind: AuthType::Cache, at: None }, AuthStep { kind: AuthType::Strong, at: None }];

fn settings(fields: CacheFields) -> AuthCache {
    AuthCache { fields, at: None, seconds: 60 }
}

fn identities() -> Arc<Identities> {
    Arc::new(Identities::new(Bounds { entries: 10, seconds: 60 }))
}

fn fields(list: &[CacheField]) -> CacheFields {
    list.iter().fold(CacheFields::default(), |all, &field| all.with(CacheFields::of(field)))
}

fn credentials(user: &str, password: Option<&str>) -> Credentials {
    Credentials { user: user.as_bytes().into(), password: password.map(|text| Secret::from(text.as_bytes())) }
}

fn subject<'a>(credentials: Option<&'a Credentials>, target: &'a TargetName) -> Subject<'a> {
    Subject {
        chain: &CHAIN,
        client: IpAddr::from([127, 0, 0, 1]),
        credentials,
        acl: Some([0, 3, 2]),
        target,
        address: Some(IpAddr::from([127, 0, 0, 2])),
        port: 80,
        operation: Operation::HttpGet,
        service: SocketAddr::from(([127, 0, 0, 1], 3128)),
    }
}

#[test]
fn a_key_changes_with_each_field_that_is_named_and_with_no_other() {
    use CacheField::*;
    let (bob, target) = (credentials("bob", Some("secret")), TargetName::Name("a".into()));
    let (alice, wrong) = (credentials("alice", Some("secret")), credentials("bob", Some("wrong")));
    let other = TargetName::Name("b".into());
    let identities = identities();
    let base = || subject(Some(&bob), &target);
    let changes: [(CacheField, Subject<'_>); 10] = [
        (Ip, Subject { client: IpAddr::from([127, 0, 0, 5]), ..base() }),
        (User, Subject { credentials: Some(&alice), ..base() }),
        (Pass, Subject { credentials: Some(&wrong), ..base() }),
        (Acl, Subject { acl: Some([0, 4, 3]), ..base() }),
        (DstAddr, Subject { address: None, ..base() }),
        (DstPort, Subject { port: 81, ..base() }),
        (DstHost, Subject { target: &other, ..base() }),
        (DstOper, Subject { operation: Operation::HttpPost, ..base() }),
        (SrvAddr, Subject { service: SocketAddr::from(([127, 0, 0, 2], 3128)), ..base() }),
        (SrvPort, Subject { service: SocketAddr::from(([127, 0, 0, 1], 3129)), ..base() }),
    ];
    for (field, changed) in &changes {
        for named in changes.iter().map(|(named, _)| *named) {
            // A field that says who the client is, so that there is a key at all; not the one that changes.
            let client = if *field == User { Ip } else { User };
            let fields = fields(&[named, client]);
            let settings = settings(fields);
            let same = identities.key(settings, &base()) == identities.key(settings, changed);
            assert_eq!(same, named != *field && client != *field, "{field:?} changed, {named:?} named");
        }
    }
}

#[test]
fn who_got_in_by_name_is_unknown_where_a_password_is_wanted() {
    let (bob, target) = (credentials("bob", Some("secret")), TargetName::Name("a".into()));
    let identities = identities();
    let by = |types: &[AuthType]| {
        let chain: Vec<_> = types.iter().map(|kind| AuthStep { kind: *kind, at: None }).collect();
        let subject = Subject { chain: &chain, ..subject(Some(&bob), &target) };
        identities.key(settings(CacheFields::DEFAULT), &subject)
    };
    assert_ne!(by(&[AuthType::Cache, AuthType::UserOnly]), by(&[AuthType::Cache, AuthType::Strong]));
    assert_eq!(by(&[AuthType::Cache, AuthType::Strong]), by(&[AuthType::CacheAcl, AuthType::Strong]));
}

#[test]
fn without_a_field_of_the_client_there_is_no_key() {
    use CacheField::*;
    let (bob, nameless) = (credentials("bob", None), TargetName::Name("a".into()));
    let identities = identities();
    let subject = subject(Some(&bob), &nameless);
    for list in
        [&[Limit][..], &[Ext], &[Acl], &[SrvAddr, SrvPort], &[DstAddr, DstPort, DstHost, DstOper], &[]]
    {
        assert_eq!(identities.key(settings(fields(list)), &subject), None, "{list:?}");
    }
    let elsewhere = Subject { client: IpAddr::from([127, 0, 0, 5]), ..self::subject(Some(&bob), &nameless) };
    let bound = identities.key(settings(fields(&[Ip, Limit])), &subject);
    assert!(
        bound.is_some() && bound == identities.key(settings(fields(&[Ip, Limit])), &elsewhere),
        "one entry for all"
    );
    assert!(identities.key(settings(fields(&[Ip, Limit, User])), &subject).is_some());
    assert_eq!(identities.key(settings(fields(&[User, Pass])), &subject), None, "no password was given");
}

#[test]
fn a_value_of_one_field_is_no_value_of_another() {
    use CacheField::*;
    let identities = identities();
    let target = TargetName::Name("secret".into());
    let bob = credentials("bob", Some("secret"));
    let subject = subject(Some(&bob), &target);
    let key = |list: &[CacheField]| identities.key(settings(fields(list)), &subject);
    assert_ne!(key(&[User, Pass]), key(&[User, DstHost]));
    let long = |user: &str| {
        let bob = credentials(user, Some("secret"));
        identities.key(settings(CacheFields::DEFAULT), &Subject { credentials: Some(&bob), ..subject })
    };
    let name = "n".repeat(300);
    assert_eq!(long(&name), long(&name));
    assert_ne!(long(&name), long(&"n".repeat(301)));
}

const BOB: &str = "users bob:CL:secret\n";

/// Remembers bob, as checked by `policy`, under a key of his.
fn remembering_bob(identities: &Identities, policy: &Policy) -> Key {
    let (bob, target) = (credentials("bob", Some("secret")), TargetName::Name("a".into()));
    let key = identities.key(settings(CacheFields::DEFAULT), &subject(Some(&bob), &target)).unwrap();
    let known = Known { user: b"bob"[..].into(), client: [127, 0, 0, 1].into(), by: AuthType::Strong };
    identities.put(policy, key, known);
    key
}

#[tokio::test(start_paused = true)]
async fn what_is_put_is_found_until_its_time_is_over() {
    let snapshot = snapshot(&format!("{BOB}proxy\n"));
    let identities = identities();
    let key = remembering_bob(&identities, &snapshot.policy);
    let found = |seconds| {
        let settings = AuthCache { seconds, ..settings(CacheFields::DEFAULT) };
        identities.get(&snapshot.policy, settings, &key).is_some()
    };
    assert_eq!([0, 1, 60].map(found), [false, true, true]);
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!([1, 2, 60].map(found), [false, true, true], "each service has its own idea of the time");
    tokio::time::advance(Duration::from_secs(59)).await;
    assert!(!found(60));
}

#[test]
fn a_hit_allocates_nothing() {
    let snapshot = snapshot(&format!("{BOB}proxy\n"));
    let identities = identities();
    let (bob, target) = (credentials("bob", Some("secret")), TargetName::Name("a".into()));
    let settings = settings(CacheFields::DEFAULT);
    remembering_bob(&identities, &snapshot.policy);
    let subject = subject(Some(&bob), &target);
    let hit = || {
        let key = identities.key(settings, &subject).unwrap();
        assert!(identities.get(&snapshot.policy, settings, &key).is_some());
    };
    hit();
    let allocated = |_: &usize| allocation_counter::measure(hit).count_total > 0;
    // Now and then a hit does moka's housekeeping, which passes on what was freed: one small allocation.
    let housekeeping = (0..1_000).filter(allocated).count();
    assert!(housekeeping <= 1_000 / 50, "{housekeeping}");
}

#[tokio::test]
async fn a_reload_forgets_only_whom_it_would_check_otherwise() {
    let base = "users bob:CL:secret alice:CL:x\nauthcache ip 60\nauth cache strong\nallow bob\nproxy\n";
    for (from, to, kept) in [
        ("proxy\n", "proxy\n", true),
        ("alice:CL:x", "alice:CL:y", true),
        ("allow bob", "deny alice\nallow bob", true),
        ("\nallow", "\nradius secret 127.0.0.1\nallow", true),
        ("secret", "changed", false),
        ("bob:CL", "bob:CR", false),
        ("bob:CL", "eve:CL", false),
        ("cache strong", "cache useronly strong", false),
        ("cache strong", "cache useronly", false),
        ("ip 60", "ip,dstoper 60", false),
        ("ip 60", "ip 30", false),
        ("ip 60", "ip 60 100", false),
    ] {
        let snapshot = snapshot(base);
        assert_eq!(asked(&snapshot, 0, "127.0.0.1", "bob:secret", "127.0.0.1:80").await.0, 0);
        let changed = base.replace(from, to);
        let after = reloaded(Some(&snapshot), &changed);
        let code = asked(&after, 0, "127.0.0.1", "", "127.0.0.1:80").await.0;
        assert_eq!(code, if kept { 0 } else { 4 }, "{changed}");
    }
}

#[tokio::test]
async fn one_finds_out_and_the_others_wait_for_it() {
    let snapshot = snapshot(&format!("{BOB}proxy\n"));
    let identities = identities();
    let key = remembering_bob(&identities, &snapshot.policy);
    let (eve, target) = (credentials("eve", Some("x")), TargetName::Name("a".into()));
    let other = identities.key(settings(CacheFields::DEFAULT), &subject(Some(&eve), &target)).unwrap();
    let flight = identities.find_out(key).await.unwrap();
    let waiting: Vec<_> = (0..3)
        .map(|_| {
            let identities = Arc::clone(&identities);
            tokio::spawn(async move { identities.find_out(key).await.is_none() })
        })
        .collect();
    tokio::task::yield_now().await;
    assert!(waiting.iter().all(|waiting| !waiting.is_finished()));
    assert!(identities.find_out(other).await.is_some(), "nobody waits for another's");
    drop(flight);
    for waiting in waiting {
        assert!(waiting.await.unwrap());
    }
    assert!(identities.find_out(key).await.is_some(), "it is over");
}

/// The code with which a service answers, 0 if the request passes, and the user that is logged.
async fn asked(
    snapshot: &Arc<Snapshot>,
    service: usize,
    client: &str,
    login: &str,
    target: &str,
) -> (u16, Option<Box<[u8]>>) {
    let mut session = session(snapshot, service, client);
    let permitted = session.permit(&ask(login, target, Operation::HttpGet)).await;
    (permitted.map_or_else(|failure| failure.code, |_| 0), session.record.user.clone())
}

/// What happens to a cache.
#[derive(Clone, Debug)]
enum Event {
    /// A service is asked by a client, with a login, for a target.
    Ask(usize, &'static str, &'static str, &'static str),
    /// Time passes.
    Seconds(u64),
    /// Another configuration comes into force.
    Reload(Configuration),
}

/// Users, `authcache`, the chain behind the cache, and a list.
type Configuration = (&'static str, &'static str, &'static str, &'static str);

fn configuration() -> impl Strategy<Value = Configuration> {
    let one = |of: &'static [&'static str]| prop::sample::select(of);
    (
        one(&[
            "bob:CL:secret alice:CL:x",
            "bob:CL:changed alice:CL:x",
            "alice:CL:x",
            "bob:CL:secret alice:CL:y",
            "\"bob:CR:$3$salt$yQUaQhcVRs.7XVRDq8XA//\" alice:CL:x",
        ]),
        one(&["user,pass 60", "user,pass,ip 60", "user,pass,dsthost 60", "user,pass 5", "user,pass 60 2"]),
        one(&["strong", "strong useronly", "useronly", "iponly strong", "strong iponly"]),
        one(&[
            "allow bob",
            "deny alice\nallow *",
            "allow * 127.0.0.1\nallow alice * 127.0.0.2",
            "allow alice * 127.0.0.2\ndeny alice\nallow * * 127.0.0.1",
            "allow *",
        ]),
    )
}

/// Two services of which the second has another chain; with the cache, and without.
fn text((users, cache, chain, list): Configuration, with: &str) -> String {
    format!("users {users}\nauthcache {cache}\nauth {with}{chain}\n{list}\nproxy\nauth {with}strong\nproxy\n")
}

fn event() -> impl Strategy<Value = Event> {
    let one = |of: &'static [&'static str]| prop::sample::select(of);
    let logins = one(&["", "bob:secret", "bob:changed", "alice:x", "alice:y", "bob", "eve:x"]);
    let asks = (0_usize..2, one(&["127.0.0.1", "127.0.0.5"]), logins, one(&["127.0.0.1:80", "127.0.0.2:80"]));
    prop_oneof![
        8 => asks.prop_map(|(service, client, login, target)| Event::Ask(service, client, login, target)),
        1 => (0_u64..40).prop_map(Event::Seconds),
        1 => configuration().prop_map(Event::Reload),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Where the key holds all that the client is checked by.
    #[test]
    fn what_is_remembered_changes_no_verdict(
        first in configuration(),
        kind in prop::sample::select(&["cache ", "cacheacl "][..]),
        events in prop::collection::vec(event(), 1..60),
    ) {
        let clock = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let _within = clock.enter();
        let mut cached = snapshot(&text(first, kind));
        let mut plain = snapshot(&text(first, ""));
        for event in events {
            match event {
                Event::Ask(service, client, login, target) => prop_assert_eq!(
                    clock.block_on(asked(&cached, service, client, login, target)),
                    clock.block_on(asked(&plain, service, client, login, target)),
                    "{}: {} {} {} {}", text(first, kind), service, client, login, target
                ),
                Event::Seconds(seconds) => clock.block_on(tokio::time::advance(Duration::from_secs(seconds))),
                Event::Reload(next) => {
                    cached = reloaded(Some(&cached), &text(next, kind));
                    plain = snapshot(&text(next, ""));
                }
            }
        }
    }
}
