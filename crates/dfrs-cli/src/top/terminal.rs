//! The terminal: frames out, keys in.

use std::io;
use std::time::{Duration, Instant};

use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEventKind};

use super::draw::draw;
use super::model::TopModel;
use super::screen::{Screen, ScreenAction};
use super::source::JournalSource;

/// Time between frames: a replay moves, what is live changes about once a second.
const REPLAY_TICK: Duration = Duration::from_millis(100);
const LIVE_TICK: Duration = Duration::from_millis(500);

/// Shows frames until the user quits. The terminal is put back as it was, also by a panic.
pub fn run(source: &mut JournalSource, model: &mut TopModel, colours: bool) -> io::Result<()> {
    let mut terminal = ratatui::try_init()?;
    let outcome = frames(&mut terminal, source, model, colours);
    let restored = ratatui::try_restore();
    outcome.and(restored)
}

fn frames(
    terminal: &mut DefaultTerminal,
    source: &mut JournalSource,
    model: &mut TopModel,
    colours: bool,
) -> io::Result<()> {
    let mut screen = Screen::new(source.is_replay());
    let tick = if source.is_replay() {
        REPLAY_TICK
    } else {
        LIVE_TICK
    };
    let mut last = Instant::now();
    loop {
        let elapsed = last.elapsed();
        last += elapsed;
        source.advance(elapsed, model);
        let banner = source.banner(model);
        terminal.draw(|frame| draw(frame.buffer_mut(), model, &mut screen, &banner, colours))?;
        let wait = if source.is_behind() {
            Duration::ZERO
        } else {
            tick
        };
        if event::poll(wait)? && !keys(&mut screen, source, model)? {
            return Ok(());
        }
    }
}

/// Does what all pressed keys mean; returns whether to go on.
fn keys(screen: &mut Screen, source: &mut JournalSource, model: &TopModel) -> io::Result<bool> {
    loop {
        if let Event::Key(key) = event::read()?
            && key.kind != KeyEventKind::Release
        {
            let now = source.banner(model).now;
            let action = screen.key(key, model, now);
            if action == ScreenAction::Quit {
                return Ok(false);
            }
            if let JournalSource::Replay(player, _) = source {
                match action {
                    ScreenAction::Pause => player.is_paused = !player.is_paused,
                    ScreenAction::Faster => player.faster(),
                    ScreenAction::Slower => player.slower(),
                    ScreenAction::None | ScreenAction::Quit => {}
                }
            }
        }
        if !event::poll(Duration::ZERO)? {
            return Ok(true);
        }
    }
}
