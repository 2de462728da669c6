//! Where events come from, and when it is.

use std::io::BufRead;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use dfrs_core::{Span, Time};
use dfrs_journal::JournalReader;
use dfrs_proto::status::Status;

use super::draw::Banner;
use super::follow::{Follower, JournalUpdate};
use super::model::{TopModel, printable};
use super::player::Player;
use super::words::is_real;
use crate::status::{length, now, read, trouble};

/// How long events are read before the screen is drawn and keys are read again.
const READ_BUDGET: Duration = Duration::from_millis(50);

/// How often the status file is read: the plugin writes it once a second at most.
const STATUS_PERIOD: Duration = Duration::from_secs(2);

pub type JournalEvents = JournalReader<Box<dyn BufRead>>;

/// A journal that is over, with the file's name, or one that is being written.
pub enum JournalSource {
    Replay(Box<Player<JournalEvents>>, String),
    Live(Box<FollowedJournal>),
}

/// A journal that is being written.
pub struct FollowedJournal {
    follower: Follower,
    name: String,
    status_file: Option<PathBuf>,
    status: Option<Status>,
    /// When that was read.
    status_read_at: Option<Instant>,
    /// There is more to read at once.
    is_behind: bool,
    trouble: Option<String>,
}

impl JournalSource {
    pub fn is_replay(&self) -> bool {
        matches!(self, Self::Replay(..))
    }

    /// Takes what has happened in this time.
    pub fn advance(&mut self, elapsed: Duration, model: &mut TopModel) {
        let begin = Instant::now();
        let may_go_on = || begin.elapsed() < READ_BUDGET;
        match self {
            Self::Replay(player, _) => player.advance(elapsed, model, may_go_on),
            Self::Live(live) => live.advance(model, may_go_on),
        }
    }

    /// Whether there is something to do before the next tick.
    pub fn is_behind(&self) -> bool {
        matches!(self, Self::Live(live) if live.is_behind)
    }

    /// Reads up to what one frame shall show: so long after the first event, or all there is.
    pub fn go_to(&mut self, at: Option<Span>, model: &mut TopModel) -> Result<(), String> {
        match self {
            Self::Replay(player, name) => {
                player.seek(at, model);
                let problem = player.problem.as_ref();
                problem.map_or(Ok(()), |problem| Err(format!("{name}: {problem}")))
            }
            Self::Live(live) => {
                live.advance(model, || true);
                match model.last {
                    Some(_) => Ok(()),
                    None => Err(format!("{}: has no event yet", live.name)),
                }
            }
        }
    }

    pub fn banner(&self, model: &TopModel) -> Banner {
        match self {
            Self::Replay(player, name) => replay_banner(player, name),
            Self::Live(live) => live.banner(model),
        }
    }
}

fn replay_banner(player: &Player<JournalEvents>, name: &str) -> Banner {
    let state = if player.is_over() {
        "end".to_owned()
    } else if player.is_paused {
        format!("paused, x{}", player.speed)
    } else {
        format!("x{}", player.speed)
    };
    Banner {
        source: format!("replay of {name}"),
        state,
        status: None,
        trouble: player.problem.clone(),
        now: player.now(),
    }
}

impl FollowedJournal {
    pub fn new(follower: Follower, name: String, status_file: Option<PathBuf>) -> Self {
        Self {
            follower,
            name,
            status_file,
            status: None,
            status_read_at: None,
            is_behind: true,
            trouble: None,
        }
    }

    fn advance(&mut self, model: &mut TopModel, may_go_on: impl Fn() -> bool) {
        let mut bad = None;
        loop {
            let mut on_update = |news| match news {
                JournalUpdate::Event(event) => model.follow(&event),
                JournalUpdate::Restarted => model.mark_restart(),
                JournalUpdate::Malformed(line, what) => bad = Some(format!("line {line}: {what}")),
            };
            match self.follower.poll(&mut on_update) {
                Ok(more) => self.is_behind = more,
                Err(error) => {
                    self.is_behind = false;
                    bad = Some(format!("the journal cannot be read: {error}"));
                }
            }
            if !self.is_behind || !may_go_on() {
                break;
            }
        }
        if bad.is_some() {
            self.trouble = bad;
        }
        if self
            .status_read_at
            .is_none_or(|looked| looked.elapsed() >= STATUS_PERIOD)
        {
            self.status_read_at = Some(Instant::now());
            let file = self.status_file.as_deref();
            self.status = file.and_then(|file| read(file).ok());
        }
    }

    fn banner(&self, model: &TopModel) -> Banner {
        let age = self
            .status
            .as_ref()
            .map_or(0.0, |status| now() - status.written);
        let trouble = self.status.as_ref().and_then(|status| trouble(status, age));
        let state = if self.is_behind {
            format!("reading, {:.0}%", self.follower.part_read() * 100.0)
        } else if self.follower.is_there() {
            "live".to_owned()
        } else {
            "the journal is gone".to_owned()
        };
        let trouble = trouble.or_else(|| self.trouble.clone());
        Banner {
            source: self.name.clone(),
            state,
            status: self.status.as_ref().map(line),
            trouble: trouble.map(|trouble| printable(&trouble)),
            now: self.now(model),
        }
    }

    /// The wall-clock time, but not before the last event. It is the time of the last event where a
    /// simulator wrote the journal or while there is more to read, and the time of the last status
    /// of a plugin that has ended.
    fn now(&self, model: &TopModel) -> Time {
        let last = model.last.unwrap_or_default();
        if self.is_behind || !is_real(last) {
            return last;
        }
        let wall = match &self.status {
            Some(status) if !status.running => status.written,
            _ => now(),
        };
        #[expect(clippy::cast_possible_truncation, reason = "saturates")]
        let wall = Time((wall * 1e6) as i64);
        last.max(wall)
    }
}

/// What the status file says beside the journal.
fn line(status: &Status) -> String {
    let mut text = format!(
        "Mode {}  {} of {} nodes up",
        status.mode, status.nodes.up, status.nodes.all
    );
    if status.nodes.silent > 0 {
        text += &format!(", {} silent", status.nodes.silent);
    }
    // Precise enough: shown with a digit.
    let slow = status.passes.wall.lately.p99 as f64 / 1e6;
    text += &format!(
        "  passes {} at most  under way {}",
        length(slow),
        status.jobs.under_way
    );
    printable(&text)
}
