//! How text looks where it is read.
use std::{io::IsTerminal, os::fd::AsFd, path::Path};

use crate::args::Color;

/// How text looks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Style {
    /// Coloured.
    pub(super) color: bool,
    /// Places are links, as terminals know them (OSC 8).
    pub(super) links: bool,
    /// How many columns there are; `None`: nobody knows.
    pub(super) width: Option<u16>,
}

impl Style {
    /// How text looks that is written to `out`.
    pub(crate) fn of(color: Color, out: &(impl IsTerminal + AsFd)) -> Self {
        let color = color.is_on(out);
        let terminal = out.is_terminal();
        let width = terminal_size::terminal_size_of(out).map(|(terminal_size::Width(width), _)| width);
        Self { color, links: color && terminal, width: width.filter(|_| terminal) }
    }

    /// `text`, as a link to the file at `path` if this is where links are.
    pub(super) fn linked(self, path: &Path, text: &str) -> String {
        let absolute = std::path::absolute(path).ok().filter(|_| self.links);
        match absolute {
            Some(path) => format!("\x1b]8;;{}\x1b\\{text}\x1b]8;;\x1b\\", super::uri(&path)),
            None => text.to_owned(),
        }
    }
}

impl From<bool> for Style {
    /// In colour or not, and nothing else is known.
    fn from(color: bool) -> Self {
        Self { color, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Style;

    #[test]
    fn places_are_links_only_where_there_are_links() {
        let plain = Style::from(true).linked(Path::new("/etc/3proxy.cfg"), "3proxy.cfg:1:1");
        assert_eq!(plain, "3proxy.cfg:1:1");
        let links = Style { links: true, ..Style::default() };
        let linked = links.linked(Path::new("/a b\u{1b}.cfg"), "3proxy.cfg:1:1");
        assert_eq!(linked, "\x1b]8;;file:///a%20b%1B.cfg\x1b\\3proxy.cfg:1:1\x1b]8;;\x1b\\");
    }
}
