//! What mending makes of small configurations.
use std::path::Path;

use super::{Known, Mended, Other, mend};
use crate::{
    Compiled, compile,
    finding::Level,
    fix::Safety,
    sources::{Files, MemoryFiles},
};

const MAIN: &str = "3proxy.cfg";

fn compiled(files: &dyn Files) -> Compiled {
    let mut compiled = compile(Path::new(MAIN), files);
    compiled.findings.retain(|finding| finding.level != Level::Allow);
    compiled
}

fn mended(text: &str, more: &str, allowed: Safety) -> Mended {
    let mut files = MemoryFiles::default();
    files.insert(MAIN, text);
    files.insert("more", more);
    mend(&files, &compiled, &[], allowed)
}

fn text(mended: &Mended, path: &str) -> Option<String> {
    let changed = mended.changed.get(Path::new(path))?;
    Some(String::from_utf8(changed.after.clone()).unwrap())
}

#[test]
fn safe_fixes_are_made_until_none_is_left() {
    let before = "\u{feff}internal 127.0.0.1\nauth iponly\nallow * * * 443-80 * Mon-Fri\nproxy \u{2013}a\n";
    let mended = mended(before, "", Safety::Safe);
    assert_eq!(
        text(&mended, MAIN).unwrap(),
        "internal 127.0.0.1\nauth iponly\nallow * * * 80-443 * 1-5\nproxy -a\n"
    );
    let rules: Vec<_> = mended.made.iter().map(|made| (made.rule, made.line)).collect();
    // What 3proxy refuses first.
    let expected =
        [("bom", 1), ("unknown-option", 4), ("port-list-malformed", 3), ("weekday-not-understood", 3)];
    assert_eq!(rules, expected);
    assert!(mended.withheld.is_empty(), "{:?}", mended.withheld);
    assert!(mended.compiled.findings.is_empty(), "{:#?}", mended.compiled.findings);
}

#[test]
fn unsafe_fixes_wait_until_they_are_asked_for() {
    let before = "internal 127.0.0.1\nauth iponly\n  deny * 127.0.0.2\nallow *\nproxy\n";
    assert!(mended(before, "", Safety::Safe).changed.is_empty());
    let after = text(&mended(before, "", Safety::Unsafe), MAIN);
    assert_eq!(after.unwrap(), before.replace("  deny", "deny"));
}

#[test]
fn a_file_that_is_included_twice_is_mended_once() {
    let before = "internal 127.0.0.1\nauth iponly\ninclude more\nproxy\nflush\ninclude more\nsocks\n";
    let mended = mended(before, "allow * * * 443-80\n", Safety::Safe);
    assert_eq!(text(&mended, "more").unwrap(), "allow * * * 80-443\n");
    assert_eq!(mended.changed.len(), 1);
}

#[test]
fn a_fix_that_would_bring_a_finding_is_not_made() {
    // Turned round, the range lets strangers in.
    let before = "auth iponly\nallow * * * 443-80\nproxy \u{2013}a\n";
    let mended = mended(before, "", Safety::Safe);
    assert_eq!(text(&mended, MAIN).unwrap(), before.replace('\u{2013}', "-"));
    let [withheld] = &mended.withheld[..] else { panic!("{:?}", mended.withheld) };
    assert_eq!((withheld.fix.rule, &withheld.brings[..]), ("port-list-malformed", &["open-proxy"][..]));
}

/// 3proxy reads nothing of a line that it refuses: what is wrong with it besides is found when it is mended.
#[test]
fn a_fix_of_what_3proxy_refuses_may_bring_what_is_less_bad() {
    // The list has users whom nobody defines until the line that defines others is read.
    let before = "users bob:CL:$ecret\nauth strong\nallow bob,alice\nsocks -i127.0.0.1\n";
    let refused = mended(before, "", Safety::Safe);
    assert_eq!(refused.made.iter().map(|made| made.rule).collect::<Vec<_>>(), ["password-read-as-include"]);
    assert_eq!(text(&refused, MAIN).unwrap(), before.replace("$ecret", "\"$ecret\""));
    let left: Vec<_> = refused.compiled.findings.iter().map(|finding| finding.rule).collect();
    assert_eq!(left, ["unknown-user-in-acl"]);
    assert!(refused.withheld.is_empty(), "{:?}", refused.withheld);
    // What is as bad holds it back.
    let before = "allow * 127.0.0.1\nproxy -i127.0.0.1 -p1081\nsocks -i127.0.0.1 \u{2013}p1081\n";
    let twice = mended(before, "", Safety::Safe);
    let [withheld] = &twice.withheld[..] else { panic!("{:?}", twice.withheld) };
    assert_eq!((withheld.fix.rule, &withheld.brings[..]), ("unknown-option", &["duplicate-listener"][..]));
}

#[test]
fn a_fix_that_uncovers_another_fault_of_its_rule_is_made_with_that_ones_fix() {
    for (before, after) in [
        // 3proxy says of one word only that it refuses it.
        ("auth iponly\nallow * 10.0.0.0/8\nproxy -p 3128 -i 10.0.0.1\n", "proxy -p3128 -i10.0.0.1\n"),
        (
            "users a:CL:jd72hdG b:CL:jd72hdH\nauth strong\nallow a\ndeny *\nproxy -i127.0.0.1\nallow b\ndeny *\n\
             socks -i127.0.0.1\nallow a\nadmin -i127.0.0.1\n",
            "flush\nallow b\ndeny *\nsocks -i127.0.0.1\nflush\nallow a\nadmin",
        ),
    ] {
        let mended = mended(before, "", Safety::Unsafe);
        let text = text(&mended, MAIN).unwrap_or_default();
        assert!(text.contains(after), "{text}: {:?}", mended.withheld);
    }
}

#[test]
fn ten_thousand_lines_are_mended_at_once() {
    let lines = "allow * * * 443-80\n".repeat(10_000);
    let mended = mended(&format!("internal 127.0.0.1\nauth iponly\n{lines}proxy\n"), "", Safety::Safe);
    assert_eq!(mended.made.len(), 10_000);
    assert!(!text(&mended, MAIN).unwrap().contains("443-80"));
}

#[test]
fn what_would_not_be_made_is_not_offered() {
    let offered = |text: &str| {
        let mut files = MemoryFiles::default();
        files.insert(MAIN, text);
        let mut found = compiled(&files);
        let before = found.findings.iter().filter(|finding| finding.fix.is_some()).count();
        super::preview(&files, &compiled, &found, &[], Safety::Unsafe)
            .unwrap()
            .withhold(&mut found, |_| true);
        let after = found.findings.iter().filter(|finding| finding.fix.is_some()).count();
        (before, after)
    };
    // Behind an `allow` of all the moved entry would be reached by nobody.
    assert_eq!(offered("auth iponly\nallow *\nproxy -i127.0.0.1\ndeny * * 127.0.0.0/8\n"), (1, 0));
    assert_eq!(offered("auth iponly\nproxy -i127.0.0.1\nallow * 127.0.0.0/8\n"), (1, 1));
    assert_eq!(offered("internal 127.0.0.1\nauth iponly\nallow * * * 443-80 * Mon-Fri\nproxy\n"), (2, 2));
}

/// Two findings, two ways to cure one cause: the one that cures both is made.
#[test]
fn one_cause_is_mended_once() {
    let before = "internal 127.0.0.1\nusers alice:CL:wonderland\nauthcache user,pass 600\nauth cacheacl strong\n\
                  allow alice * * 80,443\nparent 1000 socks5 192.0.2.10 1080\nproxy\n";
    let mended = mended(before, "", Safety::Safe);
    assert_eq!(text(&mended, MAIN).unwrap(), before.replace("cacheacl", "cache"));
    assert_eq!(mended.made.len(), 1, "{:?}", mended.made);
}

#[test]
fn what_is_foreseen_is_done() {
    for text in [
        "\u{feff}internal 127.0.0.1\nauth iponly\nallow * * * 443-80 * Mon-Fri\nproxy \u{2013}a\n",
        "auth iponly\nallow *\nproxy -i127.0.0.1\ndeny * * 127.0.0.0/8\n",
        "internal 127.0.0.1\nauth iponly\n  deny * 127.0.0.2\nallow *\nproxy\n",
    ] {
        for allowed in [Safety::Safe, Safety::Unsafe] {
            let mut files = MemoryFiles::default();
            files.insert(MAIN, text);
            let previewed = super::preview(&files, &compiled, &compiled(&files), &[], allowed).unwrap();
            let done = mend(&files, &compiled, &[], allowed);
            assert_eq!(previewed.made, done.made, "{text}");
            assert_eq!(previewed.changed, done.changed, "{text}");
        }
    }
}

/// What is compiled is `MAIN`; the other configuration is `other`, and both read `more`.
#[test]
fn no_fix_makes_another_configuration_worse() {
    for (other_text, is_made) in [("socks\n", false), ("proxy\n", true)] {
        let mut files = MemoryFiles::default();
        let with = |service: &str| format!("internal 127.0.0.1\nauth iponly\ninclude more\n{service}");
        files.insert(MAIN, with("proxy\n"));
        files.insert("other", with(other_text));
        files.insert("more", "allow * * 192.0.2.1 * CONNECT * *\ndeny * * * 443-80\n");
        let reads = [Path::new("other").to_owned(), "more".into()].into();
        let other = Other {
            path: Path::new("other"),
            reads: &reads,
            known: &Known::default(),
            compile: Box::new(|files: &dyn Files| {
                let mut compiled = compile(Path::new("other"), files);
                compiled.findings.retain(|finding| finding.level != Level::Allow);
                compiled
            }),
        };
        let mended = mend(&files, &compiled, &[other], Safety::Unsafe);
        let changed = text(&mended, "more").unwrap();
        assert!(changed.contains("80-443"), "what helps both is made: {changed}");
        assert_eq!(changed.contains("HTTP_CONNECT"), is_made, "{changed}");
        let told: Vec<_> = mended.withheld.iter().map(|withheld| withheld.elsewhere.as_deref()).collect();
        assert_eq!(told, if is_made { vec![] } else { vec![Some(Path::new("other"))] });
        let left = mended.compiled.findings.iter().filter(|finding| finding.fix.is_some()).count();
        assert_eq!(left, 0, "a fix that is not made is not offered");
    }
}

/// A file under two names, of which one goes by a link: `./` is none by itself.
struct Linked(MemoryFiles);

impl Files for Linked {
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        self.0.read(&self.place(path))
    }

    fn place(&self, path: &Path) -> std::path::PathBuf {
        Path::new(path.to_str().unwrap().trim_start_matches("link/")).to_owned()
    }
}

#[test]
fn a_file_of_two_names_is_mended_once() {
    let mut files = MemoryFiles::default();
    files.insert(
        MAIN,
        "internal 127.0.0.1\nauth iponly\ninclude more\nproxy\nflush\ninclude link/more\nproxy -p3129\n",
    );
    files.insert("more", "allow * * * 443-80\nallow * * * * CONNECT\n");
    let mended = mend(&Linked(files), &compiled, &[], Safety::Unsafe);
    let changed: Vec<_> = mended.changed.keys().map(|path| path.to_str().unwrap()).collect();
    assert_eq!(changed, ["more"]);
    assert_eq!(text(&mended, "more").unwrap(), "allow * * * 80-443\nallow * * * * HTTP_CONNECT\n");
    assert_eq!(mended.made.len(), 2, "{:?}", mended.made);
}

/// Each fix brings something, so each is tried by itself.
#[test]
fn it_is_told_that_not_everything_was_tried() {
    let compile = |files: &dyn Files| {
        let mut compiled = compiled(files);
        let bad = String::from_utf8_lossy(&files.read(Path::new(MAIN)).unwrap()).matches("80-443").count();
        let brought = crate::finding::Finding::new("crlf", Level::Warn, crate::sources::Loc::default(), "x");
        compiled.findings.extend(std::iter::repeat_n(brought, bad));
        compiled
    };
    for (lines, previewed, made) in [(1, false, false), (40, true, false), (300, true, true)] {
        let mut files = MemoryFiles::default();
        let list = "deny * * * 443-80\n".repeat(lines);
        files.insert(MAIN, format!("internal 127.0.0.1\nauth iponly\n{list}allow *\nproxy\n"));
        let plan = super::preview(&files, &compile, &compile(&files), &[], Safety::Safe).unwrap();
        assert_eq!(plan.ran_out, previewed, "{lines}");
        assert_eq!(mend(&files, &compile, &[], Safety::Safe).ran_out, made, "{lines}");
    }
}

/// Each try is a compilation of everything: in a long text few are made, and it is said that others were not.
#[test]
fn the_longer_a_text_is_the_fewer_fixes_are_tried() {
    let work = |entries: usize| {
        let list: String = (0..entries).map(|n| format!("allow user{n}\n")).collect();
        // Behind `allow *` each of the moved entries would be reached by nobody.
        let denies: String = (0..40).map(|n| format!("deny * * 127.0.{n}.0/24\n")).collect();
        let text = format!("auth useronly\n{list}allow *\nproxy -i127.0.0.1\n{denies}");
        let mut files = MemoryFiles::default();
        files.insert(MAIN, text.as_str());
        let first = compiled(&files);
        let tried = std::cell::Cell::new(0);
        let count = |files: &dyn Files| {
            tried.set(tried.get() + 1);
            compiled(files)
        };
        let previewed = super::preview(&files, &count, &first, &[], Safety::Unsafe).unwrap();
        (tried.get() * text.len(), tried.get(), previewed.ran_out)
    };
    let (short, long) = (work(1), work(9_000));
    assert!(short.1 > 0 && short.1 <= 24, "{short:?}");
    assert!(long.0 <= 2 << 20 && long.1 <= 8, "{long:?}");
    assert!(short.2 || short.1 < 24, "{short:?}");
}
