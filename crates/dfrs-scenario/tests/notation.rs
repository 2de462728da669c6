//! What the notation means, and the errors for malformed texts.

use dfrs_core::{
    Amount, Bytes, Cores, JobState, LoadCeiling, Mobility, NodeIndex, NodeSet, NodeState, Span,
    Time, Weight,
};
use dfrs_scenario::{Scenario, print, read, rewritten};

const FILE: &str = "\
scenario everything that can be said
# A note.
#
policy GreedyPM*/per/OPT=MIN/MINVT=600 period=300s penalty=30s priority=flow/vt load-ceiling=300% moves-per-decision=3 moves-per-job=2 keep-equal-jobs
now 1000.25s
nodes n[0-2] cpu=4 memory=64G swap=8G
nodes \"odd name\" cpu=0.25 memory=1536M held=2B ending=1B rigid=2,0 draining
nodes big cpu=128 memory=1T down
jobs 7-8 tasks=2 cpu=4 memory=40G submit=10s virtual-time=600s running=n0*2
job 9 cpu=2 memory=32G memory-per-node=1G max-tasks-per-node=1 max-nodes=2 min-nodes=1 eligible=n[0-2],#3 rigid=1 rigid-per-node=0,4 weight=1.5 comes-first recent-moves=2 mobility=park locked parked=n1
job 12 cpu=0 memory=0 paused
job 13 cpu=1 memory=1G eligible=none running=n0*5,n1*2,#9
event ended
event nodes
event submitted 7-9 12
event period
----
pause 7: makes room for 9
start 9 on n[0-1]*5: fits
migrate 8 on none: remap
resume 12 on #3*2: breaks cycle
pause 13: does not fit remap
yield 7-8,12 0.3333333333333333
yield 9 NaN: fits
waits 13-14,16: memory
waits 15: never fits
violation error: any text: whatever
";

fn only(text: &str) -> Scenario {
    let mut scenarios = read(text, "file", dfrs_papers::policy).expect("a scenario");
    assert_eq!(scenarios.len(), 1);
    scenarios.remove(0)
}

#[test]
fn canonical_text_round_trips() {
    assert_eq!(
        print(&read(FILE, "file", dfrs_papers::policy).unwrap()),
        FILE
    );
    let two = format!("{FILE}\n{FILE}");
    assert_eq!(
        print(&read(&two, "file", dfrs_papers::policy).unwrap()),
        two
    );
}

#[test]
fn every_setting_is_read_into_its_field() {
    let scenario = only(FILE);
    assert_eq!(scenario.title, "everything that can be said");
    assert_eq!(scenario.notes, ["A note.", ""]);
    assert_eq!(scenario.now, Time(1_000_250_000));
    let settings = &scenario.policy.settings;
    assert_eq!(settings.period, Span::from_seconds(300));
    assert_eq!(settings.load_ceiling, Some(LoadCeiling::from_percent(300)));
    assert_eq!(settings.budget.moves_per_job, Some(2));
    assert!(settings.keep_equal_jobs);
    let nodes = &scenario.cluster.nodes;
    assert_eq!(nodes.len(), 5);
    assert_eq!(
        (nodes[2].name.as_str(), nodes[2].swap),
        ("n2", Bytes(8 << 30))
    );
    assert_eq!(
        (nodes[3].name.as_str(), nodes[3].cpu),
        ("odd name", Cores(250_000))
    );
    assert_eq!(nodes[3].rigid, [Amount(2), Amount(0)]);
    let states = [nodes[2].state, nodes[3].state, nodes[4].state];
    assert_eq!(
        states,
        [NodeState::Up, NodeState::Draining, NodeState::Down]
    );
    let jobs = &scenario.cluster.jobs;
    assert_eq!(jobs[2].rigid_per_node, [Amount(0), Amount(4)]);
    assert_eq!(jobs[0].state, jobs[1].state);
    assert_eq!(jobs[0].running_on().unwrap().tasks_on(NodeIndex(0)), 2);
    let job = &jobs[2];
    assert_eq!(
        job.layout.eligible.as_deref(),
        Some(&[0, 1, 2, 3].map(NodeIndex)[..])
    );
    assert_eq!(
        (job.weight, job.mobility, job.locked),
        (Weight(1500), Mobility::Park, true)
    );
    assert_eq!(jobs[3].state, JobState::Paused);
    assert_eq!(jobs[4].layout.eligible, Some(NodeSet::default()));
    let tasks: Vec<u32> = jobs[4]
        .running_on()
        .unwrap()
        .iter()
        .map(|run| run.tasks)
        .collect();
    assert_eq!(tasks, [5, 2, 1]);
    let expected = scenario.expected.unwrap();
    assert_eq!(expected.plan.actions.len(), 9);
    assert_eq!(expected.blocked.len(), 4);
}

#[test]
fn alternative_spellings_are_normalized() {
    let scenario = only(
        "# what is above the title is about the file\r\n\
         scenario\tx\n\
         node a cpu=250m memory=1.5G\n\
         # in between\n\
         now 1.5h\n\n\
         job 1 running=a,a memory=0 cpu=1 tasks=2 virtual-time=2m\n\
         policy dynmcb8-per-300\n\
         event submitted 1,2 4\n",
    );
    assert!(scenario.notes.is_empty() && scenario.expected.is_none());
    let text = scenario.to_string();
    assert_eq!(
        text,
        "scenario x\n\
         policy DYNMCB8-PER-300\n\
         now 5400s\n\
         nodes a cpu=0.25 memory=1536M\n\
         job 1 tasks=2 cpu=1 memory=0 virtual-time=120s running=a*2\n\
         event submitted 1-2 4\n"
    );
}

/// The error for a text, its place in the file first.
fn error(text: &str) -> String {
    read(text, "f", dfrs_papers::policy)
        .expect_err(text)
        .to_string()
}

#[test]
fn errors_name_the_line_and_the_remedy() {
    let begin = "scenario x\npolicy Greedy*\nnow 0s\n";
    for (line, expected) in [
        (
            "nope",
            "f:4: 'nope' begins no line; known are scenario, policy, now, nodes, job, event, ---- and #",
        ),
        ("now 1s", "f:4: 'now' is given twice; leave one"),
        (
            "now soon",
            "f:4: 'now' must be a time with its unit (s, m, h or d), e.g. 90s or 1.5h",
        ),
        (
            "policy Greedy",
            "f:4: policy \"Greedy\": a job that does not fit at submission would wait for ever; add * or /per",
        ),
        (
            "nodes n[0-1 cpu=1 memory=0",
            "f:4: '?' is no range of numbers; write e.g. n[0-3,7]",
        ),
        ("nodes n cpu=1", "f:4: 'memory' is missing; add memory=..."),
        (
            "nodes n cpu=1 memory=64",
            "f:4: 'memory' is '64', but must be memory with its unit (B, K, M, G, T, P or E), e.g. 64G or 1.5G",
        ),
        (
            "nodes n cpu=1 memory=0 gpus=1",
            "f:4: 'gpus' is not known; known are cpu, memory, swap, held, ending, weight, rigid, draining, down",
        ),
        (
            "nodes #1 cpu=1 memory=0",
            "f:4: '#1' is a position, not a name; quote it if it is one",
        ),
        (
            "job 1 cpu=1 memory=0 running=n0",
            "f:4: there is no node 'n0'; declare it in a line 'nodes' above",
        ),
        (
            "job 1 cpu=1 memory=0 paused running=none",
            "f:4: a job is running, parked or paused, not several of these; leave one beside 'none'",
        ),
        (
            "job one cpu=1 memory=0",
            "f:4: 'one' is no job; write its number, or e.g. 7-9,12",
        ),
        (
            "event submitted",
            "f:4: an event is one of: ended, submitted JOB..., nodes, period",
        ),
        (
            "job 1 cpu=1 memory=0\nnodes n cpu=1 memory=0",
            "f:5: nodes are declared before the jobs; move this line up",
        ),
        (
            "nodes n cpu=1 memory=0\njob 1 cpu=1 memory=0 running=n*0",
            "f:5: 'n*0' has no number of tasks behind *; write e.g. n0*2",
        ),
        (
            "nodes n,m cpu=1 memory=0\njob 1 cpu=1 memory=0 running=n*1+1,m",
            "f:5: 'n*1+1' has no number of tasks behind *; write e.g. n0*2",
        ),
        (
            "job 0-9999999 cpu=1 memory=0",
            "f:4: too much is described; split the file, or make its lists shorter",
        ),
        (
            "nodes n[0-99999] cpu=1 memory=0",
            "f:4: '0-99999' stands for more than 65536 nodes; shorten it",
        ),
        (
            "----\nstart 1",
            "f:5: 'start' begins nothing that can be expected; write e.g. 'start 7 on n[0-1]: fits', 'pause 3: makes room for 7', 'yield 7,9-12 0.5', 'waits 8: memory' or 'violation ...'",
        ),
        (
            "----\npause 1",
            "f:5: a reason is one of: fits, remap, does not fit remap, less load, breaks cycle, share, makes room for JOB",
        ),
        (
            "----\nwaits 1: patiently",
            "f:5: what a job waits for is one of: never fits, memory, cpu, own nodes full, nodes unavailable, reserved, not now, devices KIND",
        ),
        ("job 1 cpu=\"", "f:4: a quote is opened and not closed"),
    ] {
        assert_eq!(error(&format!("{begin}{line}\n")), expected);
    }
    assert_eq!(
        error(""),
        "f:1: holds no scenario; begin with 'scenario TITLE'"
    );
    assert_eq!(
        error("now 0s"),
        "f:1: belongs to no scenario; begin with 'scenario TITLE'"
    );
    assert_eq!(
        error("scenario x\nnow 0s"),
        "f:1: it has no policy; add 'policy NAME'"
    );
    assert_eq!(
        error("scenario x\npolicy Greedy*\nscenario y\n"),
        "f:3: the scenario of line 1 is not complete: it has no time; add e.g. 'now 1000s'"
    );
}

#[test]
fn rewriting_changes_what_is_expected_and_nothing_else() {
    let given = "\
# About the file.

scenario nothing is expected
# A note.
policy Greedy*
now   10s
  nodes n cpu=1 memory=1G
job 1 cpu=1 memory=1G
# Inside.
event submitted 1

# About the next one.
scenario something else is expected
policy Greedy*
now 10s
event ended
----
start 1 on none: fits
# It does not stay.
pause 1: remap

scenario this is as expected
policy Greedy*
now 10s
event ended
----
# It stays.
";
    let rewritten_once = rewritten(given, "f", dfrs_papers::policy).unwrap();
    let expected = given
        .replace(
            "event submitted 1\n",
            "event submitted 1\n----\nstart 1 on n: fits\nyield 1 1\n",
        )
        .replace(
            "start 1 on none: fits\n# It does not stay.\npause 1: remap\n",
            "",
        );
    assert_eq!(rewritten_once, expected);
    assert_eq!(
        rewritten(&rewritten_once, "f", dfrs_papers::policy).unwrap(),
        rewritten_once
    );
}

#[test]
fn the_example_of_the_documentation_is_right() {
    let page = include_str!("../../../docs/simulator.md");
    let mut blocks = page.split("```");
    let example = blocks.find(|block| block.starts_with("\nscenario "));
    let example = example.expect("an example").trim_start();
    assert_eq!(
        rewritten(example, "docs/simulator.md", dfrs_papers::policy).unwrap(),
        example
    );
}
