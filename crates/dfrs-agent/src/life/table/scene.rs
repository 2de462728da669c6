//! What Slurm can show of a job, split up as far as it can matter.

use dfrs_core::Time;

use super::samples::Sample;
use crate::life::{Life, Look, OnNodes, SECOND, Step, samples};
use crate::model::{config, job, nodes};
use crate::observation::{Observation, ObservedJob, ObservedState, Place};
use crate::placement::{Placement, Spot};

/// Seconds since the epoch.
pub(super) const NOW: i64 = 1_000_000;

/// One job on the only node, and what Slurm shows.
#[derive(Clone)]
pub(super) struct Scene {
    phase: fn(Time) -> super::super::Phase,
    job: ObservedJob,
    /// The node has room for it.
    has_room: bool,
    /// What the node says of its parking.
    on_nodes: OnNodes,
    /// Seconds since the phase began.
    age: i64,
}

/// Scenes that have something in common.
pub(super) struct Scenes {
    pub(super) words: &'static str,
    change: fn(&mut Scene),
    /// What may differ among them.
    pub(super) choices: &'static [Choice],
}

/// What can be one way or another.
pub(super) type Choice = &'static [(&'static str, fn(&mut Scene))];

const TIME: Choice = &[
    ("in time", |_| {}),
    ("for too long", |scene| scene.age = 10_000),
];
const ROOM: Choice = &[
    ("there is room", |scene| scene.has_room = true),
    ("there is no room", |_| {}),
];
const PROCESSES: Choice = &[
    ("its processes end", |scene| scene.job.completing = true),
    ("its processes are gone", |_| {}),
];
const PREPARED: Choice = &[
    ("its nodes are prepared", |scene| {
        scene.job.configuring = true;
    }),
    ("its nodes are ready", |_| {}),
];
const MEMORY: Choice = &[
    ("its memory is counted", |scene| hold(scene, 100)),
    ("its memory is released", |scene| hold(scene, 0)),
];
const PARKED: Choice = &[
    ("its nodes have parked it", |scene| {
        scene.on_nodes = OnNodes::Parked;
    }),
    ("its nodes have not parked it", |_| {}),
    ("its memory cannot leave RAM", |scene| {
        scene.on_nodes = OnNodes::Stuck;
    }),
];
/// What it can do when it has lost its place.
pub(super) const KEPT: Choice = &[
    ("it keeps a checkpoint", |scene| {
        comment(scene, "dfrs:checkpoint");
    }),
    ("it begins again", |scene| comment(scene, "dfrs:restart")),
];
/// How it can give up its place.
const MOBILITY: Choice = &[
    ("it can be parked", |scene| comment(scene, "dfrs:park")),
    ("it keeps a checkpoint", |scene| {
        comment(scene, "dfrs:checkpoint");
    }),
    ("it begins again", |scene| comment(scene, "dfrs:restart")),
];

/// However the job can give up its place.
pub(super) const WHEN_PLANNED: Scenes = Scenes {
    words: "",
    change: |_| {},
    choices: &[MOBILITY],
};
/// Whatever Slurm shows.
pub(super) const ANYHOW: Scenes = Scenes {
    words: "",
    change: |_| {},
    choices: &[],
};

/// Slurm shows it as suspended.
pub(super) const SUSPENDED: Scenes = Scenes {
    words: "",
    change: |scene| scene.job.state = ObservedState::Suspended,
    choices: &[],
};

/// All that Slurm can show.
pub(super) const SEEN: &[Scenes] = &[
    Scenes {
        words: "seen waiting",
        change: |scene| scene.job.state = ObservedState::Pending,
        choices: &[PROCESSES, KEPT, ROOM, TIME],
    },
    Scenes {
        words: "seen running",
        change: |scene| scene.job.state = ObservedState::Running,
        choices: &[PREPARED, KEPT, MEMORY, ROOM, TIME],
    },
    Scenes {
        words: "seen suspended",
        change: |scene| scene.job.state = ObservedState::Suspended,
        choices: &[MEMORY, PARKED, ROOM, TIME],
    },
    Scenes {
        words: "seen suspended by an operator",
        change: |scene| {
            scene.job.state = ObservedState::Suspended;
            scene.job.priority = 0;
        },
        choices: &[MEMORY, PARKED, ROOM, TIME],
    },
];

/// What slurmctld can show after it was killed, and whether it has requeued the job itself.
pub(super) const FORGOTTEN: [(Scenes, bool); 4] = [
    (
        Scenes {
            words: "forgotten: seen waiting",
            change: |_| {},
            choices: &[KEPT],
        },
        false,
    ),
    (
        Scenes {
            words: "requeued since slurmctld was killed",
            change: |_| {},
            choices: &[KEPT],
        },
        true,
    ),
    (
        Scenes {
            words: "forgotten: seen running",
            change: |scene| scene.job.state = ObservedState::Running,
            choices: &[MEMORY],
        },
        false,
    ),
    (
        Scenes {
            words: "forgotten: seen suspended",
            change: |scene| scene.job.state = ObservedState::Suspended,
            choices: &[MEMORY],
        },
        false,
    ),
];

/// Its only place.
pub(super) fn here() -> Placement {
    Placement(vec![Spot {
        node: "n0".into(),
        tasks: 1,
    }])
}

fn comment(scene: &mut Scene, text: &str) {
    scene.job.comment = text.into();
}

fn hold(scene: &mut Scene, memory: u64) {
    scene.job.places = vec![Place {
        node: 0,
        tasks: 1,
        memory,
    }];
}

impl Scene {
    /// The job waits in Slurm's queue; there is no room.
    pub(super) fn of(sample: &Sample) -> Self {
        Self {
            phase: sample.phase,
            job: job(1, 1),
            has_room: false,
            on_nodes: OnNodes::Unknown,
            age: 0,
        }
    }

    /// All that `scenes` are, with which way each of their choices goes.
    pub(super) fn all(&self, scenes: &Scenes) -> Vec<(Vec<Option<usize>>, Self)> {
        let mut scene = self.clone();
        (scenes.change)(&mut scene);
        let mut all = vec![(Vec::new(), scene)];
        for choice in scenes.choices {
            all = all
                .into_iter()
                .flat_map(|(ways, scene)| {
                    choice.iter().enumerate().map(move |(way, (_, change))| {
                        let (mut ways, mut scene) = (ways.clone(), scene.clone());
                        ways.push(Some(way));
                        change(&mut scene);
                        (ways, scene)
                    })
                })
                .collect();
        }
        all
    }

    /// The job's life so far.
    pub(super) fn life(&self) -> Life {
        let since = Time((NOW - self.age) * SECOND);
        samples::in_phase((self.phase)(since))
    }

    /// What a job with this life would ask of Slurm.
    pub(super) fn next_step(&self, life: &Life) -> Option<Step> {
        self.looked_at(|look| life.next_step(look, self.on_nodes))
    }

    /// Looks at the job.
    pub(super) fn looked_at<T>(&self, with: impl FnOnce(&Look) -> T) -> T {
        let mut nodes = nodes(1);
        nodes[0].allocated_memory = if self.has_room { 500 } else { 1000 };
        let observation = Observation::new([self.job.clone()], nodes);
        let config = config();
        with(&Look::new(
            &self.job,
            &observation,
            &config,
            Time(NOW * SECOND),
        ))
    }
}
