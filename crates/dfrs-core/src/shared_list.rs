//! Lists that many jobs share.

use std::cmp::Ordering;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A list that does not change. A clone is the same list and takes no memory of its own.
#[derive(Clone)]
pub struct SharedList<T>(Arc<[T]>);

impl<T> SharedList<T> {
    /// Whether both are one list in memory.
    #[inline]
    pub fn is_shared_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<T> Default for SharedList<T> {
    fn default() -> Self {
        Self::from_iter([])
    }
}

impl<T> Deref for SharedList<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> From<Vec<T>> for SharedList<T> {
    fn from(items: Vec<T>) -> Self {
        Self(items.into())
    }
}

impl<T> FromIterator<T> for SharedList<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self(items.into_iter().collect())
    }
}

impl<T: fmt::Debug> fmt::Debug for SharedList<T> {
    /// As the list that it is.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl<T: Ord> Ord for SharedList<T> {
    /// As lists are ordered. O(1) for clones.
    fn cmp(&self, other: &Self) -> Ordering {
        if self.is_shared_with(other) {
            return Ordering::Equal;
        }
        self.0.cmp(&other.0)
    }
}

impl<T: Ord> PartialOrd for SharedList<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: Ord> PartialEq for SharedList<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T: Ord> Eq for SharedList<T> {}

impl<T: Serialize> Serialize for SharedList<T> {
    /// As the list that it is.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.as_ref().serialize(serializer)
    }
}

impl<'a, T: Deserialize<'a>> Deserialize<'a> for SharedList<T> {
    fn deserialize<D: Deserializer<'a>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::deserialize(deserializer)?.into())
    }
}
