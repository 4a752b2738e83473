//! What whoever compiles a configuration says of it beside its text.

use std::{collections::HashMap, net::IpAddr, path::PathBuf};

/// How a configuration is read and judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileOptions {
    /// What will run it.
    pub runner: Runner,
    /// Whether the files that it names are read. `false`: an `include` and a `$file` bring nothing in, and that is no finding.
    pub includes: bool,
    /// The folder in which absolute paths of included files start: that of an image.
    pub root: Option<PathBuf>,
    /// What comments that allow findings are worth.
    pub allowances: Allowances,
    /// Addresses of names that stand where an address is wanted, in lower case: who runs the file asks the network for them.
    pub hosts: HashMap<String, IpAddr>,
    /// Whether it may be a template, from which configurations are made.
    pub template: Template,
}

impl Default for CompileOptions {
    fn default() -> Self {
        Self {
            runner: Runner::default(),
            includes: true,
            root: None,
            hosts: HashMap::new(),
            allowances: Allowances::default(),
            template: Template::default(),
        }
    }
}

/// What runs a configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Runner {
    /// 3proxy 0.9.
    ThreeProxy09,
    /// 3proxy 1.0.
    #[default]
    ThreeProxy10,
    /// `cfgc run`.
    Cfgc,
}

impl Runner {
    /// Every one.
    pub const ALL: [Self; 3] = [Self::ThreeProxy09, Self::ThreeProxy10, Self::Cfgc];

    /// As users write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ThreeProxy09 => "3proxy 0.9",
            Self::ThreeProxy10 => "3proxy 1.0",
            Self::Cfgc => "cfgc",
        }
    }
}

pub use grammar::template::Template;

/// What `# cfgc: allow(RULE) REASON` is worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Allowances {
    /// It allows.
    #[default]
    Allow,
    /// It allows if it gives a reason.
    Reason,
    /// It allows nothing.
    Forbid,
}

impl Allowances {
    /// Every one.
    pub const ALL: [Self; 3] = [Self::Allow, Self::Reason, Self::Forbid];

    /// As users write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Reason => "reason",
            Self::Forbid => "forbid",
        }
    }
}
