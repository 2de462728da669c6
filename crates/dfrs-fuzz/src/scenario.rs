//! Scenarios as people write them by hand, and as the plugin's recorder writes them.

use dfrs_core::Cluster;
use dfrs_scenario::{Scenario, from_record, is_record, print, read, rewritten};

use super::is_clear;

/// The most nodes, jobs and tasks of a cluster that is decided about.
const MAX_ITEMS: usize = 200;

/// A scenario file: read, printed, read again, and decided if it is small.
pub fn scenario(file: &[u8]) {
    let text = String::from_utf8_lossy(file);
    let text = match is_record(&text) {
        true => match from_record(&text) {
            Ok(text) => text.into(),
            Err(error) => return is_clear(&error),
        },
        false => text,
    };
    let scenarios = match read(&text, "file", dfrs_papers::policy) {
        Ok(scenarios) => scenarios,
        Err(error) => return is_clear(&error),
    };
    let printed = print(&scenarios);
    let again = read(&printed, "file", dfrs_papers::policy).expect("what was printed");
    assert_eq!(print(&again), printed);
    assert!(
        scenarios
            .iter()
            .zip(&again)
            .all(|(one, again)| one.cluster == again.cluster)
    );
    if scenarios.iter().all(|scenario| is_small(&scenario.cluster)) {
        decide(&text, &scenarios);
    }
}

/// Whatever the cluster is, deciding does not panic, and what is rewritten is as expected.
fn decide(text: &str, scenarios: &[Scenario]) {
    for scenario in scenarios {
        scenario.decide().violations.iter().for_each(is_clear);
    }
    let expected = rewritten(text, "file", dfrs_papers::policy).expect("it was decided");
    assert_eq!(
        rewritten(&expected, "file", dfrs_papers::policy).expect("what was rewritten"),
        expected
    );
}

fn is_small(cluster: &Cluster) -> bool {
    let tasks = cluster.jobs.iter().map(|job| u64::from(job.tasks));
    cluster.nodes.len() <= MAX_ITEMS
        && cluster.jobs.len() <= MAX_ITEMS
        && tasks.fold(0u64, u64::saturating_add) <= MAX_ITEMS as u64
}
