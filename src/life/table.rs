//! Prints what follows from each event in each state, for `transitions.md` beside it: a change of what follows shows
//! there as a difference.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use super::*;

const BEGIN: &str =
    "<!-- Printed by a test of sched_dfrs, which DFRS_REWRITE=1 has rewrite it. -->\n";
const END: &str = "<!-- The end of what is printed. -->\n";
const DOCUMENT: &str = "src/life/transitions.md";

const NOW: Time = Time::from_seconds(1_000_000);
const SOON: Span = Span(MINUTE);

/// All states, as far as they differ in what follows.
fn lives() -> Vec<PluginLife> {
    let set_up = |gives_back, starts| {
        PluginState::SettingUp(SetUp {
            gives_back,
            problem: None,
            starts,
        })
    };
    let roles = [
        AgentRole::Schedule,
        AgentRole::Watch,
        AgentRole::GiveBack(None),
        AgentRole::GiveBack(Some(Mode::Shadow)),
    ];
    let restoration = |handover| Restoration::new(handover, NOW);
    let mut states = vec![
        PluginState::Off,
        set_up(true, None),
        set_up(false, None),
        PluginState::Watching,
        PluginState::Scheduling,
        PluginState::GivingBack(restoration(Handover::WhenBack)),
        PluginState::GivingBack(restoration(Handover::Done)),
        PluginState::GivenBack,
    ];
    states.splice(3..3, roles.map(|role| set_up(true, Some(role))));
    for reset_at in [None, Some(NOW)] {
        for handover in [Handover::By(NOW + SOON), Handover::Done] {
            states.push(PluginState::StandingDown(restoration(handover), reset_at));
        }
        states.push(PluginState::Open(reset_at));
    }
    states.push(PluginState::Stopped);
    let lives = states.into_iter().flat_map(|state| {
        let life = PluginLife {
            state,
            ..PluginLife::default()
        };
        let mut after_reset = life.clone();
        after_reset.history.reset = Some(NOW);
        let is_active = life.is_active();
        [Some(life), is_active.then_some(after_reset)]
    });
    lives.flatten().collect()
}

/// The name of a state.
fn name(life: &PluginLife) -> String {
    let handover = |restoration: &Restoration| match restoration.is_handed_over() {
        true => ", handed over",
        false => "",
    };
    let reset = |reset_at: &Option<Time>| match reset_at {
        Some(_) => ", to be reset",
        None => "",
    };
    let name = match &life.state {
        PluginState::Off => "off".to_owned(),
        PluginState::SettingUp(SetUp {
            starts: None,
            gives_back,
            ..
        }) => match gives_back {
            true => "looking".to_owned(),
            false => "looking, given back".to_owned(),
        },
        PluginState::SettingUp(SetUp {
            starts: Some(role), ..
        }) => {
            format!("starting to {}", purpose(*role))
        }
        PluginState::Watching => "watching".to_owned(),
        PluginState::Scheduling => "scheduling".to_owned(),
        PluginState::GivingBack(restoration) => format!("giving back{}", handover(restoration)),
        PluginState::GivenBack => "given back".to_owned(),
        PluginState::StandingDown(restoration, reset_at) => {
            format!("standing down{}{}", handover(restoration), reset(reset_at))
        }
        PluginState::Open(reset_at) => format!("open{}", reset(reset_at)),
        PluginState::Stopped => "stopped".to_owned(),
    };
    match life.is_active() && life.history.reset.is_some() {
        true => format!("{name}, on probation"),
        false => name,
    }
}

fn purpose(role: AgentRole) -> &'static str {
    match role {
        AgentRole::Schedule => "schedule",
        AgentRole::Watch => "watch",
        AgentRole::GiveBack(Some(Mode::Shadow)) => "give back, then watch",
        AgentRole::GiveBack(_) => "give back",
    }
}

/// All events, as far as they differ in what follows, and when they happen.
fn events() -> Vec<(&'static str, PluginEvent, Time)> {
    let failed = |cause, parked| PluginEvent::PassFailed("…".to_owned(), cause, parked);
    let misfit = |has_left_out| PluginEvent::LayoutProblem {
        problem: "…".to_owned(),
        has_left_out,
    };
    let back = Attempt {
        parked: Ok(0),
        has_panicked: false,
        is_thaw_confirmed: true,
        depending: 0,
        has_left_out: false,
    };
    let unconfirmed = Attempt {
        is_thaw_confirmed: false,
        ..back.clone()
    };
    let left_out = Attempt {
        has_left_out: true,
        ..back.clone()
    };
    let coming = Attempt {
        parked: Ok(2),
        depending: 2,
        ..unconfirmed.clone()
    };
    let failing = Attempt {
        parked: Err("…".to_owned()),
        ..coming.clone()
    };
    let panicked = Attempt {
        has_panicked: true,
        ..failing.clone()
    };
    let attempted = PluginEvent::Attempted;
    let configured = PluginEvent::Configured;
    let problem = || "…".to_owned();
    [
        ("reconfigured", PluginEvent::Reconfigured { is_same: false }),
        (
            "reconfigured, all is as it was",
            PluginEvent::Reconfigured { is_same: true },
        ),
        ("partitions changed", PluginEvent::PartitionsChanged),
        ("dfrs.conf says off", configured(Ok(Mode::Off))),
        ("dfrs.conf says shadow", configured(Ok(Mode::Shadow))),
        ("dfrs.conf says full", configured(Ok(Mode::Full))),
        (
            "dfrs.conf or slurm.conf has a problem",
            configured(Err(problem())),
        ),
        ("agent started", PluginEvent::Started),
        (
            "there is nothing to give back",
            PluginEvent::NothingToGiveBack,
        ),
        ("agent does not start", PluginEvent::NotStarted(problem())),
        ("pass skipped", PluginEvent::PassSkipped(problem())),
        (
            "pass panicked, or had no valid plan",
            failed(Cause::Defect, 0),
        ),
        (
            "pass panicked, or had no valid plan; 2 jobs parked",
            failed(Cause::Defect, 2),
        ),
        ("pass took too long", failed(Cause::Machine, 0)),
        (
            "pass took too long; 2 jobs parked",
            failed(Cause::Machine, 2),
        ),
        ("records do not fit", misfit(false)),
        ("records do not fit; jobs left out", misfit(true)),
        ("all is back, nodes confirm it", attempted(back)),
        (
            "all is back, nodes do not confirm it yet",
            attempted(unconfirmed),
        ),
        ("all is back but jobs left out", attempted(left_out)),
        ("2 jobs are parked", attempted(coming.clone())),
        ("attempt failed", attempted(failing)),
        ("attempt panicked", attempted(panicked)),
        ("given back", PluginEvent::GivenBack),
        ("time of the reset", PluginEvent::ResetDue),
        ("slurmctld ends", PluginEvent::Stop),
    ]
    .into_iter()
    .map(|(words, event)| (words, event, NOW))
    .chain([(
        "2 jobs are parked, for too long",
        attempted(coming),
        NOW + SOON,
    )])
    .collect()
}

fn words(action: &PluginAction) -> String {
    match action {
        PluginAction::Log(_, text) => format!("logs \"{text}\""),
        PluginAction::ReadConfig => "reads dfrs.conf".to_owned(),
        PluginAction::KeepConfig => "keeps dfrs.conf".to_owned(),
        PluginAction::Start(role) => format!("starts an agent to {}", purpose(*role)),
        PluginAction::HidePartitions => "backfill gets all other partitions".to_owned(),
        PluginAction::Report(_) => "writes the status file".to_owned(),
        PluginAction::End => "ends the agent".to_owned(),
        PluginAction::Refresh => "looks again".to_owned(),
        PluginAction::ClearYields => "clears yields".to_owned(),
        PluginAction::HandOver => "backfill gets all partitions".to_owned(),
        PluginAction::StopOrders => "sends no more orders".to_owned(),
    }
}

/// What becomes of it, and what is done.
fn outcome(life: &PluginLife, event: PluginEvent, now: Time) -> Option<(String, String)> {
    let (next, actions) = life.after(event, now);
    let is_same = name(life) == name(&next) && !matches!(next.state, PluginState::SettingUp(_));
    let becomes = match is_same {
        true => "stays".to_owned(),
        false => name(&next),
    };
    let mut and: Vec<String> = actions.iter().map(words).collect();
    let after = next.attempt_at().filter(|_| next != *life);
    and.extend(after.map(|at| format!("attempt in {} s", (at - now).0 / 1_000_000)));
    (next != *life || !and.is_empty()).then(|| (becomes, and.join("; ")))
}

/// A row for each event and outcome, with the states in which it is so.
fn table() -> String {
    let mut text = String::from("| What happens | While | Becomes | And |\n|---|---|---|---|\n");
    let lives = lives();
    for (words, event, now) in events() {
        let mut rows: Vec<((String, String), Vec<String>)> = Vec::new();
        for life in &lives {
            let Some(outcome) = outcome(life, event.clone(), now) else {
                continue;
            };
            match rows.iter_mut().find(|(known, _)| *known == outcome) {
                Some((_, names)) => names.push(name(life)),
                None => rows.push((outcome, vec![name(life)])),
            }
        }
        let is_usual = |names: &[String]| names.len() > lives.len() / 2;
        let has_others = rows.len() > 1;
        for ((becomes, and), names) in rows {
            let names = match (is_usual(&names), has_others) {
                (true, true) => "else".to_owned(),
                (true, false) => "any".to_owned(),
                (false, _) => names.join("; "),
            };
            writeln!(text, "| {words} | {names} | {becomes} | {and} |")
                .expect("a string takes all");
        }
    }
    text
}

#[test]
fn document_shows_the_current_transition_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(DOCUMENT);
    let document = fs::read_to_string(&path).expect("the document is there");
    let (before, rest) = document.split_once(BEGIN).expect("has the table");
    let (shown, after) = rest.split_once(END).expect("has the table's end");
    let expected = format!("\n{}\n", table());
    if std::env::var_os("DFRS_REWRITE").is_some_and(|value| value == "1") {
        let text = [before, BEGIN, &expected, END, after].concat();
        fs::write(&path, text).expect("the document is written");
        return;
    }
    assert!(
        shown == expected,
        "transitions.md shows another table (DFRS_REWRITE=1 rewrites it):\n{expected}"
    );
}
