//! The forms in which commands print, so that no test of all of them forgets one.

/// Of `check`.
pub(crate) const FINDINGS: [&str; 6] = ["text", "short", "json", "sarif", "github", "junit"];
/// Of `test`.
pub(crate) const SUITES: [&str; 3] = ["text", "json", "junit"];

/// Command lines that print the findings of `a.cfg`, and those that print the tests of `b.cfg` in `tests`, in every form.
pub(crate) fn printing() -> impl Iterator<Item = Vec<&'static str>> {
    let findings = FINDINGS.map(|format| vec!["check", "--format", format, "a.cfg"]);
    let suites = SUITES.map(|format| vec!["test", "--format", format, "b.cfg", "tests"]);
    findings.into_iter().chain(suites)
}
