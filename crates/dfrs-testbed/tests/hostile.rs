//! Users whose scripts hold their own jobs, or begin steps without end, and how long other jobs
//! wait beside them.

use dfrs_testbed::simulation::{Draw, TrialScenario, programs};

/// Of each kind.
const SAMPLES: u64 = 100;

/// What a hostile user's script does.
const LEVERS: [&str; 3] = ["holds", "steps=8", "steps=1"];

/// What others wait longer than beside an honest user, in seconds, at most: one `SettleTime`.
const MAX_EXTRA_WAIT: f64 = 10.0;

/// Two nodes that one user's jobs fill, and jobs of others from the second minute on.
fn scenario(seed: u64, lever: &str) -> String {
    let mut draw = Draw::new(seed);
    let mut text = "nodes 2 cpus=4 memory=1000 partition=a\nswap 10000 speed=500\nconf Mode=full\n\
                    conf SwapPerNode=10000\nconf MovesPerHour=unlimited\n\
                    conf Partition=a Mobility=park AllowMobility=park\n"
        .to_owned();
    for label in 1..=4 {
        let work = draw.between(400, 1200);
        text += &format!(
            "at 0 submit {label} tasks=1 cpus=1 memory=480 work={work} partition=a user=1001 {lever}\n"
        );
    }
    let mut at = 90;
    for label in 5..=9 {
        at += draw.between(5, 60);
        let (memory, work) = (draw.between(200, 900), draw.between(5, 60));
        text += &format!(
            "at {at} submit {label} tasks=1 cpus=1 memory={memory} work={work} partition=a\n"
        );
    }
    text + &format!("heal {}\n", at + 60)
}

/// For how long the others of all seeds waited for their first start, in the mean, in seconds.
fn mean_wait(lever: &str) -> f64 {
    let mut waits = Vec::new();
    for seed in 1..=SAMPLES {
        let text = scenario(seed, lever);
        let read = TrialScenario::parse(&text).expect("a scenario");
        let begins = TrialScenario::begins().0;
        let over =
            programs(&read).unwrap_or_else(|failure| panic!("seed {seed}: {failure}\n{text}"));
        for (at, act) in &read.acts {
            let dfrs_testbed::model::acts::Act::Submit(submission) = act else {
                continue;
            };
            if submission.user != 1001 {
                let first = over[&submission.label].first_launch_us.expect("it ran");
                waits.push(first - begins - at.0);
            }
        }
    }
    // Precise enough: far below 2^53 microseconds.
    let mean = waits.iter().sum::<i64>() as f64 / waits.len() as f64;
    mean / 1e6
}

#[test]
fn hostile_user_does_not_delay_other_jobs() {
    let honest = mean_wait("");
    for lever in LEVERS {
        let hostile = mean_wait(lever);
        println!("{lever}: {hostile:.1} s in place of {honest:.1} s");
        assert!(
            hostile <= honest + MAX_EXTRA_WAIT,
            "{lever}: {hostile} s in place of {honest} s"
        );
    }
}
