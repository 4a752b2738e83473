//! A row for every option of a service line: its flag, what is glued to it, documentation.
//!
//! 3proxy looks at the first one, two or three bytes of a word and takes the rest for the value. Where no value is
//! wanted the rest is ignored. A word that starts with `-` and no row's flag is refused.
mod rows;

use crate::directive::closest;

/// One option of a service line.
#[derive(Debug)]
pub struct ServiceOption {
    /// `-p`, `-oc`: what the word starts with.
    pub flag: &'static str,
    /// What is glued to it.
    pub value: Form,
    /// The services on which it has an effect; everywhere else it is read and ignored.
    pub services: Services,
    /// It may change who is let in, or what they may do.
    pub decides: bool,
    /// The first release of 3proxy that knows it, as in [`crate::directive::Directive::since`].
    pub since: &'static str,
    /// What it does, in Markdown: the first sentence is a summary.
    pub docs: &'static str,
}

/// What is glued to an option's flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Nothing: what stands there is ignored.
    Nothing,
    /// A whole number, as C's `atoi` reads it.
    Number,
    /// A whole number, or nothing for 0, which is not the default.
    NumberOrZero,
    /// An address, or `unix:PATH`.
    Address,
    /// `HOST:PORT` or `HOST`.
    HostPort,
    /// A network interface.
    Interface,
    /// A file.
    Path,
    /// Any text.
    Text,
    /// Socket options, at commas.
    SocketOptions,
    /// `TRAFF,NUM,DELAY`.
    Grace,
    /// `N`, `N:MIN,STREAK,SMALL`, or nothing.
    Splice,
    /// One of these words, in any case, anything behind it being ignored.
    OneOf(&'static [&'static str]),
}

/// On which services an option has an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Services {
    /// On every one.
    All,
    /// On these.
    Only(&'static [&'static str]),
}

impl Services {
    /// Whether the service of this name is among them.
    #[must_use]
    pub fn contains(self, service: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(names) => names.contains(&service),
        }
    }
}

/// Every option.
#[must_use]
pub fn all() -> &'static [ServiceOption] {
    rows::ROWS
}

/// The option that a word of a service line is, and its value: the row with the longest flag that the word starts
/// with. `None` if it does not start with `-`, or if 3proxy refuses it.
#[must_use]
pub fn find(word: &[u8]) -> Option<(&'static ServiceOption, &[u8])> {
    let values = all().iter().filter_map(|row| Some((row, word.strip_prefix(row.flag.as_bytes())?)));
    values.max_by_key(|(row, _)| row.flag.len())
}

/// The option that was probably meant by `word`, which is none: one that differs in case.
#[must_use]
pub fn similar(word: &[u8]) -> Option<&'static str> {
    let flag = word.get(..2)?;
    closest(flag, all().iter().map(|row| row.flag).filter(|row| row.as_bytes().eq_ignore_ascii_case(flag)))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{Services, all, find, similar};
    use crate::directive;

    #[test]
    fn rows_hold_together() {
        let mut flags = HashSet::new();
        for row in all() {
            assert!(flags.insert(row.flag), "{} has two rows", row.flag);
            assert!(row.flag.starts_with('-') && row.docs.ends_with('.'), "{}", row.flag);
            if let Services::Only(names) = row.services {
                for name in names {
                    let service = directive::find(name.as_bytes()).unwrap();
                    assert_eq!(service.effect, directive::Effect::Service, "{}", row.flag);
                }
            }
        }
    }

    #[test]
    fn a_word_is_the_option_with_the_longest_flag() {
        let found = |word: &'static str| {
            find(word.as_bytes()).map(|(row, value)| (row.flag, std::str::from_utf8(value).unwrap()))
        };
        for (word, expected) in [
            ("-p3128", Some(("-p", "3128"))),
            ("-p", Some(("-p", ""))),
            ("-P25", Some(("-P", "25"))),
            ("-i127.0.0.1", Some(("-i", "127.0.0.1"))),
            ("-4", Some(("-4", ""))),
            ("-46", Some(("-46", ""))),
            ("-64", Some(("-64", ""))),
            ("-Dieth0", Some(("-Di", "eth0"))),
            ("-ocTCP_NODELAY", Some(("-oc", "TCP_NODELAY"))),
            ("-oRSO_REUSEPORT", Some(("-oR", "SO_REUSEPORT"))),
            ("-ox", None),
            ("-o", None),
            ("-Ne1.2.3.4", Some(("-Ne", "1.2.3.4"))),
            ("-N1.2.3.4", Some(("-N", "1.2.3.4"))),
            ("-s7:16384,2,4096", Some(("-s", "7:16384,2,4096"))),
            ("-Hx", Some(("-H", "x"))),
            ("-I", None),
            ("-k", None),
            ("-", None),
            ("", None),
            ("p3128", None),
        ] {
            assert_eq!(found(word), expected, "{word}");
        }
    }

    #[test]
    fn a_letter_of_the_wrong_case_finds_its_option() {
        assert_eq!(similar(b"-I127.0.0.1"), Some("-i"));
        assert_eq!((similar(b"-k"), similar(b"-"), similar(b"")), (None, None, None));
    }
}
