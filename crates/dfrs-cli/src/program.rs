//! Runs other programs, and does not wait for those that hang.

use std::io::{self, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

/// Between two looks whether it has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// How a program ended, and what it printed.
#[derive(Debug)]
pub struct ProgramOutput {
    /// With exit code 0.
    pub succeeded: bool,
    /// What it printed.
    pub stdout: Vec<u8>,
    /// What it said of its troubles.
    pub stderr: Vec<u8>,
}

/// Runs it to its end, or ends it after this time.
///
/// # Errors
///
/// It cannot be run; [`io::ErrorKind::TimedOut`]: it had not ended.
pub fn run(command: &mut Command, timeout: Duration) -> io::Result<ProgramOutput> {
    let until = Instant::now() + timeout;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let stdout = read(child.stdout.take())?;
    let stderr = read(child.stderr.take())?;
    let ended = await_end(&mut child, until).and_then(|is_well| {
        Ok(ProgramOutput {
            succeeded: is_well,
            stdout: receive(&stdout, until)?,
            stderr: receive(&stderr, until)?,
        })
    });
    if ended.is_err() {
        let _ = child.kill(); // it may just have ended
        let _ = child.wait();
    }
    ended
}

/// Whether it ended well.
fn await_end(child: &mut Child, until: Instant) -> io::Result<bool> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.success());
        }
        if Instant::now() >= until {
            return Err(io::ErrorKind::TimedOut.into());
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// All of the output, read in a thread: a program whose pipe is full would wait for ever. A program
/// that it has started may keep the pipe open; then the thread is left running.
fn read(pipe: Option<impl Read + Send + 'static>) -> io::Result<Receiver<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::Builder::new().spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes); // what came before an error counts
        }
        let _ = sender.send(bytes); // the receiver may be gone
    })?;
    Ok(receiver)
}

fn receive(bytes: &Receiver<Vec<u8>>, until: Instant) -> io::Result<Vec<u8>> {
    let left = until
        .saturating_duration_since(Instant::now())
        .max(POLL_INTERVAL);
    let received = bytes.recv_timeout(left);
    received.map_err(|_| io::ErrorKind::TimedOut.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn large_output_is_read_in_full() {
        let timeout = Duration::from_secs(60);
        let script = "head -c 300000 /dev/zero; echo trouble >&2; exit 3";
        let ended = run(&mut shell(script), timeout).expect("it runs");
        assert!(!ended.succeeded);
        assert_eq!(ended.stdout.len(), 300_000);
        assert_eq!(ended.stderr, b"trouble\n");
    }

    #[test]
    fn hanging_program_is_killed_and_its_child_not_awaited() {
        for script in ["exec sleep 600", "sleep 5 & exit 0"] {
            let began = Instant::now();
            let error = run(&mut shell(script), Duration::from_millis(200)).expect_err(script);
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
            assert!(began.elapsed() < Duration::from_secs(4), "{script}");
        }
    }
}
