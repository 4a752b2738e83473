//! A row for every command of the language: name, arguments, where it may stand, documentation.
//!
//! Arity errors, lowering's dispatch, hover, completion and `docs/directives.md` all follow from the row.
//! To add a command, add its row to the family's file in `directive/`.

/// One command of the language.
#[derive(Debug)]
pub struct Directive {
    /// As it is written, case and all.
    pub name: &'static str,
    /// How many arguments 3proxy takes: outside this range it rejects the file.
    pub arguments: Arity,
    /// What the arguments are, in order; the last may repeat.
    pub parameters: &'static [Parameter],
    /// Who sees what it sets.
    pub effect: Effect,
    /// The first release of 3proxy that knows it.
    pub since: &'static str,
    /// What it does, in Markdown: the first sentence is a summary.
    pub docs: &'static str,
}

/// The least and the most arguments, the command itself not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arity {
    /// At least so many.
    pub least: u16,
    /// At most so many; `None`: as many as fit in a line.
    pub most: Option<u16>,
}

/// One argument of a command.
#[derive(Debug)]
pub struct Parameter {
    /// As the manual calls it.
    pub name: &'static str,
    /// What may stand there.
    pub kind: Kind,
    /// What it is for, in a few words.
    pub docs: &'static str,
}

/// What may stand in an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any word.
    Word,
    /// A file or folder.
    Path,
    /// One address.
    Address,
    /// A name or address.
    Host,
    /// A whole number.
    Number,
    /// A port number.
    Port,
    /// A password or shared secret: never shown.
    Secret,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A service's options, as in [`option`].
    Options,
    /// Users, at commas.
    Users,
    /// Client addresses, networks and ranges, at commas.
    Sources,
    /// Target addresses, networks, ranges and name patterns, at commas.
    Targets,
    /// Target ports and ranges, at commas.
    Ports,
    /// Operations, at commas.
    Operations,
    /// Days of the week, as digits.
    Weekdays,
    /// Times of the day.
    Periods,
}

/// Who sees what a command sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Starts a service with a copy of the settings as they stand.
    Service,
    /// Changes the settings that later services copy.
    Setting,
    /// Adds to the access list that later services copy, or extends its last entry.
    Acl,
    /// Changes what all services share, wherever it stands.
    Global,
    /// Acts on the process or on the reading of the file, when it is reached.
    Process,
}
