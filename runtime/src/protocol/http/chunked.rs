//! The chunked coding: a decoder that is given whatever has come and holds no data itself.
//!
//! Sizes are written anew when a body goes on, extensions are left out: a server never sees the client's spelling of a size.
use super::{
    Malformed,
    head::{MAX_LINE, is_token},
};

/// Longest chunk-size line, extensions included.
const MAX_SIZE_LINE: usize = 4096;

/// The state between two calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Decoder {
    state: State,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Size,
    Data(u64),
    DataEnd,
    Trailers(usize),
    Done,
}

/// What the next bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// More bytes are needed.
    More,
    /// A chunk of this many bytes begins; never 0.
    Chunk(u64),
    /// Bytes of a chunk.
    Data(&'a [u8]),
    /// The chunk is complete.
    ChunkEnd,
    /// The last chunk: trailers may follow.
    Last,
    /// A trailer line, without its end.
    Trailer(&'a [u8]),
    /// The body is complete.
    End,
}

impl Decoder {
    /// The next piece, and how many bytes of `input` it takes.
    ///
    /// # Errors
    /// [`Malformed::Chunk`] for a size that is not 1 to 16 hexadecimal digits (with `0x` before them, as 3proxy takes it), for a
    /// line that does not end with CR LF, for data that is longer than its size, and for trailers that are no fields or too long.
    pub(crate) fn next<'a>(&mut self, input: &'a [u8]) -> Result<(usize, Piece<'a>), Malformed> {
        match self.state {
            State::Size => {
                let Some(line) = line(input, MAX_SIZE_LINE)? else { return Ok((0, Piece::More)) };
                let size = size(line)?;
                self.state = if size == 0 { State::Trailers(0) } else { State::Data(size) };
                Ok((line.len() + 2, if size == 0 { Piece::Last } else { Piece::Chunk(size) }))
            }
            State::Data(_) if input.is_empty() => Ok((0, Piece::More)),
            State::Data(left) => {
                let taken = usize::try_from(left).unwrap_or(usize::MAX).min(input.len());
                let left = left.saturating_sub(taken as u64);
                self.state = if left == 0 { State::DataEnd } else { State::Data(left) };
                Ok((taken, Piece::Data(input.get(..taken).unwrap_or_default())))
            }
            State::DataEnd => match input {
                [] | [b'\r'] => Ok((0, Piece::More)),
                [b'\r', b'\n', ..] => {
                    self.state = State::Size;
                    Ok((2, Piece::ChunkEnd))
                }
                _ => Err(Malformed::Chunk),
            },
            State::Trailers(before) => {
                let Some(line) = line(input, MAX_LINE)? else { return Ok((0, Piece::More)) };
                let length = before + line.len() + 2;
                if line.is_empty() {
                    self.state = State::Done;
                    return Ok((2, Piece::End));
                }
                if length > MAX_LINE || !is_field(line) {
                    return Err(Malformed::Chunk);
                }
                self.state = State::Trailers(length);
                Ok((line.len() + 2, Piece::Trailer(line)))
            }
            State::Done => Ok((0, Piece::End)),
        }
    }
}

/// The line that `input` begins with, if it is complete.
fn line(input: &[u8], longest: usize) -> Result<Option<&[u8]>, Malformed> {
    match input.iter().position(|&byte| byte == b'\n') {
        None if input.len() > longest + 1 => Err(Malformed::Chunk),
        None => Ok(None),
        Some(end) => {
            let line = input.get(..end).and_then(|line| line.strip_suffix(b"\r")).ok_or(Malformed::Chunk)?;
            let clean =
                line.len() <= longest && !line.iter().any(|&byte| byte.is_ascii_control() && byte != b'\t');
            if clean { Ok(Some(line)) } else { Err(Malformed::Chunk) }
        }
    }
}

fn size(line: &[u8]) -> Result<u64, Malformed> {
    let word = line.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii_end();
    let digits = word.strip_prefix(b"0x").or_else(|| word.strip_prefix(b"0X")).unwrap_or(word);
    if !(1..=16).contains(&digits.len()) || !digits.iter().all(u8::is_ascii_hexdigit) {
        return Err(Malformed::Chunk);
    }
    let digits = std::str::from_utf8(digits).map_err(|_| Malformed::Chunk)?;
    u64::from_str_radix(digits, 16).map_err(|_| Malformed::Chunk)
}

fn is_field(line: &[u8]) -> bool {
    let colon = line.iter().position(|&byte| byte == b':');
    colon
        .and_then(|at| line.get(..at))
        .is_some_and(|name| !name.is_empty() && name.iter().all(|&byte| is_token(byte)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Data, trailers, and how many bytes are left over.
    type Decoded = (Vec<u8>, Vec<Vec<u8>>, usize);

    /// A body that comes in pieces cut at `cuts`; `None` if it never ends.
    fn decoded(body: &[u8], cuts: &[usize]) -> Result<Option<Decoded>, Malformed> {
        let mut decoder = Decoder::default();
        let (mut data, mut trailers) = (Vec::new(), Vec::new());
        let (mut start, mut sizes) = (0, 0);
        let mut ends: Vec<usize> =
            cuts.iter().map(|cut| cut % (body.len() + 1)).chain([body.len()]).collect();
        ends.sort_unstable();
        for end in ends {
            loop {
                let (taken, piece) = decoder.next(&body[start..end])?;
                start += taken;
                match piece {
                    Piece::More => break,
                    Piece::Chunk(size) => sizes += size,
                    Piece::Data(bytes) => data.extend_from_slice(bytes),
                    Piece::ChunkEnd => assert_eq!(sizes, data.len() as u64),
                    Piece::Last => {}
                    Piece::Trailer(line) => trailers.push(line.to_vec()),
                    Piece::End => return Ok(Some((data, trailers, body.len() - start))),
                }
            }
        }
        Ok(None)
    }

    #[test]
    fn bodies_are_decoded() {
        let ok = |data: &str, trailers: &[&str], left| {
            Ok(Some((data.into(), trailers.iter().map(|line| line.as_bytes().to_vec()).collect(), left)))
        };
        let long = format!("3;{}\r\nabc\r\n0\r\n\r\n", "e".repeat(5000));
        for (body, expected) in [
            ("0\r\n\r\n", ok("", &[], 0)),
            ("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\nGET", ok("abcde", &[], 3)),
            ("0x3\r\nabc\r\n00\r\n\r\n", ok("abc", &[], 0)),
            ("A\r\n0123456789\r\n0\r\n\r\n", ok("0123456789", &[], 0)),
            ("3 ;x=\"y\"\r\nabc\r\n0\r\nX-T: 1\r\nY:\r\n\r\n", ok("abc", &["X-T: 1", "Y:"], 0)),
            ("3\r\nabc\r\n0\r\n", Ok(None)),
            ("3\r\nab", Ok(None)),
            ("", Ok(None)),
            ("ffffffffffffffff\r\nab", Ok(None)),
        ] {
            assert_eq!(decoded(body.as_bytes(), &[]), expected, "{body:?}");
        }
        for body in [
            "zz\r\nabc",
            "-1\r\nabc",
            "+3\r\nabc",
            " 3\r\nabc",
            "\r\nabc",
            ";x\r\n",
            "0x\r\n",
            "3,3\r\n",
            "3 3\r\n",
            "3\nabc\n0\n\n",
            "3\r\nabcd\r\n",
            "3\r\nabc0\r\n\r\n",
            "10000000000000000\r\n",
            "3\rx\nabc",
            "0\r\nno colon\r\n\r\n",
            "0\r\n: x\r\n\r\n",
            "0\r\nA b: x\r\n\r\n",
            "0\r\n X: 1\r\n\r\n",
            "0\r\nX: \0\r\n\r\n",
            &long,
        ] {
            assert_eq!(decoded(body.as_bytes(), &[]), Err(Malformed::Chunk), "{body:?}");
        }
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same(
            chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..40), 0..6),
            cuts in prop::collection::vec(any::<usize>(), 0..12),
            trailer in any::<bool>(),
        ) {
            let mut body = Vec::new();
            for chunk in &chunks {
                body.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                body.extend_from_slice(chunk);
                body.extend_from_slice(b"\r\n");
            }
            body.extend_from_slice(if trailer { b"0\r\nX-T: 1\r\n\r\n" } else { b"0\r\n\r\n" });
            let whole = decoded(&body, &[]).unwrap().unwrap();
            prop_assert_eq!(&whole.0, &chunks.concat());
            prop_assert_eq!(whole.1.len(), usize::from(trailer));
            prop_assert_eq!(decoded(&body, &cuts).unwrap().unwrap(), whole);
        }

        #[test]
        fn garbage_is_judged_alike_however_it_is_split(
            body in prop::collection::vec(prop::sample::select(b"0123af\r\n; x:".to_vec()), 0..60),
            cuts in prop::collection::vec(any::<usize>(), 0..12),
        ) {
            prop_assert_eq!(decoded(&body, &cuts), decoded(&body, &[]));
        }
    }
}
