//! What stands in a counter file: 3proxy's format of a 64-bit machine, so that either program goes on with what the other has counted.
//!
//! A header: the signature `3CF` and a zero byte, four bytes of padding, and when the file was written. Then a record for each
//! number, that of 1 first: bytes, when the period began, when they were counted. Numbers are 64 bits, little endian; times are
//! seconds since 1970. What no quota has is kept as it is, byte for byte.

const SIGNATURE: [u8; 4] = *b"3CF\0";
const HEADER: usize = 16;
const RECORD: usize = 24;
/// 3proxy takes no later time: the end of the year 3000.
const LATEST: i64 = 0x7_9340_6fff;

/// Records that a file may have. A number is a place in it, so that a large one would fill the disk.
pub(crate) const MOST_RECORDS: u32 = 1_000_000;
/// Bytes that a file may have.
pub(super) const LONGEST: u64 = HEADER as u64 + MOST_RECORDS as u64 * RECORD as u64;

/// A counter file's contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CounterFile {
    bytes: Vec<u8>,
}

/// What is kept of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// Bytes in this period.
    pub(super) used: u64,
    /// When that began.
    pub(super) began: i64,
    /// When bytes were counted last.
    pub(super) updated: i64,
}

/// Why a file can't be gone on with. Nothing of it is lost: it is not written then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Damage {
    /// It does not begin as one does.
    #[error("is no counter file")]
    NoCounterFile,
    /// The header has no possible time.
    #[error("is damaged, or was made by 3proxy on a 32-bit machine: its header has no possible time")]
    Header,
    /// A record has no possible time.
    #[error("is damaged: its record {0} has no possible time")]
    Record(u32),
    /// It ends within a record.
    #[error("is damaged: it ends within its record {0}")]
    Cut(u32),
    /// It has more than there can be.
    #[error("is longer than a counter file can be")]
    TooLong,
}

impl CounterFile {
    /// One that holds nothing.
    pub(super) fn new() -> Self {
        let mut bytes = SIGNATURE.to_vec();
        bytes.resize(HEADER, 0);
        Self { bytes }
    }

    /// One with these contents; an empty file is one that holds nothing.
    ///
    /// # Errors
    /// They are not those of a counter file.
    pub(super) fn read(bytes: Vec<u8>) -> Result<Self, Damage> {
        if bytes.is_empty() {
            return Ok(Self::new());
        }
        if bytes.len() < HEADER || !bytes.starts_with(&SIGNATURE) {
            return Err(Damage::NoCounterFile);
        }
        let file = Self { bytes };
        if is_time(file.written()) { Ok(file) } else { Err(Damage::Header) }
    }

    /// Its contents.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// When it was written; 0: never.
    pub(super) fn written(&self) -> i64 {
        i64::from_le_bytes(self.word(8).unwrap_or_default())
    }

    /// Notes when it is written.
    pub(super) fn set_written(&mut self, at: i64) {
        self.put(8, at.to_le_bytes());
    }

    /// What is kept of a number, from 1.
    ///
    /// # Errors
    /// Its record is damaged.
    pub(super) fn record(&self, number: u32) -> Result<Option<Record>, Damage> {
        let at = Self::place(number);
        let (Some(used), Some(began), Some(updated)) = (self.word(at), self.word(at + 8), self.word(at + 16))
        else {
            return if self.bytes.len() > at { Err(Damage::Cut(number)) } else { Ok(None) };
        };
        let [began, updated] = [began, updated].map(i64::from_le_bytes);
        let record = Record { used: u64::from_le_bytes(used), began, updated };
        if !is_time(record.began) || !is_time(record.updated) {
            return Err(Damage::Record(number));
        }
        let is_unused = record == Record { used: 0, began: 0, updated: 0 };
        Ok((!is_unused).then_some(record))
    }

    /// Keeps that of a number, from 1 to [`MOST_RECORDS`].
    pub(super) fn set(&mut self, number: u32, record: Record) {
        if !(1..=MOST_RECORDS).contains(&number) {
            return;
        }
        let at = Self::place(number);
        if self.bytes.len() < at + RECORD {
            self.bytes.resize(at + RECORD, 0);
        }
        self.put(at, record.used.to_le_bytes());
        self.put(at + 8, record.began.clamp(0, LATEST - 1).to_le_bytes());
        self.put(at + 16, record.updated.clamp(0, LATEST - 1).to_le_bytes());
    }

    fn place(number: u32) -> usize {
        HEADER + (number as usize).saturating_sub(1) * RECORD
    }

    fn word(&self, at: usize) -> Option<[u8; 8]> {
        self.bytes.get(at..)?.first_chunk().copied()
    }

    fn put(&mut self, at: usize, word: [u8; 8]) {
        if let Some(place) = self.bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) {
            *place = word;
        }
    }
}

const fn is_time(at: i64) -> bool {
    0 <= at && at < LATEST
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{CounterFile, Damage, LATEST, MOST_RECORDS, Record};

    fn record() -> impl Strategy<Value = Record> {
        (any::<u64>(), 1..LATEST, 0..LATEST).prop_map(|(used, began, updated)| Record {
            used,
            began,
            updated,
        })
    }

    /// As 3proxy 1.0.0 wrote it, with 300,204 bytes under the number 2.
    const RECORDED: &[u8] = b"3CF\0\0\0\0\0\xdc\xaa\x0d\x6b\0\0\0\0\
        \0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\
        \xac\x94\x04\0\0\0\0\0\xb5\xaa\x0d\x6b\0\0\0\0\xb7\xaa\x0d\x6b\0\0\0\0";

    #[test]
    fn a_file_of_3proxy_is_read() {
        let file = CounterFile::read(RECORDED.to_vec()).unwrap();
        assert_eq!(file.written(), 0x6b0d_aadc);
        assert_eq!(file.record(1), Ok(None));
        let second = Record { used: 300_204, began: 0x6b0d_aab5, updated: 0x6b0d_aab7 };
        assert_eq!(file.record(2), Ok(Some(second)));
        assert_eq!(file.record(3), Ok(None));
        let mut again = CounterFile::new();
        again.set_written(0x6b0d_aadc);
        again.set(2, second);
        assert_eq!(again.bytes(), RECORDED);
    }

    #[test]
    fn what_is_damaged_is_told() {
        for cut in 1..16 {
            assert_eq!(CounterFile::read(RECORDED[..cut].to_vec()), Err(Damage::NoCounterFile), "{cut}");
        }
        assert_eq!(CounterFile::read(vec![b'x'; 100]), Err(Damage::NoCounterFile));
        for cut in 41..64 {
            let file = CounterFile::read(RECORDED[..cut].to_vec()).unwrap();
            assert_eq!((file.record(1), file.record(2)), (Ok(None), Err(Damage::Cut(2))), "{cut}");
        }
        for (byte, expected) in
            [(15, Err(Damage::Header)), (55, Ok(Damage::Record(2))), (63, Ok(Damage::Record(2)))]
        {
            let mut bytes = RECORDED.to_vec();
            bytes[byte] = 0x80;
            let read = CounterFile::read(bytes).map(|file| file.record(2).unwrap_err());
            assert_eq!(read, expected, "{byte}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_bad_and_none_are_lost(
            start in prop_oneof![Just(&b""[..]), Just(&RECORDED[..16]), Just(RECORDED)],
            rest in prop::collection::vec(any::<u8>(), 0..200),
            numbers in prop::collection::vec(0_u32..20, 0..10),
            (number, new) in (1_u32..12, record()),
        ) {
            let bytes = [start, &rest].concat();
            if let Ok(mut file) = CounterFile::read(bytes.clone()) {
                for number in numbers.into_iter().chain([0, MOST_RECORDS, u32::MAX]) {
                    let _ = file.record(number);
                }
                let place = 16 + (number as usize - 1) * 24;
                file.set(number, new);
                prop_assert_eq!(file.record(number), Ok(Some(new)));
                // What stands around the record is as it was.
                let after = file.bytes();
                for (at, byte) in bytes.iter().enumerate() {
                    prop_assert!(after[at] == *byte || (place..place + 24).contains(&at));
                }
            }
        }

        #[test]
        fn what_is_kept_is_read_again(
            records in prop::collection::btree_map(1_u32..40, record(), 0..20),
            written in 0..LATEST,
        ) {
            let mut file = CounterFile::new();
            file.set_written(written);
            records.iter().for_each(|(number, record)| file.set(*number, *record));
            let read = CounterFile::read(file.bytes().to_vec()).unwrap();
            prop_assert_eq!(read.written(), written);
            for number in 1..45 {
                prop_assert_eq!(read.record(number), Ok(records.get(&number).copied()));
            }
        }

        #[test]
        fn no_number_makes_a_file_that_fills_the_disk(number in any::<u32>(), record in record()) {
            let mut file = CounterFile::new();
            if !(1..=MOST_RECORDS).contains(&number) {
                file.set(number, record);
                prop_assert_eq!(file, CounterFile::new());
            }
        }
    }
}
