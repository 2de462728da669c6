use dfrs_proto::conf::Config;

use super::*;
use crate::fixtures::{job, nodes};
use crate::job::ledger::{Ledger, LedgerRecord};
use crate::job::life::{JobContext, Life};
use crate::job::placement::NamedPlacement as Spots;
use crate::plan::excluded::Excluded;
use crate::plan::kept_memory::KeptMemory;
use crate::plan::refusals::Refusals;
use crate::plan::weights::Weights;
use crate::slurm::observation::Observation;
use crate::slurm::records::{ObservedNode, ObservedPlace, ObservedState};

const NOW: Time = Time::from_seconds(10_000);

fn config() -> Config {
    let text = "Mode=full\nPartition=dfrs Policy=DEMT LinearSpeedup=4\nPartition=other\n";
    Config::parse(text, "dfrs.conf").expect("a good configuration")
}

/// `sbatch -N min-max`, with a limit of an hour.
fn moldable(id: u32, min: u32, max: u32) -> ObservedJob {
    ObservedJob {
        limit_minutes: 60,
        ..job(id, min)
    }
    .requesting(|request| {
        request.min_nodes = min;
        request.max_nodes = max;
        request.sized_by_nodes = true;
    })
}

struct MoldableFixture {
    seen: Observation,
    ledger: Ledger,
    config: Config,
    refusals: Refusals,
    history: WaitHistory,
}

impl MoldableFixture {
    fn new(jobs: Vec<ObservedJob>, nodes: Vec<ObservedNode>) -> Self {
        let config = config();
        let seen = Observation::default().with_whole_nodes(config.whole_node_partitions());
        let mut fixture = Self {
            seen,
            ledger: Ledger::default(),
            config,
            refusals: Refusals::default(),
            history: WaitHistory::default(),
        };
        fixture.seen.set_nodes(nodes);
        for job in jobs {
            let id = job.id;
            fixture.seen.insert(job);
            let job = fixture.seen.job(id).expect("it is there");
            let look = JobContext::new(job, &fixture.seen, &fixture.config, NOW);
            let life = Life::first_seen(&look);
            fixture.history.since.insert(id, Time::default());
            fixture
                .ledger
                .insert(id, LedgerRecord::new(1000, NOW, life));
        }
        fixture
    }

    fn decide(&self) -> MoldablePlan {
        let pending = self
            .seen
            .jobs()
            .filter(|job| job.state == ObservedState::Pending);
        let facts = PassFacts {
            seen: &self.seen,
            ledger: &self.ledger,
            config: &self.config,
            swap: &crate::daemons::SwapEighths::new(),
            ready: &pending.map(|job| job.id).collect(),
            refusals: &self.refusals,
            kept_memory: &KeptMemory::default(),
            excluded: &Excluded::default(),
            weights: Weights::new(&self.seen, &self.config),
            now: NOW,
        };
        decide(&facts, &self.history)
    }

    /// Jobs that start, with the nodes of each and the tasks there.
    fn starts(&self) -> Vec<(u64, Vec<(u32, u32)>)> {
        let start = |start: &PlannedStart| {
            let runs = start.action.mapping().expect("a start").runs();
            let runs = runs.iter().map(|run| (run.node.0, run.tasks));
            (start.action.job().0, runs.collect())
        };
        self.decide().starts.iter().map(start).collect()
    }
}

fn runs(id: u32, on: &[u32], until: i64) -> ObservedJob {
    let place = |node: &u32| ObservedPlace {
        node: *node,
        tasks: 1,
        memory_mib: 1000,
    };
    ObservedJob {
        state: ObservedState::Running,
        places: on.iter().map(place).collect(),
        end_seconds: NOW.whole_seconds() + until,
        ..moldable(id, 1, 4)
    }
    .requesting(|request| request.exclusive = true)
}

#[test]
fn a_job_alone_gets_all_nodes_that_make_it_faster() {
    let fixture = |max| MoldableFixture::new(vec![moldable(1, 2, max)], nodes(6));
    let all = |count: u32| (0..count).map(|node| (node, 1)).collect::<Vec<_>>();
    assert_eq!(fixture(3).starts(), [(1, all(3))]);
    assert_eq!(fixture(16).starts(), [(1, all(4))], "linear up to 4");
    let word = ObservedJob {
        comment: "dfrs:speedup=1,2,3,4,5,6,7".into(),
        ..moldable(1, 2, 16)
    };
    assert_eq!(
        MoldableFixture::new(vec![word], nodes(6)).starts(),
        [(1, all(6))]
    );
}

#[test]
fn new_job_waits_briefly_before_it_starts_on_extra_nodes() {
    let hardly_faster = |id| ObservedJob {
        comment: "dfrs:speedup=1,1.2".into(),
        ..moldable(id, 1, 4)
    };
    let mut fixture = MoldableFixture::new(vec![hardly_faster(1)], nodes(4));
    fixture.history = WaitHistory::default();
    let plan = fixture.decide();
    assert_eq!(plan.jobs(), [0; 0]);
    assert_eq!(plan.next(NOW), Some(NOW + BURST));
    fixture.history.since.insert(1, Time(NOW.0 - BURST.0));
    assert_eq!(fixture.starts(), [(1, vec![(0, 1), (1, 1)])]);
    // Others have come meanwhile: all on one node, at once.
    let mut fixture = MoldableFixture::new((1..=4).map(hardly_faster).collect(), nodes(4));
    fixture.history = WaitHistory::default();
    assert_eq!(fixture.decide().jobs().len(), 4);
    let mut rigid = MoldableFixture::new(vec![moldable(1, 4, 4)], nodes(4));
    rigid.history = WaitHistory::default();
    assert_eq!(rigid.decide().jobs(), [1]);
}

#[test]
fn several_jobs_share_the_nodes_and_no_node_is_given_twice() {
    let jobs = (1..=6).map(|id| moldable(id, 1, 4)).collect();
    let fixture = MoldableFixture::new(jobs, nodes(8));
    let plan = fixture.decide();
    let mut used: Vec<u32> = fixture
        .starts()
        .iter()
        .flat_map(|(_, runs)| runs.clone())
        .map(|(node, _)| node)
        .collect();
    let count = used.len();
    used.sort_unstable();
    used.dedup();
    assert_eq!((used.len(), count), (8, 8), "all, once each");
    assert_eq!(plan.outlook.len(), 6);
    assert!(plan.next(NOW) > Some(NOW));
}

#[test]
fn requested_tasks_are_spread_evenly() {
    let rigid = ObservedJob {
        limit_minutes: 5,
        ..job(1, 6)
    };
    let fixture = MoldableFixture::new(vec![rigid.clone()], nodes(4));
    assert_eq!(
        fixture.starts(),
        [(1, vec![(0, 3), (1, 3)])],
        "as few nodes as hold them"
    );
    let room = rigid.requesting(|request| {
        request.min_nodes = 1;
        request.max_nodes = 4;
    });
    let fixture = MoldableFixture::new(vec![room], nodes(4));
    assert_eq!(
        fixture.starts(),
        [(1, vec![(0, 2), (1, 2), (2, 1), (3, 1)])]
    );
}

#[test]
fn nodes_in_use_or_down_are_not_used() {
    let mut nodes = nodes(5);
    nodes[4].up = false;
    let jobs = vec![runs(1, &[0, 1], 3600), moldable(2, 1, 4)];
    let mut fixture = MoldableFixture::new(jobs, nodes.clone());
    // Two nodes now are better than four in half an hour.
    assert_eq!(fixture.starts(), [(2, vec![(2, 1), (3, 1)])]);
    // Others than these jobs hold memory on node 2.
    nodes[2].allocated_memory_mib = 10;
    fixture.seen.set_nodes(nodes);
    assert_eq!(fixture.starts(), [(2, vec![(3, 1)])]);
}

#[test]
fn job_waits_for_nodes_that_are_free_soon() {
    let fixture = MoldableFixture::new(vec![runs(1, &[0, 1], 60), moldable(2, 4, 4)], nodes(4));
    let plan = fixture.decide();
    assert!(plan.starts.is_empty());
    let at = NOW + Span::from_seconds(60);
    assert_eq!(plan.outlook[&2], Outlook::Starts { at, nodes: 4 });
    assert_eq!(plan.next(NOW), Some(at));
}

#[test]
fn outlook_names_the_cause_when_a_job_cannot_start() {
    let outlook = |job: ObservedJob| {
        let mut nodes = nodes(3);
        nodes[0].up = false;
        MoldableFixture::new(vec![job], nodes)
            .decide()
            .outlook
            .remove(&1)
    };
    let never = |needed, nodes| Some(Outlook::Unfit(Unfit::Never { needed, nodes }));
    assert_eq!(outlook(moldable(1, 4, 9)), never(4, 3));
    let large = job(1, 1).requesting(|request| request.cpus_per_task = 5);
    assert_eq!(outlook(large), never(0, 0));
    let hungry = job(1, 1).requesting(|request| {
        request.memory = 1001;
        request.memory_per_cpu = false;
    });
    assert_eq!(outlook(hungry), never(0, 0));
    let down = Some(Outlook::Unfit(Unfit::Unavailable { needed: 3, up: 2 }));
    assert_eq!(outlook(moldable(1, 3, 3)), down);
}

#[test]
fn refused_node_is_excluded_for_a_while() {
    let mut fixture = MoldableFixture::new(vec![moldable(1, 1, 3)], nodes(3));
    let spots = Spots::from_mapping(
        &Mapping::new(vec![Run {
            node: NodeIndex(0),
            tasks: 1,
        }]),
        &fixture.seen,
    );
    fixture.refusals.add(1, &spots, "busy", NOW);
    assert_eq!(fixture.starts(), [(1, vec![(1, 1), (2, 1)])]);
}

#[test]
fn overdue_job_goes_first() {
    // One of two nodes is free for short jobs, the wide one needs both.
    let short = ObservedJob {
        limit_minutes: 20,
        ..moldable(3, 1, 1)
    };
    let mut fixture =
        MoldableFixture::new(vec![runs(1, &[0], 600), moldable(2, 2, 2), short], nodes(2));
    assert_eq!(fixture.starts(), [(3, vec![(1, 1)])]);
    let plan = fixture.decide();
    fixture
        .history
        .update(&plan, Time::from_seconds(NOW.whole_seconds() - 100_000));
    fixture.history.since.insert(3, NOW);
    assert!(fixture.starts().is_empty(), "the node is kept for job 2");
}

#[test]
fn jobs_and_nodes_of_other_partitions_are_ignored() {
    let other = ObservedJob {
        partition: "other".into(),
        ..job(1, 1)
    };
    let there = ObservedJob {
        partition: "other".into(),
        ..runs(2, &[0], 60)
    };
    let fixture = MoldableFixture::new(vec![other, there, moldable(3, 1, 1)], nodes(2));
    assert_eq!(fixture.starts(), [(3, vec![(1, 1)])]);
}
