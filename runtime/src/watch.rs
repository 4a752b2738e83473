//! Watches the files that a configuration was made of, and says when one holds something else.
//!
//! Editors and ConfigMaps replace files by a rename or by swapping a link, and a watch on the file itself goes blind then. So it is
//! the folders that are watched: that of the file, and that of every link on the way to it.
mod chain;
#[cfg(test)]
mod tests;

use std::{
    collections::{HashMap, HashSet},
    ffi::OsString,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher, event::AccessKind};
use tokio::{
    sync::Notify,
    time::{Instant, timeout},
};

use crate::reload::Inputs;

/// A change counts when nothing has happened for so long: a file that is being written is read once, when it is whole.
const QUIET: Duration = Duration::from_millis(200);

/// But something that never is quiet is looked at after so long.
const PATIENCE: Duration = Duration::from_secs(2);

/// Watches files.
#[derive(Debug)]
pub struct Watch {
    watcher: RecommendedWatcher,
    shared: Arc<Shared>,
    folders: HashSet<PathBuf>,
    inputs: Inputs,
}

#[derive(Debug, Default)]
struct Shared {
    /// Which names in which folder matter.
    names: Mutex<Names>,
    happened: Notify,
}

type Names = HashMap<PathBuf, HashSet<OsString>>;

impl Watch {
    /// Watches nothing yet.
    ///
    /// # Errors
    /// The system has no more watches to give.
    pub fn new() -> notify::Result<Self> {
        let shared = Arc::<Shared>::default();
        let watcher = notify::recommended_watcher({
            let shared = Arc::clone(&shared);
            move |event: notify::Result<Event>| {
                // An error may mean that events were lost.
                if event.map_or(true, |event| shared.matters(&event)) {
                    shared.happened.notify_one();
                }
            }
        })?;
        Ok(Self { watcher, shared, folders: HashSet::new(), inputs: Inputs::default() })
    }

    /// From now on watches these files, which held this.
    pub fn follow(&mut self, inputs: Inputs) {
        self.inputs = inputs;
        self.look_again();
        // Whatever changed between the reading and now was not seen.
        self.shared.happened.notify_one();
    }

    /// Returns when one of the files holds something else than it did.
    ///
    /// May be dropped before it returns, and called again.
    pub async fn changed(&mut self) {
        loop {
            self.shared.happened.notified().await;
            let since = Instant::now();
            while since.elapsed() < PATIENCE && timeout(QUIET, self.shared.happened.notified()).await.is_ok()
            {
            }
            self.look_again();
            let inputs = self.inputs.clone();
            let differ = tokio::task::spawn_blocking(move || inputs.differ()).await;
            if differ.unwrap_or(true) {
                return;
            }
        }
    }

    /// Follows the links anew: they may lead elsewhere now.
    fn look_again(&mut self) {
        let mut names = Names::new();
        for input in &self.inputs.0 {
            for (folder, name) in chain::links(&input.path) {
                names.entry(folder).or_default().insert(name);
            }
        }
        for folder in self.folders.extract_if(|folder| !names.contains_key(folder)) {
            // A folder that is gone took its watch with it.
            let _ = self.watcher.unwatch(&folder);
        }
        // Again for those that are watched: a folder that was removed and made again is another.
        self.folders.extend(names.keys().cloned());
        *self.shared.names.lock().unwrap_or_else(PoisonError::into_inner) = names;
        for folder in &self.folders {
            // What can't be watched is still read again on a signal.
            let _ = self.watcher.watch(folder, RecursiveMode::NonRecursive);
        }
    }
}

impl Shared {
    fn matters(&self, event: &Event) -> bool {
        // Our own reading opens and closes files.
        let reading = matches!(event.kind, EventKind::Access(kind) if !matches!(kind, AccessKind::Close(notify::event::AccessMode::Write)));
        let names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        !reading && (event.need_rescan() || event.paths.iter().any(|path| concerns(&names, path)))
    }
}

/// Whether something at `path` may change one of the files: it is one of the names, or one of the folders.
fn concerns(names: &Names, path: &Path) -> bool {
    let named = |folder: &Path, name| names.get(folder).is_some_and(|names| names.contains(name));
    let by_name = path.parent().zip(path.file_name()).is_some_and(|(folder, name)| named(folder, name));
    by_name || names.contains_key(path)
}
