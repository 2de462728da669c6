use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;

use super::*;

const EXAMPLE: &str = include_str!("../status/example.json");

fn example() -> String {
    let status: Status = serde_json::from_str(EXAMPLE).expect("an example");
    metrics::encoded(Some(&status), status.written + 1.0)
}

#[test]
fn names_and_values_are_those_of_the_file() {
    let text = example();
    for line in [
        "dfrs_status_readable 1.0",
        "dfrs_healthy 1.0",
        "dfrs_jobs{state=\"waiting\"} 3.0",
        "dfrs_nodes_silent 1.0",
        "dfrs_breaker_state{state=\"closed\"} 1.0",
        "dfrs_breaker_state{state=\"open\"} 0.0",
        "dfrs_breaker_trips_total 0",
        "# TYPE dfrs_pass_duration_seconds histogram",
        "# UNIT dfrs_pass_duration_seconds seconds",
        "# EOF",
    ] {
        assert!(
            text.lines().any(|found| found == line),
            "{line:?} is not in\n{text}"
        );
    }
    assert!(
        text.contains("dfrs_lock_held_seconds_bucket{le=\"+Inf\",lock=\"read\"}")
            || text.contains("dfrs_lock_held_seconds_bucket{lock=\"read\",le=\"+Inf\"}"),
        "{text}"
    );
}

#[test]
fn a_file_that_cannot_be_read_is_a_metric() {
    let text = exposition(Path::new("/nonexistent/dfrs_status.json"));
    assert!(text.contains("dfrs_status_readable 0.0"), "{text}");
    assert!(!text.contains("dfrs_jobs"), "{text}");
}

#[test]
fn buckets_grow_and_the_last_has_all() {
    let text = example();
    let name = "dfrs_pass_duration_seconds_bucket";
    let counts: Vec<u64> = text
        .lines()
        .filter(|line| line.starts_with(name))
        .filter_map(|line| line.rsplit(' ').next()?.parse().ok())
        .collect();
    assert_eq!(counts.len(), 13, "{text}");
    assert!(counts.is_sorted(), "{counts:?}");
    let status: Status = serde_json::from_str(EXAMPLE).expect("an example");
    let in_file: u64 = status
        .passes
        .wall
        .buckets
        .iter()
        .map(|(_, count)| count)
        .sum();
    assert_eq!(counts.last(), Some(&in_file));
}

#[test]
fn the_older_format_names_metadata_as_the_samples() {
    let text = textfile::of(&example());
    assert!(
        !text.contains("# UNIT") && !text.contains("# EOF"),
        "{text}"
    );
    let described: BTreeSet<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next())
        .collect();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let name = line.split(['{', ' ']).next().expect("a name");
        let base = ["_bucket", "_sum", "_count"].iter().find_map(|suffix| {
            name.strip_suffix(suffix)
                .filter(|base| described.contains(base))
        });
        assert!(
            described.contains(base.unwrap_or(name)),
            "{name} has no type"
        );
    }
}

/// All words that look like a metric.
fn named(text: &str) -> BTreeSet<&str> {
    let words = text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
    words.filter(|word| word.starts_with("dfrs_")).collect()
}

#[test]
fn what_the_board_and_the_alerts_ask_for_is_exported() {
    let text = textfile::of(&example());
    let exported = named(&text);
    for (file, asks) in [
        (
            "grafana-dfrs.json",
            include_str!("../../../../monitoring/grafana-dfrs.json"),
        ),
        (
            "alerts.yml",
            include_str!("../../../../monitoring/alerts.yml"),
        ),
    ] {
        let unknown: Vec<&str> = named(asks).difference(&exported).copied().collect();
        assert!(unknown.is_empty(), "{file}: {unknown:?} are not exported");
    }
    let board = include_str!("../../../../monitoring/grafana-dfrs.json");
    let board: serde_json::Value = serde_json::from_str(board).expect("JSON");
    assert!(
        board["panels"]
            .as_array()
            .is_some_and(|panels| panels.len() >= 8)
    );
}

#[test]
fn requests_are_answered_over_http() {
    let server = tiny_http::Server::http("127.0.0.1:0").expect("a port");
    let address = server.server_addr().to_ip().expect("an address");
    let ask = |line: &str| {
        let mut stream = TcpStream::connect(address).expect("connects");
        write!(
            stream,
            "{line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        )
        .expect("asks");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for request in server.incoming_requests().take(4) {
                server::answer(request, Path::new("/nonexistent"));
            }
        });
        let metrics = ask("GET /metrics?x=y");
        assert!(metrics.starts_with("HTTP/1.1 200"), "{metrics}");
        assert!(
            metrics.contains("application/openmetrics-text"),
            "{metrics}"
        );
        assert!(metrics.trim_end().ends_with("# EOF"), "{metrics}");
        assert!(ask("GET /healthz").starts_with("HTTP/1.1 200"));
        assert!(ask("GET /etc/passwd").starts_with("HTTP/1.1 404"));
        assert!(ask("POST /metrics").starts_with("HTTP/1.1 405"));
    });
}
