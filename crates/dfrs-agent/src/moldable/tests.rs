use dfrs_proto::conf::Config;

use super::*;
use crate::excluded::Excluded;
use crate::ledger::Record;
use crate::life::{Life, Look};
use crate::model::{job, nodes};
use crate::observation::{ObservedNode, ObservedState, Place};
use crate::placement::Placement as Spots;
use crate::refusals::Refusals;
use crate::weights::Weights;

const NOW: Time = Time(10_000 * SECOND);

fn config() -> Config {
    let text = "Mode=full\nPartition=dfrs Policy=DEMT LinearSpeedup=4\nPartition=other\n";
    Config::parse(text, "dfrs.conf").expect("a good configuration")
}

/// `sbatch -N least-most`, with a limit of an hour.
fn moldable(id: u32, least: u32, most: u32) -> ObservedJob {
    ObservedJob {
        min_nodes: least,
        max_nodes: most,
        sized_by_nodes: true,
        limit_minutes: 60,
        ..job(id, least)
    }
}

struct Scene {
    seen: Observation,
    ledger: Ledger,
    config: Config,
    refusals: Refusals,
    memory: Memory,
}

impl Scene {
    fn new(jobs: Vec<ObservedJob>, nodes: Vec<ObservedNode>) -> Self {
        let config = config();
        let seen = Observation::default().with_whole_nodes(config.moldable_names());
        let mut scene = Self {
            seen,
            ledger: Ledger::default(),
            config,
            refusals: Refusals::default(),
            memory: Memory::default(),
        };
        scene.seen.set_nodes(nodes);
        for job in jobs {
            let id = job.id;
            scene.seen.insert(job);
            let job = scene.seen.job(id).expect("it is there");
            let look = Look::new(job, &scene.seen, &scene.config, NOW);
            let life = Life::first_seen(&look);
            scene.memory.since.insert(id, Time::default());
            scene.ledger.insert(id, Record::new(1000, NOW, life));
        }
        scene
    }

    fn decide(&self) -> Turn {
        let pending = self
            .seen
            .jobs()
            .filter(|job| job.state == ObservedState::Pending);
        let facts = Facts {
            config: &self.config,
            swap: &crate::daemons::SwapEighths::new(),
            ready: &pending.map(|job| job.id).collect(),
            refusals: &self.refusals,
            excluded: &Excluded::default(),
            weights: Weights::new(&self.seen, &self.config),
            now: NOW,
        };
        decide(&self.seen, &self.ledger, &facts, &self.memory)
    }

    /// Jobs that start, with the nodes of each and the tasks there.
    fn starts(&self) -> Vec<(u64, Vec<(u32, u32)>)> {
        let start = |start: &Start| {
            let runs = start.action.mapping().expect("a start").runs();
            let runs = runs.iter().map(|run| (run.node.0, run.tasks));
            (start.action.job().0, runs.collect())
        };
        self.decide().starts.iter().map(start).collect()
    }
}

fn runs(id: u32, on: &[u32], until: i64) -> ObservedJob {
    let place = |node: &u32| Place {
        node: *node,
        tasks: 1,
        memory: 1000,
    };
    ObservedJob {
        state: ObservedState::Running,
        exclusive: true,
        places: on.iter().map(place).collect(),
        end_time: NOW.0 / SECOND + until,
        ..moldable(id, 1, 4)
    }
}

#[test]
fn a_job_alone_gets_all_nodes_that_make_it_faster() {
    let scene = |most| Scene::new(vec![moldable(1, 2, most)], nodes(6));
    let all = |count: u32| (0..count).map(|node| (node, 1)).collect::<Vec<_>>();
    assert_eq!(scene(3).starts(), [(1, all(3))]);
    assert_eq!(scene(16).starts(), [(1, all(4))], "linear up to 4");
    let word = ObservedJob {
        comment: "dfrs:speedup=1,2,3,4,5,6,7".into(),
        ..moldable(1, 2, 16)
    };
    assert_eq!(Scene::new(vec![word], nodes(6)).starts(), [(1, all(6))]);
}

#[test]
fn who_has_just_come_starts_on_more_nodes_than_it_needs_a_little_later() {
    let hardly_faster = |id| ObservedJob {
        comment: "dfrs:speedup=1,1.2".into(),
        ..moldable(id, 1, 4)
    };
    let mut scene = Scene::new(vec![hardly_faster(1)], nodes(4));
    scene.memory = Memory::default();
    let turn = scene.decide();
    assert_eq!(turn.jobs(), [0; 0]);
    assert_eq!(turn.next(NOW), Some(NOW + BURST));
    scene.memory.since.insert(1, Time(NOW.0 - BURST.0));
    assert_eq!(scene.starts(), [(1, vec![(0, 1), (1, 1)])]);
    // Others have come meanwhile: all on one node, at once.
    let mut scene = Scene::new((1..=4).map(hardly_faster).collect(), nodes(4));
    scene.memory = Memory::default();
    assert_eq!(scene.decide().jobs().len(), 4);
    let mut rigid = Scene::new(vec![moldable(1, 4, 4)], nodes(4));
    rigid.memory = Memory::default();
    assert_eq!(rigid.decide().jobs(), [1]);
}

#[test]
fn several_jobs_share_the_nodes_and_no_node_is_given_twice() {
    let jobs = (1..=6).map(|id| moldable(id, 1, 4)).collect();
    let scene = Scene::new(jobs, nodes(8));
    let turn = scene.decide();
    let mut used: Vec<u32> = scene
        .starts()
        .iter()
        .flat_map(|(_, runs)| runs.clone())
        .map(|(node, _)| node)
        .collect();
    let count = used.len();
    used.sort_unstable();
    used.dedup();
    assert_eq!((used.len(), count), (8, 8), "all, once each");
    assert_eq!(turn.outlook.len(), 6);
    assert!(turn.next(NOW) > Some(NOW));
}

#[test]
fn tasks_that_were_asked_for_are_spread_evenly() {
    let rigid = ObservedJob {
        limit_minutes: 5,
        ..job(1, 6)
    };
    let scene = Scene::new(vec![rigid.clone()], nodes(4));
    assert_eq!(
        scene.starts(),
        [(1, vec![(0, 3), (1, 3)])],
        "as few nodes as hold them"
    );
    let room = ObservedJob {
        min_nodes: 1,
        max_nodes: 4,
        ..rigid
    };
    let scene = Scene::new(vec![room], nodes(4));
    assert_eq!(scene.starts(), [(1, vec![(0, 2), (1, 2), (2, 1), (3, 1)])]);
}

#[test]
fn what_is_in_use_or_down_is_left_alone() {
    let mut nodes = nodes(5);
    nodes[4].up = false;
    let jobs = vec![runs(1, &[0, 1], 3600), moldable(2, 1, 4)];
    let mut scene = Scene::new(jobs, nodes.clone());
    // Two nodes now are better than four in half an hour.
    assert_eq!(scene.starts(), [(2, vec![(2, 1), (3, 1)])]);
    // Others than these jobs hold memory on node 2.
    nodes[2].allocated_memory = 10;
    scene.seen.set_nodes(nodes);
    assert_eq!(scene.starts(), [(2, vec![(3, 1)])]);
}

#[test]
fn it_waits_for_nodes_that_are_free_soon() {
    let scene = Scene::new(vec![runs(1, &[0, 1], 60), moldable(2, 4, 4)], nodes(4));
    let turn = scene.decide();
    assert!(turn.starts.is_empty());
    let at = NOW + Span::from_seconds(60);
    assert_eq!(turn.outlook[&2], Outlook::Starts { at, nodes: 4 });
    assert_eq!(turn.next(NOW), Some(at));
}

#[test]
fn a_job_that_cannot_start_is_told_why() {
    let outlook = |job: ObservedJob| {
        let mut nodes = nodes(3);
        nodes[0].up = false;
        Scene::new(vec![job], nodes).decide().outlook.remove(&1)
    };
    let never = |needed, nodes| Some(Outlook::Unfit(Unfit::Never { needed, nodes }));
    assert_eq!(outlook(moldable(1, 4, 9)), never(4, 3));
    let large = ObservedJob {
        cpus_per_task: 5,
        ..job(1, 1)
    };
    assert_eq!(outlook(large), never(0, 0));
    let hungry = ObservedJob {
        memory: 1001,
        memory_per_cpu: false,
        ..job(1, 1)
    };
    assert_eq!(outlook(hungry), never(0, 0));
    let down = Some(Outlook::Unfit(Unfit::Unavailable { needed: 3 }));
    assert_eq!(outlook(moldable(1, 3, 3)), down);
}

#[test]
fn where_slurm_refused_is_left_out_for_a_while() {
    let mut scene = Scene::new(vec![moldable(1, 1, 3)], nodes(3));
    let spots = Spots::from_mapping(
        &Mapping::new(vec![Run {
            node: NodeIndex(0),
            tasks: 1,
        }]),
        &scene.seen,
    );
    scene.refusals.add(1, &spots, "busy", NOW);
    assert_eq!(scene.starts(), [(1, vec![(1, 1), (2, 1)])]);
}

#[test]
fn who_waits_for_too_long_comes_first() {
    // One of two nodes is free for short jobs, the wide one needs both.
    let short = ObservedJob {
        limit_minutes: 20,
        ..moldable(3, 1, 1)
    };
    let mut scene = Scene::new(vec![runs(1, &[0], 600), moldable(2, 2, 2), short], nodes(2));
    assert_eq!(scene.starts(), [(3, vec![(1, 1)])]);
    let turn = scene.decide();
    scene.memory.keep(&turn, Time(NOW.0 - 100_000 * SECOND));
    scene.memory.since.insert(3, NOW);
    assert!(scene.starts().is_empty(), "the node is kept for job 2");
}

#[test]
fn jobs_of_other_partitions_are_not_decided_about_and_their_nodes_are_not_free() {
    let other = ObservedJob {
        partition: "other".into(),
        ..job(1, 1)
    };
    let there = ObservedJob {
        partition: "other".into(),
        ..runs(2, &[0], 60)
    };
    let scene = Scene::new(vec![other, there, moldable(3, 1, 1)], nodes(2));
    assert_eq!(scene.starts(), [(3, vec![(1, 1)])]);
}
