//! A template, of which not all is judged.
use super::rule::{Lint, rule};
use crate::sources::Loc;

rule! {
    /// This file is a template: the values of its markers are not known, and what they may change is not checked.
    ///
    /// Known are `{{ value }}`, `{% control %}`, `<%= value %>`, `@NAME@`, `${NAME}`, `$NAME` and `$(command)`. A word that holds one is an
    /// unknown value, and a line that holds only markers may become any lines. What is wrong with the other words and lines is found, and
    /// rules about the whole file speak only where no marker can make them wrong. Check what is made of the template as well:
    /// `cfgc check FILE`.
    ///
    /// `cfgc check` takes a file for a template if it has such a marker, by its name (`.j2`, `.template`, `.tmpl`, `.in` …), or with
    /// `--template`; `cfgc run` never does. By its name or with `--template=yes` words such as `SERVER_IP`, `__PORT__` and `_n_` are markers, too.
    ///
    /// ```3proxy,fires
    /// auth strong
    /// users {{ login }}:CL:{{ password }}
    /// allow *
    /// proxy -p{{ port }}
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// log
    /// logformat "G{""user"":""%U""}"
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1 -p3128
    /// ```
    "template-markers",
    level: Allow,
    group: Portability,
    since: "0.1.0",
    reads: Markers,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let sources = lint.sources;
    for (file, source) in sources.iter() {
        let Some(first) =
            source.unknown.as_ref().and_then(|unknown| Some((unknown.markers.first()?, unknown)))
        else {
            continue;
        };
        let (first, unknown) = first;
        let count = unknown.markers.len();
        let message = match count {
            1 => "this file is a template: it has a marker".to_owned(),
            _ => format!("this file is a template: it has {count} markers"),
        };
        let finding = RULE.finding(Loc { file, span: first.span }, message).label("its value is not known");
        lint.report(if !unknown.lines.is_empty() {
            finding.note("Some of them may add or remove lines, so each line is checked only by itself.")
        } else {
            finding.note("What depends on them is not checked.")
        });
    }
}
