//! Lines and words, against tables and against an independent reading of 3proxy's splitter.
use proptest::prelude::*;

use super::{LONGEST_LINE, MOST_WORDS, parse, parse_words};
use crate::{
    Span,
    syntax::{LineKind, SyntaxError, Tree, WordShape},
};

/// A tree in few letters: `.` blank, `#` comment, `>` indented; words as `value` or `value<path>`; a fault last.
fn shown(tree: &Tree, source: &[u8]) -> Vec<String> {
    tree.lines().map(|line| shown_line(tree, source, line.kind)).collect()
}

fn shown_line(tree: &Tree, source: &[u8], kind: LineKind) -> String {
    let (words, fault) = match kind {
        LineKind::Blank => return ".".to_owned(),
        LineKind::Comment => return "#".to_owned(),
        LineKind::Indented => return ">".to_owned(),
        LineKind::Directive(words) => (words, None),
        LineKind::Bad(fault, words) => (words, Some(fault)),
    };
    let words = tree.words(words).map(|word| {
        let path = word.spliced_path(source).map(|path| format!("<{}>", String::from_utf8_lossy(&path)));
        format!("[{}{}]", String::from_utf8_lossy(&word.value(source)), path.unwrap_or_default())
    });
    words.collect::<String>() + &fault.map_or(String::new(), |fault| format!("!{fault:?}"))
}

#[track_caller]
fn assert_lines(source: &[u8], expected: &[&str]) {
    assert_eq!(shown(&parse(source), source), expected, "{}", source.escape_ascii());
}

#[test]
fn lines_are_of_five_kinds() {
    assert_lines(b"", &[]);
    assert_lines(b"\n", &["."]);
    assert_lines(b" \t\r\x0b\x0c\n\n  ", &[".", ".", "."]);
    assert_lines(b"# all\n#\0$\"\n#", &["#", "#", "#"]);
    assert_lines(b" allow *\n\tdeny\n\x0bx\n\x0c#", &[">", ">", ">", ">"]);
    assert_lines(b"flush\nallow *", &["[flush]", "[allow][*]"]);
    assert_lines(b"flush\r\nallow *\r\n", &["[flush]", "[allow][*]"]);
    // A carriage return alone ends no line.
    assert_lines(b"flush\rallow\r", &["[flush][allow]"]);
}

#[test]
fn words_end_at_white_space_only() {
    assert_lines(b"deny\t*   *\t\t127.0.0.2  \n", &["[deny][*][*][127.0.0.2]"]);
    assert_lines(b"allow #all\n", &["[allow][#all]"]);
    assert_lines(b"a\x0bb\x0cc\xa0d\xff e\n", &["[a\u{b}b\u{c}c\u{fffd}d\u{fffd}][e]"]);
}

#[test]
fn quotation_keeps_white_space_and_doubles() {
    assert_lines(b"\"deny\" \"*\"\n", &["[deny][*]"]);
    assert_lines(b"unk\"a b\"c x\n", &["[unka bc][x]"]);
    assert_lines(b"users \"bob:CL:se\"\"cret\" \"al\"\"ice\"\n", &["[users][bob:CL:se\"cret][al\"ice]"]);
    assert_lines(b"a \"x$y\" \"\"z\n", &["[a][x$y][z]"]);
    // A quotation that begins with a mark closes at the next one.
    assert_lines(b"a \"\"\" b\"\"\" c\n", &["[a][\"][b\"][c]"]);
    assert_lines(b"a b\"\" c\"\n", &["[a][b\" c]"]);
}

#[test]
fn an_empty_quotation_is_an_empty_word() {
    assert_lines(b"deny \"\" 127.0.0.5\n", &["[deny][][127.0.0.5]"]);
    assert_lines(b"deny \"\"\nx \"\"", &["[deny][]", "[x][]"]);
}

#[test]
fn an_unquoted_dollar_names_a_file() {
    assert_lines(b"users $/etc/passwd \nx", &["[users][</etc/passwd>]", "[x]"]);
    assert_lines(b"deny $\"a b\" c\n", &["[deny][<a b>][c]"]);
    assert_lines(b"deny 127.0.$tail\n", &["[deny][127.0.<tail>]"]);
    assert_lines(b"users a:CR:$1$salt$hash\n", &["[users][a:CR:<hash>]"]);
    assert_lines(b"deny \"$\"$\"$\"\n", &["[deny][$<$>]"]);
    assert_lines(b"deny $\n", &["[deny][<>]"]);
}

#[test]
fn faults_keep_the_words_before_them() {
    assert_lines(b"allow \"\nx\n", &["[allow]!UnclosedQuote(Span { start: 6, end: 7 })", "[x]"]);
    assert_lines(b"a \"b c\n", &["[a]!UnclosedQuote(Span { start: 2, end: 3 })"]);
    assert_lines(b"a b\"c\"d\"\"\n", &["[a]!UnclosedQuote(Span { start: 7, end: 8 })"]);
    assert_lines(b"a $b\"c d", &["[a]!UnclosedQuote(Span { start: 4, end: 5 })"]);
    assert_lines(b"users $file", &["[users]!UnfinishedSplice(Span { start: 6, end: 11 })"]);
    assert_lines(b"\0deny *\nx\n", &["!Nul(Span { start: 0, end: 1 })", "[x]"]);
    assert_lines(b"allow *\0 10\n", &["[allow][*]!Nul(Span { start: 7, end: 8 })"]);
    assert_lines(b"allow \"a\0b\"\n", &["[allow]!UnclosedQuote(Span { start: 6, end: 7 })"]);
}

#[test]
fn a_byte_order_mark_spoils_the_first_line_only() {
    let mark = "!ByteOrderMark(Span { start: 0, end: 3 })";
    assert_lines(b"\xef\xbb\xbfflush\nx\n", &[&format!("[flush]{mark}"), "[x]"]);
    assert_lines(b"\xef\xbb\xbf\nx\n", &[mark, "[x]"]);
    for skipped in ["", " x", "\tx \"y\"", "\r", "\rx", "\x0bx", "# x y"] {
        assert_lines(format!("\u{feff}{skipped}\nx\n").as_bytes(), &[mark, "[x]"]);
    }
    assert_lines(b"x\n\xef\xbb\xbfy\n", &["[x]", "[\u{feff}y]"]);
}

#[test]
fn long_lines_are_cut_where_3proxy_cuts() {
    for (head, words) in [("#", 0), ("a ", 2), (" x", 0)] {
        let line = |length: usize| [head, &"x".repeat(length - 1 - head.len()), "\nz\n"].concat();
        let tree = parse(line(LONGEST_LINE).as_bytes());
        assert!(!matches!(tree.line(0).unwrap().kind, LineKind::Bad(..)), "{head}");

        let tree = parse(line(LONGEST_LINE + 1).as_bytes());
        let LineKind::Bad(SyntaxError::LineTooLong(cut), kept) = tree.line(0).unwrap().kind else {
            panic!("{head}: {:?}", tree.line(0))
        };
        assert_eq!((cut, kept.len()), (Span::new(65_534, 65_535), words), "{head}");
        assert_eq!(tree.lines().count(), 2, "{head}");
    }
    let blank = " ".repeat(3 * LONGEST_LINE) + "\n";
    assert_eq!(shown(&parse(blank.as_bytes()), blank.as_bytes()), ["."]);
}

#[test]
fn a_line_has_room_for_so_many_words() {
    let line = |count: usize| "w ".repeat(count).into_bytes();
    assert!(matches!(parse(&line(MOST_WORDS)).line(0).unwrap().kind, LineKind::Directive(_)));
    let source = line(MOST_WORDS + 2);
    let LineKind::Bad(SyntaxError::TooManyWords(surplus), words) = parse(&source).line(0).unwrap().kind
    else {
        panic!()
    };
    assert_eq!((surplus.of(&source), words.len()), (&b"w w"[..], MOST_WORDS + 2));
}

#[test]
fn a_file_of_words_has_no_lines_and_no_dollars() {
    let shown = |source: &[u8]| shown(&parse_words(source), source).concat();
    assert_eq!(shown(b""), "");
    assert_eq!(shown(b"\n"), "");
    assert_eq!(shown(b"a:CL:b\nc:CR:$1$s$h\r\n\n#no comment\n"), "[a:CL:b][c:CR:$1$s$h][#no][comment]");
    assert_eq!(shown(b" \"a\nb\" $c"), "[a\nb][c]");
    assert_eq!(shown(b"bob:CL:$x\n$eve:CL:pw $$ \"$z\""), "[bob:CL:$x][eve:CL:pw][$z]");
    assert_eq!(shown(b"a \"b\nc"), "[a]!UnclosedQuote(Span { start: 2, end: 3 })");
    assert_eq!(shown(b"a\0b"), "[a]!Nul(Span { start: 1, end: 2 })");
}

#[test]
fn a_quotation_in_a_file_of_words_may_be_longer_than_a_chunk() {
    let source = format!("a \"{}\" b\n\"{}", "x\n".repeat(LONGEST_LINE), "y\n".repeat(LONGEST_LINE));
    let tree = parse_words(source.as_bytes());
    let LineKind::Bad(SyntaxError::UnclosedQuote(at), words) = tree.line(0).unwrap().kind else { panic!() };
    assert_eq!(at.start as usize, 2 * LONGEST_LINE + 7);
    assert_eq!(tree.words(words).map(|word| word.span.len()).collect::<Vec<_>>(), [1, 131_070, 1]);
}

/// A word's value, and the path of the file that goes on with it.
type Split = (Vec<u8>, Option<Vec<u8>>);

/// 3proxy's splitter as an automaton over one line without NUL, written for this test: the words it makes, or `None`
/// where it gives up. It differs in one way: an empty quotation does not swallow the byte behind it.
fn automaton(line: &[u8]) -> Option<Vec<Split>> {
    let mut words: Vec<Split> = Vec::new();
    let (mut inside, mut quoted, mut at) = (false, false, 0);
    while at < line.len() {
        let byte = line[at];
        at += 1;
        if b" \t\r\n".contains(&byte) && !quoted {
            inside = false;
            continue;
        }
        if !inside {
            words.push(Default::default());
        }
        let starts = !std::mem::replace(&mut inside, true);
        let (word, path) = words.last_mut()?;
        if byte == b'$' && !quoted {
            *path = Some(Vec::new());
            continue;
        }
        let target = path.as_mut().unwrap_or(word);
        if byte != b'"' {
            target.push(byte);
        } else if starts && line[at..].starts_with(b"\"") && !line[at..].starts_with(b"\"\"") {
            at += 1;
        } else if line[at..].starts_with(b"\"") {
            target.push(b'"');
            quoted = true;
            at += 1;
        } else {
            quoted = !quoted;
        }
    }
    let unfinished = inside && words.last().is_some_and(|(_, path)| path.is_some());
    (!quoted && !unfinished).then_some(words)
}

fn assert_lossless(tree: &Tree, source: &[u8]) {
    let mut end = 0;
    let mut seen = 0;
    for line in tree.lines() {
        assert_eq!(line.span.start, end);
        assert!(!line.span.is_empty());
        end = line.span.end;
        let (LineKind::Directive(words) | LineKind::Bad(_, words)) = line.kind else { continue };
        let mut at = line.span.start;
        for word in tree.words(words) {
            assert!(
                at <= word.span.start && word.span.start < word.span.end && word.span.end <= line.span.end
            );
            if let WordShape::Splice { dollar } = word.shape {
                assert_eq!(source[dollar as usize], b'$');
                assert!(word.span.start <= dollar && dollar < word.span.end);
            }
            at = word.span.end;
        }
        seen += words.len();
    }
    assert_eq!(end as usize, source.len());
    assert!(seen <= tree.next_words().start as usize);
}

proptest! {
    #[test]
    fn any_bytes_give_a_tree_of_that_text(source in proptest::collection::vec(any::<u8>(), 0..300)) {
        assert_lossless(&parse(&source), &source);
        assert_lossless(&parse_words(&source), &source);
    }

    /// However long words are and however far from each other.
    #[test]
    fn words_stand_where_they_stand(
        mark: bool,
        lines in proptest::collection::vec(proptest::collection::vec((0_usize..600, 1_usize..600), 1..6), 1..4),
    ) {
        let mut source = if mark { "\u{feff}".to_owned() } else { String::new() };
        let mut wanted = Vec::new();
        for line in &lines {
            for (nth, (gap, length)) in line.iter().enumerate() {
                // Only the first word of a line may not stand behind blanks.
                source += &" ".repeat(if nth == 0 { 0 } else { gap + 1 });
                wanted.push(Span::new(source.len() as u32, (source.len() + length) as u32));
                source += &"x".repeat(*length);
            }
            source += "\n";
        }
        let found = |tree: &Tree| -> Vec<Span> {
            let words = tree.lines().filter_map(|line| match line.kind {
                LineKind::Directive(words) | LineKind::Bad(_, words) => Some(words),
                _ => None,
            });
            words.flat_map(|words| tree.words(words)).map(|word| word.span).collect()
        };
        prop_assert_eq!(found(&parse(source.as_bytes())), wanted.clone());
        // A byte order mark is no part of a list's first word either, but there it is not looked for.
        if !mark {
            prop_assert_eq!(found(&parse_words(source.as_bytes())), wanted);
        }
    }

    #[test]
    fn lines_of_telling_bytes_give_a_tree_of_that_text(source in "[a#$\" \t\r\n\0\u{b}\u{feff}é]{0,60}") {
        assert_lossless(&parse(source.as_bytes()), source.as_bytes());
        assert_lossless(&parse_words(source.as_bytes()), source.as_bytes());
        let lines = source.split_inclusive('\n').count();
        prop_assert_eq!(parse(source.as_bytes()).lines().count(), lines);
    }

    #[test]
    fn words_are_those_of_the_automaton(line in "[ab][ab#~$\" \t]{0,14}\n?") {
        let tree = parse(line.as_bytes());
        let words = match tree.line(0).unwrap().kind {
            LineKind::Directive(words) => {
                let words = tree.words(words);
                Some(words.map(|word| (word.value(line.as_bytes()).into_owned(), word.spliced_path(line.as_bytes()))).collect())
            }
            _ => None,
        };
        // Of several `$` the automaton keeps the text behind the last, as the tree does.
        prop_assert_eq!(words, automaton(line.as_bytes()));
    }
}
