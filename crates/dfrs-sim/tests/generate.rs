//! Generated traces: the statistics of the papers' traces, and the same bytes everywhere.

use dfrs_core::{Bytes, Cores};
use dfrs_sim::generate::{
    JobType, LoadError, Lublin, annotate, offered_load, scale_to_load, write_swf,
};
use dfrs_sim::trace::{Model, NODE_CPU, NODE_MEMORY, Trace, read, write_csv};
use proptest::prelude::*;

const WITHOUT_TYPES: Lublin = Lublin {
    jobs: 1_000,
    nodes: 128,
    job_types: false,
};

fn csv(trace: &Trace) -> String {
    let mut text = Vec::new();
    write_csv(trace, &mut text).expect("memory takes all");
    String::from_utf8(text).expect("UTF-8")
}

/// FNV-1a.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Days from the first to the last submission, and the load.
fn length_and_load(trace: &Trace) -> (f64, f64) {
    let (first, last) = (&trace.jobs[0], &trace.jobs[trace.jobs.len() - 1]);
    let days = last.submit.since(first.submit).seconds() / 86_400.0;
    (days, offered_load(trace, 128).expect("gaps"))
}

/// Mean length and load of 100 traces.
fn means(model: &Lublin) -> (f64, f64) {
    let all = (1..=100).map(|seed| length_and_load(&model.trace(seed)));
    let (days, load) = all.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    (days / 100.0, load / 100.0)
}

/// The papers' 100 traces are another sample. Over 400 traces the standard deviation of the length
/// was 1.73 days with types and 2.34 without, that of the load 0.20 and 0.17. The difference of two means of
/// 100 has a standard deviation of that times the root of 2/100; twice that is allowed.
#[test]
fn length_and_load_are_those_of_the_papers_traces() {
    let near = |(days, load): (f64, f64), expected: (f64, f64), deviation: (f64, f64)| {
        let allowed = 2.0 * f64::sqrt(2.0 / 100.0);
        let what = format!(
            "{days} days instead of {}, load {load} instead of {}",
            expected.0, expected.1
        );
        assert!((days - expected.0).abs() < allowed * deviation.0, "{what}");
        assert!((load - expected.1).abs() < allowed * deviation.1, "{what}");
    };
    near(means(&Lublin::default()), (5.85, 0.43), (1.73, 0.20));
    near(means(&WITHOUT_TYPES), (10.95, 0.75), (2.34, 0.17));
}

/// What a seed gives must never change, on no machine and in no version.
#[test]
fn traces_of_a_seed_never_change() {
    let text = csv(&Lublin::default().trace(1));
    let first: Vec<&str> = text.lines().take(4).collect();
    assert_eq!(
        first,
        [
            "id,submit,tasks,cpu,mem,runtime",
            "1,56,8,1,0.2,11",
            "2,82,1,0.25,0.2,2",
            "3,91,8,1,0.5,20"
        ]
    );
    let others = [
        csv(&WITHOUT_TYPES.trace(1)),
        csv(&Lublin::default().trace_at_load(2, 0.7).expect("a load")),
        csv(&Lublin {
            jobs: 300,
            nodes: 1_000,
            job_types: true,
        }
        .trace(u64::MAX)),
    ];
    let hashes: Vec<u64> = std::iter::once(&text)
        .chain(&others)
        .map(|text| hash(text))
        .collect();
    assert_eq!(
        hashes,
        [
            0xd147_c5bc_f8c1_ca22,
            0x0289_2e4e_c544_0754,
            0xa91f_dd73_35ab_b97f,
            0x8deb_d257_4625_5e6c
        ]
    );
}

/// Shares of 20,000 jobs, of which the standard deviation is at most sqrt(1/4/20,000) = 0.0035; four
/// of it are allowed.
#[test]
fn sizes_and_types_have_their_shares() {
    let model = Lublin {
        jobs: 20_000,
        ..WITHOUT_TYPES
    };
    let jobs = model.jobs(9);
    let share = |holds: &dyn Fn(u32) -> bool| {
        jobs.iter().filter(|job| holds(job.size)).count() as f64 / jobs.len() as f64
    };
    let near =
        |share: f64, expected: f64| assert!((share - expected).abs() < 0.014, "{share} {expected}");
    near(share(&|size| size == 1), 0.244);
    // Of the others, the upper uniform distribution begins at 2^4.5 = 22.6 nodes, and 22.6 is rounded up.
    near(share(&|size| size >= 24), 0.756 * 0.14);
    // Sizes that are powers of two by chance come on top: mostly 2 (up to 2.5 nodes) and 4 (3.5 to 4.5).
    let (two, four) = (2.5f64.log2() - 0.8, (4.5f64 / 3.5).log2());
    let chance = 0.18 * 0.86 * (two + four) / 3.7;
    let powers = share(&|size| size > 1 && size.is_power_of_two());
    assert!(
        (0.576 + chance - 0.014..0.576 + chance + 0.03).contains(&powers),
        "{powers}"
    );
    assert!(
        jobs.iter()
            .all(|job| job.size <= 128 && job.job_type == JobType::Interactive)
    );
    assert!(
        jobs.iter()
            .all(|job| (1..=162_754).contains(&job.runtime_seconds))
    );
    let types = Lublin::default().jobs(9);
    let batch = types
        .iter()
        .filter(|job| job.job_type == JobType::Batch)
        .count();
    assert!((100..900).contains(&batch), "{batch}");
}

#[test]
fn annotations_follow_the_papers() {
    let mut small = 0;
    let mut tenths = [0u32; 11];
    for seed in 0..20 {
        for job in Lublin::default().trace(seed).jobs {
            let need = if job.tasks == 1 {
                Cores(NODE_CPU.0 / 4)
            } else {
                NODE_CPU
            };
            assert_eq!(job.cpu, need);
            assert_eq!(job.memory.0 % (NODE_MEMORY.0 / 10), 0);
            tenths[usize::try_from(job.memory.0 * 10 / NODE_MEMORY.0).expect("small")] += 1;
            small += u32::from(job.memory == Bytes(NODE_MEMORY.0 / 10));
        }
    }
    // 20,000 jobs: 11,000 with a standard deviation of 70, and 1,000 each with one of 31.
    assert!((10_720..11_280).contains(&small), "{small}");
    assert!(
        tenths[0] == 0 && tenths[2..].iter().all(|count| (870..1_130).contains(count)),
        "{tenths:?}"
    );
}

/// An annotated SWF trace is the CSV trace of the same seed.
#[test]
fn swf_with_annotations_is_the_same_trace() {
    let mut text = Vec::new();
    let model = Lublin::default();
    write_swf(&model.jobs(4), 128, "test", &mut text).expect("memory takes all");
    let mut trace = read(&text[..], Model::Processors, true).expect("SWF").trace;
    annotate(&mut trace, 4);
    assert_eq!(trace, model.trace(4));
}

#[test]
fn impossible_load_is_refused() {
    let mut trace = Lublin::default().trace(1);
    for load in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(
            scale_to_load(&mut trace, 128, load),
            Err(LoadError::NoLoad(_))
        ));
    }
    let error = scale_to_load(&mut trace, 128, 1e-6);
    assert!(matches!(error, Err(LoadError::TooLong { .. })), "{error:?}");
    assert_eq!(trace, Lublin::default().trace(1), "left alone");
    trace.jobs.truncate(1);
    assert_eq!(scale_to_load(&mut trace, 128, 0.5), Err(LoadError::NoGaps));
    assert_eq!(
        scale_to_load(&mut Trace::default(), 128, 0.5),
        Err(LoadError::NoGaps)
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_parameters_give_a_valid_trace(
        jobs in 0usize..200, nodes in 1u32..5_000, job_types: bool, seed: u64,
    ) {
        let model = Lublin { jobs, nodes, job_types };
        let trace = model.trace(seed);
        prop_assert_eq!(trace.jobs.len(), jobs);
        prop_assert!(trace.jobs.is_sorted_by_key(|job| job.submit));
        prop_assert!(trace.jobs.iter().all(|job| (1..=nodes).contains(&job.tasks)));
        if jobs > 0 {
            let back = read(csv(&trace).as_bytes(), Model::Processors, true).expect("CSV").trace;
            prop_assert_eq!(back.jobs, trace.jobs);
        }
    }

    #[test]
    fn scaling_changes_the_load_and_nothing_else(seed: u64, tenths in 1u32..10) {
        let load = f64::from(tenths) / 10.0;
        let trace = Lublin::default().trace(seed);
        let mut scaled = trace.clone();
        scale_to_load(&mut scaled, 128, load).expect("a load");
        prop_assert!((offered_load(&scaled, 128).expect("gaps") - load).abs() < 1e-9);
        prop_assert_eq!(scaled.jobs[0].submit, trace.jobs[0].submit);
        let rounded = Lublin::default().trace_at_load(seed, load).expect("a load");
        prop_assert!((offered_load(&rounded, 128).expect("gaps") - load).abs() < 1e-4);
        for ((job, other), whole) in trace.jobs.iter().zip(&scaled.jobs).zip(&rounded.jobs) {
            let same = (job.tasks, job.cpu, job.memory, job.runtime);
            prop_assert_eq!(same, (other.tasks, other.cpu, other.memory, other.runtime));
            prop_assert!((whole.submit.seconds() - other.submit.seconds()).abs() <= 0.5);
        }
    }
}
