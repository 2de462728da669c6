//! One journal that keeps every promise, and for each promise one that breaks it.

use super::{example, violations};

const PLATFORM: &str = r#"{"t":0,"event":"platform","version":1,"policy":"EASY","nodes":[{"name":"n0","cpu":4,"mem":8},{"name":"n1","cpu":4,"mem":8}]}"#;

/// A submit of job `id` with 2 tasks of 2 CPUs and 4 memory each, that needs 100 s.
fn submit(t: u32, id: u32) -> String {
    format!(r#"{{"t":{t},"event":"submit","job":"{id}","tasks":2,"cpu":2,"mem":4,"runtime":100}}"#)
}

fn event(t: u32, event: &str, id: u32, more: &str) -> String {
    format!(r#"{{"t":{t},"event":"{event}","job":"{id}"{more}}}"#)
}

fn check(lines: &[String]) -> Vec<String> {
    violations(&format!("{PLATFORM}\n{}\n", lines.join("\n")))
}

/// A job that starts at 1 s on n0 and n1 with yield 1.
fn running(id: u32) -> Vec<String> {
    vec![
        submit(1, id),
        event(1, "start", id, r#","nodes":[0,1]"#),
        event(1, "yield", id, r#","value":1"#),
    ]
}

fn after(mut lines: Vec<String>, more: &[String]) -> Vec<String> {
    lines.extend_from_slice(more);
    lines
}

#[test]
fn documented_example_is_valid() {
    assert_eq!(violations(example()), [""; 0]);
}

#[test]
fn event_before_the_platform_is_a_violation() {
    let text = format!("{}\n{PLATFORM}\n", submit(0, 1));
    assert_eq!(
        violations(&text),
        [
            "line 1, t=0: an event before the platform; the first line of a journal must be its platform"
        ]
    );
}

#[test]
fn a_platform_may_be_repeated_and_grow_but_not_change() {
    let again = PLATFORM.replace(r#""t":0"#, r#""t":9"#);
    let grown = again.replace("}]}", r#"},{"name":"n2","cpu":1,"mem":1}]}"#);
    assert_eq!(check(&[again.clone(), grown]), [""; 0]);
    assert_eq!(
        check(&[again.replace("n1", "other")]),
        ["line 2, t=9: node 1 was 'n1' and is now 'other'; a repeated platform keeps its nodes"]
    );
    let shrunk = again.replace(r#",{"name":"n1","cpu":4,"mem":8}"#, "");
    assert_eq!(
        check(&[shrunk]),
        ["line 2, t=9: node 1 was 'n1' and is now 'absent'; a repeated platform keeps its nodes"]
    );
}

#[test]
fn capacities_are_not_negative() {
    for negative in [
        PLATFORM.replace(r#""cpu":4"#, r#""cpu":-4"#),
        PLATFORM.replace('8', "-8"),
    ] {
        let found = violations(&negative);
        assert_eq!(found[0], "line 1, t=0: node 'n0' has a negative capacity");
    }
}

#[test]
fn waiting_job_may_be_ineligible_and_refused() {
    let back = event(1, "eligible", 1, r#","value":false"#);
    let refused = |t| event(t, "refused", 1, r#","nodes":[1,1],"reason":"busy""#);
    let waits = [submit(1, 1), back.clone(), refused(2)];
    assert_eq!(check(&waits), [""; 0]);
    assert_eq!(
        check(&after(running(1), &[back, refused(2)])),
        [
            "line 5, t=1: eligible of job '1', which is running; it must be waiting",
            "line 6, t=2: refused of job '1', which is running; it must be waiting or paused"
        ]
    );
    let outside = event(2, "refused", 1, r#","nodes":[0,7]"#);
    let found = check(&[submit(1, 1), outside]);
    assert!(found[0].contains("node 7"), "{found:?}");
}

#[test]
fn times_never_decrease() {
    let lines = after(running(1), &[submit(0, 2)]);
    assert_eq!(
        check(&lines),
        ["line 5, t=0: earlier than the event before it, at t=1; lines must be in time order"]
    );
}

#[test]
fn a_job_is_in_the_system_once_at_a_time() {
    assert_eq!(
        check(&[submit(1, 1), submit(2, 1)]),
        ["line 3, t=2: job '1' is submitted while it is in the system; it must finish first"]
    );
    let again = [
        submit(1, 1),
        event(2, "finish", 1, r#","outcome":"cancelled""#),
        submit(3, 1),
    ];
    assert_eq!(check(&again), [""; 0]);
}

#[test]
fn a_job_has_tasks_and_no_negative_need() {
    let expected = ["line 2, t=1: job '1' must have at least one task and no negative need"];
    assert_eq!(
        check(&[submit(1, 1).replace(r#""tasks":2"#, r#""tasks":0"#)]),
        expected
    );
    assert_eq!(
        check(&[submit(1, 1).replace(r#""mem":4"#, r#""mem":-4"#)]),
        expected
    );
    assert_eq!(
        check(&[submit(1, 1).replace(r#""cpu":2"#, r#""cpu":-2"#)]),
        expected
    );
}

#[test]
fn only_submitted_jobs_have_events() {
    for kind in ["start", "resume", "migrate", "pause", "yield", "finish"] {
        let line = event(1, kind, 1, r#","nodes":[0,1],"value":1"#);
        assert_eq!(
            check(&[line]),
            [format!(
                "line 2, t=1: {kind} of job '1', which is not in the system; a submit must come first"
            )]
        );
    }
}

#[test]
fn each_event_needs_its_phase() {
    let wrong = |kind: &str, phase: &str, allowed: &str| {
        [format!(
            "line 5, t=5: {kind} of job '1', which is {phase}; it must be {allowed}"
        )]
    };
    let nodes = r#","nodes":[0,1]"#;
    assert_eq!(
        check(&after(running(1), &[event(5, "start", 1, nodes)])),
        wrong("start", "running", "waiting")
    );
    assert_eq!(
        check(&after(running(1), &[event(5, "resume", 1, nodes)])),
        wrong("resume", "running", "paused")
    );
    let waiting = [submit(1, 2), submit(1, 3), submit(1, 1)];
    for kind in ["pause", "migrate"] {
        let lines = after(waiting.to_vec(), &[event(5, kind, 1, nodes)]);
        assert_eq!(check(&lines), wrong(kind, "waiting", "running"));
    }
    let finish = "running, or the outcome another than completed";
    let lines = after(waiting.to_vec(), &[event(5, "finish", 1, "")]);
    assert_eq!(check(&lines), wrong("finish", "waiting", finish));
    let paused = after(
        running(1),
        &[event(5, "pause", 1, ""), event(6, "finish", 1, "")],
    );
    assert_eq!(
        check(&paused),
        [format!(
            "line 6, t=6: finish of job '1', which is paused; it must be {finish}"
        )]
    );
}

#[test]
fn a_cancelled_job_may_leave_from_anywhere() {
    for outcome in ["cancelled", "failed", "evaporated"] {
        let leave = event(5, "finish", 1, &format!(r#","outcome":"{outcome}""#));
        assert_eq!(check(&[submit(1, 1), leave.clone()]), [""; 0]);
        assert_eq!(
            check(&after(running(1), std::slice::from_ref(&leave))),
            [""; 0]
        );
        assert_eq!(
            check(&after(running(1), &[event(4, "pause", 1, ""), leave])),
            [""; 0]
        );
    }
}

#[test]
fn places_are_nodes_of_the_platform_one_for_each_task() {
    assert_eq!(
        check(&[submit(1, 1), event(1, "start", 1, r#","nodes":[0,2]"#)]),
        ["line 3, t=1: job '1' is placed on node 2, but the platform has nodes 0 to 1"]
    );
    let lines = [
        submit(1, 1),
        event(1, "start", 1, r#","nodes":[0]"#),
        event(1, "yield", 1, r#","value":1"#),
    ];
    assert_eq!(
        check(&lines),
        ["line 3, t=1: job '1' is placed with 1 tasks and has 2"]
    );
}

#[test]
fn yields_are_shares_of_running_jobs() {
    let lines = after(
        running(1),
        &[
            event(2, "yield", 1, r#","value":1.01"#),
            event(2, "yield", 1, r#","value":-0.1"#),
        ],
    );
    assert_eq!(
        check(&lines),
        [
            "line 5, t=2: yield 1.01 of job '1' is outside 0 to 1",
            "line 6, t=2: yield -0.1 of job '1' is outside 0 to 1"
        ]
    );
    assert_eq!(
        check(&[submit(1, 1), event(2, "yield", 1, r#","value":1"#)]),
        ["line 3, t=2: yield of job '1', which is waiting; it must be running"]
    );
    let mut lines = running(1);
    lines.swap(1, 2);
    assert_eq!(
        check(&lines),
        [""; 0],
        "events of one instant take effect together"
    );
}

#[test]
fn a_job_that_starts_has_a_yield() {
    assert_eq!(
        check(&running(1)[..2]),
        [
            "line 3, t=1: job '1' runs without a yield; a yield event must come at the time of its start"
        ]
    );
}

#[test]
fn memory_is_never_exceeded() {
    let third = after(after(running(1), &running(2)), &running(3));
    let cpu = |node| format!("line 10, t=1: node '{node}' promises 6 of 4 CPU; yields must fit");
    let memory =
        |node| format!("line 10, t=1: node '{node}' holds 12 of 8 memory; requirements must fit");
    assert_eq!(
        check(&third),
        [memory("n0"), cpu("n0"), memory("n1"), cpu("n1")]
    );
}

#[test]
fn memory_per_node_counts_once_a_node() {
    let both = |nodes: &str| {
        let submit = submit(1, 1).replace(r#""mem":4"#, r#""mem":1,"mem_per_node":7"#);
        check(&[
            submit,
            event(1, "start", 1, nodes),
            event(1, "yield", 1, r#","value":0.5"#),
        ])
    };
    assert_eq!(both(r#","nodes":[0,1]"#), [""; 0]);
    assert_eq!(
        both(r#","nodes":[0,0]"#),
        ["line 4, t=1: node 'n0' holds 9 of 8 memory; requirements must fit"]
    );
}

#[test]
fn memory_given_up_and_taken_at_one_instant_is_not_added() {
    let two = after(running(1), &running(2));
    let swap = [
        submit(5, 3),
        event(5, "start", 3, r#","nodes":[0,1]"#),
        event(5, "yield", 3, r#","value":1"#),
        event(5, "pause", 1, ""),
    ];
    assert_eq!(check(&after(two.clone(), &swap)), [""; 0]);
    let late = [
        swap[0].clone(),
        swap[1].clone(),
        swap[2].clone(),
        event(6, "pause", 1, ""),
    ];
    assert_eq!(check(&after(two, &late)).len(), 4);
}

#[test]
fn cpu_is_never_exceeded() {
    let small = |id| submit(1, id).replace(r#""mem":4"#, r#""mem":1"#);
    let place = |id, value: &str| {
        [
            small(id),
            event(1, "start", id, r#","nodes":[0,0]"#),
            event(1, "yield", id, &format!(r#","value":{value}"#)),
        ]
    };
    assert_eq!(check(&[place(1, "0.5"), place(2, "0.5")].concat()), [""; 0]);
    assert_eq!(
        check(&[place(1, "0.5"), place(2, "0.5000004")].concat()),
        [""; 0],
        "rounding"
    );
    assert_eq!(
        check(&[place(1, "0.5"), place(2, "0.75")].concat()),
        ["line 7, t=1: node 'n0' promises 5 of 4 CPU; yields must fit"]
    );
}

#[test]
fn a_node_that_stays_overfull_is_reported_once() {
    let lines = after(after(running(1), &running(2)), &running(3));
    let more = [
        event(2, "yield", 1, r#","value":1"#),
        event(3, "yield", 1, r#","value":1"#),
    ];
    assert_eq!(check(&after(lines, &more)).len(), 4);
}

#[test]
fn a_completed_job_has_done_its_run_time() {
    assert_eq!(
        check(&after(running(1), &[event(101, "finish", 1, "")])),
        [""; 0]
    );
    assert_eq!(
        check(&after(running(1), &[event(91, "finish", 1, "")])),
        ["line 5, t=91: job '1' completed after 90 s of progress, but its run time is 100 s"]
    );
    assert_eq!(
        check(&after(running(1), &[event(111, "finish", 1, "")])),
        ["line 5, t=111: job '1' completed after 110 s of progress, but its run time is 100 s"]
    );
}

#[test]
fn pauses_stalls_and_lower_yields_delay_completion() {
    let lines = [
        event(11, "pause", 1, ""),                                // 10 s done
        event(50, "resume", 1, r#","nodes":[1,0],"stall":10"#),   // from 60 on
        event(80, "yield", 1, r#","value":0.5"#),                 // 30 s done
        event(120, "migrate", 1, r#","nodes":[0,0],"stall":20"#), // 50 s done; from 140 on
        event(130, "migrate", 1, r#","nodes":[0,1],"stall":20"#), // a new stall: from 150 on
        event(250, "finish", 1, ""),                              // 100 s done
    ];
    assert_eq!(check(&after(running(1), &lines)), [""; 0]);
}

#[test]
fn lost_progress_does_not_count() {
    let pause = |lost| event(51, "pause", 1, if lost { r#","lost":true"# } else { "" });
    let rest = [
        event(60, "resume", 1, r#","nodes":[0,1]"#),
        event(160, "finish", 1, ""),
    ];
    let with = |lost| check(&after(running(1), &[&[pause(lost)], &rest[..]].concat()));
    assert_eq!(with(true), [""; 0]);
    assert_eq!(
        with(false),
        ["line 7, t=160: job '1' completed after 150 s of progress, but its run time is 100 s"]
    );
}

#[test]
fn cancelled_jobs_and_jobs_of_unknown_run_time_need_no_progress() {
    let cancelled = event(5, "finish", 1, r#","outcome":"cancelled""#);
    assert_eq!(check(&after(running(1), &[cancelled])), [""; 0]);
    let mut lines = after(running(1), &[event(5, "finish", 1, "")]);
    lines[0] = lines[0].replace(r#","runtime":100"#, "");
    assert_eq!(check(&lines), [""; 0]);
}
