//! A log format without its first letter.
use grammar::{Span, value::LogFormatTrap};

use super::rule::{Misread, rule};
use crate::{
    finding::Finding,
    fix::{Fix, Safety},
    program::trap::Trap,
    sources::Loc,
};

rule! {
    /// A log format begins with `L` (local time) or `G` (Greenwich): any other first character is lost.
    ///
    /// 3proxy takes the first character for the zone whatever it is, so a format that begins with `%d` prints `d`.
    ///
    /// ```3proxy,fires
    /// log
    /// logformat "%d.%m.%Y %H:%M:%S %U"
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,fixed
    /// log
    /// logformat "L%d.%m.%Y %H:%M:%S %U"
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Characters to be filtered may come before it:
    ///
    /// ```3proxy,clean
    /// log
    /// logformat "-""+_G%Y-%m-%d %H:%M:%S %U"
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "log-format-no-zone",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    trap: Trap::LogFormat(LogFormatTrap::FirstByteLost) => finding,
}

fn finding(first: Misread<'_>) -> Finding {
    // The whole word, if it has quotes within. Then behind a filter the place is not known.
    let quoted = first.text.starts_with(b"\"");
    let to_end = Span::new(first.at.span.start + u32::from(quoted), first.whole.span.end);
    let body = first.sources.text(Loc { file: first.at.file, span: to_end });
    let filtered = quoted && body.starts_with(b"-");
    let lost = body.iter().take(1).map(|byte| char::from(*byte)).collect::<String>();
    let message = match body {
        [b'%', letter, ..] if !filtered => {
            format!(
                "`%{letter}` at the start is printed as `{letter}`: the zone is missing",
                letter = char::from(*letter)
            )
        }
        _ if filtered || !lost.is_ascii() || lost.is_empty() => {
            "the zone is missing at the start of this log format".to_owned()
        }
        _ => format!("`{lost}` at the start is lost: the zone is missing"),
    };
    let place = Loc { file: first.at.file, span: Span::new(to_end.start, to_end.start) };
    let fix = Fix::replace("write `L`, for local time, in front", Safety::Safe, place, "L");
    RULE.finding(first.at, message)
        .label("the first character selects local time (`L`) or UTC (`G`)")
        .help("write `L` or `G` first")
        .fix((!filtered).then_some(fix))
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::{check, findings};

    #[test]
    fn what_is_lost_is_cited() {
        check(
            "log-format-no-zone",
            "log\nlogformat \"%t %U\"\n#^ `%t` at the start is printed as `t`\nproxy\n",
        );
        check("log-format-no-zone", "log\nlogformat _%t\n#         ^ `_` at the start is lost\nproxy\n");
        check("log-format-no-zone", "log\nproxy -fL%t\nsocks -f%t\n#       ^ at the start is\n");
        check(
            "log-format-no-zone",
            "log\nlogformat \"-\"\"+_%t\"\n#^ the zone is missing at the start\nproxy\n",
        );
        check(
            "log-format-no-zone",
            "log\nlogformat \"-'+_%t\"\n#              ^ `%t` at the start is printed as `t`\nproxy\n",
        );
    }

    #[test]
    fn no_fix_where_the_place_is_not_known() {
        let fix = |format: &str| {
            let found = findings("log-format-no-zone", &format!("log\nlogformat {format}\nproxy\n"));
            found[0].fix.clone()
        };
        assert_eq!(fix("\"-\"\"+_%t\""), None);
        assert_eq!(fix("\"-'+_%t\"").unwrap().edits[0].at.span.start, 19);
    }
}
