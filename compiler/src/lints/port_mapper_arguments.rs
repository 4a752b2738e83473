//! A port mapper without its three arguments.
use super::{meant, rule::rule};
use crate::{
    finding::Finding,
    lower::command::{Arg, Command},
};

rule! {
    /// A port mapper takes options, then a port, a host and a port; 3proxy refuses anything else.
    ///
    /// The options come first. Neither port may be 0, not even with a `unix:` target, where the second is not used.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow *
    /// tcppm 8080 192.0.2.1 80 -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow *
    /// tcppm -i127.0.0.1 8080 192.0.2.1 80
    /// ```
    "port-mapper-arguments",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    refused: true,
    from lowering,
}

/// `rest` stands behind the options.
pub(crate) fn count(command: &Command<'_>, rest: &[Arg<'_>]) -> Finding {
    let late = command
        .arguments
        .iter()
        .skip_while(|word| word.value.starts_with(b"-"))
        .find(|word| word.value.starts_with(b"-"));
    let name = command.name();
    let finding = RULE.finding(
        late.map_or(command.at, |word| word.at),
        format!("`{name}` takes a port, a host and a port after its options, not {} words", rest.len()),
    );
    let apart = rest.last().filter(|_| late.is_none() && rest.len() == 2).and_then(meant::port_apart);
    if let Some((help, fix)) = apart {
        return finding.help(help).fix(fix);
    }
    finding.help(if late.is_some() {
        format!("put the options first: `{name} -i127.0.0.1 8080 192.0.2.1 80`")
    } else {
        format!("write `{name} PORT HOST PORT`")
    })
}

/// `word` is read as port 0.
pub(crate) fn port(word: &Arg<'_>) -> Finding {
    RULE.finding(word.at, format!("`{}` is not a port that a port mapper accepts", word.text()))
        .help("write a number from 1 to 65535")
}
