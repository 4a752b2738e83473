//! Filters of what passes: `pcre…`. Their entries are read as any other; the filters themselves are not modelled.
use super::{Handlers, Lowering, command::Command};
use crate::lints;

pub(super) const HANDLERS: Handlers = &[
    ("pcre", |lowering, command| lowering.filter(command, 3)),
    ("pcre_rewrite", |lowering, command| lowering.filter(command, 4)),
    ("pcre_extend", |lowering, command| {
        lowering.matcher(command, 0);
        lowering.keep_filter(command);
    }),
    ("pcre_options", |lowering, command| lowering.keep_filter(command)),
];

/// What a filter does with what it matches: 3proxy compares the beginning of the word.
const ACTIONS: [&str; 4] = ["allow", "deny", "remove", "dunno"];

impl Lowering<'_> {
    /// `pcre TYPE ACTION EXPRESSION [REPLACEMENT] ENTRY`.
    fn filter(&mut self, command: &Command<'_>, entry: usize) {
        if let Some(action) = command.argument(1)
            && !ACTIONS.iter().any(|known| action.value.starts_with(known.as_bytes()))
        {
            let message = format!("`{}` is no action of a filter", action.text());
            let help = "write one of `allow`, `deny`, `remove`, `dunno`";
            self.report(lints::invalid_value::RULE.finding(action.at, message).help(help));
        }
        self.matcher(command, entry);
        self.keep_filter(command);
    }

    fn keep_filter(&mut self, command: &Command<'_>) {
        self.program.process.filters.push(command.at);
        self.program.unmodelled.push(command.at);
    }
}
