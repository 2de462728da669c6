//! What the user has chosen to see, and what keys do to it.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use dfrs_core::Time;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::column::{ALL, JobColumn, sort};
use super::model::{TopJob, TopModel, TopNode};

/// The longest text that is searched for, in characters.
const MAX_TEXT_CHARS: usize = 40;

/// What the program does about a key, besides drawing again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScreenAction {
    None,
    Quit,
    Pause,
    Faster,
    Slower,
}

/// What is typed into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prompt {
    Search,
    Filter,
}

/// What the arrows move in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pane {
    #[default]
    Jobs,
    Nodes,
}

/// A list of which a part is seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scroll {
    /// The line that is meant.
    pub selected: usize,
    /// The first that is seen.
    pub top: usize,
    /// How many are seen; the drawing says so.
    pub page: usize,
    /// How many there are.
    pub length: usize,
}

impl Scroll {
    /// Keeps the selected line in sight.
    pub fn fit(&mut self, length: usize, page: usize) {
        (self.length, self.page) = (length, page);
        self.selected = self.selected.min(length.saturating_sub(1));
        let lowest = self.selected.saturating_sub(page.saturating_sub(1));
        let top = self.top.clamp(lowest, self.selected);
        self.top = top.min(length.saturating_sub(page));
    }

    fn down(&mut self, lines: usize) {
        let last = self.length.saturating_sub(1);
        self.selected = self.selected.saturating_add(lines).min(last);
    }

    fn up(&mut self, lines: usize) {
        self.selected = self.selected.saturating_sub(lines);
    }
}

/// What the user has chosen.
#[derive(Debug, Default)]
pub struct Screen {
    pub sort: JobColumn,
    pub is_reversed: bool,
    pub filter: String,
    pub search: String,
    pub prompt: Option<Prompt>,
    pub help: bool,
    pub pane: Pane,
    pub jobs: Scroll,
    pub nodes: Scroll,
    /// How much of the reasons is left of the screen, in characters.
    pub shift: usize,
    /// One line about the last key, until the next.
    pub note: Option<String>,
    /// Whether the speed can be chosen.
    pub is_replay: bool,
}

impl Screen {
    pub fn new(is_replay: bool) -> Self {
        Self {
            is_replay,
            ..Self::default()
        }
    }

    /// The jobs of the table in its order.
    pub fn rows<'a>(&self, model: &'a TopModel, now: Time) -> Vec<&'a TopJob> {
        let on: BTreeSet<usize> = match self.filter.is_empty() {
            true => BTreeSet::new(),
            false => self.named_nodes(model),
        };
        let is_meant = |job: &&TopJob| {
            self.filter.is_empty()
                || holds(&job.id, &self.filter)
                || job.places.iter().any(|(node, _)| on.contains(node))
        };
        let mut rows: Vec<&TopJob> = model.ended().chain(model.jobs()).filter(is_meant).collect();
        sort(&mut rows, self.sort, self.is_reversed, now);
        rows
    }

    /// The nodes that are shown: those of the filter's name, else those on which such jobs are.
    pub fn nodes<'a>(&self, model: &'a TopModel) -> Vec<&'a TopNode> {
        if self.filter.is_empty() {
            return model.nodes.iter().collect();
        }
        let is_meant = |job: &TopJob| holds(&job.id, &self.filter);
        let named =
            |node: &&TopNode| holds(&node.name, &self.filter) || model.any_on(node, is_meant);
        model.nodes.iter().filter(named).collect()
    }

    fn named_nodes(&self, model: &TopModel) -> BTreeSet<usize> {
        let nodes = model.nodes.iter().enumerate();
        nodes
            .filter(|(_, node)| holds(&node.name, &self.filter))
            .map(|(index, _)| index)
            .collect()
    }

    /// Does what a key means.
    pub fn key(&mut self, key: KeyEvent, model: &TopModel, now: Time) -> ScreenAction {
        self.note = None;
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return match key.code {
                KeyCode::Char('c') => ScreenAction::Quit,
                _ => ScreenAction::None,
            };
        }
        if self.help {
            self.help = false;
            return match key.code {
                KeyCode::Char('q') | KeyCode::F(10) => ScreenAction::Quit,
                _ => ScreenAction::None,
            };
        }
        match self.prompt {
            Some(prompt) => self.type_key(key.code, prompt, model, now),
            None => return self.command(key.code, model, now),
        }
        ScreenAction::None
    }

    fn command(&mut self, code: KeyCode, model: &TopModel, now: Time) -> ScreenAction {
        match code {
            KeyCode::Char('q') | KeyCode::F(10) => return ScreenAction::Quit,
            KeyCode::Char('h' | '?') | KeyCode::F(1) => self.help = true,
            KeyCode::F(3) if !self.search.is_empty() => self.find(model, now, 1),
            KeyCode::F(3) | KeyCode::Char('/') => self.begin(Prompt::Search),
            KeyCode::Char('n') => self.find(model, now, 1),
            KeyCode::F(4) | KeyCode::Char('\\') => self.begin(Prompt::Filter),
            KeyCode::Esc => self.filter.clear(),
            KeyCode::F(6) | KeyCode::Char('>' | '.') => self.sort_by(1),
            KeyCode::Char('<' | ',') => self.sort_by(ALL.len() - 1),
            KeyCode::Char('I' | 'i') => self.is_reversed = !self.is_reversed,
            KeyCode::Char('u') => {
                self.note = Some("a journal names no users; F4 filters by job or node".to_owned());
            }
            KeyCode::Tab | KeyCode::BackTab => {
                self.pane = match self.pane {
                    Pane::Jobs => Pane::Nodes,
                    Pane::Nodes => Pane::Jobs,
                };
            }
            KeyCode::Char(' ') if self.is_replay => return ScreenAction::Pause,
            KeyCode::Char('+' | '=') if self.is_replay => return ScreenAction::Faster,
            KeyCode::Char('-') if self.is_replay => return ScreenAction::Slower,
            KeyCode::Left => self.shift = self.shift.saturating_sub(8),
            KeyCode::Right => self.shift = (self.shift + 8).min(296),
            other => self.scroll(other),
        }
        ScreenAction::None
    }

    fn scroll_of_pane(&mut self) -> &mut Scroll {
        match self.pane {
            Pane::Jobs => &mut self.jobs,
            Pane::Nodes => &mut self.nodes,
        }
    }

    fn scroll(&mut self, code: KeyCode) {
        let scroll = self.scroll_of_pane();
        let page = scroll.page.max(1);
        match code {
            KeyCode::Up | KeyCode::Char('k') => scroll.up(1),
            KeyCode::Down | KeyCode::Char('j') => scroll.down(1),
            KeyCode::PageUp => scroll.up(page),
            KeyCode::PageDown => scroll.down(page),
            KeyCode::Home => scroll.up(usize::MAX),
            KeyCode::End => scroll.down(usize::MAX),
            _ => {}
        }
    }

    fn begin(&mut self, prompt: Prompt) {
        self.prompt = Some(prompt);
        if prompt == Prompt::Search {
            self.search.clear();
        }
    }

    fn type_key(&mut self, code: KeyCode, prompt: Prompt, model: &TopModel, now: Time) {
        let text = match prompt {
            Prompt::Search => &mut self.search,
            Prompt::Filter => &mut self.filter,
        };
        match code {
            KeyCode::Enter => self.prompt = None,
            KeyCode::Esc => {
                text.clear();
                self.prompt = None;
            }
            KeyCode::F(3) if prompt == Prompt::Search => self.find(model, now, 1),
            KeyCode::Backspace => {
                text.pop();
            }
            KeyCode::Char(letter) if text.chars().count() < MAX_TEXT_CHARS => {
                text.push(letter);
                if prompt == Prompt::Search {
                    self.find(model, now, 0);
                }
            }
            other => self.scroll(other),
        }
    }

    /// Goes to the first line from the selected one, or after it, that has the text in it.
    fn find(&mut self, model: &TopModel, now: Time, after: usize) {
        let text = self.search.clone();
        let (jobs, nodes) = (self.rows(model, now), self.nodes(model));
        let names: Vec<&str> = match self.pane {
            Pane::Jobs => jobs.iter().map(|job| job.id.as_str()).collect(),
            Pane::Nodes => nodes.iter().map(|node| node.name.as_str()).collect(),
        };
        let scroll = self.scroll_of_pane();
        let length = names.len();
        let places = (0..length).map(|place| (scroll.selected + after + place) % length);
        let found = places.into_iter().find(|place| holds(names[*place], &text));
        match found {
            Some(place) if !text.is_empty() => scroll.selected = place,
            _ => self.note = Some(format!("nothing with '{text}' is shown")),
        }
    }

    fn sort_by(&mut self, steps: usize) {
        let place = ALL.iter().position(|column| *column == self.sort);
        self.sort = ALL[(place.unwrap_or(0) + steps) % ALL.len()];
        self.is_reversed = false;
    }
}

/// Whether the text contains this, whatever its case.
fn holds(text: &str, part: &str) -> bool {
    text.contains(part) || text.to_lowercase().contains(&part.to_lowercase())
}
