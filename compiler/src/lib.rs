//! From tree to meaning: what a 3proxy.cfg does, what is wrong with it, and the tables that decide requests.
//!
//! Reading order:
//!
//! - The text and its meaning: [`sources`] (the file and what it includes), [`options`] (how it is to be read), [`template`] (what of it
//!   is not known), [`lower`](mod@lower) (the script, run in order), [`program`] (what it yields).
//! - What is wrong: [`lints`], [`finding`], [`fix`], [`allow`] (what comments silence); [`mask`] and [`redact`] keep secrets out of it.
//! - The access decision: [`table`], [`policy`], [`chain`] (who is let to it), [`code`] (what it ends with), [`target`] and [`way`] (where to,
//!   and by which parents); [`analysis`] proves what holds of all requests.
//! - Questions about it: [`query`], [`trace`] (why), [`suite`] (tests), [`change`] (what another version changes).
//!
//! **Invariants.** Reads files through the [`sources::Files`] trait and does no other I/O: no clock, no network,
//! no environment. Cannot fail and cannot panic: whatever the input, there is a [`Compiled`].
//! Knows neither tokio nor a terminal.
#![deny(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unreachable,
    clippy::unwrap_used
)]

mod allow;
pub mod analysis;
pub mod chain;
pub mod change;
pub mod code;
pub mod finding;
pub mod fix;
pub mod lints;
pub mod lower;
pub mod mask;
pub mod options;
pub mod policy;
pub mod program;
pub mod query;
pub mod redact;
pub mod sources;
pub mod suite;
pub mod table;
pub mod target;
mod template;
pub mod trace;
pub mod way;

use std::{mem, path::Path, sync::Arc};

use finding::Finding;
use options::CompileOptions;
use program::Program;
use sources::{Files, Sources};

/// A configuration, compiled: everything that its readers need.
#[derive(Debug)]
pub struct Compiled {
    /// The texts: the file itself and what it included.
    pub sources: Sources,
    /// What the configuration does.
    pub program: Arc<Program>,
    /// What is wrong with it, in source order. Where the same is said very often, [`finding::group`] makes one of it.
    pub findings: Vec<Finding>,
}

/// Compiles the configuration at `path` as it is to be run, and runs every lint rule on it: the markers of a template are words
/// as any other.
pub fn compile(path: &Path, files: &dyn Files) -> Compiled {
    compile_with(
        path,
        files,
        &CompileOptions { template: options::Template::No, ..CompileOptions::default() },
    )
}

/// The same, read and judged as `options` say.
pub fn compile_with(path: &Path, files: &dyn Files, options: &CompileOptions) -> Compiled {
    let mut compiled = judged(path, files, options);
    // A secret is hidden while it is whole: what shortening would leave of it could not be told from other text.
    redact::hide_all(&mut compiled, files, |files| judged(path, files, options));
    compiled.findings.iter_mut().for_each(Finding::shorten);
    compiled
}

/// A configuration with all that is found in it, secrets and all.
fn judged(path: &Path, files: &dyn Files, options: &CompileOptions) -> Compiled {
    let mut lowered = lower::lower(path, files, options);
    let found = mem::take(&mut lowered.findings);
    lowered.findings = lints::check_each(&lowered.sources, &lowered.program, options, found, |_| ());
    // The order matters. What is uncertain goes first, so that nothing certain gives way to it. Fixes get their line ends once each has
    // found its finding. Allowances see all that is left, and what they find amiss themselves cites the text, too.
    template::take_out_uncertain(&lowered.sources, &lowered.program, &mut lowered.findings);
    template::tell_placeholders(&lowered.sources, &mut lowered.findings);
    lints::yielding::give_way(&mut lowered.findings);
    fix::adopt_line_ends(&lowered.sources, &mut lowered.findings);
    allow::apply(&lowered.sources, &lowered.program, options, &mut lowered.findings);
    // Their order is settled now: what points at one line follows each other then, and the line is looked at once.
    finding::sort(&mut lowered.findings);
    lowered
}
