//! What `--diff` prints, applied as `patch` does.
use super::Folder;
use crate::support::cfgc;

const HEAD: &[u8] = b"internal 127.0.0.1\nauth iponly\n";

/// A configuration for each kind of bytes that are not plain lines of ASCII.
fn texts() -> Vec<(&'static str, Vec<u8>)> {
    let entries = b"# caf\xe9\nallow * * * 443-80\n# \xff\xfe \x1b[31m \xc2\x9b \xe2\x80\xae\nproxy\n";
    let plain = [HEAD, entries].concat();
    let crlf: Vec<u8> = plain.split_inclusive(|byte| *byte == b'\n').flat_map(ended_crlf).collect();
    let end = plain.len() - 1;
    vec![
        ("latin-1", plain.clone()),
        ("crlf", crlf),
        ("bom", [b"\xef\xbb\xbf", &plain[..]].concat()),
        ("no newline", plain[..end].to_vec()),
        ("no newline in what changes", [HEAD, b"allow *\nproxy\nflush\nallow * * * 443-80"].concat()),
        ("tabs", [HEAD, b"allow\t*\t*\t*\t443-80\t\r\nproxy\n"].concat()),
        ("form feed", [HEAD, b"allow * * * 443-80\n# \x0c \x0b\nproxy\n"].concat()),
    ]
}

fn ended_crlf(line: &[u8]) -> Vec<u8> {
    line.strip_suffix(b"\n").map_or(line.to_vec(), |line| [line, b"\r\n"].concat())
}

/// The text with a unified difference of it applied; every line that it takes as known is compared.
fn applied(text: &[u8], difference: &[u8]) -> Vec<u8> {
    let old: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    let (mut new, mut at): (Vec<u8>, usize) = (Vec::new(), 0);
    let lines: Vec<&[u8]> = difference.split_inclusive(|byte| *byte == b'\n').collect();
    for (index, line) in lines.iter().enumerate().skip(2) {
        let unended = lines.get(index + 1).is_some_and(|next| next.starts_with(b"\\ No newline"));
        let content = line.get(1..line.len() - usize::from(unended)).unwrap();
        match line[0] {
            b'@' => {
                let words = String::from_utf8(line.to_vec()).unwrap();
                let range = words.split(' ').nth(1).unwrap().trim_start_matches('-');
                let mut numbers = range.split(',').map(|number| number.parse::<usize>().unwrap());
                let (start, count) = (numbers.next().unwrap(), numbers.next().unwrap_or(1));
                let start = if count == 0 { start } else { start - 1 };
                new.extend(old[at..start].concat());
                at = start;
            }
            b'+' => new.extend(content),
            sign @ (b' ' | b'-') => {
                assert_eq!(content, old[at], "line {}", at + 1);
                if sign == b' ' {
                    new.extend(content);
                }
                at += 1;
            }
            b'\\' => {}
            _ => panic!("no line of a difference: {line:?}"),
        }
    }
    new.extend(old[at..].concat());
    new
}

#[test]
fn a_difference_makes_the_fixed_file_of_the_old_one() {
    for (name, text) in texts() {
        for arguments in
            [&["check", "--diff"][..], &["check", "--diff", "--unsafe-fixes"], &["fmt", "--diff"]]
        {
            let folder = Folder::with(&[]);
            folder.write("a.cfg", &text);
            let run = |arguments: &[&str]| {
                let mut command = cfgc::command();
                command.args(arguments).arg("a.cfg").current_dir(folder.path("")).output().unwrap()
            };
            let difference = run(arguments).stdout;
            let fixing: Vec<&str> = match arguments {
                ["check", "--diff"] => vec!["check", "--fix"],
                others => others.iter().copied().filter(|argument| *argument != "--diff").collect(),
            };
            run(&fixing);
            let fixed = std::fs::read(folder.path("a.cfg")).unwrap();
            assert_eq!(applied(&text, &difference), fixed, "{name}, {arguments:?}");
            assert!(arguments[0] == "fmt" || fixed != text, "{name}");
            let is_shown = difference.windows(6).any(|part| part == b"\\u{d}\n");
            assert!(!is_shown, "{name}");
        }
    }
}
