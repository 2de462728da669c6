//! Written, full, hanging.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, Sender};

use dfrs_proto::journal::JournalSnapshot;

use super::*;
use crate::log::CapturedLog;

/// What a test makes of each attempt to write: an error, or none. Waits until the test decides.
struct SlowTarget {
    begun: Sender<()>,
    words: Receiver<io::Result<()>>,
    written: Sender<String>,
}

impl JournalTarget for SlowTarget {
    fn open(&mut self) -> io::Result<JournalSnapshot> {
        Ok(JournalSnapshot::default())
    }

    fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        let _ = self.begun.send(());
        self.words.recv().unwrap_or(Ok(()))?;
        let text = String::from_utf8_lossy(lines).into_owned();
        self.written.send(text).expect("the test listens");
        Ok(())
    }
}

struct JournalFixture {
    sink: Box<dyn Write>,
    gauge: JournalGauge,
    /// One for each attempt.
    begun: Receiver<()>,
    words: Sender<io::Result<()>>,
    written: Receiver<String>,
    log: CapturedLog,
}

fn fixture() -> JournalFixture {
    let (words, theirs) = channel();
    let (mine, written) = channel();
    let (beginning, begun) = channel();
    let log = CapturedLog::default();
    let target = SlowTarget {
        begun: beginning,
        words: theirs,
        written: mine,
    };
    let path = Path::new("/journal");
    let (writer, gauge) = open_target(Box::new(target), path, &log.log()).expect("opens");
    JournalFixture {
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
fn hanging_disk_blocks_no_pass_and_loses_no_line() {
    let mut fixture = fixture();
    for line in ["a\n", "b\n", "c\n"] {
        fixture
            .sink
            .write_all(line.as_bytes())
            .expect("never fails");
    }
    assert_eq!(fixture.gauge.report().lines, 3);
    for _ in 0..4 {
        let _ = fixture.words.send(Ok(()));
    }
    let mut all = String::new();
    while all.len() < 6 {
        all += &fixture.written.recv_timeout(SOON).expect("is written");
    }
    assert_eq!(all, "a\nb\nc\n");
    fixture.gauge.settle();
    assert_eq!(fixture.gauge.report(), status::JournalStatus::default());
}

#[test]
fn full_disk_is_logged_once_and_retried() {
    let mut fixture = fixture();
    for _ in 0..2 {
        let full = io::Error::other("no space left");
        fixture.words.send(Err(full)).expect("the writer listens");
    }
    fixture.words.send(Ok(())).expect("the writer listens");
    fixture.sink.write_all(b"a\n").expect("never fails");
    assert_eq!(fixture.written.recv_timeout(SOON).as_deref(), Ok("a\n"));
    drop(fixture.sink);
    let errors = fixture.log.errors();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(
        errors[0].starts_with("/journal: journal not written: no space left"),
        "{errors:?}"
    );
}

#[test]
fn lines_beyond_the_buffer_are_counted_as_one_gap() {
    let mut fixture = fixture();
    let line = vec![b'x'; 1 << 20];
    fixture.sink.write_all(&line).expect("never fails");
    // From here on the writer has one line in its hands, however late it woke, and takes no more.
    fixture.begun.recv_timeout(SOON).expect("is begun");
    for _ in 0..80 {
        fixture.sink.write_all(&line).expect("never fails");
    }
    let before = fixture.gauge.report();
    assert_eq!((before.lines, before.lost), (1 + 64, 16), "{before:?}");
    drop(fixture.words);
    let mut bytes = 0;
    while bytes < (1 + 64) << 20 {
        bytes += fixture
            .written
            .recv_timeout(SOON)
            .expect("is written")
            .len();
    }
    fixture.gauge.settle();
    fixture.sink.write_all(b"y\n").expect("never fails");
    assert_eq!(fixture.written.recv_timeout(SOON).as_deref(), Ok("y\n"));
    assert_eq!(fixture.gauge.report().lost, before.lost);
}

#[test]
fn shutdown_does_not_wait_for_a_hanging_disk() {
    let mut fixture = fixture();
    fixture.sink.write_all(b"a\n").expect("never fails");
    drop(fixture.sink);
    let _ = fixture.words.send(Err(io::Error::other("too late")));
    assert!(
        fixture
            .written
            .recv_timeout(Duration::from_secs(5))
            .is_err(),
        "nothing is written later"
    );
}

#[test]
fn torn_line_is_rewritten_whole() {
    let path = std::env::temp_dir().join(format!("dfrs-journal-{}", std::process::id()));
    let mut target = RegularFile::new(path.clone());
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
