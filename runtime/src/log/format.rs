//! A `logformat`, compiled once, and the line that it makes of a record.
use std::{
    io::Write,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    ops::Range,
};

use compiler::program::service::ServiceKind;
use grammar::{
    Text,
    value::{self, LogFilter, LogFormat},
};
use jiff::{Timestamp, Zoned, tz::TimeZone};

use super::{
    Record,
    piece::{self, Field, Piece},
};

/// What 3proxy logs without a `logformat`.
const DEFAULT: &[u8] = b"G%y%m%d%H%M%S.%. %p %E %U %C:%c %R:%r %O %I %h %T";

/// A field that clients fill is cut here, so that no record is longer than a few kilobytes.
const FIELD_LIMIT: usize = 4000;

/// Stands for control characters in what clients gave, when the format names no replacement.
const REPLACEMENT: u8 = b'_';

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// A compiled format.
#[derive(Debug)]
pub(crate) struct Format {
    utc: bool,
    pieces: Box<[Piece]>,
    filter: Filter,
}

/// Characters that are replaced in user names, host names and texts. Control characters always are: a record is one line,
/// whatever a client calls itself.
#[derive(Debug)]
struct Filter {
    also: Text,
    replacement: u8,
}

impl Default for Filter {
    fn default() -> Self {
        Self { also: Text::default(), replacement: REPLACEMENT }
    }
}

impl Default for Format {
    fn default() -> Self {
        Self::compile(DEFAULT)
    }
}

impl Format {
    /// Compiles the text of a `logformat`: `-XX+R` if there is a filter, `G` for UTC or any other character for local time, pieces.
    ///
    /// Total, as 3proxy is: the first character is always taken for the clock, and an unknown letter prints itself.
    #[must_use]
    pub(crate) fn compile(text: &[u8]) -> Self {
        let LogFormat { filter, utc, body } = value::log_format(text).value;
        let filter = filter.map_or_else(Filter::default, Filter::of);
        Self { utc, pieces: piece::parse(body.as_bytes()).into(), filter }
    }

    /// The line for `record`, without a line end, as of now.
    #[must_use]
    pub(crate) fn render(&self, record: &Record) -> Vec<u8> {
        self.render_at(record, Timestamp::now())
    }

    /// The name that a log file's `pattern` stands for at `now`. Letters of a record print as if nothing were known of it.
    pub(super) fn render_name(pattern: &[u8], now: &Zoned) -> Vec<u8> {
        let nowhere = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
        let record = Record::new(ServiceKind::Proxy, 0, nowhere, nowhere);
        let filter = Filter::default();
        let mut line = Line { record: &record, now: now.clone(), filter: &filter, out: Vec::new() };
        piece::parse(pattern).iter().for_each(|piece| line.piece(piece));
        line.out
    }

    fn render_at(&self, record: &Record, now: Timestamp) -> Vec<u8> {
        let zone = if self.utc { TimeZone::UTC } else { TimeZone::system() };
        let mut line =
            Line { record, now: now.to_zoned(zone), filter: &self.filter, out: Vec::with_capacity(160) };
        for piece in &self.pieces {
            line.piece(piece);
        }
        line.out
    }
}

impl Filter {
    fn of(filter: LogFilter) -> Self {
        Self { also: filter.bytes, replacement: filter.replacement }
    }

    /// What is printed for `byte`, which stands behind `before`.
    fn pass(&self, before: u8, byte: u8) -> u8 {
        // U+0080 to U+009F in UTF-8: a terminal may take them for control sequences.
        let is_control = byte.is_ascii_control() || before == 0xc2 && (0x80..=0x9f).contains(&byte);
        if is_control || self.also.as_bytes().contains(&byte) { self.replacement } else { byte }
    }
}

/// A line in the making.
struct Line<'a> {
    record: &'a Record,
    now: Zoned,
    filter: &'a Filter,
    out: Vec<u8>,
}

impl Line<'_> {
    fn piece(&mut self, piece: &Piece) {
        match piece {
            Piece::Literal(bytes) => self.out.extend_from_slice(bytes),
            Piece::Words(range) => self.words(range),
            Piece::Field(field) => self.field(*field),
        }
    }

    fn field(&mut self, field: Field) {
        let record = self.record;
        match field {
            Field::User => match record.user.as_deref() {
                Some(user) if !user.is_empty() => self.untrusted(user),
                _ => self.out.push(b'-'),
            },
            Field::Host => self.host(),
            Field::Text => self.untrusted(&record.text),
            Field::Protocol => self.print(format_args!("{}", record.protocol.name())),
            Field::Code => self.print(format_args!("{:05}", record.code)),
            Field::External => self.address(record.external),
            Field::Local => self.address(Some(record.local.ip())),
            Field::Client => self.address(Some(record.client.ip())),
            Field::ClientPort => self.print(format_args!("{}", record.client.port())),
            Field::Peer => self.address(record.peer.map(|peer| peer.ip())),
            Field::PeerPort => self.print(format_args!("{}", record.peer.map_or(0, |peer| peer.port()))),
            Field::Target => self.address(record.target),
            Field::TargetPort => self.print(format_args!("{}", record.target_port)),
            Field::ServicePort => self.print(format_args!("{}", record.service_port)),
            Field::Cycles => self.print(format_args!("{}", record.cycles)),
            Field::FromServer => self.print(format_args!("{}", record.from_server)),
            Field::FromClient => self.print(format_args!("{}", record.from_client)),
            Field::Hops => self.print(format_args!("{}", record.hops)),
            Field::Duration => self.print(format_args!("{}", self.record.started.elapsed().as_millis())),
            Field::ClientRate => self.rate(record.from_client),
            Field::ServerRate => self.rate(record.from_server),
            time => self.time(time),
        }
    }

    fn time(&mut self, field: Field) {
        let now = self.now.clone();
        match field {
            Field::Year2 => self.print(format_args!("{:02}", now.year().rem_euclid(100))),
            Field::Year => self.print(format_args!("{:04}", now.year())),
            Field::Month => self.print(format_args!("{:02}", now.month())),
            Field::MonthName => {
                let month = usize::try_from(now.month() - 1).ok().and_then(|month| MONTHS.get(month));
                self.out.extend_from_slice(month.map_or(&[], |name| name.as_bytes()));
            }
            Field::Day => self.print(format_args!("{:02}", now.day())),
            Field::Hour => self.print(format_args!("{:02}", now.hour())),
            Field::Minute => self.print(format_args!("{:02}", now.minute())),
            Field::Second => self.print(format_args!("{:02}", now.second())),
            Field::Millisecond => self.print(format_args!("{:03}", now.millisecond())),
            Field::Zone => self.print(format_args!("{}", now.strftime("%z"))),
            Field::UnixTime => self.print(format_args!("{:010}", now.timestamp().as_second())),
            _ => {}
        }
    }

    /// Bytes per second since the request began.
    fn rate(&mut self, bytes: u64) {
        let milliseconds = self.record.started.elapsed().as_millis();
        let rate = (u128::from(bytes) * 1000).checked_div(milliseconds).unwrap_or(0);
        self.print(format_args!("{rate}"));
    }

    /// The target's name; without one, or for an IPv6 address, the address in brackets.
    fn host(&mut self) {
        match self.record.host.as_deref() {
            Some(host) if !host.is_empty() && !host.contains(&b':') => self.untrusted(host),
            _ => {
                self.out.push(b'[');
                self.address(self.record.target);
                self.out.push(b']');
            }
        }
    }

    fn address(&mut self, address: Option<IpAddr>) {
        self.print(format_args!("{}", address.unwrap_or(Ipv4Addr::UNSPECIFIED.into())));
    }

    /// What a client gave.
    fn untrusted(&mut self, bytes: &[u8]) {
        let mut before = 0;
        let passed = |&byte: &u8| self.filter.pass(std::mem::replace(&mut before, byte), byte);
        self.out.extend(bytes.iter().take(FIELD_LIMIT).map(passed));
    }

    /// Words of the text, with the blanks between them: a run of blanks counts, and prints, as its last one.
    fn words(&mut self, range: &Range<usize>) {
        let (mut word, mut before) = (0, 0);
        let mut text = self.record.text.iter().take(FIELD_LIMIT).peekable();
        while let Some(byte) = text.next() {
            let before = std::mem::replace(&mut before, *byte);
            if is_blank(*byte) {
                if text.peek().is_some_and(|next| is_blank(**next)) {
                    continue;
                }
                word += 1;
                if word == range.start {
                    continue;
                }
            }
            if range.contains(&word) {
                self.out.push(self.filter.pass(before, *byte));
            }
        }
    }

    fn print(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a vector can't fail.
        let _ = self.out.write_fmt(text);
    }
}

/// C's `isspace`.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use compiler::program::service::ServiceKind;
    use jiff::Timestamp;

    use super::{super::Record, Format};

    fn record() -> Record {
        let address = |text: &str| text.parse::<SocketAddr>().unwrap();
        let mut record =
            Record::new(ServiceKind::Proxy, 3128, address("10.0.0.9:4321"), address("10.0.0.1:3128"));
        record.text = b"GET  http://h/ HTTP/1.1".to_vec();
        record
    }

    fn render(format: &str, record: &Record) -> String {
        let now = "2026-03-07T04:05:06.078Z".parse::<Timestamp>().unwrap();
        String::from_utf8(Format::compile(format.as_bytes()).render_at(record, now)).unwrap()
    }

    #[test]
    fn each_letter_prints_its_field() {
        let mut record = record();
        record.code = 13;
        record.user = Some(b"bob".as_slice().into());
        record.host = Some(b"h".as_slice().into());
        record.target = Some("192.0.2.7".parse().unwrap());
        record.target_port = 80;
        record.external = Some("10.0.0.2".parse().unwrap());
        record.peer = Some("[2001:db8::1]:8080".parse().unwrap());
        record.hops = 2;
        record.from_client = 11;
        record.from_server = 22;
        record.cycles = 3;
        let cases = [
            ("G%y %Y-%m-%d %o %H:%M:%S.%. %z %t", "26 2026-03-07 Mar 04:05:06.078 +0000 1772856306"),
            ("L%E %U %N %n %T", "00013 bob PROXY h GET  http://h/ HTTP/1.1"),
            ("L%C:%c %i %p", "10.0.0.9:4321 10.0.0.1 3128"),
            ("L%e %R:%r %Q:%q", "10.0.0.2 2001:db8::1:8080 192.0.2.7:80"),
            ("L%O %I %L %h", "11 22 3 2"),
            ("L%1-1T/%2-3T/%2-2T", "GET/http://h/ HTTP/1.1/http://h/"),
            ("G", ""),
            ("", ""),
        ];
        for (format, expected) in cases {
            assert_eq!(render(format, &record), expected, "{format}");
        }
    }

    #[test]
    fn what_was_never_set_prints_as_3proxy_prints_it() {
        let mut record = record();
        record.text.clear();
        assert_eq!(
            render("L%U|%n|%Q|%q|%R|%r|%e|%h|%T|%1-2T", &record),
            "-|[0.0.0.0]|0.0.0.0|0|0.0.0.0|0|0.0.0.0|0||"
        );
    }

    #[test]
    fn an_ipv6_target_stands_in_brackets() {
        let mut record = record();
        record.host = Some(b"2001:db8::2".as_slice().into());
        record.target = Some("2001:db8::2".parse().unwrap());
        assert_eq!(render("L%n", &record), "[2001:db8::2]");
    }

    #[test]
    fn a_client_can_never_begin_a_line() {
        let mut record = record();
        for field in 0..3 {
            let text = b"a\nb\rc\0d,e\x7f".to_vec();
            match field {
                0 => record.user = Some(text.into()),
                1 => record.host = Some(text.into()),
                _ => record.text = text,
            }
        }
        assert_eq!(render("L%U %n %T", &record), "a_b_c_d,e_ a_b_c_d,e_ a_b_c_d,e_");
        assert_eq!(render("-,+*L%U %1-1T", &record), "a*b*c*d*e* a");
    }

    #[test]
    fn a_client_can_not_steer_a_terminal() {
        let mut record = record();
        // CSI in one character, and a letter that is written alike.
        record.user = Some("a\u{9b}31mé".as_bytes().into());
        record.text = record.user.as_deref().unwrap_or_default().to_vec();
        let line = Format::compile(b"L%U %T").render(&record);
        assert_eq!(line, b"a\xc2_31m\xc3\xa9 a\xc2_31m\xc3\xa9");
    }

    #[test]
    fn a_filter_needs_its_plus_and_a_replacement() {
        let record = record();
        assert_eq!(render("-,L%p", &record), ",L3128");
        assert_eq!(render("-,+", &record), ",+");
        assert_eq!(render("-+*L%p", &record), "3128");
    }

    #[test]
    fn a_field_that_a_client_fills_is_cut() {
        let mut record = record();
        record.text = vec![b'x'; 100_000];
        assert_eq!(render("L%T", &record).len(), super::FIELD_LIMIT);
    }
}
