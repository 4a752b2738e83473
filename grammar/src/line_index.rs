//! Offsets to lines and columns, for the edges that speak of them.

/// A place as people count it: both from 1, the column in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineColumn {
    /// Line, from 1. Lines end at LF, as for 3proxy.
    pub line: u32,
    /// Byte column, from 1.
    pub column: u32,
}

/// Where the lines of one source start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineIndex {
    starts: Vec<u32>,
}

impl LineIndex {
    /// Finds the line starts of `source`.
    #[must_use]
    pub fn new(source: &[u8]) -> Self {
        let ends = source.iter().zip(1_u32..).filter(|(byte, _)| **byte == b'\n');
        Self { starts: std::iter::once(0).chain(ends.map(|(_, next)| next)).collect() }
    }

    /// The line and column of `offset`; an offset behind the end counts on in the last line.
    #[must_use]
    pub fn line_column(&self, offset: u32) -> LineColumn {
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = line.checked_sub(1).and_then(|at| self.starts.get(at)).copied().unwrap_or_default();
        LineColumn { line: u32::try_from(line).unwrap_or(u32::MAX), column: offset - start + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::{LineColumn, LineIndex};

    #[test]
    fn counts_lines_and_columns_from_one() {
        let index = LineIndex::new(b"ab\n\ncd");
        let at = |offset| {
            let LineColumn { line, column } = index.line_column(offset);
            (line, column)
        };
        assert_eq!(
            [at(0), at(2), at(3), at(4), at(5), at(6)],
            [(1, 1), (1, 3), (2, 1), (3, 1), (3, 2), (3, 3)]
        );
    }
}
