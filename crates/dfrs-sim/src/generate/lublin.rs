//! The workload model of Lublin and Feitelson (The workload on parallel supercomputers: modeling the
//! characteristics of rigid jobs, JPDC 63(11), 2003), with its published parameters.

use super::Stream;
use super::arrivals::{ArrivalClock, ArrivalParameters};
use dfrs_random::Random;

/// Logarithm of the longest run time in seconds: just below 2 days. Longer ones are drawn again.
const MAX_LOGARITHM: f64 = 12.0;

/// What is to be generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lublin {
    /// Number of jobs.
    pub jobs: usize,
    /// Number of nodes of the machine, at least 1. The parameters were published for 128.
    pub nodes: u32,
    /// Whether there are interactive and batch jobs with parameters of their own, as in the papers,
    /// or one kind.
    pub job_types: bool,
}

impl Default for Lublin {
    /// The papers' traces: 1,000 jobs on 128 nodes, of both types.
    fn default() -> Self {
        Self {
            jobs: 1_000,
            nodes: 128,
            job_types: true,
        }
    }
}

/// The type of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobType {
    /// A job whose user waits for it. Also the only type, if types are off.
    Interactive,
    /// A job whose user does not wait for it.
    Batch,
}

/// A job as the model has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RigidJob {
    /// When it is submitted: whole seconds after midnight of the first day.
    pub submit_seconds: u64,
    /// Number of nodes, 1 to all.
    pub size: u32,
    /// Run time: whole seconds, 1 to 162,754.
    pub runtime_seconds: u64,
    /// The type of the job.
    pub job_type: JobType,
}

/// Parameters of one type of jobs. The names in brackets are those of the published model.
struct Parameters {
    /// Probability of one node (`SERIAL_PROB`).
    serial: f64,
    /// Probability of a power of two (`POW2_PROB`).
    power_of_two: f64,
    /// Logarithm (base 2) of the smallest size of a parallel job (`ULOW`).
    smallest: f64,
    /// How far below the largest size's logarithm the two uniform distributions meet
    /// (`UHI - UMED`).
    middle_below: f64,
    /// How far the largest size's logarithm is below that of the machine (7 for 128 nodes, less
    /// `UHI`).
    largest_below: f64,
    /// Probability of the lower uniform distribution (`UPROB`).
    lower: f64,
    /// Shape and scale of the logarithm of short run times (`a1`, `b1`).
    short: (f64, f64),
    /// Shape and scale of the logarithm of long run times (`a2`, `b2`).
    long: (f64, f64),
    /// The probability of a short run time is this (`pa`) times the size
    short_slope: f64,
    /// plus this (`pb`).
    short_offset: f64,
    arrivals: ArrivalParameters,
}

const INTERACTIVE: Parameters = Parameters {
    serial: 0.1541,
    power_of_two: 0.625,
    smallest: 1.0,
    middle_below: 2.5,
    largest_below: 1.5,
    lower: 0.705,
    short: (3.8351, 0.6605),
    long: (7.073, 0.6856),
    short_slope: -0.0118,
    short_offset: 0.9156,
    arrivals: ArrivalParameters {
        gap_shape: 6.5510,
        gap_scale: 0.6621,
        rush_to_all: 0.9797,
        day_shape: 8.9186,
        day_scale: 3.6680,
    },
};

const BATCH: Parameters = Parameters {
    serial: 0.2927,
    power_of_two: 0.6686,
    smallest: 1.2,
    middle_below: 2.0,
    largest_below: 0.0,
    lower: 0.875,
    short: (6.57, 0.823),
    long: (639.1, 0.0156),
    short_slope: -0.003,
    short_offset: 0.6986,
    arrivals: ArrivalParameters {
        gap_shape: 6.0415,
        gap_scale: 0.8531,
        rush_to_all: 1.0519,
        day_shape: 6.1271,
        day_scale: 5.2740,
    },
};

const ONE_TYPE: Parameters = Parameters {
    serial: 0.244,
    power_of_two: 0.576,
    smallest: 0.8,
    middle_below: 2.5,
    largest_below: 0.0,
    lower: 0.86,
    short: (4.2, 0.94),
    long: (312.0, 0.03),
    short_slope: -0.0054,
    short_offset: 0.78,
    arrivals: ArrivalParameters {
        gap_shape: 10.2303,
        gap_scale: 0.4871,
        rush_to_all: 1.0225,
        day_shape: 8.1737,
        day_scale: 3.9631,
    },
};

impl Lublin {
    /// The jobs of this seed, ascending by submission. The same on every machine. O(jobs).
    pub fn jobs(&self, seed: u64) -> Vec<RigidJob> {
        let mut random = Stream::Jobs.of(seed);
        let types: &[(JobType, Parameters)] = if self.job_types {
            &[(JobType::Interactive, INTERACTIVE), (JobType::Batch, BATCH)]
        } else {
            &[(JobType::Interactive, ONE_TYPE)]
        };
        let mut sources: Vec<Source> = types
            .iter()
            .map(|(job_type, parameters)| Source::new(*job_type, parameters, &mut random))
            .collect();
        let job = |_| {
            let earliest = sources.iter_mut().min_by_key(|source| source.next)?;
            Some(earliest.job(self.nodes, &mut random))
        };
        (0..self.jobs).filter_map(job).collect()
    }
}

/// Where the jobs of one type come from.
struct Source<'a> {
    job_type: JobType,
    parameters: &'a Parameters,
    clock: ArrivalClock,
    /// When its next job is submitted.
    next: u64,
}

impl<'a> Source<'a> {
    fn new(job_type: JobType, parameters: &'a Parameters, random: &mut Random) -> Self {
        let mut clock = ArrivalClock::new(parameters.arrivals);
        let next = clock.next(random);
        Self {
            job_type,
            parameters,
            clock,
            next,
        }
    }

    fn job(&mut self, nodes: u32, random: &mut Random) -> RigidJob {
        let submit = self.next;
        self.next = self.clock.next(random);
        let size = self.parameters.size(nodes, random);
        RigidJob {
            submit_seconds: submit,
            size,
            runtime_seconds: self.parameters.runtime(size, random),
            job_type: self.job_type,
        }
    }
}

impl Parameters {
    /// One node, or two to the power of a number from two uniform distributions side by side, rounded
    /// to a whole number for powers of two.
    ///
    /// On machines of other sizes than 128 the distributions keep their distance from the largest
    /// size, as the model's authors advise; where that leaves nothing of the lower one (less than 8 to 16
    /// nodes), it is the smallest parallel size alone.
    fn size(&self, nodes: u32, random: &mut Random) -> u32 {
        let kind = random.uniform();
        if kind <= self.serial {
            return 1;
        }
        let largest = (libm::log2(f64::from(nodes)) - self.largest_below).max(self.smallest);
        let middle = (largest - self.middle_below).max(self.smallest);
        let logarithm = if random.chance(self.lower) {
            random.between(self.smallest, middle)
        } else {
            random.between(middle, largest)
        };
        let is_power = kind <= self.serial + self.power_of_two;
        let logarithm = if is_power {
            logarithm.round()
        } else {
            logarithm
        };
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 0 to 2^33, saturates
        let size = libm::exp2(logarithm).round() as u32;
        match size {
            size if size <= nodes => size,
            _ if is_power => 1 << nodes.ilog2(),
            _ => nodes,
        }
    }

    /// The exponential of a number from one of two gamma distributions; large jobs run long more often.
    fn runtime(&self, size: u32, random: &mut Random) -> u64 {
        let short = self.short_slope * f64::from(size) + self.short_offset;
        loop {
            let (shape, scale) = if random.chance(short) {
                self.short
            } else {
                self.long
            };
            let logarithm = random.gamma(shape, scale);
            if logarithm <= MAX_LOGARITHM {
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // in range
                let seconds = libm::exp(logarithm) as u64;
                return seconds;
            }
        }
    }
}
