//! One conversation: a line comes in, waits for its answer, a line goes out. No step waits for the client.

use std::io::{self, ErrorKind, Read};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use dfrs_proto::explain::{
    ExplainRequest, ExplainResponse, MAX_REQUEST_BYTES, MAX_RESPONSE_BYTES, VERSION,
};
use rustix::event::PollFlags;
use rustix::net::{SendFlags, send};

use super::Requester;

/// A client has so long to send its question, and so long to read.
pub(super) const CLIENT_TIMEOUT: Duration = Duration::from_secs(2);
/// And the scheduler so long to answer: a pass may take a while.
pub(super) const ANSWER_TIMEOUT: Duration = Duration::from_secs(15);

/// Where it is.
enum ClientState {
    /// What came of the question so far.
    Receiving(Vec<u8>),
    Waiting,
    /// The answer, and how much of it is out.
    Sending(Vec<u8>, usize),
}

/// What is to be done with it next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ClientAction {
    /// The client goes on.
    Stay,
    /// This is to be answered.
    Ask(ExplainRequest),
    /// The client is finished.
    Close,
}

pub(super) struct Client {
    stream: UnixStream,
    pub requester: Requester,
    state: ClientState,
    deadline: Instant,
}

impl Client {
    pub(super) fn new(stream: UnixStream, requester: Requester, now: Instant) -> Self {
        let state = ClientState::Receiving(Vec::new());
        let deadline = now + CLIENT_TIMEOUT;
        Self {
            stream,
            requester,
            state,
            deadline,
        }
    }

    pub(super) fn stream(&self) -> &UnixStream {
        &self.stream
    }

    /// When the client times out.
    pub(super) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// What to wait for on its stream.
    pub(super) fn interest(&self) -> PollFlags {
        match self.state {
            ClientState::Receiving(_) => PollFlags::IN,
            ClientState::Waiting => PollFlags::empty(), // a hang-up is reported in any case
            ClientState::Sending(..) => PollFlags::OUT,
        }
    }

    /// Something happened on its stream.
    pub(super) fn on_ready(&mut self, happened: PollFlags, now: Instant) -> ClientAction {
        let result = match &mut self.state {
            ClientState::Receiving(line) => read(&mut self.stream, line),
            ClientState::Waiting if happened.intersects(PollFlags::HUP | PollFlags::ERR) => {
                Ok(IoProgress::Over)
            }
            ClientState::Waiting => Ok(IoProgress::On),
            ClientState::Sending(answer, out) => write(&self.stream, answer, out),
        };
        match result {
            Ok(IoProgress::On) => ClientAction::Stay,
            Ok(IoProgress::Over) | Err(_) => ClientAction::Close,
            Ok(IoProgress::Asked(Ok(question))) => {
                self.state = ClientState::Waiting;
                self.deadline = now + ANSWER_TIMEOUT;
                ClientAction::Ask(question)
            }
            Ok(IoProgress::Asked(Err(why))) => {
                self.answer(&ExplainResponse::Refused(why), now);
                ClientAction::Stay
            }
        }
    }

    /// The client timed out: one that waits for an answer gets a refusal, all others are closed.
    pub(super) fn on_timeout(&mut self, now: Instant) -> ClientAction {
        match self.state {
            ClientState::Waiting => {
                let busy = "the scheduler is busy; try again in a while";
                self.answer(&ExplainResponse::Refused(busy.to_owned()), now);
                ClientAction::Stay
            }
            _ => ClientAction::Close,
        }
    }

    /// Begins to send the answer.
    pub(super) fn answer(&mut self, answer: &ExplainResponse, now: Instant) {
        let bytes = encoded(answer);
        let bytes = bytes.filter(|bytes| bytes.len() <= MAX_RESPONSE_BYTES);
        let bytes =
            bytes.or_else(|| encoded(&ExplainResponse::Refused("the answer is too long".into())));
        self.state = ClientState::Sending(bytes.unwrap_or_default(), 0);
        self.deadline = now + CLIENT_TIMEOUT;
    }
}

fn encoded(answer: &ExplainResponse) -> Option<Vec<u8>> {
    let mut bytes = serde_json::to_vec(answer).ok()?;
    bytes.push(b'\n');
    Some(bytes)
}

/// How far a step came.
enum IoProgress {
    On,
    Over,
    Asked(Result<ExplainRequest, String>),
}

/// As much as is there, up to a whole line or more bytes than any question has.
fn read(stream: &mut UnixStream, line: &mut Vec<u8>) -> io::Result<IoProgress> {
    let mut piece = [0; MAX_REQUEST_BYTES];
    let count = match stream.read(&mut piece[..MAX_REQUEST_BYTES - line.len()]) {
        Ok(0) => return Ok(IoProgress::Over),
        Ok(count) => count,
        Err(error) if is_retryable(&error) => return Ok(IoProgress::On),
        Err(error) => return Err(error),
    };
    line.extend(&piece[..count]);
    if let Some(end) = line.iter().position(|byte| *byte == b'\n') {
        return Ok(IoProgress::Asked(question(&line[..end])));
    }
    Ok(match line.len() {
        MAX_REQUEST_BYTES => IoProgress::Asked(Err("invalid request: too long".to_owned())),
        _ => IoProgress::On,
    })
}

fn question(line: &[u8]) -> Result<ExplainRequest, String> {
    let question: ExplainRequest =
        serde_json::from_slice(line).map_err(|error| format!("invalid request: {error}"))?;
    if question.version == VERSION {
        Ok(question)
    } else {
        let theirs = question.version;
        Err(format!(
            "is a request of version {theirs}; this plugin answers version {VERSION}: use the dfrs that came with it"
        ))
    }
}

fn write(stream: &UnixStream, answer: &[u8], out: &mut usize) -> io::Result<IoProgress> {
    // A client that has gone away must not send slurmctld a signal.
    match send(
        stream,
        answer.get(*out..).unwrap_or_default(),
        SendFlags::NOSIGNAL,
    ) {
        Ok(count) => *out += count,
        Err(error) if is_retryable(&error.into()) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(if *out >= answer.len() {
        IoProgress::Over
    } else {
        IoProgress::On
    })
}

fn is_retryable(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
