//! What an administrator does next.

use super::{MAX_SHORT, MAX_WIDTH};

/// Commands, and lines of slurm.conf. `arguments`: what says to `dfrs replay` what is read and how.
pub fn text(arguments: &[String]) -> String {
    let minutes = MAX_SHORT.0 / 60_000_000;
    format!(
        "Next\n  dfrs doctor --slurm-conf slurm.conf\n{}\
         \x20 In slurm.conf, for short jobs on top (docs/configuration.md):\n\
         \x20   PartitionName=short Nodes=ALL MaxNodes=1 MaxTime={minutes} DefaultTime={minutes} \\\n\
         \x20     OverSubscribe=FORCE:1 PriorityTier=1\n\
         \x20   # your own partitions: OverSubscribe=NO PriorityTier=2\n",
        replay_command(arguments)
    )
}

/// The command of the page with the details, in lines that a shell joins.
fn replay_command(arguments: &[String]) -> String {
    let words = ["dfrs", "replay"].into_iter().map(String::from);
    let page = ["--output", "page.html"].into_iter().map(String::from);
    let words = words
        .chain(arguments.iter().map(|word| quoted(word)))
        .chain(page);
    let mut text = String::new();
    let mut line = String::from(" ");
    for word in words {
        // Room for the blank and the backslash behind it.
        if line.chars().count() + 1 + word.chars().count() + 2 > MAX_WIDTH {
            text += &format!("{line} \\\n");
            line = String::from("   ");
        }
        line += &format!(" {word}");
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

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(String::from).collect()
    }

    #[test]
    fn command_of_replay_is_broken_where_the_line_is_full() {
        let arguments = words("october.txt --nodes 40 --cpus-per-node 64 --memory-per-node 256G");
        assert_eq!(
            replay_command(&arguments),
            "  dfrs replay october.txt --nodes 40 --cpus-per-node 64 --memory-per-node 256G \\\n    --output page.html\n"
        );
        assert!(
            text(&arguments)
                .lines()
                .all(|line| line.chars().count() <= MAX_WIDTH)
        );
    }

    #[test]
    fn odd_word_is_quoted() {
        assert_eq!(quoted("my month's.txt"), r"'my month'\''s.txt'");
        assert_eq!(quoted("a/b-c_1.txt"), "a/b-c_1.txt");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("GreedyPM*"), "'GreedyPM*'");
    }

    #[test]
    fn partition_has_the_limit_of_short_jobs() {
        assert!(
            text(&[]).contains("MaxTime=60 DefaultTime=60"),
            "{}",
            text(&[])
        );
    }
}
