//! The lines of a file that may be compressed.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;

/// The longest line that is read, in bytes. No line of any format comes near.
pub(super) const MAX_LINE_BYTES: usize = 64 << 10;

/// The longest file that is read, uncompressed, in bytes: a bomb must have an end.
const MAX_BYTES: u64 = 4 << 30;

/// What some editors put before the first line of UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What a file is that is no text, and what to do about it.
pub(super) fn with_remedy(what: &str) -> String {
    let remedy = match what == TAR {
        true => "unpack it (tar -xf) and name the file in it",
        false => "make it UTF-8 text, plain or compressed with gzip",
    };
    format!("{what}; {remedy}")
}

const TAR: &str = "a tar archive";

/// What a gzip file begins with.
pub(super) const GZIP: [u8; 2] = [0x1f, 0x8b];

/// How files begin that many programs write and that are not read, and what they are.
const FOREIGN: [(&[u8], &str); 12] = [
    (b"\xfd7zXZ\0", "compressed with xz"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd"),
    (b"\x04\x22\x4d\x18", "compressed with lz4"),
    (b"\x5d\x00\x00", "compressed with lzma"),
    (b"LZIP", "compressed with lzip"),
    (b"\x1f\x9d", "compressed with compress"),
    (b"PK\x03\x04", "a zip archive"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"Rar!", "a rar archive"),
    (b"SQLite format 3", "a database of SQLite"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
];

/// What a file is that begins like this, if it is something that is not read.
pub(super) fn foreign(head: &[u8]) -> Option<&'static str> {
    if head.get(257..262) == Some(b"ustar") {
        return Some(TAR);
    }
    if let [low, high, other, another, ..] = head
        && (*low == 0) != (*high == 0)
        && (low == other || *low != 0 && *other != 0)
        && (high == another || *high != 0 && *another != 0)
    {
        return Some("UTF-16");
    }
    // Behind BZh is the level of compression.
    if head.starts_with(b"BZh") && head.get(4..10) == Some(b"1AY&SY") {
        return Some("compressed with bzip2");
    }
    let mut known = FOREIGN.iter();
    let found = known.find(|(mark, _)| head.starts_with(mark));
    found.map(|(_, what)| *what)
}

/// `input`, decompressed if it begins as a gzip file does.
///
/// # Errors
///
/// Those of reading its beginning, and of kind `InvalidData` if it begins as files do that are not read.
pub fn decompressed<'a>(mut input: impl BufRead + 'a) -> io::Result<Box<dyn BufRead + 'a>> {
    let head = input.fill_buf()?;
    if let Some(what) = foreign(head) {
        return Err(invalid(format!("it is {}", with_remedy(what))));
    }
    if head.starts_with(&GZIP) {
        let decoder = MultiGzDecoder::new(input);
        Ok(Box::new(BufReader::with_capacity(1 << 16, decoder)))
    } else {
        Ok(Box::new(input))
    }
}

/// One line after the other, counted from 1.
pub(super) struct Lines<R> {
    input: R,
    /// The number of the line that was read last.
    pub number: usize,
    /// What is read and not handed out yet is from `start` to `end`.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Bytes read so far.
    total: u64,
}

impl<R: Read> Lines<R> {
    pub fn new(input: R) -> Self {
        Self {
            input,
            number: 0,
            buffer: vec![0; 2 * MAX_LINE_BYTES],
            start: 0,
            end: 0,
            total: 0,
        }
    }

    /// The next line without white space at its ends (nor a byte order mark before the first);
    /// `None` at the end of the file. A line or file that is too long is an error of kind
    /// `InvalidData`.
    pub fn next(&mut self) -> io::Result<Option<&[u8]>> {
        self.number += 1;
        let mut searched = 0;
        let length = loop {
            let rest = &self.buffer[self.start..self.end];
            if let Some(at) = memchr::memchr(b'\n', &rest[searched..]) {
                break searched + at;
            }
            searched = rest.len();
            if searched > MAX_LINE_BYTES {
                break searched;
            }
            if self.fill()? == 0 {
                if searched == 0 {
                    return Ok(None);
                }
                break searched;
            }
        };
        if length > MAX_LINE_BYTES {
            let what = format!("the line is longer than {MAX_LINE_BYTES} bytes; is this a trace?");
            return Err(invalid(what));
        }
        let line = &self.buffer[self.start..self.start + length];
        self.start = self.end.min(self.start + length + 1);
        let marked = if self.number == 1 {
            BYTE_ORDER_MARK
        } else {
            b""
        };
        Ok(Some(line.strip_prefix(marked).unwrap_or(line).trim_ascii()))
    }

    /// Reads on, and returns how many bytes there were.
    fn fill(&mut self) -> io::Result<usize> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        let read = loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => break result,
            }
        };
        let read = read.map_err(|error| truncated(&error))?;
        self.end += read;
        self.total += read as u64;
        if self.total > MAX_BYTES {
            let what = format!("the file is longer than {MAX_BYTES} bytes; split it");
            return Err(invalid(what));
        }
        Ok(read)
    }
}

/// The error with a hint at its likely cause.
pub(super) fn truncated(error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{error}; is the file whole?"))
}

fn invalid(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
