//! Filters of what passes: `pcre…`. Their entries are read as any other; the filters themselves are not modelled.
use super::{
    Handlers, Lowering,
    command::{Arg, Command},
};
use crate::{lints, program::process::Filter};

pub(super) const HANDLERS: Handlers = &[
    ("pcre", |lowering, command| lowering.filter(command, "pcre", 3)),
    ("pcre_rewrite", |lowering, command| lowering.filter(command, "pcre_rewrite", 4)),
    ("pcre_extend", |lowering, command| {
        lowering.matcher(command, 0);
        lowering.keep_filter(command, "pcre_extend");
    }),
    ("pcre_options", |lowering, command| lowering.keep_filter(command, "pcre_options")),
];

/// What a filter does with what it matches: 3proxy compares the beginning of the word.
const ACTIONS: [&str; 4] = ["allow", "deny", "remove", "dunno"];

impl Lowering<'_> {
    /// `pcre TYPE ACTION EXPRESSION [REPLACEMENT] ENTRY`.
    fn filter(&mut self, command: &Command<'_>, name: &'static str, entry: usize) {
        if let Some(action) = command.argument(1)
            && !ACTIONS.iter().any(|known| action.value.starts_with(known.as_bytes()))
        {
            let message = format!("`{}` is no action of a filter", action.text());
            let help = "write one of `allow`, `deny`, `remove`, `dunno`";
            self.report(lints::invalid_value::RULE.finding(action.at, message).help(help));
        }
        self.matcher(command, entry);
        self.keep_filter(command, name);
    }

    fn keep_filter(&mut self, command: &Command<'_>, name: &'static str) {
        let words = command.arguments.iter().map(Arg::text).collect();
        self.program.process.filters.push(Filter { at: command.at, name, words });
        self.program.unmodelled.push(command.at);
    }
}
