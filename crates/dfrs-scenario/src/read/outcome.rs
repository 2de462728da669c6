//! Lines below `----`: what is expected.

use dfrs_core::{Action, JobId, PlannedAction, Reason};

use super::draft::Draft;
use crate::error::shown;
use crate::ids;
use crate::mappings;
use crate::reasons;
use crate::units;
use crate::words::words;

impl Draft {
    pub(super) fn expected_line(&mut self, verb: &str, rest: &str) -> Result<(), String> {
        let outcome = self.outcome.get_or_insert_default();
        if verb == "violation" {
            outcome.violations.push(rest.to_owned());
            return Ok(());
        }
        let (what, why) = match rest.split_once(": ") {
            Some((what, why)) => (what, Some(why.trim())),
            None => (rest, None),
        };
        let words = words(what)?;
        match (verb, &words[..]) {
            ("start" | "resume" | "migrate", [job, "on", list]) => {
                let mapping = mappings::read(list, &self.directory, &mut self.budget)?;
                let action = match verb {
                    "start" => Action::Start,
                    "resume" => Action::Resume,
                    _ => Action::Migrate,
                };
                self.expect(action(job_of(job)?, mapping), why)
            }
            ("pause", [job]) => self.expect(Action::Pause(job_of(job)?), why),
            ("yield", [jobs, share]) => {
                let share = units::share(share).map_err(|expected| {
                    format!("{} is no yield; write {expected}", shown(share))
                })?;
                for job in ids::expand(jobs, &mut self.budget)? {
                    self.expect(Action::SetYield(job, share), why.or(Some("share")))?;
                }
                Ok(())
            }
            ("waits", [jobs]) => self.expect_waiting(jobs, why),
            _ => Err(format!(
                "{} begins nothing that can be expected; write e.g. 'start 7 on n[0-1]: fits', 'pause 3: makes room for 7', 'yield 7,9-12 0.5', 'waits 8: memory' or 'violation ...'",
                shown(verb)
            )),
        }
    }

    fn expect(&mut self, action: Action, why: Option<&str>) -> Result<(), String> {
        let reason: Reason = reasons::reason(why.unwrap_or_default())?;
        let outcome = self.outcome.get_or_insert_default();
        outcome.plan.actions.push(PlannedAction { action, reason });
        Ok(())
    }

    fn expect_waiting(&mut self, jobs: &str, why: Option<&str>) -> Result<(), String> {
        let why = reasons::blocked(why.unwrap_or_default())?;
        let jobs = ids::expand(jobs, &mut self.budget)?.into_iter();
        let outcome = self.outcome.get_or_insert_default();
        outcome.blocked.extend(jobs.map(|job| (job, why)));
        Ok(())
    }
}

fn job_of(word: &str) -> Result<JobId, String> {
    let job = word.parse().map(JobId);
    job.map_err(|_| format!("{} is no job; write its number", shown(word)))
}
