//! Who may know what.

use dfrs_proto::explain::{Answer, Explanation};

use super::Asker;

/// What somebody is told of a job: everything about their own, but not which others are there. Of others'
/// jobs they hear the same as of none, so that asking does not tell which ids there are.
pub(super) fn to(asker: Asker, found: Option<Explanation>) -> Answer {
    let own = found.filter(|job| asker.sees_all || job.user == asker.user);
    match own {
        Some(job) if asker.sees_all => Answer::Job(Box::new(job)),
        Some(job) => Answer::Job(Box::new(Explanation {
            neighbour_jobs: Vec::new(),
            // It may name the job for which room was made.
            last_change: job.last_change.map(|mut change| {
                if let Some((general, _)) = change.why.split_once(" the new job ") {
                    change.why = format!("{general} a new job");
                }
                change
            }),
            ..job
        })),
        None if asker.sees_all => Answer::Refused("no such job in a partition of DFRS".to_owned()),
        None => Answer::Refused("no such job of yours in a partition of DFRS".to_owned()),
    }
}
