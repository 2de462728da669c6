use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

use dfrs_proto::status::Status;

use super::*;
use crate::doctor::host::FileOwner;

const EXAMPLE: &str = include_str!("../status/example.json");

fn example() -> String {
    let status: Status = serde_json::from_str(EXAMPLE).expect("an example");
    metrics::encoded(Some(&status), status.written + 1.0)
}

#[test]
fn metrics_are_those_of_the_status_file() {
    let text = example();
    for line in [
        "dfrs_status_readable 1.0",
        "dfrs_healthy 1.0",
        "dfrs_jobs{state=\"waiting\"} 3.0",
        "dfrs_nodes_silent 1.0",
        "dfrs_jobs_waiting{cause=\"devices\"} 1.0",
        "dfrs_devices{kind=\"gpu\"} 8.0",
        "dfrs_devices_held{kind=\"gpu:a100\"} 4.0",
        "dfrs_devices_free{kind=\"gpu\"} 2.0",
        "dfrs_device_jobs 2.0",
        "dfrs_device_jobs_waiting{cause=\"devices\"} 1.0",
        "dfrs_yield{statistic=\"lowest\"} 0.25",
        "dfrs_stretch{statistic=\"largest\"} 3.5",
        "dfrs_jobs_submitted_total 9",
        "dfrs_actions_total{action=\"suspend\"} 2",
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

/// What dfrsd says with --json, or none.
struct Node(Option<&'static str>);

impl Host for Node {
    fn run(&self, program: &str, arguments: &[&str]) -> Result<String, String> {
        assert_eq!(
            (program, arguments),
            ("dfrsd", &["status", "--json", "--node", "n1"][..])
        );
        self.0
            .map(str::to_owned)
            .ok_or_else(|| "no answer".to_owned())
    }

    fn read(&self, _: &Path) -> std::io::Result<Vec<u8>> {
        unreachable!("no file is read")
    }

    fn owner(&self, _: &Path) -> std::io::Result<FileOwner> {
        unreachable!("no file is looked at")
    }

    fn variable(&self, _: &str) -> Option<String> {
        None
    }
}

const NODE: &str = r#"{"v":1,"software":"0.1.0","node":"n1","cgroup":"v2","generation":5,"heard_seconds_ago":1.5,
    "time_to_live":60,"failed_open":false,"capacity_cores":2.0,"slurm_cpus":2,"swap_bytes":1048576,"jobs":[
    {"id":1,"share":0.5,"cap_cores":1.0,"present":true,"frozen":false,"parked":false,"cpu_seconds":3.0,
     "throttled_seconds":0.5,"resident_bytes":100,"swap_bytes":0},
    {"id":2,"share":0.25,"cap_cores":null,"present":true,"frozen":true,"parked":true,"cpu_seconds":1.0,
     "throttled_seconds":null,"resident_bytes":10,"swap_bytes":4096}]}"#;

fn node_example() -> String {
    node_exposition(&Node(Some(NODE)), Some("n1")).text
}

#[test]
fn node_metrics_cover_the_status_of_dfrsd() {
    let text = node_example();
    for line in [
        "dfrsd_up 1.0",
        "dfrsd_cpu_capacity_cores 2.0",
        "dfrsd_swap_bytes 1048576.0",
        "dfrsd_caps_lifted 0.0",
        "dfrsd_orders_age_seconds 1.5",
        "dfrsd_jobs{state=\"running\"} 1.0",
        "dfrsd_jobs{state=\"parked\"} 1.0",
        "dfrsd_jobs{state=\"freezing\"} 0.0",
        "dfrsd_jobs_share_ratio 0.5",
        "dfrsd_jobs_resident_bytes 110.0",
        "dfrsd_jobs_swapped_bytes 4096.0",
        "dfrsd_jobs_cpu_seconds 4.0",
        "dfrsd_jobs_throttled_seconds 0.5",
    ] {
        assert!(
            text.lines().any(|found| found == line),
            "{line:?} is not in\n{text}"
        );
    }
    let silent = node_exposition(&Node(None), Some("n1")).text;
    assert!(
        silent.contains("dfrsd_up 0.0") && !silent.contains("dfrsd_jobs"),
        "{silent}"
    );
}

#[test]
fn unreadable_status_file_is_exported_as_metric() {
    let text = exposition(Path::new("/nonexistent/dfrs_status.json")).text;
    assert!(text.contains("dfrs_status_readable 0.0"), "{text}");
    assert!(!text.contains("dfrs_jobs"), "{text}");
}

#[test]
fn histogram_buckets_are_cumulative() {
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
fn textfile_metadata_is_named_like_its_samples() {
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
    words
        .filter(|word| word.starts_with("dfrs_") || word.starts_with("dfrsd_"))
        .collect()
}

#[test]
fn metrics_of_dashboard_and_alerts_are_exported() {
    let text = textfile::of(&(example() + &node_example()));
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

/// What the server answers to these bytes; the connection stays open for writing.
fn send_request(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("connects");
    stream.write_all(request.as_bytes()).expect("asks");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

/// Runs `body` with the address of a server that answers so many clients.
fn with_server(clients: usize, body: impl FnOnce(SocketAddr)) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let metrics = || exposition(Path::new("/nonexistent")).text;
            server::listen(&listener, &metrics, clients);
        });
        body(address);
    });
}

#[test]
fn requests_are_answered_over_http() {
    with_server(6, |address| {
        let send = |line| send_request(address, &format!("{line} HTTP/1.1\r\nHost: x\r\n\r\n"));
        let metrics = send("GET /metrics?x=y");
        assert!(metrics.starts_with("HTTP/1.1 200"), "{metrics}");
        assert!(
            metrics.contains("application/openmetrics-text"),
            "{metrics}"
        );
        assert!(metrics.trim_end().ends_with("# EOF"), "{metrics}");
        assert!(send("HEAD /metrics").ends_with("\r\n\r\n"));
        assert!(send("GET /healthz").starts_with("HTTP/1.1 200"));
        assert!(send("GET /etc/passwd").starts_with("HTTP/1.1 404"));
        assert!(send("POST /metrics").starts_with("HTTP/1.1 405"));
        assert!(send("nonsense").starts_with("HTTP/1.1 400"));
    });
}

#[test]
fn silent_client_and_large_body_do_not_block_others() {
    with_server(4, |address| {
        let silent = TcpStream::connect(address).expect("connects");
        let mut promises = TcpStream::connect(address).expect("connects");
        promises
            .write_all(b"POST /metrics HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\nx")
            .expect("asks");
        let healthy = "GET /healthz HTTP/1.1\r\n\r\n";
        assert!(send_request(address, healthy).starts_with("HTTP/1.1 200"));
        let endless = format!("GET / HTTP/1.1\r\nx: {}", "y".repeat(20_000));
        assert!(send_request(address, &endless).starts_with("HTTP/1.1 400"));
        let mut refused = String::new();
        promises.read_to_string(&mut refused).expect("an answer");
        assert!(refused.starts_with("HTTP/1.1 405"), "{refused}");
        drop(silent);
    });
}

#[test]
fn oldest_slow_client_is_closed_for_new_ones() {
    let slow = 40;
    with_server(slow + 2, |address| {
        let connect = |_| {
            let mut stream = TcpStream::connect(address).expect("connects");
            let _ = stream.write_all(b"GET "); // it may have had to go already
            stream
        };
        let slow: Vec<TcpStream> = (0..slow).map(connect).collect();
        let began = std::time::Instant::now();
        for _ in 0..2 {
            let answer = send_request(address, "GET /healthz HTTP/1.1\r\n\r\n");
            assert!(answer.starts_with("HTTP/1.1 200"), "{answer:?}");
        }
        assert!(began.elapsed() < std::time::Duration::from_secs(4));
        drop(slow);
    });
}

#[test]
fn reason_of_unreadable_file_is_reported() {
    let trouble = exposition(Path::new("/nonexistent")).trouble;
    assert_eq!(
        trouble.as_deref(),
        Some("/nonexistent: No such file or directory (os error 2)")
    );
}
