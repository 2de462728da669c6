//! The exporter's HTTP server: one request a connection, of which nothing but the head is read.
//!
//! Any client that can reach it may send any request: what one client costs is bounded in memory,
//! time and threads.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::connections::{ConnectionGuard, OpenConnections};

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PLAIN: &str = "text/plain; charset=utf-8";

/// The most clients that are answered at the same time. One more replaces the slowest client; if
/// all of them wait for their answer, it is refused.
const MAX_CLIENTS: usize = 16;

/// What was found is the answer to all requests within this time.
const CACHE_TIME: Duration = Duration::from_secs(1);

/// A client has this time to send its request, and again to take the answer.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(5);

/// Bytes and lines of a request before its body.
const MAX_HEAD_BYTES: usize = 8192;
const MAX_HEADERS: usize = 64;

/// What is served: the metrics of now.
pub(super) type Metrics<'a> = &'a (dyn Fn() -> String + Sync);

/// Serves these metrics, found again for each request, until the process is ended.
///
/// # Errors
///
/// The address cannot be had.
pub(super) fn serve(address: SocketAddr, metrics: Metrics) -> Result<(), String> {
    let listener = TcpListener::bind(address)
        .map_err(|error| format!("{address}: {error}; give another one with --listen"))?;
    let last = Mutex::new(None);
    listen(&listener, &|| cached(&last, metrics), usize::MAX);
    Ok(())
}

/// The metrics, found for one client at a time, and shared by all clients that wait meanwhile.
fn cached(last: &Mutex<Option<(Instant, String)>>, metrics: Metrics) -> String {
    let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, text)) = last
        .as_ref()
        .filter(|(found, _)| found.elapsed() < CACHE_TIME)
    {
        return text.clone();
    }
    let text = metrics();
    *last = Some((Instant::now(), text.clone()));
    text
}

/// Answers so many clients, each in a thread of its own.
pub(super) fn listen(listener: &TcpListener, metrics: Metrics, clients: usize) {
    let busy = AtomicUsize::new(0);
    let waiting = OpenConnections::default();
    std::thread::scope(|scope| {
        for (number, stream) in listener.incoming().take(clients).enumerate() {
            let Ok(stream) = stream else {
                // No file descriptor is left, for example: wait before the next try.
                std::thread::sleep(Duration::from_millis(100));
                continue;
            };
            if busy.fetch_add(1, Ordering::Relaxed) >= MAX_CLIENTS && !waiting.close_oldest() {
                busy.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            let (busy, waiting) = (&busy, &waiting);
            let waits = waiting.with(number, &stream);
            let answer = move || {
                // A client that has gone away is none of our business.
                let _ = waits.and_then(|waits| answer(stream, metrics, (waits, waiting, number)));
                busy.fetch_sub(1, Ordering::Relaxed);
            };
            if std::thread::Builder::new()
                .spawn_scoped(scope, answer)
                .is_err()
            {
                busy.fetch_sub(1, Ordering::Relaxed);
            }
        }
    });
}

/// Answers one request.
fn answer(
    mut stream: TcpStream,
    metrics: Metrics,
    (waits, waiting, number): (ConnectionGuard<'_>, &OpenConnections, usize),
) -> std::io::Result<()> {
    let until = Instant::now() + CLIENT_TIMEOUT;
    let head = read_head(&mut stream, until)?;
    drop(waits);
    let (code, kind, text) = response(&head, metrics);
    let length = text.len();
    let _waits = waiting.with(number, &stream)?;
    stream.set_write_timeout(Some(CLIENT_TIMEOUT))?;
    write!(
        stream,
        "HTTP/1.1 {code}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    )?;
    if !head.starts_with(b"HEAD ") {
        stream.write_all(text.as_bytes())?;
    }
    // What the client still sends is read for a while: closed at once, the connection could lose
    // the answer.
    stream.shutdown(Shutdown::Write)?;
    let mut rest = [0; MAX_HEAD_BYTES];
    while read_some(&mut stream, &mut rest, until)? > 0 {}
    Ok(())
}

/// The request up to its body, or as much of it as is read.
fn read_head(stream: &mut TcpStream, until: Instant) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut piece = [0; 1024];
    while head.len() < MAX_HEAD_BYTES && !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = read_some(stream, &mut piece, until)?;
        if read == 0 {
            break;
        }
        head.extend_from_slice(&piece[..read]);
    }
    Ok(head)
}

/// Reads as `read` does, before this moment.
fn read_some(stream: &mut TcpStream, piece: &mut [u8], until: Instant) -> std::io::Result<usize> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(std::io::ErrorKind::TimedOut.into());
    }
    stream.set_read_timeout(Some(left))?;
    stream.read(piece)
}

/// Status, type and text of the answer.
fn response(head: &[u8], metrics: Metrics) -> (&'static str, &'static str, String) {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let is_whole = request.parse(head).is_ok_and(|parsed| parsed.is_complete());
    let (Some(method), Some(target), true) = (request.method, request.path, is_whole) else {
        return ("400 Bad Request", PLAIN, "no request\n".to_owned());
    };
    let place = target.split('?').next().unwrap_or_default();
    match place {
        _ if !matches!(method, "GET" | "HEAD") => {
            ("405 Method Not Allowed", PLAIN, "only GET\n".to_owned())
        }
        "/metrics" => ("200 OK", OPEN_METRICS, metrics()),
        "/healthz" => ("200 OK", PLAIN, "ok\n".to_owned()),
        "/" => (
            "200 OK",
            PLAIN,
            "dfrs exporter: the metrics are at /metrics\n".to_owned(),
        ),
        _ => (
            "404 Not Found",
            PLAIN,
            "the metrics are at /metrics\n".to_owned(),
        ),
    }
}
