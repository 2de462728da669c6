mod documents;

use std::path::PathBuf;

use dfrs_core::{Bytes, LeastYield, LoadCeiling, Mobility, Policy, RunTimeHint, Span};
use proptest::prelude::*;

use super::{
    Config, DEFAULT_LINEAR_SPEEDUP, JobField, Key, Mode, MoldableSettings, NeedsSource, Partition,
    Weighting, keys,
};
use crate::conf::keys::print;

const SECOND: i64 = 1_000_000;

fn parse(text: &str) -> Config {
    Config::parse(text, "dfrs.conf").unwrap_or_else(|error| panic!("{error}"))
}

fn error(text: &str) -> String {
    match Config::parse(text, "dfrs.conf") {
        Ok(config) => panic!("accepted as {config:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn comments_and_blank_lines_are_left_out() {
    let config = parse(
        "# a comment\n\
         MODE=full period=30 # another\n\
         \n\
         Partition=short Mobility=Checkpoint\n\
         mobility=NEVER partition=long\n",
    );
    assert_eq!(config.mode, Mode::Full);
    assert_eq!(config.policy.settings.period, Span(30 * SECOND));
    assert_eq!(config.partition_list(), "short,long");
    assert_eq!(
        config.partition("short").map(|found| found.mobility),
        Some(Mobility::Checkpoint)
    );
    assert_eq!(
        config.partition("long").map(|found| found.mobility),
        Some(Mobility::Never)
    );
    assert_eq!(config.partition("LONG"), None);
}

#[test]
fn a_backslash_joins_lines_and_escapes_a_hash() {
    let config = parse("Partition=a \\\n  Mobility=never\nJournal=/var/\\#1\\\n23 # \\\nMode=full");
    assert_eq!(config.partitions[0].mobility, Mobility::Never);
    assert_eq!(config.journal, Some(PathBuf::from("/var/#123")));
    assert_eq!(
        config.mode,
        Mode::Full,
        "a backslash in a comment joins nothing"
    );
}

#[test]
fn lines_after_joined_lines_keep_their_numbers() {
    assert!(
        error("Partition=a \\\n  Mobility=never\nPerod=3")
            .starts_with("dfrs.conf:3: unknown key 'Perod'")
    );
    assert!(error("Partition=a \\\n  Mobility=x").starts_with("dfrs.conf:2: Mobility=x"));
}

#[test]
fn byte_order_mark_is_skipped() {
    assert_eq!(parse("\u{feff}Mode=off").mode, Mode::Off);
}

#[test]
fn mode_off_needs_no_partition() {
    assert_eq!(parse("Mode=off").mode, Mode::Off);
}

/// One mistake of each kind, with the whole line that the administrator sees.
#[test]
fn each_mistake_names_its_line_and_what_to_write() {
    let cases = [
        (
            "Mode=full\nPartition=a\nPerod=30",
            "dfrs.conf:3: unknown key 'Perod'; did you mean 'Period'?",
        ),
        (
            "Partiton=a",
            "dfrs.conf:1: unknown key 'Partiton'; did you mean 'Partition'?",
        ),
        (
            "Mode=off\nPartitionName=short",
            "dfrs.conf:2: unknown key 'PartitionName'; did you mean 'Partition'?",
        ),
        (
            "Mode=ful\nPartition=a",
            "dfrs.conf:1: Mode=ful is not known; did you mean 'full'?",
        ),
        (
            "Mode=yes\nPartition=a",
            "dfrs.conf:1: Mode=yes is not known; allowed: off, shadow, full",
        ),
        (
            "Partition=a Mobility=freeze",
            "dfrs.conf:1: Mobility=freeze is not known; allowed: park, carry, checkpoint, restart, never",
        ),
        (
            "Partition=a\nPeriod=0",
            "dfrs.conf:2: Period=0 is wrong; allowed: whole seconds from 1 to 604800",
        ),
        (
            "Partition=a\nPeriod=10m",
            "dfrs.conf:2: Period=10m is wrong; allowed: whole seconds from 1 to 604800",
        ),
        (
            "Partition=a\nTimeToLive=4",
            "dfrs.conf:2: TimeToLive=4 is wrong; allowed: whole seconds from 5 to 86400",
        ),
        (
            "Partition=a\nSwapPerNode=half",
            "dfrs.conf:2: SwapPerNode=half is wrong; allowed: a whole number of megabytes, or with a suffix K, M, G or T, as in SwapPerNode=2G",
        ),
        (
            "Partition=a\nJournal=dfrs.log",
            "dfrs.conf:2: Journal=dfrs.log is wrong; allowed: a file's absolute path, or none",
        ),
        (
            "Partition=a\nStatusDirectory=run",
            "dfrs.conf:2: StatusDirectory=run is wrong; allowed: a directory's absolute path, or none",
        ),
        (
            "Period=30\nperiod=30",
            "dfrs.conf:2: Period is given a second time (first on line 1); keep one",
        ),
        (
            "Partition=a\nPartition=a",
            "dfrs.conf:2: partition 'a' is named a second time; keep one of the two lines",
        ),
        (
            "Partition=a,b",
            "dfrs.conf:1: Partition=a,b is wrong; write one Partition= line for each partition",
        ),
        (
            "Partition=Default",
            "dfrs.conf:1: Partition=Default is not supported; repeat the keys on each Partition= line",
        ),
        (
            "Partition=a AllowMobility=park,frozen",
            "dfrs.conf:1: AllowMobility=frozen is not known; allowed: park, carry, checkpoint, restart, never",
        ),
        (
            "Partition=a InteractiveMobility=restart",
            "dfrs.conf:1: InteractiveMobility=restart is impossible: a job without a script cannot be requeued; allowed: park, never",
        ),
        (
            "Mobility=park",
            "dfrs.conf:1: Mobility is about one partition; write it on that partition's line, after Partition=NAME",
        ),
        (
            "Partition=a Policy=DMET",
            "dfrs.conf:1: Policy=DMET on a Partition= line is wrong; allowed: DEMT (the policy of all other partitions stands on a line of its own)",
        ),
        (
            "Policy=DEMT\nPartition=a",
            "dfrs.conf:1: Policy=DEMT is about one partition; write it on that partition's line, after Partition=NAME",
        ),
        (
            "Partition=a LinearSpeedup=8",
            "dfrs.conf:1: LinearSpeedup has no place on this Partition= line: only Policy=DEMT has moldable jobs; take it out",
        ),
        (
            "Partition=a Policy=DEMT Mobility=park",
            "dfrs.conf:1: Mobility has no place on this Partition= line: Policy=DEMT never pauses or moves a job; take it out",
        ),
        (
            "Partition=a Policy=DEMT LinearSpeedup=0",
            "dfrs.conf:1: LinearSpeedup=0 is wrong; allowed: a whole number of nodes from 1 to 100000",
        ),
        (
            "LinearSpeedup=8",
            "dfrs.conf:1: LinearSpeedup is about one partition; write it on that partition's line, after Partition=NAME",
        ),
        (
            "Partition=a Period=3",
            "dfrs.conf:1: Period is not about one partition; write it on a line without Partition=",
        ),
        (
            "Include more.conf",
            "dfrs.conf:1: Include is not supported; write everything into this file",
        ),
        (
            "Include=more.conf",
            "dfrs.conf:1: Include is not supported; write everything into this file",
        ),
        (
            "Period = 3",
            "dfrs.conf:1: 'Period' has no '=' right after it; write Period=VALUE, without blanks around '='",
        ),
        (
            "=3",
            "dfrs.conf:1: '=' has no key before it; write KEY=VALUE, without blanks around '='",
        ),
        (
            "Mode=\nPartition=a",
            "dfrs.conf:1: Mode has no value; write Mode=VALUE, or leave it out for its default",
        ),
        (
            "Journal=\"/a b",
            "dfrs.conf:1: the value of Journal has no closing '\"' before the end of the line or a '#' (write \\# for the character)",
        ),
        (
            "Journal=\"/a\"b",
            "dfrs.conf:1: the closing '\"' of Journal must be followed by a blank",
        ),
        (
            "\nMode=full",
            "dfrs.conf:2: no partition is opened to DFRS; add a line 'Partition=NAME', or set Mode=off",
        ),
        (
            "",
            "dfrs.conf:1: no partition is opened to DFRS; add a line 'Partition=NAME', or set Mode=off",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(error(text), expected, "for {text:?}");
    }
}

#[test]
fn unknown_key_is_answered_with_all_that_may_stand_there() {
    let global = keys::names(keys::GLOBAL_KEYS).join(", ");
    assert!(global.starts_with("Mode, Policy, Period, MovesPerHour, "));
    assert_eq!(
        error("Colour=red"),
        format!("dfrs.conf:1: unknown key 'Colour'; allowed: {global}, Partition"),
    );
    let of_partition = keys::names(keys::PARTITION_KEYS).join(", ");
    assert!(of_partition.starts_with("Partition, Policy, "));
    assert_eq!(
        error("Partition=a Colour=red"),
        format!("dfrs.conf:1: unknown key 'Colour'; allowed: {of_partition}"),
    );
}

#[test]
fn the_documented_examples_are_right() {
    let manual = include_str!("../../../../docs/configuration.md");
    let examples: Vec<&str> = manual
        .split("```conf\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    assert!(!examples.is_empty());
    for example in examples
        .into_iter()
        .chain([include_str!("../../../../slurm-conf/dfrs.conf")])
    {
        parse(example);
    }
}

#[test]
fn default_policy_has_a_penalty_and_a_move_budget() {
    let mut policy: Policy = super::DEFAULT_POLICY.parse().expect("a policy");
    policy.settings.keep_equal_jobs = true;
    policy.settings.penalty = Span(60 * SECOND);
    assert_eq!(parse("Mode=off MovesPerHour=unlimited").policy, policy);
    policy.settings.budget.moves_per_job = Some(6);
    assert_eq!(parse("Mode=off").policy, policy);
    assert_eq!(
        parse("Mode=off Period=30").policy.settings.period,
        Span(30 * SECOND)
    );
}

#[test]
fn moves_cost_a_minute_where_the_policy_weighs_them() {
    let cost = |text: &str| parse(text).policy.settings.penalty;
    let papers = "Mode=off Policy=GreedyPM*/per/OPT=MIN/MINVT=600";
    assert_eq!(cost(papers), Span::ZERO);
    let weighs = "Mode=off Policy=GreedyPMC*/move-per/OPT=VT/MINVT=600";
    assert_eq!(cost(weighs), Span(60 * SECOND));
    assert_eq!(cost(&format!("{weighs} MoveCost=0")), Span::ZERO);
}

#[test]
fn policies_of_the_papers_experiments_are_refused() {
    for name in [
        "/stretch-per/OPT=MAX",
        "Greedy*/OPT=AVG",
        "DYNMCB8-PER 300",
        "GREEDY",
    ] {
        assert_eq!(
            error(&format!("Partition=a\nPolicy=\"{name}\"\n")),
            format!(
                "dfrs.conf:2: policy {name:?} is one of the papers' experiments: dfrs sim, reproduce and decide run it, slurmctld does not; take another one, such as default"
            )
        );
    }
}

#[test]
fn allow_mobility_is_a_list() {
    let config = parse(
        "Partition=a AllowMobility=Never,park,park InteractiveMobility=never\n\
         Partition=b AllowMobility=none\nPartition=c AllowMobility=all",
    );
    let allowed = |name| config.partition(name).unwrap().allowed.clone();
    assert_eq!(allowed("a"), [Mobility::Park, Mobility::Never]);
    assert_eq!(allowed("b"), []);
    assert_eq!(allowed("c").len(), 5);
    let interactive = |name| config.partition(name).unwrap().interactive;
    assert_eq!(interactive("a"), Some(Mobility::Never));
    assert_eq!(interactive("b"), None);
}

#[test]
fn partition_with_policy_demt_is_moldable() {
    let config =
        parse("Partition=a\nPartition=b policy=demt\nPartition=c Policy=DEMT LinearSpeedup=64");
    assert_eq!(config.moldable("a"), None);
    let moldable = |linear_speedup| Some(MoldableSettings { linear_speedup });
    assert_eq!(config.moldable("b"), moldable(DEFAULT_LINEAR_SPEEDUP));
    assert_eq!(config.moldable("c"), moldable(64));
    assert_eq!(config.whole_node_partitions(), ["b", "c"]);
    let never = config.partition("b").expect("it is there");
    assert_eq!((never.mobility, never.allowed.len()), (Mobility::Never, 0));
}

#[test]
fn unknown_policies_are_refused() {
    assert_eq!(
        error("Partition=a\nPolicy=GreedyPN*/per/OPT=MIN/MINVT=600"),
        "dfrs.conf:2: Policy=GreedyPN*/per/OPT=MIN/MINVT=600 is not known; did you mean 'GreedyPM*/per/OPT=MIN/MINVT=600'?"
    );
    let far = error("Partition=a\nPolicy=Fairest/per");
    assert!(
        far.starts_with("dfrs.conf:2: policy \"Fairest/per\": unknown submission policy"),
        "{far}"
    );
}

fn any_mobility() -> impl Strategy<Value = Mobility> {
    prop_oneof![
        Just(Mobility::Park),
        Just(Mobility::Checkpoint),
        Just(Mobility::Restart),
        Just(Mobility::Never)
    ]
}

prop_compose! {
    fn any_partition()(
        mobility in any_mobility(),
        allowed in prop::sample::subsequence(keys::all_mobilities(), 0..=4),
        interactive in prop::option::of(prop_oneof![Just(Mobility::Park), Just(Mobility::Never)]),
        linear_speedup in prop::option::of(1..=100_000_u32),
    ) -> Partition {
        if let Some(linear_speedup) = linear_speedup {
            return Partition::whole_nodes("", MoldableSettings { linear_speedup });
        }
        Partition { allowed, interactive, ..Partition::new("", mobility) }
    }
}

prop_compose! {
    fn any_policy()(
        policy in prop::sample::select(Policy::all()),
        period in 1..=604_800_i64,
        move_cost in 0..=86_400_i64,
        run_time_hint in prop_oneof![Just(RunTimeHint::Nothing), Just(RunTimeHint::Limits)],
        load_ceiling in prop::option::of(100..=1000u32),
        least_yield in prop::option::of(1..=100u32),
        moves_per_hour in prop::option::of(1..=3600u32),
    ) -> Policy {
        let mut policy = policy;
        policy.settings.keep_equal_jobs = true;
        policy.settings.period = Span::from_seconds(period);
        policy.settings.penalty = Span::from_seconds(move_cost);
        policy.settings.budget.moves_per_job = moves_per_hour;
        policy.settings.run_time_hint = run_time_hint;
        policy.settings.load_ceiling = load_ceiling.map(LoadCeiling::from_percent);
        policy.settings.parallel_least_yield = least_yield.map(LeastYield);
        policy
    }
}

prop_compose! {
    /// All that keys can set. The compiler asks for a new field, but not for one of a policy or a
    /// partition.
    fn any_config()(
        policy in any_policy(),
        mode in prop_oneof![Just(Mode::Off), Just(Mode::Shadow), Just(Mode::Full)],
        job_weight in prop_oneof![Just(Weighting::Equal), Just(Weighting::Priority)],
        needs in prop_oneof![Just(NeedsSource::Requested), Just(NeedsSource::Measured)],
        seconds in prop::array::uniform3(5..86_400_i64),
        settle_time in 0..=3600_i64,
        longest_pause in prop::option::of(60..=604_800_i64),
        kilobytes in 0..1_u64 << 40,
        journal in prop::option::of("/[ -~äß]{0,20}[^/[:cntrl:]]"),
        show_yield_in in prop_oneof![Just(None), Just(Some(JobField::AdminComment)), Just(Some(JobField::Extra))],
        status_directory in prop::option::of("/[ -~äß]{0,20}"),
        partitions in prop::collection::btree_map("[-a-zA-Z0-9_.\"#\\\\]{1,10}", any_partition(), 1..5),
    ) -> Config {
        let [checkpoint_wait, park_timeout, time_to_live] = seconds.map(Span::from_seconds);
        let partitions = partitions
            .into_iter()
            .filter(|(name, _)| !name.eq_ignore_ascii_case("default"))
            .map(|(name, partition)| Partition { name, ..partition })
            .chain([Partition::new("always/there", Mobility::Park)])
            .collect();
        Config {
            mode,
            policy,
            job_weight,
            needs,
            checkpoint_wait,
            park_timeout,
            settle_time: Span::from_seconds(settle_time),
            longest_pause: longest_pause.map(Span::from_seconds),
            time_to_live,
            swap_per_node: Bytes(kilobytes << 10),
            journal: journal.map(PathBuf::from),
            status_directory: status_directory.map(PathBuf::from),
            show_yield_in,
            partitions,
        }
    }
}

/// All keys that have a value, each second one in capitals and the others in small type, on one line.
fn in_another_case<Of>(keys: &[&Key<Of>], value: impl Fn(&str) -> Option<String>) -> String {
    let pairs = keys.iter().enumerate().filter_map(|(index, key)| {
        let value = value(key.name)?;
        let name = match index % 2 {
            0 => key.name.to_uppercase(),
            _ => key.name.to_lowercase(),
        };
        Some(format!("{name}={value}"))
    });
    Vec::from_iter(pairs).join(" ")
}

proptest! {
    #[test]
    fn printed_config_round_trips(config in any_config()) {
        let text = config.to_string();
        prop_assert_eq!(Config::parse(&text, "dfrs.conf"), Ok(config), "printed as:\n{}", text);
    }

    #[test]
    fn every_key_is_read_in_any_case_and_all_stand_on_a_line(config in any_config()) {
        let mut text = in_another_case(keys::GLOBAL_KEYS, |key| Some(print::value(&config, key)));
        for partition in &config.partitions {
            let value = |key: &str| print::partition_value(partition, key);
            text = format!("{text}\n{}", in_another_case(keys::PARTITION_KEYS, value));
        }
        prop_assert_eq!(Config::parse(&text, "dfrs.conf"), Ok(config), "written as:\n{}", text);
    }

    #[test]
    fn random_text_never_panics(text in any::<String>()) {
        let _ = Config::parse(&text, "dfrs.conf");
    }

    #[test]
    fn random_text_of_keywords_never_panics(
        text in "((Partition|Mode|Journal|Period|SwapPerNode)?[=\"\\\\# \n0-9a/]{0,3}){0,12}"
    ) {
        if let Err(error) = Config::parse(&text, "f") {
            prop_assert!(!error.to_string().contains(char::is_control));
            prop_assert!(error.line >= 1 && error.line <= text.lines().count() + 1);
        }
    }
}
