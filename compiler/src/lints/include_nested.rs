//! A `$file` inside a `$file`.
use grammar::syntax::LineKind;

use super::rule::{Lint, rule};
use crate::sources::{Loc, Source};

rule! {
    /// A `$file` inside the file of a `$file` is not read.
    ///
    /// 3proxy replaces `$path` by the words of that file, but not once more inside it: there `$` is an ordinary character, and is
    /// dropped at the start of a word. So the path itself becomes a user, an address or a name.
    ///
    /// ```3proxy,file=domains
    /// bad.example,worse.example
    /// $/etc/3proxy/more-domains
    /// ```
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// deny * * $domains
    /// allow * 192.168.0.0/16
    /// proxy -i192.168.0.1
    /// ```
    ///
    /// A hash of a password may begin with `$`, and so may a `$file` in a file of commands, which `include` reads:
    ///
    /// ```3proxy,file=users
    /// alice:CR:$1$salt$hash
    /// ```
    ///
    /// ```3proxy,clean
    /// users $users
    /// auth strong
    /// allow alice
    /// proxy -i192.168.0.1
    /// ```
    "include-nested",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let sources = lint.sources;
    for (file, source) in sources.iter().filter(|(_, source)| source.spliced) {
        // A list that is named in several lines stands here once for each.
        let Some(by) = source.included_at else { continue };
        if !source.text.contains(&b'$') {
            continue;
        }
        for span in nested(source) {
            let at = Loc { file, span };
            let path = String::from_utf8_lossy(sources.text(at)).into_owned();
            lint.report(
                RULE.finding(
                    at,
                    format!("`{path}` is not read, because it is in a file that is itself included by `$`"),
                )
                .label("read as it is written, without its `$`")
                .also(by, "brought in here")
                .help("name both files, one after the other, in the line of the configuration"),
            );
        }
    }
}

/// The words that begin with a `$` and a path.
fn nested(source: &Source) -> Vec<grammar::Span> {
    let Some(LineKind::Directive(words)) = source.tree.line(0).map(|line| line.kind) else {
        return Vec::new();
    };
    let text: &[u8] = &source.text;
    let dollar = |span: grammar::Span| {
        span.start.checked_sub(1).filter(|before| text.get(*before as usize) == Some(&b'$'))
    };
    let words = source.tree.words(words).filter_map(|word| {
        let start = dollar(word.span)?;
        let path = word.span.of(text);
        (path.starts_with(b"/") || path.starts_with(b"./")).then(|| grammar::Span::new(start, word.span.end))
    });
    words.collect()
}
