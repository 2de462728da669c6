//! Written, full, hanging.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, Sender};

use dfrs_proto::journal::Standing;

use super::*;
use crate::log::Kept;

/// What a test makes of each attempt to write: an error, or none. It waits for the test's word.
struct Slow {
    begun: Sender<()>,
    words: Receiver<io::Result<()>>,
    written: Sender<String>,
}

impl Target for Slow {
    fn open(&mut self) -> io::Result<Standing> {
        Ok(Standing::default())
    }

    fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        let _ = self.begun.send(());
        self.words.recv().unwrap_or(Ok(()))?;
        let text = String::from_utf8_lossy(lines).into_owned();
        self.written.send(text).expect("the test listens");
        Ok(())
    }
}

struct Story {
    sink: Box<dyn Write>,
    gauge: Gauge,
    /// One for each attempt.
    begun: Receiver<()>,
    words: Sender<io::Result<()>>,
    written: Receiver<String>,
    log: Kept,
}

fn story() -> Story {
    let (words, theirs) = channel();
    let (mine, written) = channel();
    let (beginning, begun) = channel();
    let log = Kept::default();
    let target = Slow {
        begun: beginning,
        words: theirs,
        written: mine,
    };
    let path = Path::new("/journal");
    let (writer, gauge) = open_target(Box::new(target), path, &log.log()).expect("opens");
    Story {
        sink: writer.into_inner(),
        gauge,
        begun,
        words,
        written,
        log,
    }
}

const SOON: Duration = Duration::from_secs(60);

#[test]
fn a_disk_that_hangs_holds_no_pass_up_and_loses_nothing_when_it_comes_back() {
    let mut story = story();
    for line in ["a\n", "b\n", "c\n"] {
        story.sink.write_all(line.as_bytes()).expect("never fails");
    }
    assert_eq!(story.gauge.report().lines, 3);
    for _ in 0..4 {
        let _ = story.words.send(Ok(()));
    }
    let mut all = String::new();
    while all.len() < 6 {
        all += &story.written.recv_timeout(SOON).expect("is written");
    }
    assert_eq!(all, "a\nb\nc\n");
    story.gauge.settle();
    assert_eq!(story.gauge.report(), status::Journal::default());
}

#[test]
fn a_full_disk_is_one_error_line_and_is_tried_again() {
    let mut story = story();
    for _ in 0..2 {
        let full = io::Error::other("no space left");
        story.words.send(Err(full)).expect("the writer listens");
    }
    story.words.send(Ok(())).expect("the writer listens");
    story.sink.write_all(b"a\n").expect("never fails");
    assert_eq!(story.written.recv_timeout(SOON).as_deref(), Ok("a\n"));
    drop(story.sink);
    let errors = story.log.errors();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(
        errors[0].starts_with("/journal: the journal is not written: no space left"),
        "{errors:?}"
    );
}

#[test]
fn what_does_not_fit_in_memory_is_counted_and_the_gap_is_one() {
    let mut story = story();
    let line = vec![b'x'; 1 << 20];
    story.sink.write_all(&line).expect("never fails");
    // From here on the writer has one line in its hands, however late it woke, and takes no more.
    story.begun.recv_timeout(SOON).expect("is begun");
    for _ in 0..80 {
        story.sink.write_all(&line).expect("never fails");
    }
    let before = story.gauge.report();
    assert_eq!((before.lines, before.lost), (1 + 64, 16), "{before:?}");
    drop(story.words);
    let mut bytes = 0;
    while bytes < (1 + 64) << 20 {
        bytes += story.written.recv_timeout(SOON).expect("is written").len();
    }
    story.gauge.settle();
    story.sink.write_all(b"y\n").expect("never fails");
    assert_eq!(story.written.recv_timeout(SOON).as_deref(), Ok("y\n"));
    assert_eq!(story.gauge.report().lost, before.lost);
}

#[test]
fn the_end_does_not_wait_for_a_disk_that_hangs() {
    let mut story = story();
    story.sink.write_all(b"a\n").expect("never fails");
    drop(story.sink);
    let _ = story.words.send(Err(io::Error::other("too late")));
    assert!(
        story.written.recv_timeout(Duration::from_secs(5)).is_err(),
        "nothing is written later"
    );
}

#[test]
fn a_line_that_was_torn_is_written_whole_in_the_end() {
    let path = std::env::temp_dir().join(format!("dfrs-journal-{}", std::process::id()));
    let mut target = Regular::new(path.clone());
    target.open().expect("opens");
    target.append(b"{\"t\":1}\n").expect("writes");
    // As a full disk leaves it.
    std::fs::OpenOptions::new()
        .append(true)
        .open(&path)
        .and_then(|mut file| file.write_all(b"{\"t"))
        .expect("writes");
    target.tear();
    target.append(b"{\"t\":2}\n").expect("writes");
    let text = std::fs::read_to_string(&path).expect("is there");
    assert_eq!(text, "{\"t\":1}\n{\"t\":2}\n");
    std::fs::remove_file(path).expect("cleans up");
}
