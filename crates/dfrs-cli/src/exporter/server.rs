//! The exporter's HTTP server.

use std::net::SocketAddr;

use tiny_http::{Header, Method, Request, Response, Server};

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PLAIN: &str = "text/plain; charset=utf-8";

/// Serves these metrics, asked for anew each time, until the process is ended.
///
/// # Errors
///
/// The address cannot be had.
pub(super) fn serve(address: SocketAddr, metrics: &dyn Fn() -> String) -> Result<(), String> {
    let server = Server::http(address)
        .map_err(|error| format!("{address}: {error}; give another one with --listen"))?;
    for request in server.incoming_requests() {
        answer(request, metrics);
    }
    Ok(())
}

/// Answers one request; a client that has gone away is none of our business.
pub(super) fn answer(request: Request, metrics: &dyn Fn() -> String) {
    let known = matches!(request.method(), Method::Get | Method::Head);
    let place = request.url().split('?').next().unwrap_or_default();
    let (code, kind, text) = match place {
        _ if !known => (405, PLAIN, "only GET\n".to_owned()),
        "/metrics" => (200, OPEN_METRICS, metrics()),
        "/healthz" => (200, PLAIN, "ok\n".to_owned()),
        "/" => (
            200,
            PLAIN,
            "dfrs exporter: the metrics are at /metrics\n".to_owned(),
        ),
        _ => (404, PLAIN, "the metrics are at /metrics\n".to_owned()),
    };
    let response = Response::from_string(text).with_status_code(code);
    let header = Header::from_bytes(&b"Content-Type"[..], kind.as_bytes());
    let _ = request.respond(match header {
        Ok(header) => response.with_header(header),
        Err(()) => response,
    });
}
