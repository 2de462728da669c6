//! `Mode=shadow`: it looks and decides, and changes nothing.

use super::*;

fn shadow() -> Config {
    Config {
        mode: dfrs_proto::conf::Mode::Shadow,
        ..config()
    }
}

/// What DFRS would do with this job, by what it decided last.
fn last_decision(cluster: &TestCluster, id: u32) -> Option<String> {
    let now = Time::from_seconds(cluster.now);
    let explanation = cluster.agent.explanation(id, None, now).expect("is there");
    explanation.last_change.map(|change| change.what)
}

#[test]
fn job_is_not_planned_when_it_waits_for_more_than_room() {
    let mut cluster = TestCluster::with_config(1, shadow());
    cluster.slurm.0.borrow_mut().held_back.insert(1);
    cluster.submit(job(1, 1));
    cluster.submit(job(2, 1));
    cluster.run(20);
    assert_eq!(last_decision(&cluster, 1), None, "it depends on another");
    assert_eq!(last_decision(&cluster, 2).as_deref(), Some("start"));
    cluster.slurm.0.borrow_mut().held_back.clear();
    cluster.run(10);
    assert_eq!(last_decision(&cluster, 1).as_deref(), Some("start"));
    assert!(cluster.calls().is_empty());
    let slurmctld = cluster.slurm.0.borrow();
    assert!(!slurmctld.gate_asked, "it writes the reasons of jobs");
}

#[test]
fn job_is_not_ready_while_a_limit_holds_it_back() {
    let mut cluster = TestCluster::with_config(1, shadow());
    cluster.submit(large(1));
    cluster.run(2);
    assert!(cluster.agent.queue.admission.ready().contains(&1));
    cluster.slurm.0.borrow_mut().held_back.insert(1);
    cluster.run(10);
    assert!(!cluster.agent.queue.admission.ready().contains(&1));
    cluster.slurm.0.borrow_mut().held_back.clear();
    cluster.run(10);
    assert!(cluster.agent.queue.admission.ready().contains(&1));
}

#[test]
fn daily_summary_counts_submitted_and_ended_jobs() {
    let mut cluster = TestCluster::with_config(1, shadow());
    cluster.submit(job(1, 1));
    cluster.run(1);
    let day = 24 * 3600;
    let pass_at = |cluster: &mut TestCluster, second: i64| {
        cluster.slurm.0.borrow_mut().updates = second;
        let now = Time::from_seconds(second);
        cluster.agent.pass(now).expect("the fake can be looked at");
        let mut slurmctld = cluster.slurm.0.borrow_mut();
        std::mem::take(&mut slurmctld.infos)
    };
    let begin = cluster.now;
    pass_at(&mut cluster, begin + 10);
    cluster.submit(job(2, 1));
    cluster.submit(job(3, 1));
    pass_at(&mut cluster, begin + 20);
    cluster.slurm.0.borrow_mut().end(2);
    let before = pass_at(&mut cluster, begin + day - 10);
    assert!(before.iter().all(|line| !line.contains("jobs submitted")));
    let lines = pass_at(&mut cluster, begin + day + 10);
    let summaries = lines.iter().filter(|line| line.contains("jobs submitted"));
    let summaries: Vec<&String> = summaries.collect();
    assert_eq!(summaries.len(), 1, "{lines:?}");
    let expected =
        "Mode=shadow: in the last 24 h 2 jobs submitted and 1 ended, all scheduled by Slurm; ";
    assert!(summaries[0].starts_with(expected), "{}", summaries[0]);
    assert!(cluster.calls().is_empty());
}

/// A journal in memory.
#[derive(Clone, Default)]
struct JournalBuffer(std::rc::Rc<std::cell::RefCell<Vec<u8>>>);

impl std::io::Write for JournalBuffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl JournalBuffer {
    /// The lines in which this word is, and that the journal keeps its promises.
    fn lines(&self, word: &str) -> Vec<String> {
        use dfrs_journal::{JournalReader, Tolerance, validate};

        let bytes = self.0.borrow();
        let events: Vec<_> = JournalReader::new(bytes.as_slice()).flatten().collect();
        assert_eq!(validate(events, Tolerance::default()), []);
        let text = String::from_utf8(bytes.clone()).expect("UTF-8");
        let lines = text.lines().filter(|line| line.contains(word));
        lines.map(str::to_owned).collect()
    }
}

/// A cluster whose journal is kept.
fn with_journal(node_count: u32, config: Config) -> (TestCluster, JournalBuffer) {
    use dfrs_proto::journal::JournalWriter;

    let mut cluster = TestCluster::with_config(node_count, config.clone());
    let bytes = JournalBuffer::default();
    let writer: Box<dyn std::io::Write> = Box::new(bytes.clone());
    let ports = Ports {
        slurm: cluster.slurm.clone(),
        daemons: cluster.daemons.clone(),
        store: Box::new(cluster.store.clone()),
        journal: Some(JournalWriter::new(writer)),
        recorder: Box::new(NoRecorder),
        probe: Box::new(NoProbe),
    };
    let state = cluster.store.0.borrow().clone();
    cluster.agent = Agent::new(ports, config, state, Time::from_seconds(cluster.now));
    (cluster, bytes)
}

#[test]
fn journal_records_since_when_jobs_are_eligible() {
    let (mut cluster, journal) = with_journal(1, shadow());
    cluster.slurm.0.borrow_mut().held_back.insert(1);
    // Submitted at 1001 and 1002, and seen at 2000.
    cluster.submit(job(1, 1));
    cluster.submit(job(2, 1));
    cluster.run(20);
    cluster.slurm.0.borrow_mut().held_back.clear();
    cluster.run(20);
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
fn refused_start_is_journalled_once() {
    let (mut cluster, journal) = with_journal(1, config());
    cluster.slurm.0.borrow_mut().refuse_start.insert(1);
    cluster.submit(job(1, 1));
    cluster.run(60);
    let lines = journal.lines("refused");
    assert_eq!(lines.len(), 1, "{lines:?}");
    let what = r#""event":"refused","job":"1","nodes":[0],"reason":"Requested nodes are busy""#;
    assert!(lines[0].contains(what), "{}", lines[0]);
    cluster.slurm.0.borrow_mut().refuse_start.clear();
    cluster.run(60);
    assert_eq!(cluster.state(1), ObservedState::Running);
    assert_eq!(journal.lines("refused").len(), 1);
}
