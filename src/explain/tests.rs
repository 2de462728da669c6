//! Clients of every kind; which users may know what.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Instant;

use dfrs_proto::explain::{ExplainResponse, LastDecision, SOCKET};
use rustix::event::PollFlags;

use super::*;
use client::{ANSWER_TIMEOUT, CLIENT_TIMEOUT, Client, ClientAction};

/// A directory that is removed when the test ends.
struct SocketDirectory(PathBuf);

impl SocketDirectory {
    fn new(name: &str) -> Self {
        let name = format!("dfrs-explain-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }
}

impl Drop for SocketDirectory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn job(id: u32, user: u32) -> Explanation {
    Explanation {
        version: 1,
        job: id,
        user,
        co_located: 1,
        co_located_jobs: vec![99],
        last_change: Some(LastDecision {
            why: "preempted by the new job 99".to_owned(),
            ..LastDecision::default()
        }),
        ..Explanation::default()
    }
}

/// The client is root or SlurmUser here, as the server runs as the same user.
fn read_answer(stream: UnixStream) -> ExplainResponse {
    let mut line = String::new();
    BufReader::new(stream)
        .read_line(&mut line)
        .expect("an answer");
    serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
}

/// Answers like the scheduler's thread until the test is done.
fn answering(explainer: &Explainer, test: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let test = scope.spawn(test);
        while !test.is_finished() {
            explainer.answer(|question| (question.job == 17).then(|| job(17, 1000)));
            std::thread::yield_now();
        }
    });
}

#[test]
fn question_is_answered_while_other_clients_misbehave() {
    let scratch = SocketDirectory::new("answered");
    let explainer = Explainer::start(&scratch.0, &Log::discarding()).expect("listens");
    let path = scratch.0.join(SOCKET);
    let mode = fs::metadata(&path).expect("is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o666);
    let connect = || UnixStream::connect(&path).expect("connects");
    let ask = |text: &str| {
        let mut stream = connect();
        stream.write_all(text.as_bytes()).expect("asks");
        stream
    };
    answering(&explainer, || {
        // Some send nothing, some half of it, some go away at once or before an answer, one never
        // reads.
        let silent: Vec<UnixStream> = (0..3).map(|_| connect()).collect();
        let half = ask("{\"version\":1,");
        drop(ask(""));
        drop(ask("{\"version\":1,\"job\":17}\n"));
        let deaf = ask("{\"version\":1,\"job\":17}\n");
        assert_eq!(
            read_answer(ask("{\"version\":1,\"job\":17}\n")),
            ExplainResponse::Job(Box::new(job(17, 1000)))
        );
        let ExplainResponse::Refused(why) = read_answer(ask("{\"version\":1,\"job\":18}\n")) else {
            panic!("there is no such job")
        };
        assert_eq!(why, "no such job in a partition of DFRS");
        for (text, part) in [
            ("GET / HTTP/1.1\n", "invalid request"),
            ("{\"version\":2,\"job\":17}\n", "version 2"),
            (&"x".repeat(256), "too long"),
            ("{\"version\":1,\"job\":-1}\n", "invalid request"),
        ] {
            let ExplainResponse::Refused(why) = read_answer(ask(text)) else {
                panic!("{text} was answered")
            };
            assert!(why.contains(part), "{why}");
        }
        drop((silent, half, deaf));
    });
    drop(explainer);
    assert!(!path.exists());
}

#[test]
fn clients_beyond_the_limit_are_closed() {
    let scratch = SocketDirectory::new("many");
    let explainer = Explainer::start(&scratch.0, &Log::discarding()).expect("listens");
    let connect = || UnixStream::connect(scratch.0.join(SOCKET));
    answering(&explainer, || {
        // Clients that are too many are closed; the rest hold their places until they time out.
        let clients: Vec<UnixStream> = (0..100).filter_map(|_| connect().ok()).collect();
        let mut closed = 0;
        for mut stream in clients {
            stream
                .set_read_timeout(Some(CLIENT_TIMEOUT * 5))
                .expect("a time-out");
            closed += usize::from(matches!(stream.read(&mut [0]), Ok(0) | Err(_)));
        }
        assert_eq!(closed, 100, "all are closed in the end");
        let mut stream = connect().expect("there is room again");
        stream
            .write_all(b"{\"version\":1,\"job\":17}\n")
            .expect("asks");
        assert!(matches!(read_answer(stream), ExplainResponse::Job(_)));
    });
}

#[test]
fn stale_socket_is_replaced_and_other_files_are_not() {
    let scratch = SocketDirectory::new("place");
    let path = scratch.0.join(SOCKET);
    drop(std::os::unix::net::UnixListener::bind(&path).expect("binds"));
    assert!(path.exists());
    let first = Explainer::start(&scratch.0, &Log::discarding()).expect("takes its place");
    // A backup controller takes over; then the first one ends.
    let second = Explainer::start(&scratch.0, &Log::discarding()).expect("takes over");
    drop(first);
    assert!(path.exists());
    drop(second);
    assert!(!path.exists());
    fs::write(&path, "precious").expect("writes");
    let error = Explainer::start(&scratch.0, &Log::discarding()).err();
    assert!(
        error
            .expect("is refused")
            .to_string()
            .contains("is no socket")
    );
    assert_eq!(fs::read_to_string(&path).expect("is there"), "precious");
}

fn requester(user: u32, sees_all: bool) -> Requester {
    Requester { user, sees_all }
}

#[test]
fn users_see_their_own_jobs_only_and_no_other_job_ids() {
    let ExplainResponse::Job(own) = answer::visible_to(requester(1000, false), Some(job(17, 1000)))
    else {
        panic!("is theirs")
    };
    assert_eq!((own.co_located, own.co_located_jobs.len()), (1, 0));
    let text = serde_json::to_string(&own).expect("JSON");
    assert!(!text.contains("99"), "{text}");
    let of_others = answer::visible_to(requester(1001, false), Some(job(17, 1000)));
    assert_eq!(of_others, answer::visible_to(requester(1001, false), None));
    let all = answer::visible_to(requester(0, true), Some(job(17, 1000)));
    assert_eq!(all, ExplainResponse::Job(Box::new(job(17, 1000))));
}

#[test]
fn slow_client_times_out_and_waiting_client_is_refused() {
    let (near, far) = UnixStream::pair().expect("a pair");
    far.set_nonblocking(true).expect("is set");
    let start = Instant::now();
    let mut client = Client::new(far, requester(1000, false), start);
    assert_eq!(client.deadline(), start + CLIENT_TIMEOUT);
    (&near)
        .write_all(b"{\"version\":1,\"job\":17}")
        .expect("asks");
    assert_eq!(client.on_ready(PollFlags::IN, start), ClientAction::Stay);
    (&near).write_all(b"\n").expect("asks");
    assert!(matches!(
        client.on_ready(PollFlags::IN, start),
        ClientAction::Ask(_)
    ));
    assert_eq!(client.deadline(), start + ANSWER_TIMEOUT);
    assert_eq!(client.on_timeout(start), ClientAction::Stay);
    assert_eq!(client.on_ready(PollFlags::OUT, start), ClientAction::Close);
    drop(client);
    let ExplainResponse::Refused(why) = read_answer(near) else {
        panic!("there is no answer")
    };
    assert!(why.contains("busy"), "{why}");
}
