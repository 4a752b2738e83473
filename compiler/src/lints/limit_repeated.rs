//! `limit-repeated`
use std::collections::HashMap;

use super::rule::{Lint, rule};
use crate::{
    program::{acl::Matcher, limits::Limit},
    sources::Loc,
};

rule! {
    /// The same limit is written twice. Limits apply to all services, wherever they are in the file.
    ///
    /// A limit between two services is not one for the second: both share it.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// connlim 10 60 *
    /// proxy -p3128 -i10.0.0.1
    /// connlim 10 60 *
    /// proxy -p3129 -i10.0.0.1
    /// ```
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// connlim 20 60 *
    /// proxy -p3128 -i10.0.0.1
    /// proxy -p3129 -i10.0.0.1
    /// ```
    ///
    /// Of two bandwidths for the same requests the lower counts:
    ///
    /// ```3proxy,fires
    /// bandlimin 1000000 alice
    /// bandlimin 512000 alice
    /// proxy -i10.0.0.1
    /// ```
    "limit-repeated",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let limits = &lint.program.limits;
    let mut found = Vec::new();
    for bandwidths in [&limits.bandwidth_in, &limits.bandwidth_out] {
        repeated(bandwidths, |one, other| one == other || one.is_some() && other.is_some(), &mut found);
    }
    repeated(&limits.connections, |one, other| one == other, &mut found);
    for (at, first, same) in found {
        let message = if same {
            "this limit is already in the file, and it applies to all services"
        } else {
            "another limit already matches the same requests: both apply, so the lower one counts"
        };
        lint.report(
            RULE.finding(at, message)
                .label(if same { "adds nothing" } else { "for the same requests" })
                .also(first, "the limit that is already there")
                .help("remove one of them; a limit can't apply to a single service"),
        );
    }
}

/// Lines of the same matcher as an earlier one: where, the earlier one, and whether they are the same.
fn repeated<T: PartialEq>(
    lines: &[Limit<T>],
    counts: impl Fn(&Option<T>, &Option<T>) -> bool,
    found: &mut Vec<(Loc, Loc, bool)>,
) {
    let mut first: HashMap<(&Matcher, i32), &Limit<T>> = HashMap::new();
    for line in lines {
        let earlier = *first.entry((&line.matcher, line.weight)).or_insert(line);
        if earlier.at != line.at && counts(&earlier.limit, &line.limit) {
            found.push((line.at, earlier.at, earlier.limit == line.limit));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn the_same_list_and_the_same_requests() {
        check(
            "limit-repeated",
            r"
bandlimin 1000000 alice
bandlimout 1000000 alice
bandlimin 1000000 bob
bandlimin 500000 alice
#^ the lower one counts
nobandlimin alice
connlim 10 1 alice
connlim 100 60 alice
noconnlim alice
connlim 10 1 alice
#^ already in the file
proxy -i127.0.0.1
",
        );
    }
}
