//! What is told of a Program.
use std::path::Path;

use compiler::{compile, policy::Policy, sources::MemoryFiles};
use serde_json::Value;

fn told(config: &str) -> Value {
    let mut files = MemoryFiles::default();
    files.insert("3proxy.cfg", config);
    files.insert(
        "more.cfg",
        "allow bob * a.test,10.0.0.0/8 80,8000-8001 HTTP 1-5 09:00:00-17:00:00\nweight 3\n",
    );
    let compiled = compile(Path::new("3proxy.cfg"), &files);
    let mut out = Vec::new();
    super::write(&mut out, &compiled.sources, &Policy::compile(&compiled.program)).unwrap();
    serde_json::from_slice(&out).unwrap()
}

/// Something of everything.
const EVERYTHING: &str = "\
internal 127.0.0.1
external 127.0.0.9
nserver 127.0.0.1:53/tcp
nscache 65536
nsrecord a.test 10.0.0.1
users bob:CL:hunter2 \"eve:CR:$1$salt$hunter2\" joe:NT:hunter2
radius hunter2 127.0.0.1
log &source,user,hunter2
logformat \"L%U\"
bandlimin 1000 bob
nobandlimout *
connlim 3 60 * 10.0.0.0/8
counter counters.bin D reports/%Y
countall \"1 hunter\" D 10 bob
timeouts 1 2 3
authcache user,pass 60
auth cache strong
include more.cfg
parent 500 socks5s 192.0.2.1 1080 me hunter2
proxy -p3128 -a1 -ocTCP_NODELAY -g100,2,10
flush
deny ,
socks -6
flush
allow *
tcppm 2222 192.0.2.1 22
allow bob
maxconn 7
";

/// Every member's path, those of list elements once; what stands below `value` has a form for each setting.
fn members(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                let path = format!("{path}.{name}");
                found.push(path.clone());
                if name != "value" && name != "limit" && name != "indexes" {
                    members(value, &path, found);
                }
            }
        }
        Value::Array(array) => array.iter().for_each(|value| members(value, &format!("{path}[]"), found)),
        _ => {}
    }
}

#[test]
fn the_form_is_as_documented() {
    let docs = include_str!("../../../docs/json.md").split("# The JSON of `cfgc ir").nth(1).unwrap();
    let documented = docs.split("```").nth(1).unwrap().strip_prefix("json").unwrap();
    let documented: Value = serde_json::from_str(documented).unwrap();
    let sorted = |value: &Value| {
        let mut found = Vec::new();
        members(value, "", &mut found);
        found.sort();
        found.dedup();
        found
    };
    assert_eq!(sorted(&told(EVERYTHING)), sorted(&documented));
}

#[test]
fn passwords_in_the_wrong_place_are_not_shown() {
    let told = told(
        "allow eve,bob:CL:hunter2 * http://u:hunter2@h/\nparent 1000 http 192.0.2.1 1 me:hunter2\nproxy\n",
    );
    let entry = &told["entries"][0];
    assert_eq!((&entry["users"][0], &entry["users"][1]), (&"eve".into(), &"bob:CL:***".into()));
    assert!(!told.to_string().contains("hunter2"), "{told}");
}

#[test]
fn each_thing_stands_at_its_place() {
    let told = told(EVERYTHING);
    let entry = &told["entries"][0];
    assert_eq!(entry["at"], "more.cfg:1:1");
    assert_eq!(told["files"][1]["included_at"], "3proxy.cfg:18:1");
    assert_eq!(
        (&entry["users"][0], &entry["targets"]["names"][0], &entry["ports"][1], &entry["periods"][0]),
        (&"bob".into(), &"a.test".into(), &"8000-8001".into(), &"09:00:00-17:00:00".into())
    );
    assert_eq!((&entry["sources"], &entry["weight"]), (&Value::Null, &3.into()));
    // The service copied the entry as the lines up to it left it.
    let service = &told["services"][0];
    let copied = service["list"]["last"].as_u64().unwrap() as usize;
    assert_eq!(told["entries"][copied]["parents"], serde_json::json!([0, 1]));
    assert_eq!((&service["at"], &service["kind"]), (&"3proxy.cfg:20:1".into(), &"proxy".into()));
    let setting = |name: &str| {
        let settings = service["settings"].as_array().unwrap();
        settings.iter().find(|setting| setting["name"] == name).unwrap().clone()
    };
    assert_eq!(setting("listen port")["value"], 3128);
    assert_eq!(setting("maxconn")["at"], Value::Null);
    assert_eq!(setting("-oc")["value"], serde_json::json!(["TCP_NODELAY"]));
    assert_eq!(told["unused"]["commands"], serde_json::json!(["3proxy.cfg:27:1", "3proxy.cfg:28:1"]));
}

#[test]
fn no_secret_is_told() {
    let told = told(EVERYTHING).to_string();
    assert!(!told.contains("hunter2"), "{told}");
    assert!(told.matches("***").count() >= 6, "{told}");
}

#[test]
fn table_sizes_add_up_and_lists_that_are_alike_share_one() {
    let entries: String = (0..200).map(|n| format!("allow user{n} * 10.0.{n}.0/24 {n}\n")).collect();
    let told = told(&format!("auth strong\n{entries}proxy\nflush\n{entries}socks\nflush\nallow *\nadmin\n"));
    let tables = told["tables"]["tables"].as_array().unwrap();
    assert_eq!(tables[0]["lists"], serde_json::json!([0, 1]));
    assert_eq!((&tables[0]["entries"], &tables[0]["indexed"]), (&200.into(), &true.into()));
    assert_eq!((&tables[1]["entries"], &tables[1]["indexed"]), (&1.into(), &false.into()));
    let bytes = |value: &Value| value.as_u64().unwrap();
    let indexes: u64 = tables[0]["indexes"].as_object().unwrap().values().map(bytes).sum();
    assert!(tables[0]["indexes"]["user"].is_u64() && indexes <= bytes(&tables[0]["bytes"]), "{tables:?}");
    let all: u64 = tables.iter().map(|table| bytes(&table["bytes"])).sum();
    assert!(all <= bytes(&told["tables"]["bytes"]) && indexes > 1000, "{told}");
}
