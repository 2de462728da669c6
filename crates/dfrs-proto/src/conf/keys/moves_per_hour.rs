//! `MovesPerHour`: the budget of each job.

use crate::conf::Config;
use crate::conf::key::{GivenText, Key, KeyPurpose, KeySample, Preset};
use crate::conf::print::or_unlimited;

pub(super) const KEY: Key<Config> = Key {
    name: "MovesPerHour",
    purpose: KeyPurpose::Operation,
    values: "1 to 3600, `unlimited`",
    preset: Preset::Text("6"),
    meaning: "How often one job may be paused or moved within an hour.",
    sample: Some(KeySample {
        comment: "How often one job may be paused or moved within an hour; \"unlimited\" as in the \
            papers.",
        line: "#MovesPerHour=6",
    }),
    read: |config, given| {
        config.policy.settings.budget.moves_per_job = given.or_unlimited(moves)?;
        Ok(())
    },
    show: |config| Some(or_unlimited(config.policy.settings.budget.moves_per_job)),
};

fn moves(given: &GivenText) -> Result<u32, String> {
    let (key, text) = (given.key, given.text);
    let number = text.parse().ok().filter(|max| (1..=3600).contains(max));
    number.ok_or_else(|| format!("{key}={text} is wrong; allowed: a whole number from 1 to 3600"))
}

#[cfg(test)]
mod tests {
    use crate::conf::key::testing::{config, mistake, printed};

    #[test]
    fn moves_per_hour_may_be_unlimited() {
        let moves = |lines: &str| config(lines).policy.settings.budget.moves_per_job;
        assert_eq!(moves(""), Some(6));
        assert_eq!(moves("MovesPerHour=Unlimited"), None);
        assert_eq!(printed("MovesPerHour=3600", "MovesPerHour"), "3600");
        assert_eq!(
            printed("MovesPerHour=unlimited", "MovesPerHour"),
            "unlimited"
        );
        assert_eq!(
            mistake("MovesPerHour=0"),
            "MovesPerHour=0 is wrong; allowed: a whole number from 1 to 3600, or unlimited"
        );
    }
}
