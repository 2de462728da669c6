use super::*;

const FILE: &str = include_str!("example.json");

fn example() -> Status {
    parse(FILE, Path::new("FILE")).expect("is right")
}

#[test]
fn working_plugin_has_no_trouble() {
    assert_eq!(trouble(&example(), 1.0), None);
    let text = table::text(&example(), 1.0);
    for part in [
        "mode       full\n",
        "state      works\n",
        "jobs       3 pending, 2 running, 1 parked, ",
        "waiting    2 for memory, 1 for devices, 1 for a dependency, limit, hold or their first decision (squeue)\n",
        "devices    gpu: 5 of 8 held, 2 free; gpu:a100: 4 of 4 held, 0 free; jobs that ask for some: 2, waiting: 1 for devices\n",
        "; dfrsd not responding on 1 (n2)",
        "state file is up to date; journal is 1.5 ms behind, 0 lines lost",
    ] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
    let row = text.lines().find(|line| line.starts_with("  decide"));
    let cells: Vec<&str> = row.expect("there").split_whitespace().collect();
    assert_eq!(
        cells,
        [
            "decide", "5", "15", "us", "2.0", "ms", "2.0", "ms", "2.0", "ms"
        ]
    );
}

#[test]
fn reason_for_not_scheduling_is_one_line() {
    let line = |age: f64, change: fn(&mut Status)| {
        let mut status = example();
        change(&mut status);
        trouble(&status, age).expect("is trouble")
    };
    let ended = line(1.0, |status| status.running = false);
    assert!(ended.contains("has ended"), "{ended}");
    let stale = line(90.0, |_| {});
    assert!(stale.starts_with("was written 90.0 s ago: "), "{stale}");
    let off = line(1.0, |status| {
        status.problem = Some("slurm.conf: x".to_owned())
    });
    assert_eq!(off, "DFRS is off: slurm.conf: x");
    let open = line(1.0, |status| {
        status.breaker.state = BreakerState::Open;
        status.breaker.why = Some("internal error: y".to_owned());
    });
    assert!(
        open.starts_with("breaker open, DFRS disabled: internal error: y; "),
        "{open}"
    );
}

#[test]
fn other_files_and_versions_are_refused_in_one_line() {
    for (text, part) in [
        ("", "is no status file"),
        ("{}", "is no status file"),
        (
            &FILE.replace("\"version\":1", "\"version\":2"),
            "is of version 2",
        ),
    ] {
        let error = parse(text, Path::new("FILE")).expect_err("is refused");
        assert!(
            error.starts_with("FILE: ") && error.contains(part),
            "{error}"
        );
        assert!(!error.contains('\n'), "{error}");
    }
}

#[test]
fn last_state_save_location_of_slurm_conf_is_used() {
    let text = "#StateSaveLocation=/a\nstatesavelocation = /b # there\nClusterName=c\n";
    assert_eq!(paths::state_save_location(text), "/b");
    assert_eq!(paths::state_save_location(""), "/var/spool");
}
