//! Reservations on DFRS's nodes.

use std::collections::BTreeSet;

use super::finding::DoctorFindings;
use super::host::Host;
use super::slurm::ScontrolRecord;

/// Says which there are: jobs there end before them or are preempted.
pub fn examine(
    host: &impl Host,
    reservations: &[ScontrolRecord],
    managed: &[&ScontrolRecord],
    findings: &mut DoctorFindings,
) {
    let ours: BTreeSet<&str> = managed.iter().map(|node| node.get("NodeName")).collect();
    for reservation in reservations {
        let (name, list) = (reservation.get("ReservationName"), reservation.get("Nodes"));
        if name.is_empty() || list.is_empty() {
            continue;
        }
        let mut topic = findings.topic("reservation");
        let names = match host.run("scontrol", &["show", "hostnames", list]) {
            Ok(names) => names,
            Err(error) => {
                topic.warning(error, "look at it by hand");
                continue;
            }
        };
        let covered = names.lines().filter(|name| ours.contains(name.trim()));
        let (covered, all) = (covered.count(), ours.len());
        if covered == all && reservation.get("State") == "ACTIVE" {
            topic.warning(
                format!(
                    "{name} has all nodes of DFRS until {}",
                    reservation.get("EndTime")
                ),
                "jobs without it wait; see maintenance.md",
            );
        }
        if covered > 0 {
            topic.done(format!(
                "{name} has {covered} of {all} nodes from {} to {}; jobs there end before it or are preempted",
                reservation.get("StartTime"),
                reservation.get("EndTime")
            ));
        }
    }
}
