//! What Slurm can show of a job, split up as far as it can matter.

use dfrs_core::Time;

use super::samples::Sample;
use crate::fixtures::{config, job, nodes};
use crate::job::life::{JobContext, Life, LifeStep, ParkStatus, SECOND, samples};
use crate::job::placement::{NamedPlacement, NodeTasks};
use crate::slurm::observation::Observation;
use crate::slurm::records::{ObservedJob, ObservedPlace, ObservedState};

/// Seconds since the epoch.
pub(super) const NOW: i64 = 1_000_000;

/// One job on the only node, and what Slurm shows.
#[derive(Clone)]
pub(super) struct Scene {
    phase: fn(Time) -> super::super::LifePhase,
    job: ObservedJob,
    /// The node has room for it.
    has_room: bool,
    /// What the node says of its parking.
    park_status: ParkStatus,
    /// Its node says that it can be carried.
    is_carriable: bool,
    /// Seconds since the phase began.
    age_seconds: i64,
}

/// Scenes that have something in common.
pub(super) struct Scenes {
    pub(super) words: &'static str,
    change: fn(&mut Scene),
    /// What may differ among them.
    pub(super) choices: &'static [SceneChoice],
}

/// What can be one way or another.
pub(super) type SceneChoice = &'static [(&'static str, fn(&mut Scene))];

const TIME: SceneChoice = &[
    ("in time", |_| {}),
    ("for too long", |scene| scene.age_seconds = 10_000),
];
const ROOM: SceneChoice = &[
    ("there is room", |scene| scene.has_room = true),
    ("there is no room", |_| {}),
];
const PROCESSES: SceneChoice = &[
    ("its processes end", |scene| scene.job.completing = true),
    ("its processes are gone", |_| {}),
];
const PREPARED: SceneChoice = &[
    ("its nodes are prepared", |scene| {
        scene.job.configuring = true;
    }),
    ("its nodes are ready", |_| {}),
];
const MEMORY: SceneChoice = &[
    ("its memory is counted", |scene| hold(scene, 100)),
    ("its memory is released", |scene| hold(scene, 0)),
];
const PARKED: SceneChoice = &[
    ("its nodes have parked it", |scene| {
        scene.park_status = ParkStatus::Parked;
    }),
    ("its nodes have not parked it", |_| {}),
    ("its memory cannot leave RAM", |scene| {
        scene.park_status = ParkStatus::Stuck;
    }),
];
/// What it can do when it has lost its place.
pub(super) const RESTART_CHOICE: SceneChoice = &[
    ("it keeps a checkpoint", |scene| {
        comment(scene, "dfrs:checkpoint");
    }),
    ("it begins again", |scene| comment(scene, "dfrs:restart")),
];
/// How it can give up its place.
const MOBILITY: SceneChoice = &[
    ("it can be parked", |scene| comment(scene, "dfrs:park")),
    ("it can be carried", |scene| {
        comment(scene, "dfrs:carry");
        scene.is_carriable = true;
    }),
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
pub(super) const ALWAYS: Scenes = Scenes {
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
        choices: &[PROCESSES, RESTART_CHOICE, ROOM, TIME],
    },
    Scenes {
        words: "seen running",
        change: |scene| scene.job.state = ObservedState::Running,
        choices: &[PREPARED, RESTART_CHOICE, MEMORY, ROOM, TIME, PARKED],
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
            choices: &[RESTART_CHOICE],
        },
        false,
    ),
    (
        Scenes {
            words: "requeued since slurmctld was killed",
            change: |_| {},
            choices: &[RESTART_CHOICE],
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
pub(super) fn here() -> NamedPlacement {
    NamedPlacement(vec![NodeTasks {
        node: "n0".into(),
        tasks: 1,
    }])
}

fn comment(scene: &mut Scene, text: &str) {
    scene.job.comment = text.into();
}

fn hold(scene: &mut Scene, memory: u64) {
    scene.job.places = vec![ObservedPlace {
        node: 0,
        tasks: 1,
        memory_mib: memory,
    }];
}

impl Scene {
    /// The job waits in Slurm's queue; there is no room.
    pub(super) fn of(sample: &Sample) -> Self {
        Self {
            phase: sample.phase,
            job: job(1, 1),
            has_room: false,
            park_status: ParkStatus::Unknown,
            is_carriable: false,
            age_seconds: 0,
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
        let since = Time((NOW - self.age_seconds) * SECOND);
        let mut life = samples::in_phase((self.phase)(since));
        // Of a job that is carried it is the image that is complete.
        if self.park_status == ParkStatus::Parked {
            life.note_image_complete();
        }
        life
    }

    /// The step that a job with this life would request from Slurm.
    pub(super) fn next_step(&self, life: &Life) -> Option<LifeStep> {
        self.with_context(|context| life.next_step(context, self.park_status))
    }

    /// Looks at the job.
    pub(super) fn with_context<T>(&self, with: impl FnOnce(&JobContext) -> T) -> T {
        let mut nodes = nodes(1);
        nodes[0].allocated_memory_mib = if self.has_room { 500 } else { 1000 };
        let observation = Observation::new([self.job.clone()], nodes);
        let config = config();
        let now = Time(NOW * SECOND);
        with(&JobContext {
            is_carriable: self.is_carriable,
            ..JobContext::new(&self.job, &observation, &config, now)
        })
    }
}
