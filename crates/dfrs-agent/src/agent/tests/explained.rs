//! What is told of single jobs.

use super::*;

fn told(story: &Story, id: u32) -> dfrs_proto::explain::Explanation {
    let now = Time(story.now * SECOND);
    let told = story.agent.explanation(id, None, now);
    told.expect("the job is there")
}

#[test]
fn it_says_for_whom_a_job_was_parked_and_where_it_comes_back() {
    let mut story = Story::new(1);
    story.submit(large(1));
    story.run(20);
    let runs = told(&story, 1);
    assert_eq!(runs.phase, "running");
    assert_eq!((runs.why, runs.r#yield), (None, 1.0));
    let started = runs.last_change.expect("it was started");
    assert_eq!(started.what, "start");
    assert!(
        (runs.virtual_time - 20.0).abs() < 1.0,
        "{}",
        runs.virtual_time
    );
    story.submit(large(2));
    story.run(2);
    let parked = told(&story, 1);
    assert_eq!(parked.phase, "parked");
    assert!(parked.why.expect("waits").starts_with("DFRS: parked; "));
    let why = parked.last_change.expect("it was paused").why;
    assert_eq!(why, "makes room for the new job 2");
    assert_eq!(
        (parked.nodes[0].name.as_str(), parked.node_count),
        ("n0", 1)
    );
    assert_eq!((parked.neighbours, parked.neighbour_jobs), (1, vec![2]));
    assert_eq!((parked.r#yield, parked.recent_moves), (0.0, 1));
    assert!(parked.next_remap > parked.now);
    story.slurm.0.borrow_mut().end(2);
    story.run(2);
    assert_eq!(told(&story, 1).phase, "running");
    let gone = story.agent.explanation(2, None, Time(story.now * SECOND));
    assert_eq!(gone, None);
}

#[test]
fn a_task_of_an_array_is_found_by_its_index_and_waits_as_the_array() {
    let mut story = Story::new(1);
    story.submit(ObservedJob {
        array: 5,
        array_task: 3,
        ..job(7, 1)
    });
    story.submit(ObservedJob {
        array: 5,
        array_master: true,
        held: true,
        priority: 0,
        ..job(5, 1)
    });
    story.run(1);
    let now = Time(story.now * SECOND);
    let ask = |task| story.agent.explanation(5, Some(task), now);
    assert_eq!(ask(3).expect("a task of its own").job, 7);
    let rest = ask(4).expect("waits with others");
    assert_eq!((rest.job, rest.notes.len()), (5, 1));
    assert_eq!(story.agent.explanation(6, Some(3), now), None);
}

#[test]
fn what_holds_a_job_up_is_a_note() {
    let mut story = Story::new(1);
    story.daemons.0.borrow_mut().facts.silent = ["n0".to_owned()].into();
    story.submit(job(1, 1));
    story.run(1);
    let notes = told(&story, 1).notes.join("\n");
    assert!(
        notes.contains("dfrsd does not answer on 1 of its nodes (n0)"),
        "{notes}"
    );
}
