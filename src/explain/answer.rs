//! Which users may know what.

use dfrs_proto::explain::{ExplainResponse, Explanation};

use super::Requester;

/// What a user may see of a job: everything about their own, but not which others are there. For
/// others' jobs the answer is the same as for none, so that it does not reveal which ids there are.
pub(super) fn visible_to(requester: Requester, found: Option<Explanation>) -> ExplainResponse {
    let own = found.filter(|job| requester.sees_all || job.user == requester.user);
    match own {
        Some(job) if requester.sees_all => ExplainResponse::Job(Box::new(job)),
        Some(job) => ExplainResponse::Job(Box::new(Explanation {
            co_located_jobs: Vec::new(),
            // The change may name the job for which room was made.
            last_change: job.last_change.map(|mut change| {
                if let Some((general, _)) = change.why.split_once(" the new job ") {
                    change.why = format!("{general} a new job");
                }
                change
            }),
            ..job
        })),
        None if requester.sees_all => {
            ExplainResponse::Refused("no such job in a partition of DFRS".to_owned())
        }
        None => ExplainResponse::Refused("no such job of yours in a partition of DFRS".to_owned()),
    }
}
