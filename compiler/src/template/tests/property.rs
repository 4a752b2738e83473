//! What is said of a configuration of which something is unknown holds whatever that is.
use std::{collections::BTreeSet, path::Path};

use grammar::directive::Bearing;

use crate::{
    compile_with,
    lints::{self, rule::Reads},
    options::{CompileOptions, Template},
    sources::MemoryFiles,
};

/// A finding, without its words: rule, line, and the lines that it points at besides.
type Found = (&'static str, u32, Vec<u32>);

fn all(text: &str, options: &CompileOptions) -> BTreeSet<Found> {
    let mut files = MemoryFiles::default();
    files.insert("main", text);
    let compiled = compile_with(Path::new("main"), &files, options);
    let line = |at| compiled.sources.line_column(at).line;
    let found = compiled.findings.iter().filter(|finding| finding.rule != "template-markers");
    found
        .map(|finding| {
            (finding.rule, line(finding.at), finding.labels.iter().map(|label| line(label.at)).collect())
        })
        .collect()
}

/// Lines, and words of which one may stand in place of `_`.
const LINES: [(&str, &[&str]); 30] = [
    ("users _", &["a:CL:x", "b:CL:y", "a:CR:", "c"]),
    ("users a:CL:x _", &["b:CL:y", "a:CL:z", "c:NT:0"]),
    ("auth _", &["none", "iponly", "strong", "useronly"]),
    ("auth iponly _", &["strong", "none"]),
    ("auth cache strong", &[""]),
    ("authcache _ 60", &["user", "ip,user,pass", "ip"]),
    ("allow _", &["*", "a", "b", "10.0.0.1"]),
    ("allow * _", &["10.0.0.0/8", "*", "127.0.0.1"]),
    ("allow * * _", &["*", "127.0.0.1", "www.example.net", "10.0.0.300"]),
    ("allow * * * _", &["80", "443", "3128", "80;443"]),
    ("allow * * * 80 _", &["HTTP", "CONNECT", "ADMIN"]),
    ("deny _", &["*", "a"]),
    ("deny * * _", &["127.0.0.1", "10.0.0.0/8", "*.example.net"]),
    ("deny *", &[""]),
    ("parent _ http 192.0.2.1 3128", &["1000", "500"]),
    ("parent 1000 _ 192.0.2.1 3128", &["http", "socks5", "extip"]),
    ("flush", &[""]),
    ("internal _", &["127.0.0.1", "192.168.0.1", "203.0.113.1"]),
    ("external _", &["192.0.2.7", "2001:db8::7"]),
    ("log _", &["/var/log/a", "/var/log/b"]),
    ("log /var/log/a _", &["D", "M"]),
    ("rotate _", &["0", "30"]),
    ("maxconn _", &["100", "5000"]),
    ("bandlimin _ a", &["1000000", "5000"]),
    ("nserver _", &["192.0.2.53", "192.0.2.54"]),
    ("proxy -p_", &["3128", "80", "abc"]),
    ("proxy -i_", &["127.0.0.1", "192.168.0.1", "203.0.113.1"]),
    ("socks -p1080 _", &["-i127.0.0.1", "-6", "-a"]),
    ("admin _", &["-p80", "-i127.0.0.1"]),
    ("tcppm 25 192.0.2.25 _", &["25", "80"]),
];

/// How many configurations are tried.
const TRIED: usize = 300;

/// Numbers below a bound, the same ones each time.
fn numbers(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed;
    move |bound| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % bound
    }
}

/// For a random configuration in which one word is unknown: what is found is found whatever the word is. And of what is found
/// whatever it is, nothing else is left out than what may depend on it: if it is a user, what rules say that read of users; if it
/// decides about no request, nothing at all.
#[test]
fn what_is_said_of_an_unknown_word_holds_for_each_of_its_values() {
    let plain = CompileOptions { template: Template::No, ..CompileOptions::default() };
    let unread = CompileOptions { includes: false, ..plain.clone() };
    let template = CompileOptions { template: Template::Yes, ..CompileOptions::default() };
    let mut next = numbers(7);
    let mut certain = 0;
    for _ in 0..TRIED {
        let mut lines: Vec<String> = Vec::new();
        let count = 3 + next(6);
        let hole = next(count);
        let mut chosen = None;
        for place in 0..count {
            let (line, values) = LINES[next(LINES.len())];
            if place == hole && line.contains('_') {
                chosen = Some((line, values));
            }
            let keeps = place == hole;
            lines.push(if keeps { line.to_owned() } else { line.replace('_', values[next(values.len())]) });
        }
        let Some((line, values)) = chosen else { continue };
        let with = |word: &str| {
            let mut lines = lines.clone();
            lines[hole] = lines[hole].replace('_', word);
            lines.join("\n") + "\n"
        };
        let keys = |found: &BTreeSet<Found>| found.iter().map(|it| (it.0, it.1)).collect::<BTreeSet<_>>();
        let whole: Vec<_> = values.iter().map(|value| all(&with(value), &plain)).collect();
        let common = whole.iter().skip(1).fold(whole[0].clone(), |common, found| &common & found);
        let rules = whole.iter().skip(1).fold(keys(&whole[0]), |common, found| &common & &keys(found));
        let own = u32::try_from(hole).unwrap() + 1;
        for (marker, options) in [("{{ x }}", &template), ("$/etc/x", &unread)] {
            // 3proxy reads no file within a word.
            if marker.starts_with('$') && !line.contains(" _") {
                continue;
            }
            let text = with(marker);
            let found = all(&text, options);
            let wrong: Vec<_> = keys(&found).difference(&rules).copied().collect();
            assert!(wrong.is_empty(), "not for each value: {wrong:?} in\n{text}");
            certain += found.len();
            let name = line.split(' ').next().unwrap();
            let decides =
                grammar::directive::find(name.as_bytes()).is_none_or(|row| row.bearing != Bearing::Nothing);
            let is_detail = line.starts_with("proxy -p") || line.starts_with("bandlimin _");
            let silent = |rule: &str| match lints::find(rule).unwrap().reads {
                Reads::Everything => true,
                Reads::Users => name == "users" || decides && !is_detail,
                Reads::Decisions | Reads::Admission => name != "users" && decides && !is_detail,
                _ => name != "users" && decides,
            };
            let lost: Vec<_> = common
                .iter()
                .filter(|(rule, at, others)| {
                    !silent(rule)
                        && *at != own
                        && !others.contains(&own)
                        && !keys(&found).contains(&(rule, *at))
                })
                .collect();
            assert!(lost.is_empty(), "lost without need: {lost:?} in\n{text}");
        }
    }
    assert!(certain > TRIED / 4, "{certain}");
}

/// The same of a line that stands in a file which is not read. Rules that read a line alone say what is wrong with it if it has an effect.
#[test]
fn what_is_said_beside_an_unread_file_holds_whatever_it_holds() {
    let unread = CompileOptions { includes: false, ..CompileOptions::default() };
    let mut next = numbers(11);
    let mut certain = 0;
    for _ in 0..TRIED {
        let count = 3 + next(6);
        let hole = next(count);
        let lines: Vec<String> = (0..count)
            .map(|_| {
                let (line, values) = LINES[next(LINES.len())];
                line.replace('_', values[next(values.len())])
            })
            .collect();
        let with = |line: &str| {
            let mut lines = lines.clone();
            lines[hole] = line.to_owned();
            lines.join("\n") + "\n"
        };
        let text = with("include /etc/x");
        let found = all(&text, &unread);
        certain += found.len();
        for _ in 0..8 {
            let (line, values) = LINES[next(LINES.len())];
            let whole = with(&line.replace('_', values[next(values.len())]));
            let of_whole: BTreeSet<_> = all(&whole, &unread).iter().map(|it| (it.0, it.1)).collect();
            let whole_rule = |it: &&Found| lints::find(it.0).unwrap().reads != Reads::Line;
            let wrong: Vec<_> =
                found.iter().filter(whole_rule).filter(|it| !of_whole.contains(&(it.0, it.1))).collect();
            assert!(wrong.is_empty(), "{wrong:?} of\n{text}not of\n{whole}");
        }
    }
    assert!(certain > TRIED / 4, "{certain}");
}

/// The same of lines in a block, which may not be there, or come again.
#[test]
fn what_is_said_beside_a_block_holds_whether_its_lines_are_there_or_not() {
    let plain = CompileOptions { template: Template::No, ..CompileOptions::default() };
    let template = CompileOptions { template: Template::Yes, ..CompileOptions::default() };
    let mut next = numbers(13);
    let mut certain = 0;
    for _ in 0..TRIED {
        let mut some = |count: usize| {
            let mut line = || {
                let (line, values) = LINES[next(LINES.len())];
                line.replace('_', values[next(values.len())]) + "\n"
            };
            (0..count).map(|_| line()).collect::<String>()
        };
        let (before, block, behind) = (some(3), some(1), some(4));
        for (open, close, copies) in
            [("{% if x %}", "{% endif %}", &[0, 1][..]), ("{% for x in y %}", "{% endfor %}", &[0, 1, 2])]
        {
            let text = format!("{before}{open}\n{block}{close}\n{behind}");
            let found = all(&text, &template);
            certain += found.len();
            for copies in copies {
                let lines = block.repeat(*copies);
                let whole = format!("{before}\n{lines}\n{behind}");
                let of_whole = all(&whole, &plain);
                // What stands in front is where it was, what stands behind as far from the end.
                let key = |it: &Found, text: &str| {
                    let behind = it.1 > 4;
                    let end = u32::try_from(text.lines().count()).unwrap();
                    (it.0, behind, if behind { end - it.1 } else { it.1 })
                };
                let of_whole: BTreeSet<_> = of_whole.iter().map(|it| key(it, &whole)).collect();
                let whole_rule = |it: &&Found| lints::find(it.0).unwrap().reads != Reads::Line;
                let wrong: Vec<_> = found
                    .iter()
                    .filter(whole_rule)
                    .filter(|it| !of_whole.contains(&key(it, &text)))
                    .collect();
                assert!(wrong.is_empty(), "{wrong:?} of\n{text}not of\n{whole}");
            }
        }
    }
    assert!(certain > TRIED / 4, "{certain}");
}
