//! The shim's calls on the records of select/cons_tres (`core_rows_test.c`).

use crate::build;
use crate::snapshot_test::{assert_has, run};

/// Nodes with their states, their cores that Slurm counts, what their jobs count as, and CPUs of others.
#[test]
fn jobs_from_before_forced_oversubscribe_share_nodes_once_hidden() {
    let lines = run(&build::CORE_ROWS_TEST, "before");
    for line in [
        "counted: n0 up 4 2, n1 up 8 2 others 4, n2 up 0 0, n3 up 32 64000, visible 1",
        "hidden 3",
        "hidden: n0 up 0 0, n1 up 4 1 others 4, n2 up 0 0, n3 up 0 0, visible 0",
        "hidden 0",
        "counted again: n0 up 4 0, n1 up 8 1 others 4, n2 up 0 0, n3 up 32 0, visible 1",
        "hidden again: n0 up 0 0, n1 up 4 1 others 4, n2 up 0 0, n3 up 0 0, visible 0",
        "two have ended: n0 up 0 0, n1 up 0 0, n2 up 0 0, n3 up 0 0, visible 0",
        "all have ended: n0 up 0 0, n1 up 0 0, n2 up 0 0, n3 up 0 0, visible 0",
    ] {
        assert_has(&lines, line);
    }
    assert!(lines.iter().all(|line| !line.contains("mis-count")));
}

#[test]
fn cores_held_on_nodes_given_to_other_partitions_count_there() {
    let lines = run(&build::CORE_ROWS_TEST, "given_away");
    for line in [
        "hidden: n0 up 0 0, n1 up 0 0, n2 up 0 0, n3 up 0 0, visible 0",
        "given away: n0 up 4 0, n1 draining 4 0, n2 draining 4 0, n3 up 0 0, visible 1",
        "hidden 3",
        "shown: n0 up 0 0, n1 draining 32 0, n2 draining 32 0, n3 up 0 0, visible 0",
        "hidden 0",
        // Slurm has taken its cores away, also those that the other one has.
        "one has ended: n0 up 0 0, n1 draining 0 0, n2 draining 32 0, n3 up 0 0, visible 1",
        "hidden 1",
        "shown again: n0 up 0 0, n1 draining 32 0, n2 draining 32 0, n3 up 0 0, visible 0",
        "taken back: n0 up 0 0, n1 up 32 0, n2 up 32 0, n3 up 0 0, visible 1",
        "hidden 2",
        "hidden again: n0 up 0 0, n1 up 0 0, n2 up 0 0, n3 up 0 0, visible 0",
        "all have ended: n0 up 0 0, n1 up 0 0, n2 up 0 0, n3 up 0 0, visible 0",
    ] {
        assert_has(&lines, line);
    }
}
