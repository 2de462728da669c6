//! A partition of moldable jobs beside one that shares its nodes.

use super::*;
use dfrs_proto::conf::Mode;

/// Partition `dfrs` has whole nodes.
fn whole() -> Config {
    let text = "Mode=full\nPolicy=GreedyPM*/per/OPT=MIN/MINVT=600\nSwapPerNode=10000\nSettleTime=0\n\
                Partition=dfrs Policy=DEMT\n";
    Config::parse(text, "dfrs.conf").expect("a good configuration")
}

/// `sbatch -N least-most`.
fn moldable(id: u32, least: u32, most: u32) -> ObservedJob {
    ObservedJob {
        min_nodes: least,
        max_nodes: most,
        sized_by_nodes: true,
        limit_minutes: 10,
        ..job(id, least)
    }
}

fn nodes_of(story: &Story, id: u32) -> usize {
    story.slurm.0.borrow().jobs[&id].places.len()
}

#[test]
fn a_moldable_job_has_its_nodes_for_itself_and_is_not_capped() {
    let mut story = Story::with_config(3, whole());
    story.submit(moldable(1, 1, 2));
    story.submit(moldable(2, 1, 4));
    story.run(3);
    assert_eq!(nodes_of(&story, 1) + nodes_of(&story, 2), 3);
    for node in ["n0", "n1", "n2"] {
        assert_eq!(story.shares(node), [1.0]);
    }
    let world = story.slurm.0.borrow();
    assert!(world.nodes.iter().all(|node| node.allocated_memory == 1000));
    assert!(world.errors.is_empty(), "{:?}", world.errors);
}

#[test]
fn who_waits_is_told_until_when_and_starts_when_others_end_early() {
    let mut story = Story::with_config(2, whole());
    story.submit(moldable(1, 2, 2));
    story.run(1);
    story.submit(moldable(2, 1, 1));
    story.submit(moldable(3, 3, 4));
    story.run(1);
    assert_eq!(story.calls(), ["start 1"]);
    let reason = |story: &Story, id: u32| story.slurm.0.borrow().reasons[&id].clone();
    // 2000 s after the epoch and ten minutes.
    assert_eq!(
        reason(&story, 2),
        "DFRS: waits for 1 node; expected to start at 1970-01-01T00:44Z"
    );
    assert_eq!(
        reason(&story, 3),
        "DFRS: cannot start: asks for 3 nodes and may use 2 that are large enough"
    );
    let explained = story.agent.explanation(2, None, Time(story.now * SECOND));
    let explained = explained.expect("it is known");
    assert!(
        explained
            .notes
            .iter()
            .any(|note| note.contains("Policy=DEMT"))
    );
    assert_eq!(
        (explained.mobility.as_str(), explained.phase.as_str()),
        ("never", "waiting")
    );
    story.run(60);
    story.slurm.0.borrow_mut().end(1);
    story.run(1);
    assert_eq!(story.calls(), ["start 2"]);
}

#[test]
fn a_job_that_runs_longer_than_expected_moves_what_follows() {
    let mut story = Story::with_config(1, whole());
    story.submit(moldable(1, 1, 1));
    story.run(1);
    story.submit(moldable(2, 1, 1));
    story.run(700);
    let reason = story.slurm.0.borrow().reasons[&2].clone();
    assert!(reason.ends_with("1970-01-01T00:46Z"), "{reason}");
    assert_eq!(story.calls(), ["start 1"]);
}

#[test]
fn nothing_is_paused_and_what_another_policy_had_parked_comes_back() {
    let mut story = Story::with_config(1, config());
    story.submit(large(1));
    story.run(11);
    story.submit(large(2));
    story.run(30);
    assert_eq!(
        story.calls(),
        ["start 1", "suspend 1", "release 1", "start 2"]
    );
    let unsaved = story.agent.finish(Time(story.now * SECOND));
    assert!(unsaved.is_none());
    story.reopen(whole());
    story.submit(moldable(3, 1, 1));
    story.run(700);
    assert_eq!(story.calls(), [] as [&str; 0], "job 2 runs");
    story.slurm.0.borrow_mut().end(2);
    story.run(5);
    assert_eq!(story.calls(), ["claim 1", "resume 1"]);
    story.slurm.0.borrow_mut().end(1);
    story.run(5);
    assert_eq!(story.calls(), ["start 3"]);
}

#[test]
fn in_shadow_mode_nothing_starts() {
    let mut config = whole();
    config.mode = Mode::Shadow;
    let mut story = Story::with_config(2, config);
    story.submit(moldable(1, 1, 2));
    story.run(5);
    assert_eq!(story.calls(), [] as [&str; 0]);
    let explained = story.agent.explanation(1, None, Time(story.now * SECOND));
    let change = explained
        .expect("it is known")
        .last_change
        .expect("decided");
    assert_eq!(
        (change.what.as_str(), change.why.as_str()),
        ("start", "DEMT: 2 of 1 to 2 nodes are best now")
    );
}

#[test]
fn a_refused_start_is_tried_elsewhere() {
    let mut story = Story::with_config(2, whole());
    story.slurm.0.borrow_mut().refuse_start.insert(1);
    story.submit(moldable(1, 1, 1));
    story.run(3);
    let reason = story.slurm.0.borrow().reasons[&1].clone();
    assert!(reason.contains("Requested nodes are busy"), "{reason}");
    story.slurm.0.borrow_mut().refuse_start.clear();
    story.run(10);
    assert_eq!(story.calls(), ["start 1"]);
}

#[test]
fn a_job_whose_size_a_limit_forbids_is_tried_on_fewer_nodes() {
    let mut story = Story::with_config(8, whole());
    story.slurm.0.borrow_mut().most_nodes = Some(3);
    story.submit(moldable(1, 1, 8));
    story.run(20);
    assert_eq!(nodes_of(&story, 1), 2);
}
