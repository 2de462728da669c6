//! For people.

use std::collections::BTreeMap;
use std::fmt::Write;

use dfrs_core::{Action, Cluster, Job, JobId, Mapping, NodeState, PlannedAction, Yield};
use dfrs_scenario::{Labels, Scenario};

use super::Case;

/// All scenarios, and how many are not as expected if there are several.
pub fn show(cases: &[Case]) -> String {
    let texts: Vec<String> = cases.iter().map(case).collect();
    let mut text = texts.join("\n");
    if cases.len() > 1 {
        let wrong = cases.iter().filter(|case| !case.is_right()).count();
        let _ = writeln!(text, "\n{} scenarios, {wrong} not right", cases.len()); // a String takes all
    }
    text
}

fn case(case: &Case) -> String {
    let labels = Labels::of(&case.scenario.cluster);
    let mut text = head(&case.scenario);
    for part in [
        steps(case, &labels),
        yields(case, &labels),
        waiting(case),
        violations(case),
        verdict(case),
    ] {
        if !part.is_empty() {
            text = text + "\n" + &part;
        }
    }
    text
}

/// Title, notes, and what is decided about.
fn head(scenario: &Scenario) -> String {
    let mut text = format!("{}\n", scenario.title);
    for note in &scenario.notes {
        text = text + "  " + note + "\n";
    }
    let Cluster { nodes, jobs } = &scenario.cluster;
    let up = nodes.iter().filter(|node| node.state == NodeState::Up);
    let up = match up.count() {
        up if up == nodes.len() => String::new(),
        up => format!(" ({up} up)"),
    };
    let running = jobs.iter().filter(|job| job.is_running()).count();
    let _ = writeln!(
        text,
        "{} at {}, {}: {} nodes{up}, {running} jobs run, {} wait",
        scenario.policy,
        scenario.now,
        happened(scenario),
        nodes.len(),
        jobs.len() - running,
    );
    text
}

/// What happened, in words.
fn happened(scenario: &Scenario) -> String {
    let events = &scenario.events;
    let submitted = match &events.submitted[..] {
        [] => None,
        [job] => Some(format!("job {job} submitted")),
        jobs => Some(format!("{} jobs submitted", jobs.len())),
    };
    let flags = [
        (events.ended, "jobs ended"),
        (events.nodes_changed, "nodes changed"),
        (events.period, "the period is over"),
    ];
    let flags = flags.iter().filter(|(happened, _)| *happened);
    let all = flags.map(|(_, what)| (*what).to_owned()).chain(submitted);
    let all: Vec<String> = all.collect();
    match all.is_empty() {
        true => "nothing happened".into(),
        false => all.join(", "),
    }
}

/// What is done, in order.
fn steps(case: &Case, labels: &Labels) -> String {
    let actions = case.decided.plan.actions.iter().enumerate();
    let steps = actions.filter(|(_, planned)| share_of(planned).is_none());
    let rows: Vec<Vec<String>> = steps
        .map(|(index, PlannedAction { action, reason })| {
            let nodes = action.mapping().map_or_else(String::new, |mapping| {
                format!("on {}", labels.mapping(mapping))
            });
            vec![
                index.to_string(),
                action.verb().into(),
                format!("job {}", action.job()),
                nodes,
                reason.to_string(),
            ]
        })
        .collect();
    match rows.is_empty() {
        true => "No job starts, stops or moves.\n".into(),
        false => titled("Plan:", columns(&rows)),
    }
}

fn share_of(planned: &PlannedAction) -> Option<(JobId, Yield)> {
    match planned.action {
        Action::SetYield(job, share) => Some((job, share)),
        _ => None,
    }
}

/// What running jobs get.
fn yields(case: &Case, labels: &Labels) -> String {
    let shares = case.decided.plan.actions.iter().filter_map(share_of);
    let placed = placed(case);
    let rows: Vec<Vec<String>> = shares
        .map(|(id, share)| {
            let job = case.scenario.cluster.job(id);
            let stays = || job.and_then(Job::running_on);
            let nodes = placed.get(&id).copied().or_else(stays);
            let nodes = nodes.map(|mapping| format!("on {}", labels.mapping(mapping)));
            vec![
                format!("job {id}"),
                share.to_string(),
                job.map_or_else(String::new, |job| cpu(job, share)),
                nodes.unwrap_or_default(),
            ]
        })
        .collect();
    titled("Yields:", columns(&rows))
}

/// What a task gets of its need.
fn cpu(job: &Job, share: Yield) -> String {
    format!("{} of {} a task", share.of(job.cpu).cores(), job.cpu)
}

/// Where the plan puts jobs; what it names last counts.
fn placed(case: &Case) -> BTreeMap<JobId, &Mapping> {
    let actions = case.decided.plan.actions.iter();
    let placed = actions.filter_map(|planned| {
        let mapping = planned.action.mapping()?;
        Some((planned.action.job(), mapping))
    });
    placed.collect()
}

fn waiting(case: &Case) -> String {
    let blocked = case.decided.blocked.iter();
    let rows: Vec<Vec<String>> = blocked
        .map(|(job, why)| vec![format!("job {job}"), why.to_string()])
        .collect();
    titled("Waiting:", columns(&rows))
}

fn violations(case: &Case) -> String {
    let lines = case.decided.violations.iter();
    let lines = lines.map(|violation| format!("  {violation}\n"));
    titled("Broken rules:", lines.collect())
}

/// Whether it is as expected.
fn verdict(case: &Case) -> String {
    match &case.scenario.expected {
        None => String::new(),
        Some(_) if case.difference.is_empty() => "As expected.\n".into(),
        Some(_) => {
            let lines = case.difference.iter().map(|line| format!("  {line}\n"));
            titled("Not as expected (-), but decided (+):", lines.collect())
        }
    }
}

/// These lines below their title; nothing if there are none.
fn titled(title: &str, lines: String) -> String {
    match lines.is_empty() {
        true => lines,
        false => format!("{title}\n{lines}"),
    }
}

/// Rows with their fields one below the other.
fn columns(rows: &[Vec<String>]) -> String {
    let fields = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let fields = rows.iter().filter_map(|row| row.get(column));
        fields.map(|field| field.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..fields).map(width).collect();
    let line = |row: &Vec<String>| {
        let fields = row.iter().zip(&widths).filter(|(_, width)| **width > 0);
        let fields = fields.map(|(field, width)| format!("{field:<width$}"));
        let line = fields.collect::<Vec<_>>().join("  ");
        format!("  {}\n", line.trim_end())
    };
    rows.iter().map(line).collect()
}
