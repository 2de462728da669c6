//! The state of a job in a dump of sacct.

/// States of jobs that have not ended, whatever their end is said to be.
const UNFINISHED: [&[u8]; 13] = [
    b"PENDING",
    b"RUNNING",
    b"SUSPENDED",
    b"COMPLETING",
    b"CONFIGURING",
    b"EXPEDITING",
    b"REQUEUE_FED",
    b"REQUEUE_HOLD",
    b"RESV_DEL_HOLD",
    b"SIGNALING",
    b"SPECIAL_EXIT",
    b"STAGE_OUT",
    b"STOPPED",
];

/// A state as sacct writes it (`CANCELLED by 1000` counts to the blank). Where the column has a
/// width, what does not fit into it is cut off and replaced by `+` (`RUNNI+`); such a state is
/// each one that begins so.
#[derive(Clone, Copy, Debug)]
pub(super) struct SacctState<'a>(&'a [u8]);

impl<'a> SacctState<'a> {
    /// The one in a field; `None`: there is none.
    pub fn of(field: &'a [u8]) -> Option<Self> {
        let word = field.split(|byte| *byte == b' ').next()?;
        let is_word = !word.is_empty() && word.iter().all(u8::is_ascii_graphic);
        is_word.then_some(Self(word))
    }

    /// Whether it is this one, or may be.
    pub fn is(self, state: &[u8]) -> bool {
        match self.0.strip_suffix(b"+") {
            Some(begin) if !begin.is_empty() => state.starts_with(begin),
            _ => self.0 == state,
        }
    }

    /// Whether the job has not ended. Of what may be `COMPLETED` or `COMPLETING` that is the first:
    /// sacct shows few others.
    pub fn is_unfinished(self) -> bool {
        !self.is(b"COMPLETED") && UNFINISHED.iter().any(|state| self.is(state))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(field: &str) -> SacctState<'_> {
        SacctState::of(field.as_bytes()).expect("a state")
    }

    #[test]
    fn state_is_the_first_word() {
        assert!(of("CANCELLED by 1000").is(b"CANCELLED"));
        assert!(!of("CANCELLED").is_unfinished());
        assert!(of("RUNNING").is_unfinished());
        assert!(SacctState::of(b"").is_none());
        assert!(SacctState::of(b" ").is_none());
        assert!(SacctState::of(b"RUN\xffNING").is_none());
    }

    #[test]
    fn state_that_a_width_cuts_is_each_that_begins_so() {
        assert!(of("RUNNI+").is_unfinished());
        assert!(of("CANCEL+").is(b"CANCELLED"));
        assert!(!of("COMPLETED").is_unfinished());
        assert!(!of("OUT_OF_ME+").is_unfinished());
        assert!(!of("COMPL+").is_unfinished());
        assert!(!of("+").is_unfinished());
    }
}
