//! The lines at the top: where it comes from, when it is, bars of the whole cluster, sums.

use super::Banner;
use super::canvas::{Canvas, TextStyle};
use crate::top::model::{TopDevices, TopModel, TopPhase, printable};
use crate::top::words::{instant, quantity};

/// Draws them; how many lines they are.
pub fn draw(canvas: &mut Canvas, model: &TopModel, banner: &Banner) -> u16 {
    let (width, height) = canvas.size();
    title(canvas, width, banner);
    if height < 6 {
        return 1;
    }
    let wide = width >= 72;
    bars(canvas, model, width);
    let mut y = 2;
    let mut line = |canvas: &mut Canvas, words: &[String]| {
        canvas.text(0, y, width, &joined(words, width), TextStyle::Plain);
        y += 1;
    };
    line(canvas, &counts(model, wide));
    if height >= 14 {
        line(canvas, &shares(model, banner, wide));
    }
    if height >= 20 {
        let policy = (!model.policy.is_empty()).then(|| format!("Policy {}", model.policy));
        line(canvas, policy.as_slice());
    }
    if let (true, Some(status)) = (height >= 14, &banner.status) {
        line(canvas, std::slice::from_ref(status));
    }
    y
}

fn title(canvas: &mut Canvas, width: u16, banner: &Banner) {
    let mut name = match width >= 72 {
        true => format!("dfrs top  {}", banner.source),
        false => banner.source.clone(),
    };
    let mut when = instant(banner.now);
    if !banner.state.is_empty() {
        when = format!("{}  {when}", banner.state);
    }
    let room = usize::from(width);
    let kept = room.saturating_sub(when.chars().count() + 2);
    if name.chars().count() > kept {
        name = name.chars().take(kept).collect();
    }
    canvas.text(0, 0, width, &name, TextStyle::Strong);
    let length = u16::try_from(when.chars().count()).unwrap_or(width);
    let x = width.saturating_sub(length);
    canvas.text(x, 0, length, &when, TextStyle::Strong);
}

/// CPU and memory of all nodes.
fn bars(canvas: &mut Canvas, model: &TopModel, width: u16) {
    let usage = model.usage_of_all();
    let cpu: f64 = model.nodes.iter().map(|node| node.cpu).sum();
    let memory: f64 = model.nodes.iter().map(|node| node.memory).sum();
    let half = width / 2;
    let words = match width >= 72 {
        true => format!(
            "{} of {}, needed {}",
            quantity(usage.allocated),
            quantity(cpu),
            quantity(usage.needed)
        ),
        false => format!("{}/{}", quantity(usage.allocated), quantity(usage.needed)),
    };
    let parts = (usage.allocated / cpu, usage.needed / cpu);
    canvas.put(0, 1, "CPU", TextStyle::Strong);
    canvas.bar(3, 1, half.saturating_sub(4), parts, &words);
    let words = match width >= 72 {
        true => format!("{} of {}", quantity(usage.memory), quantity(memory)),
        false => quantity(usage.memory),
    };
    let part = usage.memory / memory;
    canvas.put(half, 1, "Mem", TextStyle::Strong);
    canvas.bar(
        half + 3,
        1,
        (width - half).saturating_sub(3),
        (part, part),
        &words,
    );
}

fn counts(model: &TopModel, wide: bool) -> Vec<String> {
    let totals = &model.totals;
    let count = |number: u64, long: &str, short: &str| {
        format!("{number} {}", if wide { long } else { short })
    };
    let here = |number: usize| number as u64;
    let mut words = vec![
        count(here(totals.running), "running", "run"),
        count(here(totals.paused), "paused", "paused"),
        count(here(totals.waiting), "waiting", "wait"),
        count(totals.ended, "ended", "ended"),
        count(totals.pauses, "pauses", "pauses"),
        count(totals.migrations, "migrations", "migrations"),
    ];
    let devices = model.devices_of_all().into_iter();
    let devices =
        devices.map(|(name, TopDevices { held, all })| format!("{} {held}/{all}", printable(name)));
    // After those of the system, before what happened.
    words.splice(3..3, devices);
    words
}

/// Yields of what runs, and stretches of the jobs in the system and of those that completed.
// Precise enough: numbers of jobs.
fn shares(model: &TopModel, banner: &Banner, wide: bool) -> Vec<String> {
    let running = model.jobs().filter(|job| job.phase == TopPhase::Running);
    let (least, sum, count) = running
        .fold((f64::INFINITY, 0.0, 0u64), |(least, sum, count), job| {
            (job.share.min(least), sum + job.share, count + 1)
        });
    let yields = match count {
        0 => "Yield -".to_owned(),
        _ => format!("Yield min {least:.2} mean {:.2}", sum / count as f64),
    };
    let now = model
        .jobs()
        .filter_map(|job| job.bounded_stretch(banner.now));
    let (sum, count) = now.fold((0.0, 0u64), |(sum, count), stretch| {
        (sum + stretch, count + 1)
    });
    let mean = |sum: f64, count: u64| match count {
        0 => "-".to_owned(),
        _ => format!("{:.2}", sum / count as f64),
    };
    let totals = &model.totals;
    let (now, before) = (mean(sum, count), mean(totals.stretches, totals.completed));
    let stretches = match wide {
        true => format!("Mean stretch {now} in the system, {before} of the completed"),
        false => format!("Stretch {now}, {before}"),
    };
    vec![yields, stretches]
}

/// As many words as there is room for.
fn joined(words: &[String], width: u16) -> String {
    let mut line = String::new();
    for (place, word) in words.iter().enumerate() {
        let between = if place == 0 { "" } else { "  " };
        let length = line.chars().count() + between.len() + word.chars().count();
        if place > 0 && length > usize::from(width) {
            break;
        }
        line = line + between + word;
    }
    line
}
