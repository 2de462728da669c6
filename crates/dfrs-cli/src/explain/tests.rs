use std::io::{BufRead, BufReader};
use std::os::unix::net::UnixListener;

use dfrs_proto::explain::{Explanation, LastDecision, OnNode};

use super::*;

fn example() -> Explanation {
    Explanation {
        version: 1,
        now: 1000.0,
        job: 17,
        user: 1000,
        partition: "shared".to_owned(),
        mode: "full".to_owned(),
        phase: "parked".to_owned(),
        why: Some("DFRS: parked; waits for the next decision".to_owned()),
        last_change: Some(LastDecision {
            at: 990.0,
            what: "pause".to_owned(),
            why: "preempted by a new job".to_owned(),
        }),
        nodes: vec![OnNode {
            name: "n1".to_owned(),
            tasks: 2,
        }],
        node_count: 1,
        tasks: 2,
        cpus_per_task: 1,
        devices: [("gpu".to_owned(), 2)].into(),
        virtual_time: 50.0,
        flow_time: 100.0,
        stretch: Some(2.0),
        priority: 7,
        weight: 1.0,
        mobility: "park".to_owned(),
        recent_moves: 1,
        most_moves: Some(6),
        next_remap: 1300.0,
        co_located: 3,
        co_located_jobs: vec![18, 19, 20],
        notes: vec!["a\u{1b}[31m\nnote".to_owned()],
        ..Explanation::default()
    }
}

/// What `dfrs explain` does with a plugin that answers this.
fn with_answer(name: &str, answer: &str, json: bool) -> CommandOutcome {
    let directory = std::env::temp_dir().join(format!("dfrs-ask-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).expect("a directory");
    let listener = UnixListener::bind(directory.join(SOCKET)).expect("binds");
    let arguments = ExplainArguments {
        job: "17_3".parse().expect("a job"),
        directory: Some(directory.clone()),
        json,
    };
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            let (mut stream, _) = listener.accept().expect("a client connects");
            let mut line = String::new();
            let mut reader = BufReader::new(&stream);
            reader.read_line(&mut line).expect("a question");
            assert_eq!(line, "{\"version\":1,\"job\":17,\"task\":3}\n");
            stream.write_all(answer.as_bytes()).expect("is heard");
        });
        CommandOutcome::of(run(&arguments))
    });
    std::fs::remove_dir_all(directory).expect("cleans up");
    outcome
}

#[test]
fn job_answer_is_printed_one_fact_per_line() {
    let answer = ExplainResponse::Job(Box::new(example()));
    let answer = serde_json::to_string(&answer).expect("JSON");
    let outcome = with_answer("text", &answer, false);
    assert_eq!((outcome.code, outcome.errors.as_str()), (0, ""));
    let expected = "\
JobId=17 uid=1000 in partition shared: parked
why          parked; waits for the next decision
decided      pause 10.0 s ago: preempted by a new job
nodes        n1 (2 tasks); 3 other jobs have places there (18, 19, 20)
asks for     2 x 1 CPU, gpu:2 on each node
yield        0.00 now; has done 50.0 s of work in 100.0 s: stretch 2.00
weight       1 (priority 7)
mobility     park; paused or moved 1 times within an hour of at most 6
next look    when a job is submitted or ends; all jobs are remapped in 5 min
note         a [31m note
";
    assert_eq!(outcome.output, expected);
    let json = with_answer("json", &answer, true).output;
    let back: Explanation = serde_json::from_str(&json).expect("JSON");
    assert_eq!(back, example());
}

#[test]
fn refusal_and_malformed_answer_are_one_line() {
    let refused = serde_json::to_string(&ExplainResponse::Refused("no such job".to_owned()));
    let outcome = with_answer("refused", &refused.expect("JSON"), false);
    assert_eq!(outcome.code, 1);
    assert_eq!(outcome.errors, "dfrs: job 17_3: no such job\n");
    for (name, answer) in [("none", ""), ("odd", "HTTP/1.1 200 OK\n"), ("empty", "{}")] {
        let outcome = with_answer(name, answer, false);
        assert_eq!(outcome.code, 2, "{}", outcome.errors);
        assert_eq!(outcome.errors.lines().count(), 1, "{}", outcome.errors);
    }
}

#[test]
fn job_argument_is_an_id_or_array_task() {
    assert_eq!("17".parse(), Ok(JobArg { id: 17, task: None }));
    for text in ["", "x", "17_", "_3", "17_x", "-1", "4294967296", "17_3_4"] {
        assert!(text.parse::<JobArg>().is_err(), "{text}");
    }
}
