//! `dfrs top`: what DFRS does, as it does it.

mod column;
mod draw;
mod follow;
mod model;
mod player;
mod screen;
mod source;
mod terminal;
mod words;

use std::io::{self, BufReader, IsTerminal};
use std::path::{Path, PathBuf};

use clap::Args;
use dfrs_core::Span;
use dfrs_journal::JournalReader;
use dfrs_lab::options::seconds;
use dfrs_sim::trace::{decompressed, open};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::status::paths;
use follow::Follower;
use model::TopModel;
use player::{MAX_SPEED, MIN_SPEED, Player};
use screen::Screen;
use source::{FollowedJournal, JournalEvents, JournalSource};

/// The size of a frame where no option says it and there is no terminal.
const SIZE: (u16, u16) = (80, 24);

/// The speed of a replay where no option says it: a minute in a second.
const SPEED: f64 = 60.0;

/// Shows the nodes and jobs of a cluster live, from the plugin's journal, or replays a journal.
///
/// Nodes as bars of CPU and memory; jobs with their yield, stretch and progress, what DFRS did with
/// them last and why; sums. F1 shows the keys. Without --replay it follows the journal that
/// slurmctld writes, on a host that sees the file; the user must be able to read it. Exit code 2:
/// there is no journal that could be read, or no terminal.
#[derive(Args)]
pub struct TopArguments {
    /// The journal to follow; by default the Journal= of the dfrs.conf in SLURM_CONF's directory or /etc/slurm
    #[arg(conflicts_with = "replay")]
    journal: Option<PathBuf>,
    /// Replay a journal from its beginning, plain or .gz: the plugin's, or one of dfrs sim --journal
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,
    /// Seconds of the journal in a second of the replay; left out: 60. Times in which no job is there are
    /// skipped
    #[arg(long, value_name = "NUMBER", value_parser = speed)]
    speed: Option<f64>,
    /// Print one frame as text, and end
    #[arg(long)]
    once: bool,
    /// When that is in a replay, in seconds after its first event; left out: its end
    #[arg(long, value_name = "SECONDS", value_parser = seconds, requires = "once")]
    at: Option<Span>,
    /// Width of that frame; left out: the terminal's, or 80
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1000), requires = "once")]
    width: Option<u16>,
    /// Its height; left out: the terminal's, or 24
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1000), requires = "once")]
    height: Option<u16>,
}

fn speed(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(speed) if (MIN_SPEED..=MAX_SPEED).contains(&speed) => Ok(speed),
        _ => Err(format!("allowed: a number from {MIN_SPEED} to {MAX_SPEED}")),
    }
}

/// Shows the cluster until the user quits, or returns one frame.
pub fn run(arguments: &TopArguments) -> Result<String, String> {
    // clap does not require an option that conflicts with a given one.
    if arguments.replay.is_none() && (arguments.at.is_some() || arguments.speed.is_some()) {
        return Err("dfrs top: --at and --speed are for a replay; add --replay FILE".into());
    }
    let is_seen = io::stdout().is_terminal() && io::stdin().is_terminal();
    if !arguments.once && !is_seen {
        return Err(
            "dfrs top: needs a terminal for input and output; --once prints one frame as text"
                .into(),
        );
    }
    let mut model = TopModel::default();
    let mut source = source(arguments, &mut model)?;
    if arguments.once {
        return once(arguments, &mut source, &mut model);
    }
    terminal::run(&mut source, &mut model, has_colours())
        .map_err(|error| format!("dfrs top: the terminal fails: {error}"))?;
    Ok(String::new())
}

/// Whether colours are used: unless <https://no-color.org> says none.
fn has_colours() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

fn source(arguments: &TopArguments, model: &mut TopModel) -> Result<JournalSource, String> {
    if let Some(path) = &arguments.replay {
        let player = Player::new(events(path)?, arguments.speed.unwrap_or(SPEED), model);
        if let (Some(problem), None) = (&player.problem, model.last) {
            return Err(format!("{}: {problem}", path.display()));
        }
        if model.last.is_none() {
            return Err(format!("{}: is empty; name a journal", path.display()));
        }
        return Ok(JournalSource::Replay(Box::new(player), file_name(path)));
    }
    let configured = paths::journal();
    let path = match (&arguments.journal, &configured) {
        (Some(path), _) => path.clone(),
        (None, Ok(path)) => path.clone(),
        (None, Err(problem)) => return Err(problem.clone()),
    };
    let follower = Follower::open(&path).map_err(|error| in_file(&path, &error))?;
    let is_configured = configured.is_ok_and(|configured| configured == path);
    let status = is_configured.then(|| paths::find(None).ok()).flatten();
    let live = FollowedJournal::new(follower, file_name(&path), status);
    Ok(JournalSource::Live(Box::new(live)))
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    model::printable(&name.to_string_lossy())
}

fn in_file(path: &Path, error: &io::Error) -> String {
    let remedy = match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "only root and SlurmUser may read it; use dfrs explain for single jobs"
        }
        _ => "name the journal of a plugin that runs on this host, or a copy with --replay",
    };
    format!("{}: cannot be read: {error}; {remedy}", path.display())
}

fn events(path: &Path) -> Result<JournalEvents, String> {
    let file = open(path).map_err(|error| in_file(path, &error))?;
    let input = BufReader::with_capacity(1 << 16, file);
    let input = decompressed(input).map_err(|error| in_file(path, &error))?;
    Ok(JournalReader::new(input))
}

fn once(
    arguments: &TopArguments,
    source: &mut JournalSource,
    model: &mut TopModel,
) -> Result<String, String> {
    source.go_to(arguments.at, model)?;
    let (width, height) = match ratatui::crossterm::terminal::size() {
        Ok(size) if io::stdout().is_terminal() => size,
        _ => SIZE,
    };
    let width = arguments.width.unwrap_or(width);
    let height = arguments.height.unwrap_or(height);
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
    let mut screen = Screen::new(source.is_replay());
    draw::draw(
        &mut buffer,
        model,
        &mut screen,
        &source.banner(model),
        false,
    );
    Ok(text(&buffer))
}

/// The lines without the empty places at their ends.
fn text(buffer: &Buffer) -> String {
    let lines = buffer.content().chunks(buffer.area.width.max(1).into());
    let lines = lines.map(|cells| {
        let line: String = cells.iter().map(ratatui::buffer::Cell::symbol).collect();
        line.trim_end().to_owned() + "\n"
    });
    lines.collect()
}
