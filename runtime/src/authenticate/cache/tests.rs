//! Which requests share an entry.
use super::*;

fn fields(list: &[CacheField]) -> CacheFields {
    list.iter().fold(CacheFields::default(), |all, &field| all.with(CacheFields::of(field)))
}

fn credentials(user: &str, password: Option<&str>) -> Credentials {
    Credentials { user: user.as_bytes().into(), password: password.map(|text| Secret::from(text.as_bytes())) }
}

fn subject<'a>(credentials: Option<&'a Credentials>, target: &'a TargetName) -> Subject<'a> {
    Subject {
        types: vec![AuthType::Cache, AuthType::Strong],
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
    let identities = Identities::new(10);
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
            let same = identities.key(fields, &base()) == identities.key(fields, changed);
            assert_eq!(same, named != *field && client != *field, "{field:?} changed, {named:?} named");
        }
    }
}

#[test]
fn who_got_in_by_name_is_unknown_where_a_password_is_wanted() {
    let (bob, target) = (credentials("bob", Some("secret")), TargetName::Name("a".into()));
    let identities = Identities::new(10);
    let by = |types: &[AuthType]| {
        let subject = Subject { types: types.to_vec(), ..subject(Some(&bob), &target) };
        identities.key(CacheFields::DEFAULT, &subject)
    };
    assert_ne!(by(&[AuthType::Cache, AuthType::UserOnly]), by(&[AuthType::Cache, AuthType::Strong]));
    assert_eq!(by(&[AuthType::Cache, AuthType::Strong]), by(&[AuthType::CacheAcl, AuthType::Strong]));
}

#[test]
fn without_a_field_of_the_client_there_is_no_key() {
    use CacheField::*;
    let (bob, nameless) = (credentials("bob", None), TargetName::Name("a".into()));
    let identities = Identities::new(10);
    let subject = subject(Some(&bob), &nameless);
    for list in
        [&[Limit][..], &[Ext], &[Acl], &[SrvAddr, SrvPort], &[DstAddr, DstPort, DstHost, DstOper], &[]]
    {
        assert_eq!(identities.key(fields(list), &subject), None, "{list:?}");
    }
    let elsewhere = Subject { client: IpAddr::from([127, 0, 0, 5]), ..self::subject(Some(&bob), &nameless) };
    let bound = identities.key(fields(&[Ip, Limit]), &subject);
    assert!(
        bound.is_some() && bound == identities.key(fields(&[Ip, Limit]), &elsewhere),
        "one entry for all"
    );
    assert!(identities.key(fields(&[Ip, Limit, User]), &subject).is_some());
    assert_eq!(identities.key(fields(&[User, Pass]), &subject), None, "no password was given");
}

#[test]
fn what_is_put_is_found_until_its_time_is_over() {
    let identities = Identities::new(10);
    let (bob, target) = (credentials("bob", Some("secret")), TargetName::Name("a".into()));
    let key = identities.key(CacheFields::DEFAULT, &subject(Some(&bob), &target)).unwrap();
    let known = Known { user: b"bob"[..].into(), client: IpAddr::from([127, 0, 0, 1]) };
    assert_eq!(identities.get(&key), None);
    identities.put(key, known.clone(), 60);
    assert_eq!(identities.get(&key), Some(known.clone()));
    identities.put(key, known, 0);
    assert_eq!(identities.get(&key), None);
}
