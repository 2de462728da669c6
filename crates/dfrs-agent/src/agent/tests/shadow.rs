//! `Mode=shadow`: it looks and decides, and changes nothing.

use super::*;

fn shadow() -> Config {
    Config {
        mode: dfrs_proto::conf::Mode::Shadow,
        ..config()
    }
}

/// What DFRS would do with this job, by what it decided last.
fn would(story: &Story, id: u32) -> Option<String> {
    let now = Time(story.now * SECOND);
    let told = story.agent.explanation(id, None, now).expect("is there");
    told.last_change.map(|change| change.what)
}

#[test]
fn nothing_is_decided_about_jobs_that_something_else_than_room_holds_back() {
    let mut story = Story::with_config(1, shadow());
    story.slurm.0.borrow_mut().held_back.insert(1);
    story.submit(job(1, 1));
    story.submit(job(2, 1));
    story.run(20);
    assert_eq!(would(&story, 1), None, "it depends on another");
    assert_eq!(would(&story, 2).as_deref(), Some("start"));
    story.slurm.0.borrow_mut().held_back.clear();
    story.run(10);
    assert_eq!(would(&story, 1).as_deref(), Some("start"));
    assert!(story.calls().is_empty());
    let world = story.slurm.0.borrow();
    assert!(!world.gate_asked, "it writes the reasons of jobs");
}

#[test]
fn a_job_that_a_limit_begins_to_hold_back_is_noticed() {
    let mut story = Story::with_config(1, shadow());
    story.submit(large(1));
    story.run(2);
    assert!(story.agent.admission.ready().contains(&1));
    story.slurm.0.borrow_mut().held_back.insert(1);
    story.run(10);
    assert!(!story.agent.admission.ready().contains(&1));
    story.slurm.0.borrow_mut().held_back.clear();
    story.run(10);
    assert!(story.agent.admission.ready().contains(&1));
}

#[test]
fn a_line_a_day_says_what_was_seen() {
    let mut story = Story::with_config(1, shadow());
    story.submit(job(1, 1));
    story.run(1);
    let day = 24 * 3600;
    let pass_at = |story: &mut Story, second: i64| {
        story.slurm.0.borrow_mut().updates = second;
        let now = Time(second * SECOND);
        story.agent.pass(now).expect("the model can be looked at");
        let mut world = story.slurm.0.borrow_mut();
        std::mem::take(&mut world.infos)
    };
    let begin = story.now;
    pass_at(&mut story, begin + 10);
    story.submit(job(2, 1));
    story.submit(job(3, 1));
    pass_at(&mut story, begin + 20);
    story.slurm.0.borrow_mut().end(2);
    let before = pass_at(&mut story, begin + day - 10);
    assert!(before.iter().all(|line| !line.contains("jobs came")));
    let lines = pass_at(&mut story, begin + day + 10);
    let told = lines.iter().filter(|line| line.contains("jobs came"));
    let told: Vec<&String> = told.collect();
    assert_eq!(told.len(), 1, "{lines:?}");
    let expected =
        "Mode=shadow: in the last 24 h 2 jobs came and 1 ended, all scheduled by Slurm; ";
    assert!(told[0].starts_with(expected), "{}", told[0]);
    assert!(story.calls().is_empty());
}

/// A journal in memory.
#[derive(Clone, Default)]
struct Bytes(std::rc::Rc<std::cell::RefCell<Vec<u8>>>);

impl std::io::Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Bytes {
    /// The lines in which this word is, and that the journal keeps its promises.
    fn lines(&self, word: &str) -> Vec<String> {
        use dfrs_proto::journal::{JournalReader, Tolerance, validate};

        let bytes = self.0.borrow();
        let events: Vec<_> = JournalReader::new(bytes.as_slice()).flatten().collect();
        assert_eq!(validate(events, Tolerance::default()), []);
        let text = String::from_utf8(bytes.clone()).expect("UTF-8");
        let lines = text.lines().filter(|line| line.contains(word));
        lines.map(str::to_owned).collect()
    }
}

/// A story whose journal is kept.
fn told(node_count: u32, config: Config) -> (Story, Bytes) {
    use dfrs_proto::journal::JournalWriter;

    let mut story = Story::with_config(node_count, config.clone());
    let bytes = Bytes::default();
    let writer: Box<dyn std::io::Write> = Box::new(bytes.clone());
    let ports = Ports {
        slurm: story.slurm.clone(),
        daemons: story.daemons.clone(),
        store: Box::new(story.store.clone()),
        journal: Some(JournalWriter::new(writer)),
        recorder: Box::new(NoRecorder),
        probe: Box::new(NoProbe),
    };
    let state = story.store.0.borrow().clone();
    story.agent = Agent::new(ports, config, state, Time(story.now * SECOND));
    (story, bytes)
}

#[test]
fn the_journal_says_since_when_jobs_wait_for_nothing_but_room() {
    let (mut story, journal) = told(1, shadow());
    story.slurm.0.borrow_mut().held_back.insert(1);
    // Submitted at 1001 and 1002, and seen at 2000.
    story.submit(job(1, 1));
    story.submit(job(2, 1));
    story.run(20);
    story.slurm.0.borrow_mut().held_back.clear();
    story.run(20);
    let lines = journal.lines("eligible");
    let parts = [
        r#""job":"1","value":false"#,
        r#""job":"2","value":true,"waited":998"#,
        r#""job":"1","value":true"#,
    ];
    assert_eq!(lines.len(), parts.len(), "{lines:?}");
    for (line, part) in lines.iter().zip(parts) {
        assert!(line.contains(part), "{line}");
    }
}

#[test]
fn a_refused_start_is_in_the_journal_once_however_often_it_is_tried() {
    let (mut story, journal) = told(1, config());
    story.slurm.0.borrow_mut().refuse_start.insert(1);
    story.submit(job(1, 1));
    story.run(60);
    let lines = journal.lines("refused");
    assert_eq!(lines.len(), 1, "{lines:?}");
    let what = r#""event":"refused","job":"1","nodes":[0],"reason":"Requested nodes are busy""#;
    assert!(lines[0].contains(what), "{}", lines[0]);
    story.slurm.0.borrow_mut().refuse_start.clear();
    story.run(60);
    assert_eq!(story.state(1), ObservedState::Running);
    assert_eq!(journal.lines("refused").len(), 1);
}
