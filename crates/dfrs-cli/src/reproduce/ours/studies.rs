//! Which runs the page rests on, as studies.

use std::path::{Path, PathBuf};

use crate::asked::Asked;
use crate::input::SwfModel;
use crate::reproduce::experiment::{BEST, EASY, EASY_SHARED};
use crate::study::file::{Choice, POLICY, Study};
use crate::study::sources::{Block, Origin};

/// The project's own policy.
pub const OURS: &str = "GreedyPMC*/move-per/OPT=VT/MINVT=600";
/// Gang scheduling with two jobs for each CPU.
pub const GANG: &str = "EASY/gang2";

/// What jobs can do, with a name for it.
pub const WORLDS: [(&str, &str); 4] = [
    ("checkpoint=1", "free moves"),
    (
        "park=0.7,checkpoint=0.2,never=0.1",
        "a mix: 0.7 park, 0.2 checkpoint, 0.1 never move",
    ),
    ("park=1", "all can only be parked"),
    ("never=1", "nothing moves"),
];

const NODES: u32 = 128;
const HPC2N_NODES: u32 = 120;

/// The traces that are wanted.
pub struct Wanted<'a> {
    pub seeds: Vec<u64>,
    pub jobs: u32,
    /// The HPC2N trace and its weeks.
    pub weeks: Option<(&'a Path, Vec<u64>)>,
}

/// The parts of the page that are means over traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All worlds, against all opponents.
    Worlds,
    /// What moves cost.
    Penalty,
    /// How much of memory swap holds.
    Swap,
    /// How much there is to do.
    Load,
    /// What limits say.
    Limits,
}

impl Part {
    pub const ALL: [Self; 5] = [
        Self::Worlds,
        Self::Penalty,
        Self::Swap,
        Self::Load,
        Self::Limits,
    ];

    /// Name of its files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Worlds => "worlds",
            Self::Penalty => "penalty",
            Self::Swap => "swap",
            Self::Load => "load",
            Self::Limits => "limits",
        }
    }

    /// The option that is swept; none: the traces' load, or nothing.
    pub const fn option(self) -> Option<&'static str> {
        match self {
            Self::Penalty => Some("penalty"),
            Self::Swap => Some("swap"),
            Self::Limits => Some("false-limits"),
            Self::Worlds | Self::Load => None,
        }
    }

    /// The study.
    pub fn study(self, wanted: &Wanted) -> Result<Study, String> {
        let worlds = || WORLDS.map(|(mobility, _)| mobility).to_vec();
        let both = vec!["none", "limits"];
        let (policies, mobility, hints): (&[&str], _, _) = match self {
            Self::Worlds => (&[EASY, EASY_SHARED, GANG, BEST, OURS], worlds(), both),
            Self::Penalty | Self::Load => (
                &[EASY_SHARED, BEST, OURS],
                vec!["checkpoint=1", "park=1"],
                both,
            ),
            Self::Swap => (&[EASY_SHARED, BEST, OURS], vec!["park=1"], both),
            Self::Limits => (
                &[EASY_SHARED, OURS],
                vec!["park=1", "never=1"],
                vec!["limits"],
            ),
        };
        let mut options = vec![
            choice("mobility", &mobility),
            choice("run-time-hint", &hints),
            choice("round-limits", &["true"]),
            choice("keep-equal-jobs", &["true"]),
        ];
        match self {
            Self::Penalty => options.push(choice("penalty", &["0", "30", "300", "1000"])),
            Self::Swap => options.push(choice("swap", &["0", "1", "2", "4"])),
            Self::Limits => {
                options.push(choice(
                    "false-limits",
                    &["0", "0.01", "0.03", "0.1", "0.3", "1"],
                ));
            }
            Self::Worlds | Self::Load => {}
        }
        let asked = policies.iter().map(|name| {
            let asked: Result<Asked, _> = name.parse();
            asked.map_err(|error| error.to_string())
        });
        let mut measures = vec![
            "max_stretch",
            "mean_stretch",
            "normalized_underutilization",
            "pauses_per_job",
            "migrations_per_job",
        ];
        if self == Self::Worlds {
            measures.insert(0, "degradation");
        }
        Ok(Study {
            path: PathBuf::from(super::NAME),
            blocks: self.blocks(wanted),
            policies: asked.collect::<Result<_, _>>()?,
            options,
            baseline: vec![(POLICY.into(), EASY_SHARED.into())],
            measures,
            bound: self == Self::Worlds,
        })
    }

    fn blocks(self, wanted: &Wanted) -> Vec<Block> {
        let loads = match self {
            Self::Load => (1..10).map(|tenths| f64::from(tenths) / 10.0).collect(),
            _ => Vec::new(),
        };
        let synthetic = Block {
            name: "synthetic".into(),
            origin: Origin::Lublin {
                jobs: wanted.jobs,
                nodes: NODES,
                seeds: wanted.seeds.clone(),
            },
            loads,
        };
        let mut blocks = vec![synthetic];
        if let (Self::Worlds, Some((path, weeks))) = (self, &wanted.weeks) {
            blocks.push(Block {
                name: "HPC2N weeks".into(),
                origin: Origin::Files {
                    paths: vec![path.to_path_buf()],
                    model: SwfModel::Hpc2n,
                    nodes: Some(HPC2N_NODES),
                    weeks: Some(weeks.clone()),
                },
                loads: Vec::new(),
            });
        }
        blocks
    }
}

fn choice(name: &str, values: &[&str]) -> Choice {
    Choice {
        name: name.into(),
        values: values.iter().map(|value| (*value).into()).collect(),
    }
}
