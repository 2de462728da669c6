use std::fmt::Write;

use super::*;
use dfrs_journal::JournalReader;

pub const PLATFORM: &str = r#"{"t":0,"event":"platform","version":1,"policy":"P","nodes":[{"name":"n0","cpu":2,"mem":10},{"name":"n1","cpu":2,"mem":10}]}
"#;

fn follow(model: &mut TopModel, text: &str) {
    for event in JournalReader::new(text.as_bytes()) {
        model.follow(&event.expect("an event").1);
    }
}

fn model(text: &str) -> TopModel {
    let mut model = TopModel::default();
    follow(&mut model, &(PLATFORM.to_owned() + text));
    model
}

fn at(seconds: i64) -> Time {
    Time::from_seconds(seconds)
}

const LIFE: &str = r#"{"t":0,"event":"submit","job":"7","tasks":2,"cpu":1,"mem":3,"mem_per_node":1,"runtime":100}
{"t":10,"event":"start","job":"7","nodes":[0,1],"reason":"fits\nnow"}
{"t":10,"event":"yield","job":"7","value":0.5}
{"t":50,"event":"pause","job":"7","reason":"makes room"}
{"t":60,"event":"resume","job":"7","nodes":[0,0],"stall":10}
{"t":60,"event":"yield","job":"7","value":1}
"#;

#[test]
fn job_is_tracked_from_submit_to_finish() {
    let mut model = model(LIFE);
    let job = model.jobs().next().expect("is there");
    assert_eq!(job.places, [(0, 2)]);
    assert_eq!(job.phase_at(at(65)), "stalled");
    assert_eq!(job.phase_at(at(70)), "running");
    assert_eq!(job.virtual_time(at(70)), Span::from_seconds(20));
    assert_eq!(job.virtual_time(at(80)), Span::from_seconds(30));
    assert_eq!(job.part_done(at(80)), Some(0.3));
    assert_eq!(job.stretch(at(90)), Some(90.0 / 40.0));
    assert_eq!(
        (job.pauses, job.migrations, job.last.what),
        (1, 0, "resume")
    );
    let usage = TopUsage {
        allocated: 2.0,
        needed: 2.0,
        memory: 7.0,
    };
    assert_eq!(model.usage(&model.nodes[0]), usage);
    assert_eq!(model.usage(&model.nodes[1]), TopUsage::default());
    assert_eq!(model.usage_of_all(), usage);
    follow(
        &mut model,
        "{\"t\":150,\"event\":\"finish\",\"job\":\"7\"}\n",
    );
    assert_eq!(model.usage_of_all(), TopUsage::default());
    assert!(model.nodes[0].jobs.is_empty());
    let totals = Totals {
        ended: 1,
        pauses: 1,
        completed: 1,
        stretches: 1.5,
        ..Totals::default()
    };
    assert_eq!(model.totals, totals);
    let job = model.ended().next().expect("is kept");
    assert_eq!(
        (job.phase_at(at(500)), job.flow_time(at(500))),
        ("done", Span::from_seconds(150))
    );
}

#[test]
fn reasons_stay_on_one_line() {
    let model = model(&LIFE[..LIFE.find("{\"t\":50").expect("is there")]);
    let job = model.jobs().next().expect("is there");
    assert_eq!(job.last.why, "fits now");
    assert_eq!(printable(&"x".repeat(1000)).len(), 300);
}

#[test]
fn only_the_last_ended_jobs_are_kept() {
    let mut text = String::new();
    for job in 0..1000 {
        let _ = write!(
            text,
            "{{\"t\":{job},\"event\":\"submit\",\"job\":\"{job}\",\"tasks\":1,\"cpu\":1,\"mem\":1}}\n\
             {{\"t\":{job},\"event\":\"finish\",\"job\":\"{job}\",\"outcome\":\"cancelled\"}}\n"
        );
    }
    let model = model(&text);
    assert_eq!(
        (model.ended().count(), model.totals.ended),
        (MAX_ENDED, 1000)
    );
    assert_eq!(model.ended().next().map(|job| job.id.as_str()), Some("999"));
    assert!(model.jobs.is_empty() && model.keys.is_empty());
    assert_eq!(model.totals.completed, 0);
}

#[test]
fn repeated_platform_keeps_jobs_unless_file_restarted() {
    let mut model = model(LIFE);
    follow(&mut model, PLATFORM);
    assert_eq!(model.totals.running, 1);
    model.mark_restart();
    follow(
        &mut model,
        "{\"t\":80,\"event\":\"yield\",\"job\":\"7\",\"value\":0.25}\n",
    );
    assert_eq!(model.usage_of_all().allocated, 0.5);
    model.mark_restart();
    follow(&mut model, PLATFORM);
    assert_eq!((model.totals, model.jobs.len()), (Totals::default(), 0));
}

#[test]
fn unknown_jobs_and_nodes_are_counted() {
    let model = model(
        r#"{"t":5,"event":"start","job":"9","nodes":[0]}
{"t":5,"event":"submit","job":"8","tasks":1,"cpu":1e308,"mem":1}
{"t":4,"event":"start","job":"8","nodes":[77,4294967295]}
{"t":5,"event":"yield","job":"8","value":-3}
{"t":5,"event":"submit","job":"8","tasks":0,"cpu":1,"mem":1}
{"t":5,"event":"finish","job":"6"}
{"t":5,"event":"something"}
"#,
    );
    assert_eq!(
        (
            model.totals.unexpected_events,
            model.totals.waiting,
            model.totals.running
        ),
        (5, 1, 0)
    );
    assert_eq!(model.last, Some(at(5)));
}

#[test]
fn devices_held_are_at_the_bound_when_their_sum_is_too_large() {
    let max = u64::MAX;
    let submit = |job: u32| {
        format!(
            "{{\"t\":1,\"event\":\"submit\",\"job\":\"{job}\",\"tasks\":1,\"cpu\":1,\"mem\":1,\"devices\":{{\"gpu\":{max}}}}}\n\
             {{\"t\":1,\"event\":\"start\",\"job\":\"{job}\",\"nodes\":[0]}}\n"
        )
    };
    let platform = PLATFORM.replacen("\"mem\":10", "\"mem\":10,\"devices\":{\"gpu\":2}", 1);
    let mut model = TopModel::default();
    follow(&mut model, &(platform + &submit(1) + &submit(2)));
    let devices = TopDevices { held: max, all: 2 };
    assert_eq!(model.devices_of_all(), [("gpu", devices)].into());
}
