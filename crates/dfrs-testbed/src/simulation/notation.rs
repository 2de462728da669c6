//! The words of scenario files.

use std::fmt::Write;
use std::str::FromStr;

use dfrs_core::Span;

use super::scenario::{NodeGroup, SECOND};
use crate::model::acts::Act;
use crate::model::{ImageOutcome, JobSubmission, ModelSettings};
use dfrs_agent::fixtures::job;
use dfrs_agent::slurm::devices::{RequestedDevices, text_of};
use dfrs_agent::slurm::records::ObservedJob;

pub(super) fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.trim()
        .parse()
        .map_err(|_| format!("'{text}' is no such number"))
}

/// Seconds with at most three decimals.
pub(super) fn seconds(text: &str) -> Result<Span, String> {
    let (whole, part) = text.trim().split_once('.').unwrap_or((text.trim(), "0"));
    let thousandths: i64 = number(&format!("{part:0<3}"))?;
    if thousandths >= 1000 {
        return Err(format!("'{text}' has more than three decimals"));
    }
    Ok(Span(number::<i64>(whole)? * SECOND + thousandths * 1000))
}

pub(super) fn decimal(span: Span) -> String {
    let (whole, part) = (span.0 / SECOND, span.0 % SECOND / 1000);
    if part == 0 {
        whole.to_string()
    } else {
        format!("{whole}.{part:03}")
    }
}

/// `key=value` pairs, or bare words, after the first word.
fn options(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let words = text.split_whitespace();
    words.map(|word| word.split_once('=').unwrap_or((word, "")))
}

/// Devices as Slurm's options have them: "gpu:2" or "gpu:a100:1,nic:1".
fn gres(text: &str) -> Result<Vec<RequestedDevices>, String> {
    let one = |part: &str| {
        let (kind, count) = part
            .rsplit_once(':')
            .ok_or_else(|| format!("'{part}' has no number of devices"))?;
        let (kind, count) = (kind.into(), number(count)?);
        Ok(RequestedDevices { kind, count })
    };
    text.split(',').map(one).collect()
}

pub(super) fn nodes(text: &str) -> Result<NodeGroup, String> {
    let (count, rest) = text.split_once(' ').unwrap_or((text, ""));
    let mut nodes = NodeGroup {
        count: number(count)?,
        cpus: 4,
        memory_mib: 1000,
        partition: "a".into(),
        devices: Vec::new(),
    };
    for (key, value) in options(rest) {
        match key {
            "gres" => nodes.devices = gres(value)?,
            "cpus" => nodes.cpus = number(value)?,
            "memory" => nodes.memory_mib = number(value)?,
            "partition" => value.clone_into(&mut nodes.partition),
            _ => return Err(format!("unknown: {key}")),
        }
    }
    Ok(nodes)
}

pub(super) fn swap(text: &str, settings: &mut ModelSettings) -> Result<(), String> {
    let (swap, rest) = text.split_once(' ').unwrap_or((text, ""));
    settings.swap_mib = number(swap)?;
    for (key, value) in options(rest) {
        match key {
            "speed" => settings.swap_mib_per_second = number(value)?,
            "keeps" => settings.keeps_swap = true,
            _ => return Err(format!("unknown: {key}")),
        }
    }
    Ok(())
}

pub(super) fn act(text: &str) -> Result<Act, String> {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    Ok(match word {
        "submit" => Act::Submit(Box::new(submission(rest)?)),
        "hold" => Act::Hold(number(rest)?),
        "release" => Act::Release(number(rest)?),
        "suspend" => Act::Suspend(number(rest)?),
        "resume" => Act::Resume(number(rest)?),
        "requeue" => Act::Requeue(number(rest)?),
        "cancel" => Act::Cancel(number(rest)?),
        "comment" => {
            let (label, comment) = rest.split_once(' ').unwrap_or((rest, ""));
            Act::Comment(number(label)?, comment.to_owned())
        }
        "drain" => Act::Drain(number(rest)?),
        "undrain" => Act::Undrain(number(rest)?),
        "down" => Act::Down(number(rest)?),
        "reserve" => {
            let (node, times) = rest.split_once(' ').unwrap_or((rest, ""));
            let (starts_in, duration) = times.split_once(' ').unwrap_or((times, ""));
            Act::Reserve(number(node)?, number(starts_in)?, number(duration)?)
        }
        "leave" => Act::Leave(number(rest)?),
        "join" => Act::Join(number(rest)?),
        "reconfigure" => Act::Reconfigure,
        "configure" => Act::Configure(rest.replace(';', "\n")),
        "power-off" => Act::PowerOff(number(rest)?),
        "power-on" => Act::PowerOn(number(rest)?),
        "hang" => Act::Hang(number(rest)?),
        "unhang" => Act::Unhang(number(rest)?),
        "slow" => {
            let (node, times) = rest.split_once(' ').unwrap_or((rest, ""));
            Act::Slow(number(node)?, number(times)?)
        }
        "stop-dfrsd" => Act::StopDfrsd(number(rest)?),
        "start-dfrsd" => Act::StartDfrsd(number(rest)?),
        "kill" => Act::Kill(number(rest)?),
        "restart" => Act::Restart(number(rest)?),
        "lose-state" => Act::LoseState(number(rest)?),
        "disk-full" => Act::DiskFull(true),
        "disk-free" => Act::DiskFull(false),
        "clock" => Act::MoveClock(number(rest)?),
        "lose-messages" => Act::LoseMessages(number(rest)?),
        "start-other" => {
            let (node, count) = rest.split_once(' ').unwrap_or((rest, ""));
            Act::StartOther(number(node)?, number(count)?)
        }
        "end-other" => Act::EndOther(number(rest)?),
        "refuse" => Act::Refuse(number(rest)?, false),
        "delay-calls" => Act::Refuse(number(rest)?, true),
        _ => return Err(format!("unknown: {word}")),
    })
}

fn submission(text: &str) -> Result<JobSubmission, String> {
    let (label, rest) = text.split_once(' ').unwrap_or((text, ""));
    let mut job = ObservedJob {
        partition: "a".into(),
        submit_seconds: 0,
        ..job(0, 1)
    };
    let mut made = JobSubmission::new(number(label)?, job.clone(), Span(60 * SECOND));
    for (key, value) in options(rest) {
        match key {
            "tasks" => job.request.tasks = number(value)?,
            "cpus" => job.request.cpus_per_task = number(value)?,
            "memory" => job.request.memory = number(value)?,
            "gres" => job.request.devices = gres(value)?,
            "per-node" => job.request.memory_per_cpu = false,
            "partition" => value.clone_into(&mut job.partition),
            "comment" => value.clone_into(&mut job.comment),
            "priority" => job.priority = number(value)?,
            "min-nodes" => job.request.min_nodes = number(value)?,
            "max-nodes" => job.request.max_nodes = number(value)?,
            "tasks-per-node" => job.request.tasks_per_node = number(value)?,
            "sized-by-nodes" => job.request.sized_by_nodes = true,
            "no-requeue" => job.requeue = false,
            "interactive" => job.batch = false,
            "work" => made.work = seconds(value)?,
            "user" => made.user = number(value)?,
            "limit" => job.limit_minutes = number(value)?,
            "uses" => {
                let percents = value.split(',').map(number);
                made.uses = percents.collect::<Result<Vec<u8>, String>>()?;
            }
            "begin" => made.begin_seconds = number(value)?,
            "owner" => made.owner = true,
            "exclusive" => job.request.exclusive = true,
            "label" => job.request.mcs_label = number(value)?,
            "stubborn" => made.stubborn = true,
            "untrapped" => made.untrapped = true,
            "pinned" => made.pinned = true,
            "carriable" => made.image = ImageOutcome::Complete,
            "image-fails" => made.image = ImageOutcome::Fails,
            "not-restored" => made.image = ImageOutcome::NotRestored,
            "holds" => made.holds = true,
            "steps" => made.step_seconds = number(value)?,
            "ends-when-warned" => made.ends_when_warned = true,
            "array" => made.array = number(value)?,
            _ => return Err(format!("unknown: {key}")),
        }
    }
    made.job = job;
    Ok(made)
}

pub(super) fn print(act: &Act) -> String {
    match act {
        Act::Submit(submission) => print_submission(submission),
        Act::Hold(label) => format!("hold {label}"),
        Act::Release(label) => format!("release {label}"),
        Act::Suspend(label) => format!("suspend {label}"),
        Act::Resume(label) => format!("resume {label}"),
        Act::Requeue(label) => format!("requeue {label}"),
        Act::Cancel(label) => format!("cancel {label}"),
        Act::Comment(label, comment) => format!("comment {label} {comment}"),
        Act::Drain(node) => format!("drain {node}"),
        Act::Undrain(node) => format!("undrain {node}"),
        Act::Down(node) => format!("down {node}"),
        Act::Reserve(node, starts_in, duration) => {
            format!("reserve {node} {starts_in} {duration}")
        }
        Act::Leave(node) => format!("leave {node}"),
        Act::Join(node) => format!("join {node}"),
        Act::Reconfigure => "reconfigure".into(),
        Act::Configure(conf) => format!("configure {}", conf.replace('\n', ";")),
        Act::PowerOff(node) => format!("power-off {node}"),
        Act::PowerOn(node) => format!("power-on {node}"),
        Act::Hang(node) => format!("hang {node}"),
        Act::Unhang(node) => format!("unhang {node}"),
        Act::Slow(node, times) => format!("slow {node} {times}"),
        Act::StopDfrsd(node) => format!("stop-dfrsd {node}"),
        Act::StartDfrsd(node) => format!("start-dfrsd {node}"),
        Act::Kill(away) => format!("kill {away}"),
        Act::Restart(away) => format!("restart {away}"),
        Act::LoseState(away) => format!("lose-state {away}"),
        Act::DiskFull(true) => "disk-full".into(),
        Act::DiskFull(false) => "disk-free".into(),
        Act::MoveClock(by) => format!("clock {by}"),
        Act::LoseMessages(count) => format!("lose-messages {count}"),
        Act::StartOther(node, count) => format!("start-other {node} {count}"),
        Act::EndOther(node) => format!("end-other {node}"),
        Act::Refuse(count, false) => format!("refuse {count}"),
        Act::Refuse(count, true) => format!("delay-calls {count}"),
    }
}

fn print_submission(submission: &JobSubmission) -> String {
    let job = &submission.job;
    let mut text = format!(
        "submit {} tasks={} cpus={} memory={} work={} partition={}",
        submission.label,
        job.request.tasks,
        job.request.cpus_per_task,
        job.request.memory,
        decimal(submission.work),
        job.partition
    );
    let mut add = |wanted: bool, word: String| {
        if wanted {
            let _ = write!(text, " {word}");
        }
    };
    let gres = text_of(&job.request.devices);
    add(!gres.is_empty(), format!("gres={gres}"));
    add(!job.request.memory_per_cpu, "per-node".into());
    add(!job.comment.is_empty(), format!("comment={}", job.comment));
    add(job.priority != 1000, format!("priority={}", job.priority));
    add(
        job.request.min_nodes > 1,
        format!("min-nodes={}", job.request.min_nodes),
    );
    add(
        job.request.max_nodes > 0,
        format!("max-nodes={}", job.request.max_nodes),
    );
    let each = job.request.tasks_per_node;
    add(each > 0, format!("tasks-per-node={each}"));
    add(job.request.sized_by_nodes, "sized-by-nodes".into());
    add(!job.requeue, "no-requeue".into());
    add(!job.batch, "interactive".into());
    add(submission.user != 1000, format!("user={}", submission.user));
    let limit = job.limit_minutes;
    add(limit > 0, format!("limit={limit}"));
    let uses: Vec<String> = submission.uses.iter().map(u8::to_string).collect();
    add(!uses.is_empty(), format!("uses={}", uses.join(",")));
    add(
        submission.begin_seconds > 0,
        format!("begin={}", submission.begin_seconds),
    );
    add(submission.owner, "owner".into());
    add(job.request.exclusive, "exclusive".into());
    add(
        job.request.mcs_label > 0,
        format!("label={}", job.request.mcs_label),
    );
    add(submission.stubborn, "stubborn".into());
    add(submission.untrapped, "untrapped".into());
    add(submission.pinned, "pinned".into());
    let outcome = submission.image;
    add(outcome == ImageOutcome::Complete, "carriable".into());
    add(outcome == ImageOutcome::Fails, "image-fails".into());
    let not_restored = outcome == ImageOutcome::NotRestored;
    add(not_restored, "not-restored".into());
    add(submission.holds, "holds".into());
    let steps = submission.step_seconds;
    add(steps > 0, format!("steps={steps}"));
    let ends = submission.ends_when_warned;
    add(ends, "ends-when-warned".into());
    add(submission.array > 1, format!("array={}", submission.array));
    text
}
