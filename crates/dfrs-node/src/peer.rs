//! Which users may give orders: root and Slurm's own user.

use std::fmt;
use std::process::Command;

/// The users whose orders are obeyed.
#[derive(Debug, Clone)]
pub struct Authorized {
    controller: u32,
}

/// Why a sender was refused; one line.
#[derive(Debug, PartialEq, Eq)]
pub enum Refusal {
    /// By the kernel, the process at the other end belongs to another user.
    Process {
        /// The user of the process.
        uid: u32,
    },
    /// By `slurmd`, the message is from another user.
    Sender {
        /// The user that the frame names.
        uid: u32,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Process { uid } => write!(out, "refused a connection from uid={uid}"),
            Refusal::Sender { uid } => write!(out, "refused a message from uid={uid}"),
        }?;
        write!(
            out,
            ": only root and SlurmUser (--controller-user) may give orders"
        )
    }
}

impl Authorized {
    /// Root, and the user with id `controller`.
    pub fn new(controller: u32) -> Authorized {
        Authorized { controller }
    }

    /// Checks which user is at the other end, by the kernel (`SO_PEERCRED`).
    ///
    /// # Errors
    ///
    /// [`Refusal::Process`].
    pub fn check_process(&self, uid: u32) -> Result<(), Refusal> {
        if self.allows(uid) {
            Ok(())
        } else {
            Err(Refusal::Process { uid })
        }
    }

    /// Checks which user the frame names. `slurmd` connects as the sender, so that both checks
    /// agree; a `slurmd` that did not (it is root) must still not carry others' messages.
    ///
    /// # Errors
    ///
    /// [`Refusal::Sender`].
    pub fn check_sender(&self, uid: u32) -> Result<(), Refusal> {
        if self.allows(uid) {
            Ok(())
        } else {
            Err(Refusal::Sender { uid })
        }
    }

    fn allows(&self, uid: u32) -> bool {
        uid == 0 || uid == self.controller
    }
}

/// The id of a user given by name or number; looked up in the system's user database.
///
/// # Errors
///
/// One line, if there is no such user or `id` cannot be run.
pub fn user_id(name: &str) -> Result<u32, String> {
    if let Ok(uid) = name.parse() {
        return Ok(uid);
    }
    // `id` and not /etc/passwd, because the user may come from a directory service.
    let output = Command::new("id")
        .args(["-u", "--", name])
        .output()
        .map_err(|error| format!("user {name:?}: cannot run id: {error}; give its number"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.trim().parse().map_err(|_| {
        format!("user {name:?} is not known here; give --controller-user as slurm.conf's SlurmUser")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_root_and_slurm_user_are_authorized() {
        let authorized = Authorized::new(64030);
        assert_eq!(authorized.check_process(0), Ok(()));
        assert_eq!(authorized.check_process(64030), Ok(()));
        assert_eq!(
            authorized.check_process(1000),
            Err(Refusal::Process { uid: 1000 })
        );
        assert_eq!(authorized.check_sender(64030), Ok(()));
        assert_eq!(
            authorized.check_sender(1000),
            Err(Refusal::Sender { uid: 1000 })
        );
    }

    #[test]
    fn user_names_and_numbers_resolve_to_uids() {
        assert_eq!(user_id("root"), Ok(0));
        assert_eq!(user_id("4711"), Ok(4711));
        assert!(user_id("no such user").unwrap_err().contains("not known"));
    }
}
