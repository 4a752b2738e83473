//! The way to a file, link by link.
use std::{
    collections::VecDeque,
    ffi::OsString,
    path::{Component, Path, PathBuf},
};

/// As many links are followed as Linux follows.
const LINKS: usize = 40;

/// Every folder and name whose change may change what `path` leads to: each link on the way, and the file at the end. Where the way
/// ends before that, the first name that is missing, in the last folder that is there.
pub(super) fn links(path: &Path) -> Vec<(PathBuf, OsString)> {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.into());
    let mut found = Vec::new();
    let mut folder = PathBuf::new();
    let mut rest: VecDeque<OsString> = VecDeque::new();
    push_front(&mut rest, &path);
    let mut followed = 0;
    while let Some(name) = rest.pop_front() {
        if name == ".." {
            folder.pop();
            continue;
        }
        let here = folder.join(&name);
        let metadata = std::fs::symlink_metadata(&here);
        let is_link = metadata.as_ref().is_ok_and(std::fs::Metadata::is_symlink);
        if is_link
            && followed < LINKS
            && let Ok(target) = std::fs::read_link(&here)
        {
            followed += 1;
            found.push((folder.clone(), name));
            if target.is_absolute() {
                folder = PathBuf::new();
            }
            push_front(&mut rest, &target);
            continue;
        }
        if rest.is_empty() || metadata.is_err() {
            found.push((folder, name));
            break;
        }
        folder = here;
    }
    found
}

fn push_front(rest: &mut VecDeque<OsString>, path: &Path) {
    for component in path.components().rev() {
        match component {
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) | Component::ParentDir | Component::Normal(_) => {
                rest.push_front(component.as_os_str().into());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::links;

    #[test]
    fn each_link_and_the_file_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        fs::create_dir(root.join("..one")).unwrap();
        fs::write(root.join("..one/a.cfg"), "").unwrap();
        symlink("..one", root.join("..data")).unwrap();
        symlink("..data/a.cfg", root.join("a.cfg")).unwrap();
        symlink(root.join("a.cfg"), root.join("..one/absolute")).unwrap();
        let at = |folder: &str, name: &str| (root.join(folder), name.into());
        let config_map =
            [(root.clone(), "a.cfg".into()), (root.clone(), "..data".into()), at("..one", "a.cfg")];
        let ends = |path: &str| links(&root.join(path)).into_iter().collect::<Vec<_>>();
        assert_eq!(ends("a.cfg"), config_map);
        assert_eq!(ends("..one/absolute")[1..], config_map);
        assert_eq!(ends("..one/../..one/./a.cfg"), [at("..one", "a.cfg")]);
        assert_eq!(ends("missing/b/c.cfg"), [(root.clone(), "missing".into())]);
        symlink("loop", root.join("loop")).unwrap();
        assert!(ends("loop").len() > 40);
    }
}
