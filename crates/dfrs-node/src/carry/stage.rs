//! Stops criu at the stage of its work at which the processes are looked at.
//!
//! criu traces all of them then, after a dump and before they go on after a restore: no signal of
//! a user's wakes them, as one would wake what is only stopped. It runs this program (its action
//! script), which connects with the dfrsd that has started it, and waits for its word.

use std::io::{self, Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rustix::net::sockopt::socket_peercred;

/// What criu calls the stage.
const STAGE: &str = "CRTOOLS_SCRIPT_ACTION";
/// The abstract name of the socket of the dfrsd that has started criu.
pub const ADDRESS: &str = "DFRS_STAGE";
/// All is in the image, and nothing goes on yet.
const DUMPED: &str = "post-dump";
/// All is restored, and nothing goes on yet. criu goes on whatever its script says.
const RESTORED: &str = "pre-resume";
const GO_ON: &[u8] = b"1";

/// Where criu's script is waited for.
#[derive(Debug)]
pub struct CriuStage {
    listener: UnixListener,
    address: String,
}

/// The script of a criu that waits. Dropped without a word, criu lets a job go on that was to be
/// dumped, and nothing is left of one that was to be restored.
#[derive(Debug)]
pub struct WaitingCriu(UnixStream);

impl CriuStage {
    /// A new one.
    ///
    /// # Errors
    ///
    /// If there is no socket for it.
    pub fn new() -> io::Result<CriuStage> {
        let time = SystemTime::now().duration_since(UNIX_EPOCH);
        let time = time.map_or(0, |time| time.as_nanos());
        let address = format!("dfrs-stage-{}-{time}", std::process::id());
        let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&address)?)?;
        listener.set_nonblocking(true)?;
        Ok(CriuStage { listener, address })
    }

    /// Its name, for [`ADDRESS`].
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The script, if it has come; others than this program's user are turned away.
    pub fn arrived(&self) -> Option<WaitingCriu> {
        let (stream, _) = self.listener.accept().ok()?;
        let peer = socket_peercred(&stream).ok()?;
        (peer.uid == rustix::process::geteuid()).then_some(WaitingCriu(stream))
    }
}

impl WaitingCriu {
    /// Has it go on.
    ///
    /// # Errors
    ///
    /// If it is gone.
    pub fn go_on(mut self) -> io::Result<()> {
        self.0.write_all(GO_ON)
    }
}

/// Acts as criu's script, if criu has started this program as one.
pub fn run_as_script() -> Option<ExitCode> {
    let stage = std::env::var(STAGE).ok()?;
    let address = std::env::var(ADDRESS).ok()?;
    if ![DUMPED, RESTORED].contains(&stage.as_str()) {
        return Some(ExitCode::SUCCESS);
    }
    if is_to_go_on(&address).unwrap_or(false) {
        return Some(ExitCode::SUCCESS);
    }
    if stage == RESTORED {
        // All of the namespace but its init and this process: criu is there, too.
        let _ = kill(Pid::from_raw(-1), Signal::SIGKILL);
    }
    Some(ExitCode::FAILURE)
}

fn is_to_go_on(address: &str) -> io::Result<bool> {
    let mut stream = UnixStream::connect_addr(&SocketAddr::from_abstract_name(address)?)?;
    let mut word = [0];
    Ok(stream.read(&mut word)? == 1 && word == GO_ON)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    fn script(stage: &CriuStage) -> thread::JoinHandle<bool> {
        let address = stage.address().to_owned();
        thread::spawn(move || is_to_go_on(&address).unwrap())
    }

    fn wait_for(stage: &CriuStage) -> WaitingCriu {
        loop {
            match stage.arrived() {
                Some(waiting) => return waiting,
                None => thread::yield_now(),
            }
        }
    }

    #[test]
    fn script_waits_for_the_word() {
        let stage = CriuStage::new().unwrap();
        assert!(stage.arrived().is_none());
        let waits = script(&stage);
        let waiting = wait_for(&stage);
        assert!(!waits.is_finished());
        waiting.go_on().unwrap();
        assert!(waits.join().unwrap());
    }

    #[test]
    fn script_fails_without_a_word() {
        let stage = CriuStage::new().unwrap();
        let waits = script(&stage);
        drop(wait_for(&stage));
        assert!(!waits.join().unwrap());
        let address = stage.address().to_owned();
        drop(stage);
        assert!(is_to_go_on(&address).is_err());
        assert!(
            run_as_script().is_none(),
            "criu has not started this program"
        );
    }
}
