//! Periodic timers (timerfd) that had fired and were not read when they were dumped.
//!
//! The kernel starts such a timer again only when it is read, so that its next time is 0 in the
//! image; criu sets it to that, which stops it for ever. In the image it gets its interval instead.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use super::MAGIC_BYTES;
use super::wire::{WireMessage, cut_short};

/// The image with all open files.
const FILES: &str = "files.img";

/// The field of a file that has its timer, and fields of that: seconds and nanoseconds until it
/// fires next, and of its interval.
const TIMER: u64 = 12;
const NEXT: [u64; 2] = [7, 8];
const INTERVAL: [u64; 2] = [9, 10];

/// Mends the timers of the image in this directory, if it has open files; how many.
///
/// # Errors
///
/// If the file cannot be read, understood or written.
pub fn mend(image: &Path) -> Result<usize, String> {
    let file = image.join(FILES);
    let named = |error: String| format!("{}: cannot be mended: {error}", file.display());
    let bytes = match fs::read(&file) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
        read => read.map_err(|error| named(error.to_string()))?,
    };
    let (mended, count) = mend_files(&bytes).map_err(named)?;
    if count > 0 {
        fs::write(&file, mended).map_err(|error| named(error.to_string()))?;
    }
    Ok(count)
}

/// The image of all files with its timers mended, and how many of them.
fn mend_files(image: &[u8]) -> Result<(Vec<u8>, usize), String> {
    let mut mended = image.get(..MAGIC_BYTES).ok_or_else(cut_short)?.to_vec();
    let (mut rest, mut count) = (&image[MAGIC_BYTES..], 0);
    while !rest.is_empty() {
        let (mut file, behind) = WireMessage::next(rest)?;
        count += usize::from(mend_file(&mut file)?);
        file.append_to(&mut mended)?;
        rest = behind;
    }
    Ok((mended, count))
}

/// Whether the file is a timer that had to be mended.
fn mend_file(file: &mut WireMessage) -> Result<bool, String> {
    let Some(mut timer) = file.message(TIMER)? else {
        return Ok(false);
    };
    let value = |fields: [u64; 2]| fields.map(|field| timer.number(field).unwrap_or(0));
    let (next, interval) = (value(NEXT), value(INTERVAL));
    if next != [0, 0] || interval == [0, 0] {
        return Ok(false);
    }
    for (field, value) in NEXT.into_iter().zip(interval) {
        timer.set_number(field, value);
    }
    file.set_message(TIMER, &timer);
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::super::wire::tests::{bytes_field, number_field};
    use super::*;
    use crate::scratch::Scratch;

    fn image(files: &[Vec<u8>]) -> Vec<u8> {
        let mut image = b"magicsss".to_vec();
        for file in files {
            image.extend(u32::try_from(file.len()).unwrap().to_le_bytes());
            image.extend(file);
        }
        image
    }

    fn timer(next: [u64; 2], interval: [u64; 2]) -> Vec<u8> {
        let mut timer = number_field(1, 5);
        for (field, value) in [
            (7, next[0]),
            (8, next[1]),
            (9, interval[0]),
            (10, interval[1]),
        ] {
            timer.extend(number_field(field, value));
        }
        let mut file = number_field(1, 17);
        file.extend(bytes_field(12, &timer));
        file
    }

    fn regular() -> Vec<u8> {
        let mut file = number_field(1, 1);
        file.extend(bytes_field(3, b"\x08\x07"));
        file
    }

    #[test]
    fn timer_that_has_fired_gets_its_interval() {
        let scratch = Scratch::new();
        let file = scratch.path().join(FILES);
        let fired = timer([0, 0], [1, 500_000_000]);
        // That of a timer that fires later, once, or not at all.
        let others = [
            timer([3, 0], [1, 0]),
            timer([3, 0], [0, 0]),
            timer([0, 0], [0, 0]),
        ];
        let [later, once, never] = others.clone();
        fs::write(&file, image(&[regular(), fired, later, once, never])).unwrap();
        assert_eq!(mend(scratch.path()), Ok(1));
        let [later, once, never] = others;
        let set = timer([1, 500_000_000], [1, 500_000_000]);
        let expected = image(&[regular(), set, later, once, never]);
        assert_eq!(fs::read(&file).unwrap(), expected);
        assert_eq!(mend(scratch.path()), Ok(0));
        assert_eq!(fs::read(&file).unwrap(), expected);
    }

    #[test]
    fn damaged_images_are_errors_that_name_them() {
        let scratch = Scratch::new();
        assert_eq!(mend(scratch.path()), Ok(0), "there is none");
        let whole = image(&[regular(), timer([0, 0], [1, 0])]);
        for length in [0, 7, 10, 13, whole.len() - 1] {
            fs::write(scratch.path().join(FILES), &whole[..length]).unwrap();
            let error = mend(scratch.path()).unwrap_err();
            assert!(error.contains("files.img: cannot be mended"), "{error}");
        }
    }
}
