//! Keys whose value is a length of time, in seconds.

use crate::conf::Config;
use crate::conf::key::{Key, Preset};
use crate::conf::value::{DAY, WEEK, set};

pub(super) const PERIOD: Key<Config> = Key {
    name: "Period",
    preset: Preset::Text("600"),
    read: |config, given| set(&mut config.policy.settings.period, given.seconds(1, WEEK)),
};

pub(super) const MOVE_COST: Key<Config> = Key {
    name: "MoveCost",
    preset: Preset::Follows(|config| match config.policy.weighs_moves() {
        true => "60",
        false => "0",
    }),
    read: |config, given| set(&mut config.policy.settings.penalty, given.seconds(0, DAY)),
};

pub(super) const CHECKPOINT_WAIT: Key<Config> = Key {
    name: "CheckpointWait",
    preset: Preset::Text("60"),
    read: |config, given| set(&mut config.checkpoint_wait, given.seconds(1, DAY)),
};

pub(super) const PARK_TIMEOUT: Key<Config> = Key {
    name: "ParkTimeout",
    preset: Preset::Text("60"),
    read: |config, given| set(&mut config.park_timeout, given.seconds(5, DAY)),
};

pub(super) const SETTLE_TIME: Key<Config> = Key {
    name: "SettleTime",
    preset: Preset::Text("10"),
    read: |config, given| set(&mut config.settle_time, given.seconds(0, 3600)),
};

pub(super) const LONGEST_PAUSE: Key<Config> = Key {
    name: "LongestPause",
    preset: Preset::Text("86400"),
    read: |config, given| {
        let pause = given.or_unlimited(|given| given.seconds(60, WEEK));
        set(&mut config.longest_pause, pause)
    },
};

pub(super) const TIME_TO_LIVE: Key<Config> = Key {
    name: "TimeToLive",
    preset: Preset::Text("60"),
    read: |config, given| set(&mut config.time_to_live, given.seconds(5, DAY)),
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
