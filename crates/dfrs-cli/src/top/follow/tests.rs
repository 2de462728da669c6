use std::fs::{self, OpenOptions};
use std::io::Write;

use dfrs_core::Time;
use dfrs_proto::journal::EventKind;

use super::*;

struct Scratch(PathBuf);

impl Scratch {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("dfrs-follow-{test}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("temporary directory");
        Self(path.join("journal"))
    }

    fn write(&self, text: &str) {
        fs::write(&self.0, text).expect("writes");
    }

    fn append(&self, text: &str) {
        let file = OpenOptions::new().append(true).open(&self.0);
        file.and_then(|mut file| file.write_all(text.as_bytes()))
            .expect("appends");
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.0.parent().expect("has one"));
    }
}

fn finish(job: &str) -> String {
    format!("{{\"t\":1,\"event\":\"finish\",\"job\":\"{job}\"}}\n")
}

/// Everything that is new, in short: the job of an event, `again`, or the number of a bad line.
fn poll_all(follower: &mut Follower) -> Vec<String> {
    let mut updates = Vec::new();
    let mut on_update = |news| {
        updates.push(match news {
            JournalUpdate::Event(event) => match event.kind {
                EventKind::Finish { job, .. } => job,
                other => format!("{other:?}"),
            },
            JournalUpdate::Restarted => "again".to_owned(),
            JournalUpdate::Malformed(line, _) => format!("bad {line}"),
        });
    };
    while follower.poll(&mut on_update).expect("can be read") {}
    updates
}

#[test]
fn line_is_read_once_when_complete() {
    let scratch = Scratch::new("whole");
    let (one, two) = (finish("1"), finish("2"));
    let (before, after) = two.split_at(20);
    scratch.write(&(one + before));
    let mut follower = Follower::open(&scratch.0).expect("is there");
    assert_eq!(poll_all(&mut follower), ["1"]);
    assert_eq!(poll_all(&mut follower), [""; 0]);
    scratch.append(&after[..5]);
    assert_eq!(poll_all(&mut follower), [""; 0]);
    scratch.append(&(after[5..].to_owned() + "\n" + &finish("3")));
    assert_eq!(poll_all(&mut follower), ["2", "3"]);
}

#[test]
fn line_without_newline_is_not_read() {
    let scratch = Scratch::new("end");
    scratch.write(finish("1").trim_end());
    let mut follower = Follower::open(&scratch.0).expect("is there");
    assert_eq!(poll_all(&mut follower), [""; 0]);
    scratch.append("\n");
    assert_eq!(poll_all(&mut follower), ["1"]);
}

#[test]
fn replaced_file_is_followed_after_end_of_old_one() {
    let scratch = Scratch::new("replaced");
    scratch.write(&finish("1"));
    let mut follower = Follower::open(&scratch.0).expect("is there");
    assert_eq!(poll_all(&mut follower), ["1"]);
    scratch.append(&(finish("2") + "{\"t\":"));
    let old = scratch.0.with_extension("1");
    fs::rename(&scratch.0, &old).expect("renames");
    assert_eq!(poll_all(&mut follower), ["2"]);
    assert!(!follower.is_there());
    scratch.write(&finish("3"));
    assert_eq!(poll_all(&mut follower), ["again", "3"]);
    assert!(follower.is_there());
}

#[test]
fn truncated_file_is_read_from_the_start() {
    let scratch = Scratch::new("cut");
    scratch.write(&(finish("1") + &finish("2") + "{\"t\""));
    let mut follower = Follower::open(&scratch.0).expect("is there");
    assert_eq!(poll_all(&mut follower), ["1", "2"]);
    scratch.write("");
    assert_eq!(poll_all(&mut follower), ["again"]);
    scratch.append(&finish("3"));
    assert_eq!(poll_all(&mut follower), ["3"]);
}

#[test]
fn malformed_lines_are_reported_and_skipped() {
    let scratch = Scratch::new("bad");
    scratch.write(&(finish("1") + "no event\n\n\u{0}\u{1}\n" + &finish("2")));
    let mut follower = Follower::open(&scratch.0).expect("is there");
    assert_eq!(poll_all(&mut follower), ["1", "bad 2", "bad 4", "2"]);
}

#[test]
fn line_longer_than_a_chunk_is_read_whole() {
    let scratch = Scratch::new("long");
    let nodes: Vec<String> = (0..20_000)
        .map(|node| format!("{{\"name\":\"node{node}\",\"cpu\":64,\"mem\":1e11}}"))
        .collect();
    let nodes = nodes.join(",");
    let platform = format!(
        "{{\"t\":7,\"event\":\"platform\",\"version\":1,\"policy\":\"p\",\"nodes\":[{nodes}]}}\n"
    );
    assert!(platform.len() > 3 * CHUNK);
    scratch.write(&platform);
    let mut follower = Follower::open(&scratch.0).expect("is there");
    let mut count = 0;
    let mut on_update = |news| match news {
        JournalUpdate::Event(event) => {
            assert_eq!(event.t, Time::from_seconds(7));
            count += 1;
        }
        other => panic!("{other:?}"),
    };
    while follower.poll(&mut on_update).expect("can be read") {}
    assert_eq!((count, follower.part_read()), (1, 1.0));
}

#[test]
fn a_directory_is_no_journal() {
    assert!(Follower::open(&std::env::temp_dir()).is_err());
}
