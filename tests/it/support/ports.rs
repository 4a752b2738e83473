//! Free ports, for a configuration language that knows no port 0.
use std::{
    collections::{BTreeMap, BTreeSet},
    net::TcpListener,
    sync::Mutex,
};

/// Ports that some test of this process was given already.
static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());

/// A port on which nothing listens now, given to no other test. Another process may still take it: who starts a service
/// there tries again with another one.
pub(crate) fn free() -> u16 {
    loop {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        if GIVEN.lock().unwrap().insert(port) {
            return port;
        }
    }
}

/// Replaces each `@name` in `text` by a free port, the same one for the same name.
pub(crate) fn fill(text: &str) -> (String, BTreeMap<String, u16>) {
    let mut ports = BTreeMap::new();
    (fill_with(text, &mut ports), ports)
}

/// The same with ports that some names have already; new names get free ones.
pub(crate) fn fill_with(text: &str, ports: &mut BTreeMap<String, u16>) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('@') {
        let end = after.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(after.len());
        let (name, behind) = after.split_at(end);
        filled.push_str(before);
        match name {
            "" => filled.push('@'),
            _ => filled.push_str(&ports.entry(name.to_owned()).or_insert_with(free).to_string()),
        }
        rest = behind;
    }
    filled.push_str(rest);
    filled
}

#[test]
fn a_name_is_one_port() {
    let (text, ports) = fill("proxy -p@a\nsocks -p@b\nparent 1000 tcp 127.0.0.1 @a\n");
    assert_eq!(
        text,
        format!("proxy -p{0}\nsocks -p{1}\nparent 1000 tcp 127.0.0.1 {0}\n", ports["a"], ports["b"])
    );
    assert_ne!(ports["a"], ports["b"]);
}
