//! What a reload leaves behind, as seen from inside the process.
use std::{net::TcpListener, path::Path, sync::Arc, time::Duration};

use super::{Config, Levels, Proxy, ReloadError};
use crate::event::Events;

fn config(folder: &Path, text: &str) -> Config {
    let path = folder.join("3proxy.cfg");
    std::fs::write(&path, text).unwrap();
    Config { path, levels: Levels::new(|findings| findings.into_iter().filter(|f| f.refused).collect()) }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

async fn start(folder: &Path, text: &str) -> Proxy {
    Proxy::start(config(folder, text), Events::new(|event| panic!("{event}"))).await.unwrap().0
}

#[tokio::test]
async fn a_configuration_that_is_gone_is_freed() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("internal 127.0.0.1\nauth iponly\nallow *\nsocks -p{}\n", free_port());
    let proxy = start(folder.path(), &text).await;
    for generation in 2..5 {
        let before = Arc::downgrade(&proxy.running.current.load());
        assert_eq!(proxy.reload().await.unwrap().generation, generation);
        // Freed on another thread, soon: whoever waits a second for it has waited in vain.
        let mut waited = 0;
        while before.strong_count() > 0 {
            assert!(waited < 1000, "still held {} times", before.strong_count());
            tokio::time::sleep(Duration::from_millis(10)).await;
            waited += 1;
        }
    }
}

#[tokio::test]
async fn every_file_of_an_attempt_is_an_input_even_of_one_that_failed() {
    let folder = tempfile::tempdir().unwrap();
    let (list, users, gone) =
        (folder.path().join("list"), folder.path().join("users"), folder.path().join("gone"));
    std::fs::write(&list, "allow *\n").unwrap();
    std::fs::write(&users, "ann:CL:x").unwrap();
    let port = free_port();
    let good = format!("internal 127.0.0.1\nauth iponly\nallow *\nsocks -p{port}\n");
    let proxy = start(folder.path(), &good).await;
    let (l, u, g) = (list.display(), users.display(), gone.display());
    let bad = format!("monitor {g}\ninclude {l}\nusers ${u}\ninclude {g}\n{good}");
    let main = config(folder.path(), &bad).path;
    assert!(matches!(proxy.reload().await, Err(ReloadError::Refused(_))));
    let inputs = proxy.inputs().await;
    for path in [&main, &list, &users, &gone] {
        assert!(inputs.0.iter().any(|input| input.path == *path), "{path:?} is not in {inputs:?}");
    }
    assert!(!inputs.differ());
    std::fs::write(gone, "# here").unwrap();
    assert!(inputs.differ());
}

#[tokio::test]
async fn a_failed_reload_leaves_no_socket_behind() {
    let folder = tempfile::tempdir().unwrap();
    let (port, other) = (free_port(), free_port());
    let good = format!("internal 127.0.0.1\nauth iponly\nallow *\nsocks -p{port}\n");
    let proxy = start(folder.path(), &good).await;
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap();
    config(folder.path(), &format!("{good}socks -p{other}\nsocks -p{}\n", taken.port()));
    let failed = proxy.reload().await;
    assert!(matches!(failed, Err(ReloadError::Listen { address, .. }) if address == taken), "{failed:?}");
    drop(TcpListener::bind(("127.0.0.1", other)).unwrap());
    assert_eq!(proxy.running.current.load().generation, 1);
    config(folder.path(), &good);
    let applied = proxy.reload().await.unwrap();
    assert_eq!((applied.generation, applied.opened.len(), applied.kept, applied.closed), (2, 0, 1, 0));
}
