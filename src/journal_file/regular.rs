//! The file that journals are: goes on after torn writes, and in a new file when the old one is rotated.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use dfrs_proto::journal::{EventKind, JournalEvent, JournalSnapshot, reopen};

use super::writer::JournalTarget;

/// Lines without this are no platform, which saves reading them.
const PLATFORM: &str = "\"platform\"";

/// A file.
pub(super) struct RegularFile {
    path: PathBuf,
    file: Option<File>,
    /// Up to where it has whole lines.
    length: u64,
    /// The last platform, with which the next file begins.
    platform: Option<JournalEvent>,
}

impl RegularFile {
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
            file: None,
            length: 0,
            platform: None,
        }
    }

    /// Stands where a torn write has left it.
    #[cfg(test)]
    pub(super) fn tear(&mut self) {
        let file = self.file.as_mut().expect("is open");
        file.seek(SeekFrom::End(0)).expect("seeks");
    }

    /// Whether the file was renamed, removed, or cut off: what comes next belongs into a new one.
    fn is_rotated(&self) -> io::Result<bool> {
        let Some(file) = &self.file else {
            return Ok(false);
        };
        let open = file.metadata()?;
        let named = match fs::metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            named => named?,
        };
        let is_other = (named.dev(), named.ino()) != (open.dev(), open.ino());
        Ok(is_other || open.len() < self.length)
    }

    /// What a new file needs before these lines: the platform, as of the first of them. Nothing if they begin
    /// with it, or it is not known.
    fn head(&self, lines: &str) -> io::Result<Vec<u8>> {
        let first = lines.lines().next();
        let first = first.and_then(|line| serde_json::from_str::<JournalEvent>(line).ok());
        let (Some(first), Some(platform)) = (first, self.platform.clone()) else {
            return Ok(Vec::new());
        };
        if is_platform(&first) {
            return Ok(Vec::new());
        }
        let mut head = serde_json::to_vec(&JournalEvent {
            t: first.t,
            ..platform
        })?;
        head.push(b'\n');
        Ok(head)
    }
}

impl JournalTarget for RegularFile {
    fn open(&mut self) -> io::Result<JournalSnapshot> {
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(&self.path)?;
        let standing = reopen(&mut file)?;
        self.length = file.stream_position()?;
        self.file = Some(file);
        Ok(standing)
    }

    fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        if self.is_rotated()? {
            self.open()?;
        }
        let text = String::from_utf8_lossy(lines);
        let mut whole = if self.length == 0 {
            self.head(&text)?
        } else {
            Vec::new()
        };
        whole.extend_from_slice(lines);
        let file = self.file.as_mut();
        let file = file.ok_or_else(|| io::Error::other("it is not open"))?;
        if file.stream_position()? != self.length {
            // The last attempt was torn.
            file.set_len(self.length)?;
            file.seek(SeekFrom::Start(self.length))?;
        }
        file.write_all(&whole)?;
        self.length += whole.len() as u64;
        self.platform = last_platform(&text).or(self.platform.take());
        Ok(())
    }
}

fn is_platform(event: &JournalEvent) -> bool {
    matches!(event.kind, EventKind::Platform { .. })
}

fn last_platform(lines: &str) -> Option<JournalEvent> {
    let mut likely = lines.lines().rev().filter(|line| line.contains(PLATFORM));
    likely.find_map(|line| {
        let event = serde_json::from_str::<JournalEvent>(line).ok();
        event.filter(is_platform)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLATFORM_LINE: &str = r#"{"t":1,"event":"platform","version":1,"policy":"p","nodes":[{"name":"a","cpu":4.0,"mem":8.0}]}"#;

    /// A journal of its own for one test, removed at its end.
    struct ScratchJournal(PathBuf);

    impl ScratchJournal {
        fn new(name: &str) -> Self {
            let name = format!("dfrs-regular-{name}-{}", std::process::id());
            Self(std::env::temp_dir().join(name))
        }

        fn rotated(&self) -> PathBuf {
            self.0.with_extension("1")
        }

        fn open(&self) -> RegularFile {
            let mut target = RegularFile::new(self.0.clone());
            target.open().expect("opens");
            append(&mut target, &[PLATFORM_LINE, &submit(2, 7)]);
            target
        }

        fn lines(&self) -> Vec<String> {
            let text = fs::read_to_string(&self.0).expect("is there");
            text.lines().map(str::to_owned).collect()
        }
    }

    impl Drop for ScratchJournal {
        fn drop(&mut self) {
            let _ = (fs::remove_file(&self.0), fs::remove_file(self.rotated()));
        }
    }

    fn submit(t: u32, job: u32) -> String {
        format!(
            r#"{{"t":{t},"event":"submit","job":"{job}","tasks":1,"cpu":1.0,"mem":1.0,"mem_per_node":0.0}}"#
        )
    }

    fn append(target: &mut RegularFile, lines: &[&str]) {
        let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
        target.append(lines.as_bytes()).expect("writes");
    }

    /// [`PLATFORM_LINE`] at this time.
    fn platform_at(t: u32) -> String {
        PLATFORM_LINE.replacen('1', &t.to_string(), 1)
    }

    #[test]
    fn renamed_journal_continues_in_a_new_file_with_the_platform() {
        let scratch = ScratchJournal::new("renamed");
        let mut target = scratch.open();
        fs::rename(&scratch.0, scratch.rotated()).expect("renames");
        append(&mut target, &[&submit(3, 8)]);
        append(&mut target, &[&submit(4, 9)]);
        assert_eq!(
            scratch.lines(),
            [platform_at(3), submit(3, 8), submit(4, 9)]
        );
        let before = fs::read_to_string(scratch.rotated()).expect("is there");
        assert_eq!(before.lines().count(), 2);
    }

    #[test]
    fn file_recreated_by_rotation_is_used() {
        let scratch = ScratchJournal::new("made");
        let mut target = scratch.open();
        fs::rename(&scratch.0, scratch.rotated()).expect("renames");
        File::create(&scratch.0).expect("creates");
        append(&mut target, &[&submit(3, 8)]);
        assert_eq!(scratch.lines(), [platform_at(3), submit(3, 8)]);
    }

    #[test]
    fn truncated_journal_restarts_without_a_hole() {
        let scratch = ScratchJournal::new("cut");
        let mut target = scratch.open();
        File::create(&scratch.0).expect("cuts it off");
        append(&mut target, &[&submit(3, 8)]);
        assert_eq!(scratch.lines(), [platform_at(3), submit(3, 8)]);
    }

    #[test]
    fn new_platform_is_written_once() {
        let scratch = ScratchJournal::new("twice");
        let mut target = scratch.open();
        fs::remove_file(&scratch.0).expect("removes");
        append(&mut target, &[&platform_at(5), &submit(5, 8)]);
        assert_eq!(scratch.lines(), [platform_at(5), submit(5, 8)]);
    }
}
