//! What is kept beside a thing, and is no part of what that is.

/// A value that plays no part where its owner is compared: what is different since somebody last asked, or
/// when something was last counted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Beside<T>(pub(crate) T);

impl<T: Default> Beside<T> {
    /// The value, which begins anew.
    pub(crate) fn take(&mut self) -> T {
        std::mem::take(&mut self.0)
    }
}

impl<T> PartialEq for Beside<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> Eq for Beside<T> {}
