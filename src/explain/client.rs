//! One conversation: a line comes in, waits for its answer, a line goes out. No step waits for the client.

use std::io::{self, ErrorKind, Read};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use dfrs_proto::explain::{Answer, LONGEST_ANSWER, LONGEST_QUESTION, Question, VERSION};
use rustix::event::PollFlags;
use rustix::net::{SendFlags, send};

use super::Asker;

/// A client has so long to ask, and so long to read.
pub(super) const TO_TALK: Duration = Duration::from_secs(2);
/// And the scheduler so long to answer: a pass may take a while.
pub(super) const TO_ANSWER: Duration = Duration::from_secs(15);

/// Where it is.
enum State {
    /// What came of the question so far.
    Asks(Vec<u8>),
    Waits,
    /// The answer, and how much of it is out.
    Reads(Vec<u8>, usize),
}

/// What is to be done with it next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// It goes on.
    Stay,
    /// This is to be answered.
    Ask(Question),
    /// It is over.
    Close,
}

pub(super) struct Client {
    stream: UnixStream,
    pub asker: Asker,
    state: State,
    ends: Instant,
}

impl Client {
    pub(super) fn new(stream: UnixStream, asker: Asker, now: Instant) -> Self {
        let state = State::Asks(Vec::new());
        let ends = now + TO_TALK;
        Self {
            stream,
            asker,
            state,
            ends,
        }
    }

    pub(super) fn stream(&self) -> &UnixStream {
        &self.stream
    }

    /// When it is given up, or told that it takes too long.
    pub(super) fn ends(&self) -> Instant {
        self.ends
    }

    /// What to wait for on its stream.
    pub(super) fn interest(&self) -> PollFlags {
        match self.state {
            State::Asks(_) => PollFlags::IN,
            State::Waits => PollFlags::empty(), // that it hangs up is told in any case
            State::Reads(..) => PollFlags::OUT,
        }
    }

    /// Something happened on its stream.
    pub(super) fn go_on(&mut self, happened: PollFlags, now: Instant) -> Next {
        let went = match &mut self.state {
            State::Asks(line) => read(&mut self.stream, line),
            State::Waits if happened.intersects(PollFlags::HUP | PollFlags::ERR) => Ok(Went::Over),
            State::Waits => Ok(Went::On),
            State::Reads(answer, out) => write(&self.stream, answer, out),
        };
        match went {
            Ok(Went::On) => Next::Stay,
            Ok(Went::Over) | Err(_) => Next::Close,
            Ok(Went::Asked(Ok(question))) => {
                self.state = State::Waits;
                self.ends = now + TO_ANSWER;
                Next::Ask(question)
            }
            Ok(Went::Asked(Err(why))) => {
                self.answer(&Answer::Refused(why), now);
                Next::Stay
            }
        }
    }

    /// Its time is up: whoever waits for an answer is told, all others are through.
    pub(super) fn time_out(&mut self, now: Instant) -> Next {
        match self.state {
            State::Waits => {
                let busy = "the scheduler is busy; try again in a while";
                self.answer(&Answer::Refused(busy.to_owned()), now);
                Next::Stay
            }
            _ => Next::Close,
        }
    }

    /// Begins to send the answer.
    pub(super) fn answer(&mut self, answer: &Answer, now: Instant) {
        let bytes = encoded(answer);
        let bytes = bytes.filter(|bytes| bytes.len() <= LONGEST_ANSWER);
        let bytes = bytes.or_else(|| encoded(&Answer::Refused("the answer is too long".into())));
        self.state = State::Reads(bytes.unwrap_or_default(), 0);
        self.ends = now + TO_TALK;
    }
}

fn encoded(answer: &Answer) -> Option<Vec<u8>> {
    let mut bytes = serde_json::to_vec(answer).ok()?;
    bytes.push(b'\n');
    Some(bytes)
}

/// How far a step came.
enum Went {
    On,
    Over,
    Asked(Result<Question, String>),
}

/// As much as is there, up to a whole line or what no question is as long as.
fn read(stream: &mut UnixStream, line: &mut Vec<u8>) -> io::Result<Went> {
    let mut piece = [0; LONGEST_QUESTION];
    let count = match stream.read(&mut piece[..LONGEST_QUESTION - line.len()]) {
        Ok(0) => return Ok(Went::Over),
        Ok(count) => count,
        Err(error) if is_later(&error) => return Ok(Went::On),
        Err(error) => return Err(error),
    };
    line.extend(&piece[..count]);
    if let Some(end) = line.iter().position(|byte| *byte == b'\n') {
        return Ok(Went::Asked(question(&line[..end])));
    }
    Ok(match line.len() {
        LONGEST_QUESTION => Went::Asked(Err("is no question: it is too long".to_owned())),
        _ => Went::On,
    })
}

fn question(line: &[u8]) -> Result<Question, String> {
    let question: Question =
        serde_json::from_slice(line).map_err(|error| format!("is no question: {error}"))?;
    if question.version == VERSION {
        Ok(question)
    } else {
        let theirs = question.version;
        Err(format!(
            "is a question of version {theirs}; this plugin answers version {VERSION}: use the dfrs that came with it"
        ))
    }
}

fn write(stream: &UnixStream, answer: &[u8], out: &mut usize) -> io::Result<Went> {
    // One that has gone away must not send slurmctld a signal.
    match send(
        stream,
        answer.get(*out..).unwrap_or_default(),
        SendFlags::NOSIGNAL,
    ) {
        Ok(count) => *out += count,
        Err(error) if is_later(&error.into()) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(if *out >= answer.len() {
        Went::Over
    } else {
        Went::On
    })
}

fn is_later(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
