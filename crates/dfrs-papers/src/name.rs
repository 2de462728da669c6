//! Names of policies, with those that dfrs-core does not know.

use dfrs_core::{Periodic, Policy, PolicyError, PolicyParts, Submission};

use crate::goal::PaperGoal;
use crate::ipdps;
use crate::stretch::StretchGoal;

/// What may be done every period.
const PERIODICS: [&str; 3] = ["per", STRETCH, "move-per"];

/// The optimisations.
const OPTIMISATIONS: [&str; 4] = ["AVG", "MIN", "MAX", "VT"];

const STRETCH: &str = "stretch-per";

/// Reads the name of any policy; upper and lower case are the same, but that `GREEDY` is the IPDPS
/// 2010 paper's policy in capitals only.
///
/// The names of that paper are `GREEDY`, `GREEDY-PMTN`, `GREEDY-PMTN-MIGR`, `DYNMCB8`,
/// `DYNMCB8-PER`, `DYNMCB8-ASAP-PER` and `DYNMCB8-STRETCH-PER`, the last three also with a period
/// in seconds, as in `DYNMCB8-PER 300`. They set the period and that paper's priority function.
/// Batch schedulers (FCFS, EASY) are the simulator's.
///
/// # Errors
///
/// What is wrong with the name, and what is allowed.
pub fn policy(name: &str) -> Result<Policy, PolicyError> {
    let name = name.trim();
    match name.parse() {
        Err(PolicyError::TooLong { length }) => Err(PolicyError::TooLong { length }),
        Err(_) => match ipdps::read(name)? {
            Some(policy) => Ok(policy),
            None => read(name).map_err(with_ipdps_names),
        },
        known => known,
    }
}

/// Reads a name of the TPDS paper.
fn read(name: &str) -> Result<Policy, PolicyError> {
    let parts = PolicyParts::read(name, &PERIODICS, &OPTIMISATIONS)?;
    let mut policy = parts.draft();
    let by_stretch = parts.periodic == Some(STRETCH);
    if by_stretch {
        policy.periodic = Periodic::Remap;
    }
    let policy = parts.checked(policy)?;
    let goal = match (by_stretch, parts.optimisation) {
        (true, _) if policy.submission != Submission::Nothing => Err(
            "/stretch-per optimises another goal than submission policies do and stands alone: /stretch-per[/OPT=AVG or /OPT=MAX]",
        ),
        (true, None) => Ok(PaperGoal::Stretch(StretchGoal::Equal)),
        (true, Some("AVG")) => Ok(PaperGoal::Stretch(StretchGoal::Average)),
        (true, Some("MAX")) => Ok(PaperGoal::Stretch(StretchGoal::Maximum)),
        (true, Some("MIN")) => Err(
            "/stretch-per has no OPT=MIN, which is about yields; allowed are OPT=AVG and OPT=MAX",
        ),
        (true, Some(_)) => Err(
            "/stretch-per has no OPT=VT, which is about yields; allowed are OPT=AVG and OPT=MAX",
        ),
        (false, Some("AVG")) => Ok(PaperGoal::Average),
        (false, Some("MAX")) => Err(
            "OPT=MAX is about stretch and needs /stretch-per; allowed are OPT=AVG, OPT=MIN and OPT=VT",
        ),
        (false, _) => return Ok(policy),
    };
    let optimisation = goal.map_err(|why| parts.contradiction(why))?.optimisation();
    Ok(Policy {
        optimisation,
        ..policy
    })
}

/// The error, with all that is allowed.
fn with_ipdps_names(error: PolicyError) -> PolicyError {
    match error {
        PolicyError::Submission {
            name,
            part,
            allowed,
        } => PolicyError::Submission {
            name,
            part,
            allowed: format!(
                "{allowed}; or a name of the IPDPS 2010 paper: {}",
                ipdps::list()
            ),
        },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(name: &str) -> String {
        policy(name).unwrap_err().to_string()
    }

    #[test]
    fn every_policy_name_round_trips() {
        let mut read = 0;
        for submission in ["", "Greedy", "GreedyP", "GreedyPM", "MCB8"] {
            for star in ["", "*"] {
                for periodic in ["", "/per", "/stretch-per"] {
                    for optimisation in ["", "/OPT=MIN", "/OPT=AVG", "/OPT=MAX"] {
                        for grace in ["", "/MINVT=300", "/MINFT=600"] {
                            let name = format!("{submission}{star}{periodic}{optimisation}{grace}");
                            if let Ok(found) = policy(&name) {
                                assert_eq!(found.to_string(), name);
                                assert_eq!(policy(&name.to_lowercase()), Ok(found));
                                read += 1;
                            }
                        }
                    }
                }
            }
        }
        // 14 basic algorithms, each with no OPT or one of two; 11 of them use MCB8 and take MINVT
        // or MINFT.
        assert_eq!(read, 3 * (14 + 11 * 2));
    }

    #[test]
    fn goals_are_those_of_the_names() {
        for name in [
            "/stretch-per",
            "/per/OPT=AVG",
            "DYNMCB8",
            "DYNMCB8-STRETCH-PER",
        ] {
            let found = policy(name).expect(name);
            let goal = PaperGoal::of(&found).expect(name);
            assert_eq!(goal.optimisation(), found.optimisation);
            assert_eq!(found.read_alike(name), Ok(found.clone()));
        }
        assert_eq!(PaperGoal::of(&Policy::recommended()), None);
        for (place, goal) in PaperGoal::ALL.into_iter().enumerate() {
            let same = |other: &PaperGoal| other.optimisation() == goal.optimisation();
            assert_eq!(PaperGoal::ALL.iter().position(same), Some(place));
        }
    }

    #[test]
    fn errors_name_the_part_and_what_is_allowed() {
        assert_eq!(
            error("GreedyX*/per"),
            "policy \"GreedyX*/per\": unknown submission policy \"GreedyX*\"; allowed are nothing (as in /per), Greedy, GreedyP, GreedyPM, GreedyPMC, GreedyPMCR, MCB8, each also with * except the empty one; or a name of the IPDPS 2010 paper: GREEDY, GREEDY-PMTN, GREEDY-PMTN-MIGR, DYNMCB8, DYNMCB8-PER[ SECONDS], DYNMCB8-ASAP-PER[ SECONDS], DYNMCB8-STRETCH-PER[ SECONDS]"
        );
        assert_eq!(
            error("Greedy*/often"),
            "policy \"Greedy*/often\": unknown part \"often\"; allowed are per, stretch-per, move-per, OPT=, MINVT=, MINFT="
        );
        assert!(error("Greedy*/per/OPT=BEST").contains("allowed is AVG, MIN, MAX, VT"));
        assert!(error("Greedy*/per/MINVT=soon").contains("seconds"));
        assert!(error("Greedy*/OPT=AVG/per").contains("out of place"));
        assert!(error("").contains("nothing would ever start"));
        assert!(error("Greedy").contains("add * or /per"));
        assert!(error("Greedy*/OPT=AVG/MINVT=600").contains("MCB8"));
        assert!(error("Greedy*/stretch-per").contains("stands alone"));
        assert!(error("GreedyPMC*/stretch-per").contains("GreedyPMC*[/move-per]"));
        assert!(error("/stretch-per/OPT=MIN").contains("OPT=AVG and OPT=MAX"));
        assert!(error("/stretch-per/OPT=VT").contains("OPT=AVG and OPT=MAX"));
        assert!(error("/per/OPT=MAX").contains("needs /stretch-per"));
        assert!(error("DYNMCB8 600").contains("DYNMCB8-PER"));
        assert!(error("DYNMCB8-PER 4294967296").contains("4294967295"));
        assert_eq!(
            error(&"G".repeat(101)),
            "a policy's name of 101 bytes; allowed are 100"
        );
    }
}
