//! `dfrs study` as its user sees it: the files, the tables, errors, going on.

mod common;

use std::collections::BTreeMap;

use common::{Scratch, dfrs};

const STUDY: &str = r#"
policies = ["EASY", "EASY/shared", "GreedyPMC*/move-per/OPT=VT/MINVT=600"]
baseline = "EASY/shared"
measures = ["max_stretch", "normalized_underutilization"]

[[traces]]
generate = "lublin"
jobs = 30
nodes = 16
seeds = "3..6"
loads = [0.5, 0.9]

[[traces]]
file = "own.csv"
nodes = 2

[options]
mobility = ["checkpoint=1", "park=1"]
penalty = 30
round-limits = [false, true]
"#;

/// A directory with a study and the trace that it names.
fn scratch(test: &str, study: &str) -> Scratch {
    let scratch = Scratch::new(test);
    std::fs::write(scratch.path("study.toml"), study).expect("a file");
    let trace = "1,0,1,0.5,0.1,100\n2,5,2,1,0.4,50\n3,6,1,0.25,0.1,7\n";
    std::fs::write(scratch.path("own.csv"), trace).expect("a file");
    scratch
}

fn study(scratch: &Scratch, more: &[&str]) -> (i32, String, String) {
    let file = scratch.path("study.toml");
    let mut arguments = vec!["study", &file];
    arguments.extend(more);
    dfrs(&arguments)
}

/// The lines of a CSV file, each as its columns by name. No field of it has a comma.
fn table(path: &str) -> Vec<BTreeMap<String, String>> {
    let text = std::fs::read_to_string(path).expect("a file");
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().expect("names").split(',').collect();
    lines
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            assert_eq!(fields.len(), names.len(), "{line}");
            let pairs = names.iter().zip(fields);
            pairs
                .map(|(name, field)| ((*name).to_owned(), field.to_owned()))
                .collect()
        })
        .collect()
}

#[test]
fn all_combinations_are_run_and_compared() {
    let scratch = scratch("all", STUDY);
    let (code, stdout, errors) = study(&scratch, &["--dry-run"]);
    assert_eq!((code, errors.as_str()), (0, ""));
    assert_eq!(
        stdout,
        "108 runs: 9 traces, 3 policies, 4 combinations of options\n"
    );

    let (code, stdout, errors) = study(&scratch, &[]);
    assert_eq!((code, errors.as_str()), (0, ""), "{stdout}");
    for text in [
        "lublin: 4 traces, load 0.9, mobility park=1, penalty 30, round-limits true",
        "own: 1 trace, mobility checkpoint=1, penalty 30, round-limits false",
        "Ratio: of geometric means over the same traces, to policy EASY/shared",
    ] {
        assert!(stdout.contains(text), "{text} is not in {stdout}");
    }
    let rows = table(&scratch.path("study/runs.csv"));
    assert_eq!(rows.len(), 108);
    let first = &rows[0];
    let of = |name: &str| first[name].as_str();
    assert_eq!(
        (of("traces"), of("trace"), of("load")),
        ("lublin", "seed 3", "0.5")
    );
    assert_eq!(
        (of("nodes"), of("mobility"), of("policy")),
        ("16", "checkpoint=1", "EASY")
    );
    assert_eq!((of("penalty"), of("jobs"), of("bound")), ("30", "30", ""));

    // What dfrs sim says of the same.
    let sim = table_of_sim(&scratch);
    let same = rows
        .iter()
        .find(|row| (row["traces"].as_str(), row["policy"].as_str()) == ("own", "EASY/shared"));
    let same = same.expect("a run");
    for measure in [
        "max_stretch",
        "mean_stretch",
        "makespan",
        "median_stretch",
        "stretch_99",
    ] {
        assert_eq!(same[measure], sim[measure], "{measure}");
    }

    let summary = table(&scratch.path("study/summary.csv"));
    assert_eq!(summary.len(), 3 * 4 * 3 * 2);
    let ours = summary.iter().find(|line| {
        line["policy"].starts_with("GreedyPMC")
            && line["load"] == "0.9"
            && line["measure"] == "max_stretch"
    });
    let ours = ours.expect("a line");
    let number = |name: &str| ours[name].parse::<f64>().expect(name);
    assert_eq!(number("count"), 4.0);
    assert!(number("ratio_low") <= number("ratio") && number("ratio") <= number("ratio_high"));
    assert!(number("median") <= number("worst") && number("p_wilcoxon") <= 1.0);
    // Batch schedulers are not compared with themselves.
    assert!(
        summary
            .iter()
            .all(|line| line["policy"] != "EASY/shared" || line["ratio"].is_empty())
    );
}

#[test]
fn period_is_that_of_the_name_or_the_options() {
    let text = |policies: &str, period: &str| {
        format!(
            "policies = {policies}\nbaseline = \"DYNMCB8-PER\"\n[[traces]]\nfile = \"own.csv\"\nnodes = 2\n\
             [options]\nperiod = {period}\n"
        )
    };
    let swept = scratch("period", &text("[\"DYNMCB8-PER\", \"EASY\"]", "[60, 600]"));
    let (code, stdout, errors) = study(&swept, &[]);
    assert_eq!((code, errors.as_str()), (0, ""));
    assert!(stdout.contains("to policy DYNMCB8-PER,"), "{stdout}");
    for file in ["study/runs.csv", "study/summary.csv"] {
        let lines = table(&swept.path(file));
        assert!(lines.iter().any(|line| line["period"] == "60"), "{file}");
        for line in lines.iter().filter(|line| line["policy"] != "EASY") {
            assert_eq!(line["policy"], format!("DYNMCB8-PER {}", line["period"]));
        }
    }
    let twice = scratch(
        "twice",
        &text("[\"DYNMCB8-PER 60\", \"DYNMCB8-PER\"]", "[60, 600]"),
    );
    let (code, _, errors) = study(&twice, &[]);
    assert_eq!(code, 2, "{errors}");
    let same = scratch("same", &text("[\"DYNMCB8-PER 60\", \"DYNMCB8-PER\"]", "60"));
    let (code, _, same_errors) = study(&same, &[]);
    let wanted = "study.toml: policies: DYNMCB8-PER 60 is there twice; name it once\n";
    assert!(code == 2 && same_errors.ends_with(wanted), "{same_errors}");
    // As the tables have it.
    let spelt = text("[\"DYNMCB8-PER\", \"EASY\"]", "600");
    let spelt = spelt.replace(
        "baseline = \"DYNMCB8-PER\"",
        "baseline = \"dynmcb8-per 600\"",
    );
    let (code, stdout, _) = study(&scratch("spelt", &spelt), &[]);
    assert!(
        code == 0 && stdout.contains("to policy DYNMCB8-PER,"),
        "{stdout}"
    );
    let words = "study.toml: a period of 600 s contradicts the one in the policy's name DYNMCB8-PER 60; keep one\n";
    assert!(errors.ends_with(words), "{errors}");
}

fn table_of_sim(scratch: &Scratch) -> BTreeMap<String, String> {
    let trace = scratch.path("own.csv");
    let (code, stdout, errors) = dfrs(&[
        "sim",
        &trace,
        "--nodes",
        "2",
        "--policy",
        "EASY/shared",
        "--format",
        "csv",
    ]);
    assert_eq!(code, 0, "{errors}");
    std::fs::write(scratch.path("sim.csv"), stdout).expect("a file");
    table(&scratch.path("sim.csv")).remove(0)
}

#[test]
fn interrupted_study_resumes() {
    let scratch = scratch("resumed", STUDY);
    let (code, stdout, errors) = study(&scratch, &[]);
    assert_eq!(code, 0, "{errors}");
    let whole = std::fs::read_to_string(scratch.path("study/runs.csv")).expect("a file");
    let kept = scratch.path("study/runs.jsonl");
    let runs = std::fs::read_to_string(&kept).expect("a file");
    // Batch schedulers know nothing of mobility, and no policy here uses limits.
    assert_eq!(runs.lines().count(), 1 + 9 * (2 + 2));
    std::fs::write(&kept, &runs[..runs.len() / 2]).expect("a file");
    let (code, again, errors) = study(&scratch, &[]);
    assert_eq!(code, 0, "{errors}");
    assert!(errors.contains("runs taken from it: "), "{errors}");
    assert_eq!(again, stdout);
    let times = |text: &str| -> Vec<String> {
        let rows = text.lines().map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            // All but the two times that decisions took.
            [&fields[..20], &fields[22..]].concat().join(",")
        });
        rows.collect()
    };
    let now = std::fs::read_to_string(scratch.path("study/runs.csv")).expect("a file");
    assert!(
        whole.starts_with("traces,trace,load,nodes,mobility,penalty,round-limits,policy,jobs,")
    );
    let head = whole.lines().next().expect("names");
    assert_eq!(head.split(',').nth(20), Some("decide_seconds_mean"));
    assert_eq!(times(&now), times(&whole));
}

#[test]
fn bound_and_option_baseline_are_written() {
    let text = r#"
policies = ["GreedyPM*/per/OPT=MIN/MINVT=600"]
baseline = { penalty = 300 }
measures = ["degradation"]
bound = true
[[traces]]
generate = "lublin"
jobs = 20
nodes = 8
seeds = [1, "4..5"]
[options]
penalty = [0, 300]
"#;
    let scratch = scratch("bound", text);
    let (code, _, errors) = study(&scratch, &["--output", &scratch.path("out")]);
    assert_eq!((code, errors.as_str()), (0, ""));
    let summary = table(&scratch.path("out/summary.csv"));
    assert_eq!(
        (summary[0]["penalty"].as_str(), summary[0]["count"].as_str()),
        ("0", "3")
    );
    assert!(!summary[0]["ratio"].is_empty() && summary[1]["ratio"].is_empty());
    assert!(
        table(&scratch.path("out/runs.csv"))
            .iter()
            .all(|row| row["bound"].parse::<f64>().is_ok())
    );
}

#[test]
fn bad_study_is_one_line_with_its_position() {
    let good = "policies = [\"EASY\"]\n[[traces]]\ngenerate = \"lublin\"\njobs = 5\n";
    let cases = [
        ("", "names no traces"),
        ("policies = [\"EASY\"]\n", "names no traces; add [[traces]]"),
        ("[[traces]]\ngenerate = \"lublin\"\n", "names no policies"),
        ("policies = [\n", ":1: is no TOML"),
        ("policies = [\"SJF\"]\n", ":1: policy \"SJF\""),
        (
            "policies = [\"EASY\",\n\"easy\"]\n",
            ":2: EASY is there twice",
        ),
        (
            "policy = \"EASY\"\n",
            ":1: a study has no entry of the name policy; allowed: traces, policies",
        ),
        (
            &format!("{good}seeds = \"5..1\"\n"),
            ":5: seeds: 5..1 is none",
        ),
        (&format!("{good}loads = [0.5, 0]\n"), ":5: loads: 0 is none"),
        (
            &format!("{good}weeks = 3\n"),
            ":2: weeks is for traces from a file",
        ),
        (
            &format!("{good}nodes = 2000000\n"),
            ":5: nodes is 2000000; allowed: whole numbers",
        ),
        (
            &format!("{good}file = \"own.csv\"\n"),
            ":2: has both generate and file",
        ),
        (
            &format!("{good}[options]\npenalty = [30,\n\"soon\"]\n"),
            ":7: invalid value 'soon' for '--penalty",
        ),
        (
            &format!("{good}[options]\nround-limits = 3\n"),
            ":6: round-limits is 3; allowed: true, false",
        ),
        (
            &format!("{good}[options]\nnode = 3\n"),
            ":6: options has no entry of the name node",
        ),
        (
            &format!("{good}[options]\nswap = []\n"),
            ":6: swap is an empty list",
        ),
        (
            &format!("{good}[options]\nswap = 1979-05-27\n"),
            ":6: swap is of the type",
        ),
        (
            &format!("baseline = \"FCFS\"\n{good}"),
            ":1: baseline: policy is FCFS, which is not run",
        ),
        (
            &format!("measures = \"speed\"\n{good}"),
            ":1: there is no measure of the name speed",
        ),
        (
            &format!("measures = \"bound\"\n{good}"),
            "bound needs the offline bound; add bound = true",
        ),
        (
            &format!("bound = true\n{good}[options]\nleast-use = [1, 0.5]\n"),
            "the offline bound takes it that jobs use all that they asked for",
        ),
        (
            &format!("{good}[[traces]]\ngenerate = \"lublin\"\n"),
            ":5: there are other traces of the name lublin",
        ),
        (
            "policies = \"EASY\"\n[[traces]]\nfile = \"nowhere.swf\"\n",
            "nowhere.swf: ",
        ),
        (
            "policies = \"EASY\"\n[[traces]]\nfile = \"own.csv\"\n",
            "own.csv: does not say how many nodes",
        ),
        (
            "policies = \"EASY\"\n[[traces]]\nfile = \"own.csv\"\nnodes = 2\nweeks = 7\n",
            "has no week 7",
        ),
    ];
    for (text, part) in cases {
        let scratch = scratch("mistakes", text);
        let (code, stdout, errors) = study(&scratch, &[]);
        assert_eq!((code, stdout.as_str()), (2, ""), "{text}: {errors}");
        assert_eq!(errors.lines().count(), 1, "{text}: {errors}");
        assert!(errors.contains(part), "{text}: {errors}");
        // Before anything is run, which may take hours.
        let (code, ..) = study(&scratch, &["--dry-run"]);
        assert_eq!(code, 2, "{text}");
    }
    let (code, _, errors) = dfrs(&["study", "/nowhere.toml"]);
    assert_eq!((code, errors.lines().count()), (2, 1), "{errors}");
    let (code, _, errors) = dfrs(&["study", "/"]);
    assert_eq!((code, errors.lines().count()), (2, 1), "{errors}");
}

/// What docs/study.md shows can be run as it stands.
#[test]
fn documented_example_runs_as_shown() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
    let example = std::fs::read_to_string(format!("{root}/examples/study.toml")).expect("a file");
    let page = std::fs::read_to_string(format!("{root}/study.md")).expect("a page");
    let shown: String = example
        .lines()
        .skip(2)
        .map(|line| format!("{line}\n"))
        .collect();
    assert!(page.contains(&shown), "docs/study.md shows another study");
    let scratch = scratch("example", &example);
    let (code, stdout, errors) = study(&scratch, &[]);
    assert_eq!((code, errors.as_str()), (0, ""));
    for line in stdout.lines() {
        assert!(page.contains(line), "docs/study.md does not show: {line}");
    }
}
