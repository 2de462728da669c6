//! A journal that is over, at any speed.

#[cfg(test)]
mod tests;

use std::time::Duration;

use dfrs_core::{Span, Time};
use dfrs_journal::ReadError;
use dfrs_proto::journal::{EventKind, JournalEvent};

use super::model::TopModel;

/// Seconds of the journal in a second.
pub const MIN_SPEED: f64 = 0.01;
pub const MAX_SPEED: f64 = 1e8;

/// Reads events as their time comes.
pub struct Player<E> {
    events: E,
    /// The next one.
    next: Option<JournalEvent>,
    /// What the view shows.
    now: Time,
    /// The time of the first event.
    begin: Time,
    pub speed: f64,
    pub is_paused: bool,
    /// The end is read, or nothing follows because of this.
    pub problem: Option<String>,
}

impl<E: Iterator<Item = Result<(usize, JournalEvent), ReadError>>> Player<E> {
    /// Stands at the first submission, with what came before it.
    pub fn new(events: E, speed: f64, model: &mut TopModel) -> Self {
        let mut player = Self {
            events,
            next: None,
            now: Time::ZERO,
            begin: Time::ZERO,
            speed,
            is_paused: false,
            problem: None,
        };
        player.read();
        player.begin = player.next.as_ref().map_or(Time::ZERO, |event| event.t);
        player.now = player.begin;
        let is_platform = |event: &JournalEvent| matches!(event.kind, EventKind::Platform { .. });
        while let Some(event) = player.next.take_if(|event| is_platform(event)) {
            model.follow(&event);
            player.read();
        }
        player.skip_idle(model);
        player
    }

    pub fn now(&self) -> Time {
        self.now
    }

    /// Whether nothing follows.
    pub fn is_over(&self) -> bool {
        self.next.is_none()
    }

    /// Lets real time go by. `may_go_on` is called now and then; when it returns false, the
    /// journal's time goes no further than what was read.
    pub fn advance(
        &mut self,
        elapsed: Duration,
        model: &mut TopModel,
        may_go_on: impl FnMut() -> bool,
    ) {
        if self.is_paused || self.is_over() {
            return;
        }
        #[expect(clippy::cast_possible_truncation, reason = "saturates")]
        let step = (elapsed.as_secs_f64() * self.speed * 1e6) as i64;
        let until = Time(self.now.0.saturating_add(step));
        self.play(until, model, may_go_on);
        self.skip_idle(model);
    }

    /// Goes to so long after the first event, or to the end.
    pub fn seek(&mut self, after: Option<Span>, model: &mut TopModel) {
        let until = after.map_or(Time(i64::MAX), |after| self.begin + after);
        self.play(until, model, || true);
    }

    pub fn faster(&mut self) {
        self.speed = (self.speed * 2.0).min(MAX_SPEED);
    }

    pub fn slower(&mut self) {
        self.speed = (self.speed / 2.0).max(MIN_SPEED);
    }

    fn play(&mut self, until: Time, model: &mut TopModel, mut may_go_on: impl FnMut() -> bool) {
        while let Some(event) = self.next.take_if(|event| event.t <= until) {
            model.follow(&event);
            self.now = self.now.max(event.t);
            self.read();
            // The events of one instant belong together.
            let same_time = self.next.as_ref().is_some_and(|next| next.t <= event.t);
            if !same_time && !may_go_on() {
                return;
            }
        }
        if !self.is_over() {
            self.now = self.now.max(until);
        }
    }

    /// Goes to the next event while no job is in the system.
    fn skip_idle(&mut self, model: &TopModel) {
        if let (Some(next), None) = (&self.next, model.jobs().next()) {
            self.now = self.now.max(next.t);
        }
    }

    fn read(&mut self) {
        self.next = match self.events.next() {
            Some(Ok((_, event))) => Some(event),
            Some(Err(error)) => {
                self.problem = Some(format!("line {}: {error}", error.line()));
                None
            }
            None => None,
        };
    }
}
