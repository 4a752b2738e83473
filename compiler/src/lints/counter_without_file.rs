//! `counter-without-file`
use super::rule::{Lint, rule};
use crate::options::Runner;

rule! {
    /// What this quota counts is lost at exit, because there is no counter file, or it comes too late.
    ///
    /// Quotas with a number are kept in the file of the `counter` line, which must come before them. Without it they start again with
    /// each start of 3proxy. (For `cfgc run` the line may be anywhere.)
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// countin 1 M 1000 alice
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// counter /var/lib/3proxy/counters
    /// countin 1 M 1000 alice
    /// countin 0 D 100 bob
    /// proxy -i10.0.0.1
    /// ```
    "counter-without-file",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    reads: Settings,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    // A part of a configuration: another may name the file.
    if lint.program.services.is_empty() {
        return;
    }
    let numbered = |quota: &crate::program::limits::Quota| quota.number != 0;
    let traffic = &lint.program.limits.traffic;
    let kept = |line: &&crate::program::limits::Traffic| line.limit.limit.as_ref().is_some_and(numbered);
    let commands = &lint.program.commands;
    let file = commands.iter().position(|ran| ran.row.name == "counter");
    if file.is_some() && lint.options.runner == Runner::Cfgc {
        return;
    }
    let before = commands.get(..file.unwrap_or(commands.len())).unwrap_or_default();
    let lines = traffic.iter().filter(kept).map(|line| line.limit.at);
    let Some(first) = lines.into_iter().find(|at| before.iter().any(|ran| ran.at == *at)) else { return };
    let finding = match file.and_then(|at| commands.get(at)) {
        None => RULE
            .finding(first, "what this quota counts is lost at exit: there is no counter file")
            .label("starts again at 0 with each start")
            .help("write `counter FILE` before it, or the number 0"),
        Some(counter) => RULE
            .finding(
                first,
                "what this quota counted before is not loaded, because the counter file is opened after it",
            )
            .label("starts again at 0 with each start")
            .also(counter.at, "the file is opened here")
            .help("move the `counter` line above the quotas"),
    };
    lint.report(finding);
}

#[cfg(test)]
mod tests {
    use crate::{
        lints::tests::check,
        options::{CompileOptions, Runner},
        sources::MemoryFiles,
    };

    #[test]
    fn the_file_comes_first() {
        check(
            "counter-without-file",
            "countin 0 D 1 *\ncountin 1 D 10 alice\n#^ is not loaded\ncountin 2 D 10 bob\ncounter /c\nproxy -i127.0.0.1\n",
        );
    }

    #[test]
    fn cfgc_reads_it_wherever_it_is_named() {
        for (text, expected) in [("countin 1 D 1 *\ncounter /c\nproxy\n", 0), ("countin 1 D 1 *\nproxy\n", 1)]
        {
            let mut files = MemoryFiles::default();
            files.insert("3proxy.cfg", text);
            let options = CompileOptions { runner: Runner::Cfgc, ..CompileOptions::default() };
            let compiled = crate::compile_with("3proxy.cfg".as_ref(), &files, &options);
            let found = compiled.findings.iter().filter(|finding| finding.rule == "counter-without-file");
            assert_eq!(found.count(), expected, "{text}");
        }
    }
}
