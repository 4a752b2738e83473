//! How a rule is declared.

/// Declares the file's rule as `RULE`: documentation, a name, and the fields of [`Rule`](super::Rule) in the order in which they stand
/// here.
///
/// `aliases`, `parts`, `refused`, `reads` and `of_3proxy` may be missing. The last field says who finds what is wrong:
/// - `check: function`: a function that reads the Program. It `reads` the decisions, if nothing else is said.
/// - `trap: PATTERN => function`: the function makes a finding of each [`Misread`](super::Misread) with such a
///   [`Trap`](crate::program::trap::Trap), or none; what the pattern binds can be told to it by a closure. It `reads` the line.
/// - `from lowering`: lowering finds it. It `reads` the line.
macro_rules! rule {
    (
        $(#[doc = $doc:literal])+
        $name:literal,
        level: $level:ident,
        group: $group:ident,
        since: $since:literal,
        $(aliases: [$($alias:literal),+],)?
        $(parts: [$($part:literal),+],)?
        $(refused: $refused:literal,)?
        $(reads: $reads:ident,)?
        $(of_3proxy: $of_3proxy:literal,)?
        check: $check:path $(,)?
    ) => {
        $crate::lints::rule::rule!(@ [$($doc)+] $name, $level, $group, $since, [$($($alias),+)?], [$($($part),+)?], [$($refused)?], Decisions, [$($reads)?], [$($of_3proxy)?], Some($check));
    };
    (
        $(#[doc = $doc:literal])+
        $name:literal,
        level: $level:ident,
        group: $group:ident,
        since: $since:literal,
        $(aliases: [$($alias:literal),+],)?
        $(parts: [$($part:literal),+],)?
        $(refused: $refused:literal,)?
        $(reads: $reads:ident,)?
        $(of_3proxy: $of_3proxy:literal,)?
        trap: $trap:pat => $finding:expr $(,)?
    ) => {
        $crate::lints::rule::rule!(@ [$($doc)+] $name, $level, $group, $since, [$($($alias),+)?], [$($($part),+)?], [$($refused)?], Line, [$($reads)?], [$($of_3proxy)?], Some({
            fn check(lint: &mut $crate::lints::Lint<'_>) {
                for trapped in &lint.program.traps {
                    if let $trap = trapped.trap {
                        lint.report_misread(trapped, $finding);
                    }
                }
            }
            check
        }));
    };
    (
        $(#[doc = $doc:literal])+
        $name:literal,
        level: $level:ident,
        group: $group:ident,
        since: $since:literal,
        $(aliases: [$($alias:literal),+],)?
        $(parts: [$($part:literal),+],)?
        $(refused: $refused:literal,)?
        $(reads: $reads:ident,)?
        from lowering $(,)?
    ) => {
        $crate::lints::rule::rule!(@ [$($doc)+] $name, $level, $group, $since, [$($($alias),+)?], [$($($part),+)?], [$($refused)?], Line, [$($reads)?], [], None);
    };
    (@ [$($doc:literal)+] $name:literal, $level:ident, $group:ident, $since:literal, [$($alias:literal),*], [$($part:literal),*], [$($refused:literal)?], $usual:ident, [$($reads:ident)?], [$($of_3proxy:literal)?], $check:expr) => {
        /// What this file declares.
        pub(crate) static RULE: $crate::lints::Rule = $crate::lints::Rule {
            name: $name,
            docs: concat!($($doc, "\n"),+),
            level: $crate::finding::Level::$level,
            group: $crate::lints::Group::$group,
            since: $since,
            aliases: &[$($alias),*],
            parts: &[$($part),*],
            refused: false $(|| $refused)?,
            reads: $crate::lints::rule::Reads::or(
                &[$($crate::lints::rule::Reads::$reads)?],
                $crate::lints::rule::Reads::$usual,
            ),
            of_3proxy: false $(|| $of_3proxy)?,
            check: $check,
        };
    };
}
pub(crate) use rule;
