//! Blocks of a template: what stands between `{% if %}` and `{% endif %}`, or `{% for %}` and `{% endfor %}`, may be left out, or come
//! again, and that is all. So their lines are known, but for whether they are there.
use grammar::{
    Span,
    template::{Marker, MarkerKind},
};

/// What opens a block, and what closes it.
const BLOCKS: [(&[u8], &[u8]); 2] = [(b"if", b"endif"), (b"for", b"endfor")];
/// What divides a block.
const DIVIDES: [&[u8]; 2] = [b"elif", b"else"];

/// The blocks, in order, each from the marker that opens it to behind the one that closes it; those within others are not told.
///
/// `None`: the template has control markers of other kinds, which may bring in lines, or some that do not have a line of their own.
pub(super) fn of(text: &[u8], markers: &[Marker]) -> Option<Vec<Span>> {
    let mut blocks = Vec::new();
    let mut open: Vec<(Span, &[u8])> = Vec::new();
    for marker in markers.iter().filter(|marker| marker.kind == MarkerKind::Control) {
        let word = word(text, marker.span)?;
        if let Some((_, end)) = BLOCKS.iter().find(|(start, _)| *start == word) {
            open.push((marker.span, end));
        } else if DIVIDES.contains(&word) {
            open.last()?;
        } else {
            let (start, _) = open.pop().filter(|(_, end)| *end == word)?;
            if open.is_empty() {
                blocks.push(start.to(marker.span));
            }
        }
    }
    (open.is_empty() && !blocks.is_empty()).then_some(blocks)
}

/// The first word of a marker `{% word … %}` that has its line for itself and joins it to no other.
fn word(text: &[u8], marker: Span) -> Option<&[u8]> {
    let inside = marker.of(text).strip_prefix(b"{%")?.strip_suffix(b"%}")?;
    let trims = |byte: &u8| matches!(byte, b'-' | b'+');
    let (first, last) = (inside.first()?, inside.last()?);
    let joins = trims(first) && trims(last);
    let before = text.get(..marker.start as usize)?.rsplit(|byte| *byte == b'\n').next()?;
    let behind = text.get(marker.end as usize..)?.split(|byte| *byte == b'\n').next()?;
    let alone = before.trim_ascii().is_empty() && behind.trim_ascii().is_empty();
    let is_one_line = !inside.contains(&b'\n');
    let start = inside.iter().take_while(|byte| trims(byte)).count();
    let word = inside.get(start..)?.trim_ascii().split(|byte| !byte.is_ascii_alphabetic()).next()?;
    (alone && is_one_line && !joins).then_some(word)
}

#[cfg(test)]
mod tests {
    use grammar::template::Template;

    use super::of;

    #[test]
    fn what_may_bring_in_other_lines_is_no_block() {
        for (text, expected) in [
            ("{% if x %}\nlog\n{% endif %}\n", Some(1)),
            ("{% if x -%}\nlog\n{%- else %}\n{% for y in z %}\nlog\n{% endfor %}\n{%- endif %}\n", Some(1)),
            ("{% if x %}\n{% endif %}\nlog\n{% for x in y %}\n{% endfor %}\n", Some(2)),
            ("{% if x %}\nlog\n", None),
            ("{% if x %}\nlog\n{% endfor %}\n", None),
            ("{% else %}\n", None),
            ("{% include 'x' %}\n{% if x %}\n{% endif %}\n", None),
            ("{% set x = 1 %}\n", None),
            ("{% if x %}log{% endif %}\n", None),
            ("{%- if x -%}\nlog\n{% endif %}\n", None),
            ("{% if x or\n y %}\nlog\n{% endif %}\n", None),
            ("{{ if x }}\nlog\n{{ end }}\n", None),
            ("log {{ x }}\n", None),
        ] {
            let markers = Template::Auto.markers(text.as_bytes());
            let found = of(text.as_bytes(), &markers).map(|blocks| blocks.len());
            assert_eq!(found, expected, "{text}");
        }
    }
}
