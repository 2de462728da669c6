//! Runs other programs, and does not wait for those that hang.

use std::io::{self, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

/// Between two looks whether it has ended.
const MOMENT: Duration = Duration::from_millis(10);

/// How a program ended, and what it printed.
#[derive(Debug)]
pub struct Ended {
    /// With exit code 0.
    pub is_well: bool,
    /// What it printed.
    pub printed: Vec<u8>,
    /// What it said of its troubles.
    pub complained: Vec<u8>,
}

/// Runs it to its end, or ends it after this time.
///
/// # Errors
///
/// It cannot be run; [`io::ErrorKind::TimedOut`]: it had not ended.
pub fn run(command: &mut Command, patience: Duration) -> io::Result<Ended> {
    let until = Instant::now() + patience;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let printed = read(child.stdout.take())?;
    let complained = read(child.stderr.take())?;
    let ended = await_end(&mut child, until).and_then(|is_well| {
        Ok(Ended {
            is_well,
            printed: receive(&printed, until)?,
            complained: receive(&complained, until)?,
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
        std::thread::sleep(MOMENT);
    }
}

/// All of it, read in a thread: a program whose pipe is full would wait for ever. One that it has started
/// may keep the pipe open; then the thread is left behind.
fn read(pipe: Option<impl Read + Send + 'static>) -> io::Result<Receiver<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::Builder::new().spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes); // what came before an error counts
        }
        let _ = sender.send(bytes); // nobody may wait for it any more
    })?;
    Ok(receiver)
}

fn receive(bytes: &Receiver<Vec<u8>>, until: Instant) -> io::Result<Vec<u8>> {
    let left = until.saturating_duration_since(Instant::now()).max(MOMENT);
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
    fn what_a_program_prints_is_read_however_much_it_is() {
        let patience = Duration::from_secs(60);
        let script = "head -c 300000 /dev/zero; echo trouble >&2; exit 3";
        let ended = run(&mut shell(script), patience).expect("it runs");
        assert!(!ended.is_well);
        assert_eq!(ended.printed.len(), 300_000);
        assert_eq!(ended.complained, b"trouble\n");
    }

    #[test]
    fn a_program_that_hangs_is_ended_and_one_that_it_started_is_not_waited_for() {
        for script in ["exec sleep 600", "sleep 5 & exit 0"] {
            let began = Instant::now();
            let error = run(&mut shell(script), Duration::from_millis(200)).expect_err(script);
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
            assert!(began.elapsed() < Duration::from_secs(4), "{script}");
        }
    }
}
