//! The status as text.

use std::fmt::Write;

use dfrs_proto::status::{
    ActionCounts, BreakerState, DeviceCounts, Distribution, Status, WaitsFor,
};

/// All of it. `age`: seconds since it was written.
pub(super) fn text(status: &Status, age: f64) -> String {
    let mut out = String::new();
    for (name, value) in facts(status, age) {
        let _ = writeln!(out, "{name:<10} {value}"); // a String takes all
    }
    let _ = writeln!(
        out,
        "\n{:<28} {:>8} {:>9} {:>9} {:>9} {:>9}",
        "of the last minute", "number", "p50", "p99", "longest", "ever"
    );
    for (name, spread) in spreads(status) {
        let lately = &spread.lately;
        let _ = writeln!(
            out,
            "{name:<28} {:>8} {:>9} {:>9} {:>9} {:>9}",
            lately.count,
            microseconds(lately.p50),
            microseconds(lately.p99),
            microseconds(lately.max),
            microseconds(spread.max)
        );
    }
    out
}

fn facts(status: &Status, age: f64) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("mode", status.mode.clone()),
        ("policy", status.policy.clone()),
        ("partitions", status.partitions.join(", ")),
        ("Policy=DEMT", status.moldable_partitions.join(", ")),
        ("state", state(status)),
        ("written", format!("{} ago", seconds(age))),
        (
            "started",
            format!("{} before that", seconds(status.written - status.started)),
        ),
        ("jobs", jobs(status)),
        ("waiting", causes(&status.jobs.waits_for)),
        ("devices", devices(status)),
        ("yields", yields(status)),
        ("done", done(status)),
        ("nodes", nodes(status)),
        ("messages", messages(status)),
        ("passes", passes(status)),
        ("disk", disk(status)),
    ];
    facts.retain(|(_, value)| !value.is_empty());
    facts
}

fn state(status: &Status) -> String {
    let breaker = &status.breaker;
    let state = match breaker.state {
        BreakerState::Off => "nothing is scheduled by DFRS",
        BreakerState::Closed => "works",
        BreakerState::StandingDown => "breaker opening: paused jobs come back",
        BreakerState::Open => "breaker open: backfill schedules all partitions",
    };
    let why = breaker.why.as_deref().map(|why| match breaker.state {
        BreakerState::Closed => format!("; breaker was open before: {why}"),
        _ => format!("; {why}"),
    });
    format!("{state}{}", why.unwrap_or_default())
}

fn jobs(status: &Status) -> String {
    let jobs = &status.jobs;
    format!(
        "{} pending, {} running, {} parked, {} paused after a checkpoint, {} changing state, \
         {} suspended by an operator",
        jobs.waiting, jobs.running, jobs.parked, jobs.paused, jobs.under_way, jobs.suspended
    )
}

/// The causes why jobs wait; empty if no job waits.
fn causes(waits_for: &WaitsFor) -> String {
    let causes = [
        (waits_for.memory, "for memory"),
        (waits_for.devices, "for devices"),
        (waits_for.cpu, "for CPU"),
        (waits_for.nodes, "for nodes that are down or draining"),
        (waits_for.decision, "for the next decision"),
        (waits_for.nothing, "for more than their nodes have (squeue)"),
        (
            waits_for.slurm,
            "for a dependency, limit, hold or their first decision (squeue)",
        ),
    ];
    let some = causes.into_iter().filter(|(jobs, _)| *jobs > 0);
    let some: Vec<String> = some.map(|(jobs, what)| format!("{jobs} {what}")).collect();
    some.join(", ")
}

/// Devices by kind, and the jobs that ask for some; empty if there are neither.
fn devices(status: &Status) -> String {
    let kinds = status.devices.iter();
    let mut parts: Vec<String> = kinds
        .map(|(kind, count)| {
            let DeviceCounts { all, held, free } = count;
            format!("{kind}: {held} of {all} held, {free} free")
        })
        .collect();
    let jobs = &status.jobs.with_devices;
    if jobs.all > 0 {
        let causes = match causes(&jobs.waits_for) {
            none if none.is_empty() => "none waits".to_owned(),
            causes => format!("waiting: {causes}"),
        };
        parts.push(format!("jobs that ask for some: {}, {causes}", jobs.all));
    }
    parts.join("; ")
}

/// Nothing of a plugin that does not say it, and of no jobs.
fn yields(status: &Status) -> String {
    let metrics = &status.job_metrics;
    if metrics.sharing == 0 {
        return String::new();
    }
    let lowered = match metrics.lowered {
        0 => String::new(),
        1 => "; 1 job counted with less CPU than requested (Needs=measured)".to_owned(),
        number => format!("; {number} jobs counted with less CPU than requested (Needs=measured)"),
    };
    format!(
        "{:.2} at least, {:.2} in the mean; stretch so far {:.2} in the mean, {:.2} at most{lowered}",
        metrics.lowest_yield, metrics.mean_yield, metrics.mean_stretch, metrics.largest_stretch
    )
}

fn done(status: &Status) -> String {
    let done = &status.done;
    if *done == ActionCounts::default() {
        return String::new();
    }
    format!(
        "{} jobs submitted, {} ended; {} starts, {} suspends, {} resumes, {} warnings, {} requeues",
        done.came,
        done.ended,
        done.starts,
        done.suspends,
        done.resumes,
        done.warnings,
        done.requeues
    )
}

fn nodes(status: &Status) -> String {
    let nodes = &status.nodes;
    let mut text = format!(
        "{}, of which {} take work and {} can park jobs",
        nodes.all, nodes.up, nodes.can_park
    );
    if nodes.silent > 0 {
        const MAX_NAMES: usize = 5;
        let shown = nodes.silent_names.len().min(MAX_NAMES);
        let names = nodes.silent_names[..shown].join(", ");
        let more = if nodes.silent_names.len() > MAX_NAMES {
            ", ..."
        } else {
            ""
        };
        let _ = write!(
            text,
            "; dfrsd not responding on {} ({names}{more})",
            nodes.silent
        );
    }
    text
}

fn messages(status: &Status) -> String {
    let messages = &status.messages;
    format!(
        "{} nodes wait for orders, {} messages under way, of which {} late; {} queries",
        messages.due, messages.under_way, messages.late, messages.queries
    )
}

fn passes(status: &Status) -> String {
    let passes = &status.passes;
    format!(
        "{}, of which {} skipped; {} plans dropped",
        passes.wall.count, passes.skipped, passes.plans_dropped
    )
}

fn disk(status: &Status) -> String {
    let behind = |what: &str, number: u64, age: u64, fails: bool| {
        let trouble = if fails { ", writing fails" } else { "" };
        match number {
            0 => format!("{what} is up to date{trouble}"),
            _ => format!("{what} is {} behind{trouble}", microseconds(age)),
        }
    };
    let file = &status.state_file;
    let mut text = behind("state file", file.changes, file.age, file.fails);
    if let Some(journal) = &status.journal {
        let lines = behind("journal", journal.lines, journal.age, journal.fails);
        let _ = write!(text, "; {lines}, {} lines lost", journal.lost);
    }
    text
}

fn spreads(status: &Status) -> Vec<(String, &Distribution)> {
    let (passes, locks) = (&status.passes, &status.locks);
    // In the order of a pass, whatever a later version adds.
    let order = ["look", "query", "decide", "act", "share", "publish"];
    let place = |name: &str| {
        order
            .iter()
            .position(|known| *known == name)
            .unwrap_or(order.len())
    };
    let mut parts: Vec<(&String, &Distribution)> = passes.parts.iter().collect();
    parts.sort_by_key(|(name, _)| place(name));
    let mut all = vec![
        ("pass".to_owned(), &passes.wall),
        ("pass, CPU".to_owned(), &passes.cpu),
    ];
    all.extend(
        parts
            .into_iter()
            .map(|(name, part)| (format!("  {name}"), part)),
    );
    all.extend([
        ("lock to read, held".to_owned(), &locks.read_holds),
        ("lock to read, waited for".to_owned(), &locks.read_waits),
        ("lock to write, held".to_owned(), &locks.write_holds),
        ("lock to write, waited for".to_owned(), &locks.write_waits),
    ]);
    all
}

/// The time with two or three significant digits.
// Precise enough: shown with three digits.
fn microseconds(length: u64) -> String {
    match length {
        0..1_000 => format!("{length} us"),
        1_000..1_000_000 => format!("{:.1} ms", length as f64 / 1e3),
        _ => seconds(length as f64 / 1e6),
    }
}

/// A time of whole seconds and more.
pub(crate) fn seconds(length: f64) -> String {
    let length = length.max(0.0);
    if length < 120.0 {
        format!("{length:.1} s")
    } else if length < 7200.0 {
        format!("{:.0} min", length / 60.0)
    } else {
        format!("{:.1} h", length / 3600.0)
    }
}
