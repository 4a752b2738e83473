//! For tests: a configuration's text to a session under it, without a process around it.
use std::{net::SocketAddr, path::Path, sync::Arc};

use compiler::{program::acl::Operation, sources::MemoryFiles};
use grammar::Secret;

use crate::{
    limits::Limits,
    log::Logger,
    session::{Ask, Credentials, Session, TargetName},
    snapshot::{ListenerId, Snapshot},
};

/// What `text` means to a connection. 3proxy must not refuse it; what else is wrong with it does not matter here.
pub(crate) fn snapshot(text: &str) -> Arc<Snapshot> {
    reloaded(None, text)
}

/// The same, where another configuration was in force before.
pub(crate) fn reloaded(before: Option<&Snapshot>, text: &str) -> Arc<Snapshot> {
    let mut files = MemoryFiles::default();
    files.insert("3proxy.cfg", text);
    let compiled = compiler::compile(Path::new("3proxy.cfg"), &files);
    let refused: Vec<_> = compiled.findings.iter().filter(|finding| finding.refused).collect();
    assert!(refused.is_empty(), "{text}: {refused:?}");
    let services = compiled.program.services.len();
    let listeners: Vec<_> = (0..services).map(|_| ListenerId::next()).collect();
    let known = before.map(|before| (&*before.program, &before.limits));
    let limits = Limits::prepare(&compiled.program, known).unwrap();
    Arc::new(Snapshot::new(before, compiled.program, vec![Logger::nowhere(); services], &listeners, limits))
}

/// A session of `client` with the service of that number.
pub(crate) fn session(snapshot: &Arc<Snapshot>, service: usize, client: &str) -> Session {
    let client = SocketAddr::new(client.parse().unwrap(), 40_000);
    let service = Arc::clone(&snapshot.services[service]);
    Session::new(Arc::clone(snapshot), service, client, "127.0.0.1:3128".parse().unwrap())
}

/// Asks for `target` (`host:port`), with a login of `user:password`, `user` or nothing.
pub(crate) fn ask(login: &str, target: &str, operation: Operation) -> Ask {
    let (host, port) = target.rsplit_once(':').unwrap();
    let credentials = (!login.is_empty()).then(|| match login.split_once(':') {
        Some((user, password)) => {
            Credentials { user: user.as_bytes().into(), password: Some(Secret::from(password.as_bytes())) }
        }
        None => Credentials { user: login.as_bytes().into(), password: None },
    });
    let target = match host.parse() {
        Ok(address) => TargetName::Address(address),
        Err(_) => TargetName::Name(host.into()),
    };
    Ask { credentials, target, port: port.parse().unwrap(), operation }
}
