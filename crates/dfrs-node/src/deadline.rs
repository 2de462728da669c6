//! A stream that has to be done by some moment: with a timeout of each read alone a client that
//! sends a byte now and then would hold it for ever.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// A UNIX stream of which all reads and writes together end in time.
#[derive(Debug)]
pub struct Deadline<'a> {
    stream: &'a UnixStream,
    ends: Instant,
}

impl<'a> Deadline<'a> {
    /// From now on for so long.
    pub fn new(stream: &'a UnixStream, timeout: Duration) -> Deadline<'a> {
        Deadline {
            stream,
            ends: Instant::now() + timeout,
        }
    }

    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.ends.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(Some(left))
    }
}

impl Read for Deadline<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(buffer)
    }
}

impl Write for Deadline<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn io_after_the_deadline_times_out_when_bytes_are_there() {
        let (mut near, far) = UnixStream::pair().unwrap();
        near.write_all(b"late").unwrap();
        let mut byte = [0];
        let mut over = Deadline::new(&far, Duration::ZERO);
        assert_eq!(
            over.read(&mut byte).unwrap_err().kind(),
            io::ErrorKind::TimedOut
        );
        assert!(over.write(b"x").is_err());
        let mut ample = Deadline::new(&far, Duration::from_secs(60));
        assert_eq!(ample.read(&mut byte).unwrap(), 1);
        assert_eq!(ample.write(b"x").unwrap(), 1);
    }
}
