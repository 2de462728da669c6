//! The options of a run: those of `dfrs sim`, read by the same rules.

use clap::{CommandFactory, FromArgMatches, Parser};
use dfrs_core::Span;

use crate::input::SiteOptions;
use crate::options::seconds_above_0;
use crate::sim::sim_options::SimOptions;
use crate::usage::{one_line, with_negative_numbers};

/// What a run depends on beside its trace and its policy.
#[derive(Clone, Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
pub struct StudyOptions {
    #[command(flatten)]
    pub sim_options: SimOptions,
    #[command(flatten)]
    pub site: SiteOptions,
    /// See `dfrs sim`.
    #[arg(long, default_value = "10", value_parser = seconds_above_0)]
    pub stretch_bound: Span,
}

fn command() -> clap::Command {
    with_negative_numbers(StudyOptions::command())
}

/// The names that options may have.
pub fn names() -> Vec<String> {
    let command = command();
    let names = command
        .get_arguments()
        .filter_map(|option| option.get_long());
    names.map(String::from).collect()
}

/// Reads options: names without dashes, and values; a switch is `true` or `false`.
pub fn parse<'a>(
    options: impl Iterator<Item = (&'a str, &'a str)>,
) -> Result<StudyOptions, String> {
    let command = command();
    let mut words = Vec::new();
    for (name, value) in options {
        let option = command
            .get_arguments()
            .find(|option| option.get_long() == Some(name));
        let is_switch = option.is_some_and(|option| !option.get_action().takes_values());
        match (is_switch, value) {
            (true, "true") => words.push(format!("--{name}")),
            (true, "false") => {}
            (true, _) => return Err(format!("{name} is {value}; allowed: true, false")),
            (false, _) => words.push(format!("--{name}={value}")),
        }
    }
    command
        .try_get_matches_from(words)
        .and_then(|matches| StudyOptions::from_arg_matches(&matches))
        .map_err(|error| one_line(&error.render().to_string()))
}

#[cfg(test)]
mod tests {
    use dfrs_core::Policy;
    use dfrs_sim::Scheduler;

    use super::*;

    #[test]
    fn options_are_those_of_sim() {
        StudyOptions::command().debug_assert();
        for name in [
            "penalty",
            "mobility",
            "round-limits",
            "cpus-per-node",
            "seed",
        ] {
            assert!(names().iter().any(|known| known == name), "{name}");
        }
        let given = [
            ("penalty", "30"),
            ("round-limits", "true"),
            ("keep-equal-jobs", "false"),
        ];
        let options = parse(given.into_iter()).expect("options");
        assert_eq!(
            options.sim_options.settings(4).penalty,
            Span::from_seconds(30)
        );
        let papers = Scheduler::Dfrs(Policy::recommended());
        assert_eq!(options.sim_options.complete(&papers), papers);
        for (name, value, part) in [
            ("penalty", "-1", "seconds"),
            ("round-limits", "yes", "true, false"),
            ("mobility", "fly=1", "fly"),
        ] {
            let error = parse([(name, value)].into_iter()).expect_err(value);
            assert!(error.contains(part) && !error.contains('\n'), "{error}");
        }
    }
}
