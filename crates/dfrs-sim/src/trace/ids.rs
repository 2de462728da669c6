//! Which ids a trace has had.

use std::hash::{BuildHasher, RandomState};

use hashbrown::hash_table::{Entry, HashTable};

use super::TraceJob;

/// The ids of the jobs so far, each of them there once.
///
/// Most traces number their jobs upwards. As long as each id comes after all before it, none can be there
/// twice, and nothing is kept or looked up.
#[derive(Default)]
pub(super) struct Ids {
    known: Option<IdTable>,
}

impl Ids {
    /// The place among the jobs at which this id is already; if there is none, it is that of the next job
    /// from now on. O(1), but O(jobs) the first time that an id does not come after all before it.
    pub fn find(&mut self, jobs: &[TraceJob], id: &str) -> Option<usize> {
        if self.known.is_none() && jobs.last().is_none_or(|last| order(&last.id) < order(id)) {
            return None;
        }
        let known = self.known.get_or_insert_with(|| IdTable::new(jobs));
        known.find(jobs, id)
    }
}

/// Numbers without leading zeros in their own order, and names that end in such numbers too.
fn order(id: &str) -> (usize, &str) {
    (id.len(), id)
}

/// The places of all jobs by their ids. Their order is never seen.
#[derive(Default)]
struct IdTable {
    places: HashTable<u32>,
    hasher: RandomState,
}

impl IdTable {
    fn new(jobs: &[TraceJob]) -> Self {
        let mut known = Self::default();
        for place in 0..jobs.len() {
            known.find(&jobs[..place], &jobs[place].id);
        }
        known
    }

    fn find(&mut self, jobs: &[TraceJob], id: &str) -> Option<usize> {
        let hasher = &self.hasher;
        let id_of = |place: &u32| jobs[*place as usize].id.as_str();
        let entry = self.places.entry(
            hasher.hash_one(id),
            |place| id_of(place) == id,
            |place| hasher.hash_one(id_of(place)),
        );
        match entry {
            Entry::Occupied(earlier) => Some(*earlier.get() as usize),
            Entry::Vacant(free) => {
                free.insert(u32::try_from(jobs.len()).unwrap_or(u32::MAX)); // there are fewer
                None
            }
        }
    }
}
