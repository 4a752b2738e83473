//! Where a path leads in a folder that is taken for the root of a machine: a `..` stops at the folder, and a link's absolute target is
//! looked up below it, as after a `chroot`. Nothing leads out of it, as the links are when they are looked at: who can change them meanwhile
//! is not held.
use std::{
    ffi::OsString,
    fs,
    io::{self, ErrorKind},
    path::{Component, Path, PathBuf},
};

/// The most links that may be on the way, as for the kernel.
const MOST_LINKS: usize = 40;

/// A step of a path that is not taken yet.
enum Step {
    Root,
    Up,
    Down(OsString),
}

/// Where the file at `inside` of `root` is: an absolute path without links.
///
/// # Errors
/// What the system says.
pub(super) fn place(root: &Path, inside: &Path) -> io::Result<PathBuf> {
    let root = fs::canonicalize(root)?;
    let mut place = root.clone();
    let mut left = steps(inside);
    let mut links = 0;
    while let Some(step) = left.pop() {
        match step {
            Step::Root => place.clone_from(&root),
            Step::Up if !fs::metadata(&place)?.is_dir() => return Err(ErrorKind::NotADirectory.into()),
            Step::Up if place == root => {}
            Step::Up => {
                place.pop();
            }
            Step::Down(name) => {
                let next = place.join(name);
                match fs::read_link(&next) {
                    Ok(_) if links == MOST_LINKS => {
                        return Err(io::Error::other("too many links lead to it"));
                    }
                    Ok(target) => {
                        links += 1;
                        left.extend(steps(&target));
                    }
                    // So the system says that it is no link.
                    Err(error) if error.kind() == ErrorKind::InvalidInput => place = next,
                    Err(error) => return Err(error),
                }
            }
        }
    }
    Ok(place)
}

/// The steps of a path, the first one last.
fn steps(path: &Path) -> Vec<Step> {
    let step = |component| match component {
        Component::RootDir => Some(Step::Root),
        Component::ParentDir => Some(Step::Up),
        Component::Normal(name) => Some(Step::Down(name.to_owned())),
        Component::CurDir | Component::Prefix(_) => None,
    };
    path.components().rev().filter_map(step).collect()
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink, path::Path};

    use super::place;

    /// Every way out ends inside.
    #[test]
    fn nothing_leads_out() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let root = top.join("root");
        fs::create_dir_all(root.join("etc/deep")).unwrap();
        for (path, text) in [("root/etc/file", "inside"), ("etc", ""), ("file", "outside")] {
            fs::write(top.join(path), text).unwrap();
        }
        for (link, target) in [
            ("absolute", "/etc/file"),
            ("etc/up", "../../../../etc/file"),
            ("folder", "/etc"),
            ("out", "/../../.."),
            ("twice", "/absolute"),
            ("etc/deep/here", "."),
            ("loop", "loop"),
        ] {
            symlink(target, root.join(link)).unwrap();
        }
        // The real path of what is outside is a path inside that leads nowhere.
        symlink(top.join("file"), root.join("stranger")).unwrap();
        let led = |inside: &str| {
            let place = place(&root, Path::new(inside)).ok()?;
            Some(place.strip_prefix(&root).unwrap().display().to_string())
        };
        for inside in [
            "etc/file",
            "../etc/file",
            "etc/../../etc/./file",
            "absolute",
            "etc/up",
            "folder/file",
            "out/etc/file",
            "twice",
            "folder/../etc/deep/here/../file",
            "/etc/file",
        ] {
            assert_eq!(led(inside).as_deref(), Some("etc/file"), "{inside}");
        }
        assert_eq!(led("out").as_deref(), Some(""));
        for inside in ["stranger", "loop", "../file", "etc/file/../file", "etc/file/x", "nothing"] {
            assert_eq!(led(inside), None, "{inside}");
        }
    }
}
