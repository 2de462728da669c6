//! What is kept beside a thing, and is no part of what that is.

/// A value that is ignored where its owner is compared: what is different since the last call, when
/// something was last counted, or what only saves work.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct IgnoredInEq<T>(pub(crate) T);

impl<T: Default> IgnoredInEq<T> {
    /// Returns the value, and resets it.
    pub(crate) fn take(&mut self) -> T {
        std::mem::take(&mut self.0)
    }
}

impl<T> PartialEq for IgnoredInEq<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> Eq for IgnoredInEq<T> {}
