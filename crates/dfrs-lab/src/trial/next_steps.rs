//! What an administrator does next.

use super::verdict::TrialVerdict;
use super::{HANDED_OVER, MAX_WIDTH, ON_TOP};
use dfrs_sim::trace::MAX_SHORT;

/// Commands, and lines of slurm.conf, as far as the verdicts are for it. `arguments`: what says to `dfrs replay` what
/// is read and how.
pub fn text(verdicts: &[TrialVerdict], arguments: &[String]) -> String {
    let is_for = |world: &str| {
        let mut verdicts = verdicts.iter();
        verdicts.any(|verdict| verdict.world == world && verdict.advice.is_for_it())
    };
    let (on_top, handed_over) = (is_for(ON_TOP), is_for(HANDED_OVER));
    let mut text = String::from("Next\n");
    if on_top || handed_over {
        text += "  dfrs doctor --slurm-conf slurm.conf\n";
    }
    text += &replay_command(arguments);
    if on_top {
        text += &partition_on_top();
    }
    text += match (on_top, handed_over) {
        (_, true) => "  To hand over one partition: docs/tutorial-administrator.md\n",
        (true, false) => "",
        (false, false) => "  The same for other months, and partitions (sacct --partition)\n",
    };
    text
}

/// Lines of slurm.conf and dfrs.conf.
fn partition_on_top() -> String {
    let minutes = MAX_SHORT.0 / 60_000_000;
    format!(
        "  In slurm.conf, for short jobs on top (docs/configuration.md):\n\
         \x20   PartitionName=short Nodes=ALL MaxNodes=1 MaxTime={minutes} DefaultTime={minutes} \\\n\
         \x20     OverSubscribe=FORCE:1 PriorityTier=1\n\
         \x20   # your own partitions: OverSubscribe=NO PriorityTier=2\n\
         \x20 In dfrs.conf: Partition=short Mobility=restart\n"
    )
}

/// The command of the page with the details, in lines that a shell joins: an option and its value are in one.
fn replay_command(arguments: &[String]) -> String {
    let mut parts = vec![String::from("dfrs replay")];
    let page = ["--output", "page.html"].map(String::from);
    for word in arguments.iter().chain(&page) {
        match parts.last_mut() {
            Some(part) if !word.starts_with('-') => *part += &format!(" {}", quoted(word)),
            _ => parts.push(quoted(word)),
        }
    }
    let mut text = String::new();
    let mut line = String::from(" ");
    for part in parts {
        // Room for the blank and the backslash behind it.
        let length = line.chars().count() + 1 + part.chars().count() + 2;
        if length > MAX_WIDTH && !line.trim().is_empty() {
            text += &format!("{line} \\\n");
            line = String::from("   ");
        }
        line += &format!(" {part}");
    }
    text + &line + "\n"
}

/// The word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain =
        |character: char| character.is_alphanumeric() || "-_=./,:+%@".contains(character);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::advice::TrialAdvice;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(String::from).collect()
    }

    fn verdicts(on_top: TrialAdvice, handed_over: TrialAdvice) -> [TrialVerdict; 2] {
        let verdict = |(world, advice)| TrialVerdict {
            world,
            advice,
            reason: String::new(),
            numbers: Vec::new(),
        };
        [(ON_TOP, on_top), (HANDED_OVER, handed_over)].map(verdict)
    }

    #[test]
    fn command_of_replay_is_broken_before_an_option_where_the_line_is_full() {
        let arguments = words("october.txt --nodes 40 --cpus-per-node 64 --memory-per-node 256G");
        assert_eq!(
            replay_command(&arguments),
            "  dfrs replay october.txt --nodes 40 --cpus-per-node 64 --memory-per-node 256G \\\n    --output page.html\n"
        );
        let longer = words("november.txt --nodes 400 --cpus-per-node 64 --memory-per-node 256G");
        assert!(replay_command(&longer).contains("64 \\\n    --memory-per-node 256G"));
    }

    #[test]
    fn odd_word_is_quoted() {
        assert_eq!(quoted("my month's.txt"), r"'my month'\''s.txt'");
        assert_eq!(quoted("a/b-c_1.txt"), "a/b-c_1.txt");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("GreedyPM*"), "'GreedyPM*'");
    }

    #[test]
    fn steps_follow_from_the_verdicts() {
        let steps = |on_top, handed_over| text(&verdicts(on_top, handed_over), &words("a.txt"));
        let has = |text: &str| {
            let words = [
                "doctor",
                "MaxTime=60 DefaultTime=60",
                "hand over",
                "other months",
            ];
            words.map(|words| text.contains(words))
        };
        let on_top = steps(TrialAdvice::Try, TrialAdvice::DoNot);
        assert_eq!(has(&on_top), [true, true, false, false]);
        let both = steps(TrialAdvice::Try, TrialAdvice::Weigh);
        assert_eq!(has(&both), [true, true, true, false]);
        assert!(both.lines().all(|line| line.chars().count() <= MAX_WIDTH));
        let handed_over = steps(TrialAdvice::NothingToGain, TrialAdvice::Try);
        assert_eq!(has(&handed_over), [true, false, true, false]);
        let neither = steps(TrialAdvice::DoNot, TrialAdvice::NothingToGain);
        assert_eq!(has(&neither), [false, false, false, true]);
    }
}
