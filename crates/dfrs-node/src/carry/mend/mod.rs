//! Mends what criu does not restore as it was: waits that the dump has interrupted, and timers that
//! had fired ([`timers`]).
//!
//! criu lets sleeps, polls and timed waits in which a thread was end with EINTR, which many a
//! program takes for an error. In the image of each thread the call is set up to be made again, as
//! the kernel itself does it after a signal without a handler. x86-64 only: images of other
//! machines are left as they are.

mod calls;
mod timers;
mod wire;

use std::fs;
use std::iter::repeat_n;
use std::path::Path;

use wire::{WireMessage, cut_short};

/// Fields of an image's thread.
const MACHINE: u64 = 1;
const THREAD: u64 = 2;
const REGISTERS: u64 = 2;
/// The value of `MACHINE` for x86-64.
const X86_64: u64 = 1;
/// Bytes before the messages of an image: two magic numbers.
const MAGIC_BYTES: usize = 8;

/// Mends all threads and timers of the image in the directory; the calls that are made again.
///
/// # Errors
///
/// If a file of it cannot be read, understood or written.
pub fn mend(image: &Path) -> Result<Vec<&'static str>, String> {
    let failed = |error| format!("{}: cannot be mended: {error}", image.display());
    let mut mended = Vec::new();
    for entry in fs::read_dir(image).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let is_thread = name
            .to_str()
            .is_some_and(|name| name.starts_with("core-") && name.ends_with(".img"));
        if is_thread {
            mended.extend(mend_file(&entry.path())?);
        }
    }
    mended.sort_unstable();
    mended.extend(repeat_n("timerfd", timers::mend(image)?));
    Ok(mended)
}

fn mend_file(file: &Path) -> Result<Option<&'static str>, String> {
    let named = |error: String| format!("{}: cannot be mended: {error}", file.display());
    let bytes = fs::read(file).map_err(|error| named(error.to_string()))?;
    let Some((bytes, call)) = mend_thread(&bytes).map_err(named)? else {
        return Ok(None);
    };
    fs::write(file, bytes).map_err(|error| named(error.to_string()))?;
    Ok(Some(call))
}

/// The file of a thread with its call made again; none if nothing is to be mended.
fn mend_thread(file: &[u8]) -> Result<Option<(Vec<u8>, &'static str)>, String> {
    let (magic, rest) = file.split_at_checked(MAGIC_BYTES).ok_or_else(cut_short)?;
    let (mut core, behind) = WireMessage::next(rest)?;
    if core.number(MACHINE) != Some(X86_64) {
        return Ok(None);
    }
    let Some(mut thread) = core.message(THREAD)? else {
        return Ok(None);
    };
    let Some(mut registers) = thread.message(REGISTERS)? else {
        return Ok(None);
    };
    let Some(call) = calls::mend_registers(&mut registers) else {
        return Ok(None);
    };
    thread.set_message(REGISTERS, &registers);
    core.set_message(THREAD, &thread);
    let mut mended = magic.to_vec();
    core.append_to(&mut mended)?;
    mended.extend(behind);
    Ok(Some((mended, call)))
}

#[cfg(test)]
mod tests {
    use super::calls::tests::interrupted;
    use super::wire::tests::{bytes_field, number_field};
    use super::*;
    use crate::scratch::Scratch;

    fn thread_file(machine: u64, registers: &[u8]) -> Vec<u8> {
        let mut core = number_field(1, machine);
        let mut thread = number_field(1, 0x7000);
        thread.extend(bytes_field(2, registers));
        core.extend(bytes_field(2, &thread));
        core.extend(bytes_field(3, b"the rest"));
        let mut file = b"magicsss".to_vec();
        file.extend(u32::try_from(core.len()).unwrap().to_le_bytes());
        file.extend(core);
        file.extend(b"behind");
        file
    }

    #[test]
    fn threads_are_mended_and_other_files_are_not() {
        let scratch = Scratch::new();
        let file = thread_file(X86_64, &interrupted(7, [1; 4]));
        for name in ["core-300.img", "core-301.img", "pages-1.img", "core-2.txt"] {
            fs::write(scratch.path().join(name), &file).unwrap();
        }
        let other = thread_file(2, &interrupted(7, [1; 4]));
        fs::write(scratch.path().join("core-302.img"), &other).unwrap();
        assert_eq!(mend(scratch.path()).unwrap(), ["poll", "poll"]);
        let read = |name| fs::read(scratch.path().join(name)).unwrap();
        let mended = read("core-300.img");
        assert_ne!(mended, file);
        assert!(mended.starts_with(b"magicsss") && mended.ends_with(b"the restbehind"));
        assert_eq!(read("pages-1.img"), file);
        assert_eq!(read("core-302.img"), other);
        // What was mended once stays as it is.
        assert!(mend(scratch.path()).unwrap().is_empty());
        assert_eq!(read("core-300.img"), mended);
    }

    #[test]
    fn damaged_files_are_errors_that_name_them() {
        let scratch = Scratch::new();
        let file = thread_file(X86_64, &interrupted(7, [1; 4]));
        for length in [0, 11, 40] {
            fs::write(scratch.path().join("core-1.img"), &file[..length]).unwrap();
            let error = mend(scratch.path()).unwrap_err();
            assert!(error.contains("core-1.img: cannot be mended"), "{error}");
        }
    }
}
