//! Keys whose value is a length of time, in seconds.

use crate::conf::Config;
use crate::conf::key::{Key, KeyPurpose, KeySample, Preset};
use crate::conf::print::{or_unlimited, whole_seconds};
use crate::conf::value::{DAY, WEEK, set};

pub(super) const PERIOD: Key<Config> = Key {
    name: "Period",
    purpose: KeyPurpose::Operation,
    values: "1 to 604800 s",
    preset: Preset::Text("600"),
    meaning: "Time between two remaps of all jobs. Longer (at most ten periods) where jobs took more \
        than a quarter of it to give up their places. Choose at least five times what it costs a \
        job to go and come back \
        ([measured](simulator-model.md#the-period-and-the-cost-of-moves)).",
    sample: Some(KeySample {
        comment: "Seconds between two looks at the whole cluster; submissions and completions are \
            acted on at once.",
        line: "#Period=600",
    }),
    read: |config, given| set(&mut config.policy.settings.period, given.seconds(1, WEEK)),
    show: |config| Some(whole_seconds(config.policy.settings.period)),
};

pub(super) const MOVE_COST: Key<Config> = Key {
    name: "MoveCost",
    purpose: KeyPurpose::Operation,
    values: "0 to 86400 s",
    preset: Preset::Follows {
        words: "60; 0 for policies that do not weigh moves",
        text: |config| {
            if config.policy.weighs_moves() {
                "60"
            } else {
                "0"
            }
        },
    },
    meaning: "Time in which a job that was moved or brought back makes no progress. The default policy \
        moves a job only if it gains twice as much; under others a remap that brings back no \
        waiting job is carried out only if the smallest yield grows by it.",
    sample: Some(KeySample {
        comment: "Seconds in which a job that was moved makes no progress (0 for policies that do not \
            weigh moves, as the papers').",
        line: "#MoveCost=60",
    }),
    read: |config, given| set(&mut config.policy.settings.penalty, given.seconds(0, DAY)),
    show: |config| Some(whole_seconds(config.policy.settings.penalty)),
};

pub(super) const CHECKPOINT_WAIT: Key<Config> = Key {
    name: "CheckpointWait",
    purpose: KeyPurpose::Operation,
    values: "1 to 86400 s",
    preset: Preset::Text("60"),
    meaning: "Longest time that a job has, after its warning signal, to write its checkpoint before it \
        is requeued.",
    sample: Some(KeySample {
        comment: "Seconds that a job has between its warning signal and being requeued.",
        line: "#CheckpointWait=60",
    }),
    read: |config, given| set(&mut config.checkpoint_wait, given.seconds(1, DAY)),
    show: |config| Some(whole_seconds(config.checkpoint_wait)),
};

pub(super) const PARK_TIMEOUT: Key<Config> = Key {
    name: "ParkTimeout",
    purpose: KeyPurpose::Operation,
    values: "5 to 86400 s",
    preset: Preset::Text("60"),
    meaning: "Longest time that nodes have to freeze a job and push its memory to swap. After it the \
        job runs on and is left alone for as long, then twice as long, then an hour. Where a \
        second job fails, too, no job is parked on that node for as long, and longer after each \
        further failure.",
    sample: Some(KeySample {
        comment: "Seconds that a node has to move a parked job's memory to swap.",
        line: "#ParkTimeout=60",
    }),
    read: |config, given| set(&mut config.park_timeout, given.seconds(5, DAY)),
    show: |config| Some(whole_seconds(config.park_timeout)),
};

pub(super) const SETTLE_TIME: Key<Config> = Key {
    name: "SettleTime",
    purpose: KeyPurpose::Operation,
    values: "0 to 3600 s",
    preset: Preset::Text("10"),
    meaning: "How long a job runs, after its start and after the start of each of its steps, before it \
        may be paused or moved: [below](#jobs-that-are-being-launched).",
    sample: Some(KeySample {
        comment: "Seconds that a job runs, after its start and that of each of its steps, before it \
            may be paused.",
        line: "#SettleTime=10",
    }),
    read: |config, given| set(&mut config.settle_time, given.seconds(0, 3600)),
    show: |config| Some(whole_seconds(config.settle_time)),
};

pub(super) const LONGEST_PAUSE: Key<Config> = Key {
    name: "LongestPause",
    purpose: KeyPurpose::Operation,
    values: "60 to 604800 s, `unlimited`",
    preset: Preset::Text("86400"),
    meaning: "A job that has been parked or paused for so long goes before all others: it comes back \
        as soon as the jobs on its nodes that can be preempted leave room (under `default` it \
        has the [reservation](policy.md) if it was submitted first), and then stays for an \
        eighth of that.",
    sample: Some(KeySample {
        comment: "Seconds after which a paused job goes before all others; once it is back it keeps \
            its place for an eighth of that.",
        line: "#LongestPause=86400",
    }),
    read: |config, given| {
        set(
            &mut config.longest_pause,
            given.or_unlimited(|given| given.seconds(60, WEEK)),
        )
    },
    show: |config| Some(or_unlimited(config.longest_pause.map(whole_seconds))),
};

pub(super) const TIME_TO_LIVE: Key<Config> = Key {
    name: "TimeToLive",
    purpose: KeyPurpose::Operation,
    values: "5 to 86400 s",
    preset: Preset::Text("60"),
    meaning: "A node that receives nothing from slurmctld for so long lifts all CPU caps.",
    sample: Some(KeySample {
        comment: "Seconds without news after which a node lifts all caps by itself.",
        line: "#TimeToLive=60",
    }),
    read: |config, given| set(&mut config.time_to_live, given.seconds(5, DAY)),
    show: |config| Some(whole_seconds(config.time_to_live)),
};

#[cfg(test)]
mod tests {
    use dfrs_core::{LONGEST_PAUSE, Span};

    use crate::conf::key::testing::{config, mistake, printed};

    #[test]
    fn period_is_that_of_the_policy() {
        let papers = "Policy=GreedyPM*/per/OPT=MIN Period=40";
        for (lines, seconds) in [("", 600), ("Period=30", 30), (papers, 40)] {
            let period = config(lines).policy.settings.period;
            assert_eq!(period, Span::from_seconds(seconds), "{lines}");
        }
        assert_eq!(printed("Period=30", "Period"), "30");
        assert_eq!(
            mistake("Period=0"),
            "Period=0 is wrong; allowed: whole seconds from 1 to 604800"
        );
    }

    #[test]
    fn move_cost_follows_from_the_policy() {
        let papers = "Policy=GreedyPM*/per/OPT=MIN/MINVT=600";
        assert_eq!(printed("", "MoveCost"), "60");
        assert_eq!(printed(papers, "MoveCost"), "0");
        assert_eq!(printed(&format!("{papers} MoveCost=9"), "MoveCost"), "9");
        let penalty = config("MoveCost=45").policy.settings.penalty;
        assert_eq!(penalty, Span::from_seconds(45));
        assert_eq!(
            mistake("MoveCost=-1"),
            "MoveCost=-1 is wrong; allowed: whole seconds from 0 to 86400"
        );
    }

    #[test]
    fn checkpoint_wait_is_in_seconds() {
        let value = |lines: &str| config(lines).checkpoint_wait;
        assert_eq!(value(""), Span::from_seconds(60));
        assert_eq!(value("CheckpointWait=7"), Span::from_seconds(7));
        assert_eq!(printed("CheckpointWait=7", "CheckpointWait"), "7");
        assert_eq!(
            mistake("CheckpointWait=0"),
            "CheckpointWait=0 is wrong; allowed: whole seconds from 1 to 86400"
        );
    }

    #[test]
    fn park_timeout_is_in_seconds() {
        let value = |lines: &str| config(lines).park_timeout;
        assert_eq!(value(""), Span::from_seconds(60));
        assert_eq!(value("ParkTimeout=7"), Span::from_seconds(7));
        assert_eq!(printed("ParkTimeout=7", "ParkTimeout"), "7");
        assert_eq!(
            mistake("ParkTimeout=4"),
            "ParkTimeout=4 is wrong; allowed: whole seconds from 5 to 86400"
        );
    }

    #[test]
    fn settle_time_is_in_seconds() {
        let value = |lines: &str| config(lines).settle_time;
        assert_eq!(value(""), Span::from_seconds(10));
        assert_eq!(value("SettleTime=7"), Span::from_seconds(7));
        assert_eq!(printed("SettleTime=7", "SettleTime"), "7");
        assert_eq!(
            mistake("SettleTime=-1"),
            "SettleTime=-1 is wrong; allowed: whole seconds from 0 to 3600"
        );
    }

    #[test]
    fn longest_pause_may_be_unlimited() {
        assert_eq!(config("").longest_pause, Some(LONGEST_PAUSE));
        assert_eq!(printed("", "LongestPause"), "86400");
        let two_hours = config("LongestPause=7200").longest_pause;
        assert_eq!(two_hours, Some(Span::from_seconds(7200)));
        assert_eq!(config("LongestPause=unlimited").longest_pause, None);
        assert_eq!(printed("LongestPause=60", "LongestPause"), "60");
        assert_eq!(
            mistake("LongestPause=59"),
            "LongestPause=59 is wrong; allowed: whole seconds from 60 to 604800, or unlimited"
        );
    }

    #[test]
    fn time_to_live_is_in_seconds() {
        let value = |lines: &str| config(lines).time_to_live;
        assert_eq!(value(""), Span::from_seconds(60));
        assert_eq!(value("TimeToLive=7"), Span::from_seconds(7));
        assert_eq!(printed("TimeToLive=7", "TimeToLive"), "7");
        assert_eq!(
            mistake("TimeToLive=4"),
            "TimeToLive=4 is wrong; allowed: whole seconds from 5 to 86400"
        );
    }
}
