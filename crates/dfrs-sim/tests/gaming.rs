//! What users gain who submit their work so as to get more of the machine.

use dfrs_core::Span;
use dfrs_sim::gaming::{BackgroundLoad, Cheat, Comparison, compare};
use dfrs_sim::{Needs, Scheduler, SimSettings};

/// A hundred samples.
const SEEDS: std::ops::Range<u64> = 1..101;
const OTHERS: BackgroundLoad = BackgroundLoad {
    load: 1.0,
    with_limits: false,
};

const SHARING: &str = "GreedyPMC*/move-per/OPT=VT/MINVT=600";

fn compared(policy: &str, cheat: Cheat, fair_by_user: bool, needs: Needs) -> Comparison {
    compared_among(OTHERS, policy, cheat, fair_by_user, needs)
}

fn compared_among(
    others: BackgroundLoad,
    policy: &str,
    cheat: Cheat,
    fair_by_user: bool,
    needs: Needs,
) -> Comparison {
    let scheduler: Scheduler = policy.parse().expect("a policy");
    let settings = SimSettings {
        fair_by_user,
        needs,
        penalty: Span::from_seconds(60),
        ..SimSettings::new(8)
    };
    let scheduler = scheduler.at_penalty(settings.penalty);
    compare(cheat, SEEDS, others, &scheduler, &settings).expect("it ends")
}

#[test]
fn pieces_that_resubmit_gain_little() {
    let by_job = compared(SHARING, Cheat::Pieces, false, Needs::Requested);
    let by_user = compared(SHARING, Cheat::Pieces, true, Needs::Requested);
    assert!(by_job.gain > 1.5, "the case shows nothing: {by_job:?}");
    assert!(by_user.gain < 1.15, "{by_user:?}");
}

/// Small jobs fit where a large one does not, under any scheduler.
#[test]
fn split_job_gains_no_more_than_under_easy() {
    let by_user = compared(SHARING, Cheat::Split, true, Needs::Requested);
    let easy = "EASY/shared".parse().expect("a scheduler");
    let easy = compare(Cheat::Split, SEEDS, OTHERS, &easy, &SimSettings::new(8)).expect("it ends");
    assert!(
        by_user.gain < 1.4 && by_user.gain < 1.1 * easy.gain,
        "{by_user:?}, {easy:?}"
    );
}

#[test]
fn overstated_request_gains_little_and_nothing_when_measured() {
    let requested = compared(SHARING, Cheat::AsksForMore, true, Needs::Requested);
    assert!(requested.gain < 1.15, "{requested:?}");
    let measured = compared(SHARING, Cheat::AsksForMore, true, Needs::Measured);
    assert!(measured.gain < 1.05, "{measured:?}");
}

#[test]
fn no_cheat_gains_under_the_default_policy_at_full_load() {
    for cheat in Cheat::ALL {
        let found = compared("default", cheat, true, Needs::Requested);
        assert!(found.gain < 1.0, "{cheat:?}: {found:?}");
    }
}

/// A long job waits for idle CPU, and pieces of it do not.
#[test]
fn under_the_default_policy_limits_leave_little_to_gain() {
    let others = BackgroundLoad {
        with_limits: true,
        ..OTHERS
    };
    for cheat in Cheat::ALL {
        let found = compared_among(others, "default", cheat, true, Needs::Requested);
        assert!(found.gain < 1.2, "{cheat:?}: {found:?}");
    }
}
