//! How a message travels on the node daemon's UNIX socket: Slurm's own framing.
//!
//! `slurmd` serves `slurm_forward_data()` by connecting to the socket as the sender and writing the
//! sender's user id, the length of the data (both 32 bits, big-endian) and the data, then it closes
//! the connection without reading (Slurm 22.05 and 24.11, `_rpc_forward_data()` in
//! `src/slurmd/slurmd/req.c`). A process that connects to the daemon directly uses the same frame,
//! and the daemon's answers are frames too.

use std::io::{self, Read, Write};

use dfrs_proto::message::MAX_MESSAGE_BYTES;

/// Bytes before the data: user id and length.
pub const HEADER_BYTES: usize = 8;

/// One framed piece of data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The sender's user id by its own account, as authenticated by `slurmd`. Any process that can
    /// connect can write any number here: the reader must also get the user at the other end from
    /// the kernel.
    pub uid: u32,
    /// The data, at most [`MAX_MESSAGE_BYTES`].
    pub data: Vec<u8>,
}

/// Why there is no frame; always one line.
#[derive(Debug, thiserror::Error)]
pub enum FramingError {
    /// The connection was closed before the frame was complete.
    #[error("frame cut short after {received} of {expected} bytes")]
    CutShort {
        /// Bytes that came, header included.
        received: usize,
        /// Bytes that a whole frame has, as far as known.
        expected: usize,
    },
    /// The length is more than [`MAX_MESSAGE_BYTES`].
    #[error("frame of {bytes} bytes: at most {MAX_MESSAGE_BYTES} are allowed")]
    TooLong {
        /// The length that the header names.
        bytes: usize,
    },
    /// Reading or writing failed, or took longer than the socket's time-out.
    #[error("frame not transferred: {0}")]
    Io(#[from] io::Error),
}

impl Frame {
    /// The frame as bytes.
    ///
    /// # Errors
    ///
    /// [`FramingError::TooLong`].
    pub fn encode(&self) -> Result<Vec<u8>, FramingError> {
        let too_long = FramingError::TooLong {
            bytes: self.data.len(),
        };
        if self.data.len() > MAX_MESSAGE_BYTES {
            return Err(too_long);
        }
        let length = u32::try_from(self.data.len()).map_err(|_| too_long)?;
        let mut bytes = Vec::with_capacity(HEADER_BYTES + self.data.len());
        bytes.extend(self.uid.to_be_bytes());
        bytes.extend(length.to_be_bytes());
        bytes.extend(&self.data);
        Ok(bytes)
    }

    /// Writes the frame in one piece.
    ///
    /// # Errors
    ///
    /// [`FramingError::TooLong`], or what the writer reports.
    pub fn write_to(&self, writer: &mut impl Write) -> Result<(), FramingError> {
        writer.write_all(&self.encode()?)?;
        Ok(writer.flush()?)
    }

    /// Reads one frame. Never allocates more than what was announced, nor than
    /// [`MAX_MESSAGE_BYTES`], and nothing for bytes that do not come.
    ///
    /// # Errors
    ///
    /// If the input ends early, is too long, or the reader fails.
    pub fn read_from(reader: &mut impl Read) -> Result<Frame, FramingError> {
        let header = read_part(reader, 0, HEADER_BYTES)?;
        let (uid, length) = (be_u32(&header[..4]), be_u32(&header[4..]) as usize);
        if length > MAX_MESSAGE_BYTES {
            return Err(FramingError::TooLong { bytes: length });
        }
        let data = read_part(reader, HEADER_BYTES, length)?;
        Ok(Frame { uid, data })
    }
}

/// The next `length` bytes of a frame, of which so many came `before`. Unlike `read_exact`, says how
/// much came, and grows the buffer only as bytes arrive.
fn read_part(
    reader: &mut impl Read,
    before: usize,
    length: usize,
) -> Result<Vec<u8>, FramingError> {
    let mut bytes = Vec::new();
    let received = reader.take(length as u64).read_to_end(&mut bytes)?;
    if received < length {
        return Err(FramingError::CutShort {
            received: before + received,
            expected: before + length,
        });
    }
    Ok(bytes)
}

fn be_u32(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .fold(0, |number, &byte| number << 8 | u32::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn golden_bytes_both_ways() {
        let frame = Frame {
            uid: 0x0102_0304,
            data: b"{}".to_vec(),
        };
        let bytes = [1, 2, 3, 4, 0, 0, 0, 2, b'{', b'}'];
        assert_eq!(frame.encode().unwrap(), bytes);
        assert_eq!(Frame::read_from(&mut bytes.as_slice()).unwrap(), frame);
    }

    #[test]
    fn an_announced_length_is_bounded() {
        let mut bytes: &[u8] = &[0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 1];
        let error = Frame::read_from(&mut bytes).unwrap_err();
        assert!(
            matches!(error, FramingError::TooLong { bytes: 0xffff_ffff }),
            "{error}"
        );
        let long = Frame {
            uid: 0,
            data: vec![0; MAX_MESSAGE_BYTES + 1],
        };
        assert!(matches!(long.encode(), Err(FramingError::TooLong { .. })));
    }

    #[test]
    fn one_frame_is_read_and_no_more() {
        let mut bytes: &[u8] = &[0, 0, 0, 7, 0, 0, 0, 1, b'a', b'b'];
        assert_eq!(Frame::read_from(&mut bytes).unwrap().data, b"a");
        assert_eq!(bytes, b"b");
    }

    proptest! {
        #[test]
        fn frame_round_trips(uid: u32, data in proptest::collection::vec(any::<u8>(), 0..300)) {
            let frame = Frame { uid, data };
            let mut bytes = Vec::new();
            frame.write_to(&mut bytes).unwrap();
            prop_assert_eq!(Frame::read_from(&mut bytes.as_slice()).unwrap(), frame);
        }

        #[test]
        fn truncated_frame_is_detected(data in proptest::collection::vec(any::<u8>(), 0..60), cut in 0usize..68) {
            let bytes = Frame { uid: 9, data }.encode().unwrap();
            prop_assume!(cut < bytes.len());
            let error = Frame::read_from(&mut &bytes[..cut]).unwrap_err();
            let is_cut = matches!(error, FramingError::CutShort { received, .. } if received == cut);
            prop_assert!(is_cut, "{error}");
        }
    }
}
