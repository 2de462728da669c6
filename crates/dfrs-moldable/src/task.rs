//! A moldable task: what it takes on each number of processors.

use thiserror::Error;

/// The most processors of a machine.
pub const MAX_PROCESSORS: u32 = 100_000;

/// The shortest and the longest time, of whatever unit: sums of a million stay exact enough.
pub const TIMES: std::ops::RangeInclusive<f64> = 1e-9..=1e12;

/// The largest weight.
pub const MAX_WEIGHT: f64 = 1e12;

/// The longest id, in bytes.
const MAX_ID_BYTES: usize = 100;

/// A number of processors, and how long the task takes on them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Allotment {
    /// At least 1.
    pub processors: u32,
    /// Above 0.
    pub time: f64,
}

impl Allotment {
    /// Processors times time.
    pub fn area(self) -> f64 {
        f64::from(self.processors) * self.time
    }
}

/// A task whose number of processors is chosen before it starts (Section 2.1).
///
/// Times need not be monotonic: more processors may take longer, or more work, or be impossible.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    id: String,
    weight: f64,
    release: f64,
    /// The time on 1, 2, … processors; infinite where it is not possible.
    times: Box<[f64]>,
    /// The numbers of processors that are faster than all smaller ones; none if all are.
    useful: Option<Box<[u32]>>,
    /// Places in `useful` of numbers whose area is at most that of any larger number; none if all
    /// are such.
    thrifty: Option<Box<[u32]>>,
}

/// Why there is no such task.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum TaskError {
    /// The id is empty, too long, or has control characters.
    #[error("an id has 1 to {MAX_ID_BYTES} bytes and no control characters; give the task another")]
    Id,
    /// The weight is out of range.
    #[error("the weight {weight} is not allowed; give a number from 0 to {MAX_WEIGHT:e}", weight = short(*.0))]
    Weight(f64),
    /// The release time is out of range.
    #[error("the release {release} is not allowed; give a number from 0 to {most:e}", release = short(*.0), most = TIMES.end())]
    Release(f64),
    /// A time is out of range.
    #[error(
        "the time {time} on {0} processors is not allowed; give a number from {least:e} to {most:e}, or null where it is not possible",
        least = TIMES.start(), most = TIMES.end(), time = short(*.1)
    )]
    Time(usize, f64),
    /// The task cannot run on the machine.
    #[error("it has no time for {0} or fewer processors; give it one, or a machine with more")]
    TooLarge(u32),
}

/// The number, not with hundreds of digits.
fn short(number: f64) -> String {
    let is_plain = number == 0.0 || (1e-9..1e15).contains(&number.abs());
    if is_plain {
        number.to_string()
    } else {
        format!("{number:e}")
    }
}

impl Task {
    /// A task with its times on 1, 2, … processors, infinite where it is not possible. Those on
    /// more than `machine` processors are left out.
    ///
    /// # Errors
    ///
    /// A [`TaskError`] for what is out of range, and if no time is left.
    pub fn new(
        id: impl Into<String>,
        weight: f64,
        release: f64,
        mut times: Vec<f64>,
        machine: u32,
    ) -> Result<Self, TaskError> {
        let id = id.into();
        if id.is_empty() || id.len() > MAX_ID_BYTES || id.chars().any(char::is_control) {
            return Err(TaskError::Id);
        }
        if !(0.0..=MAX_WEIGHT).contains(&weight) {
            return Err(TaskError::Weight(weight));
        }
        if !(0.0..=*TIMES.end()).contains(&release) {
            return Err(TaskError::Release(release));
        }
        let wrong = |time: &f64| *time != f64::INFINITY && !TIMES.contains(time);
        if let Some(place) = times.iter().position(wrong) {
            return Err(TaskError::Time(place + 1, times[place]));
        }
        times.truncate(machine.min(MAX_PROCESSORS) as usize);
        let useful = useful(&times);
        if useful.as_ref().is_some_and(|useful| useful.is_empty()) || times.is_empty() {
            return Err(TaskError::TooLarge(machine));
        }
        let mut task = Self {
            id,
            weight,
            release,
            times: times.into_boxed_slice(),
            useful,
            thrifty: None,
        };
        task.thrifty = task.thrifty_places();
        Ok(task)
    }

    /// The task for a smaller machine, on which it must be possible.
    pub(crate) fn within(&self, machine: u32) -> Self {
        if self.times.len() <= machine as usize {
            return self.clone();
        }
        let times = self.times[..machine as usize].to_vec();
        let narrowed = Self::new(self.id.clone(), self.weight, self.release, times, machine);
        narrowed.unwrap_or_else(|_| self.clone())
    }

    /// The task's name, which no other task has.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What each unit of time until its completion costs, 0 or more.
    pub const fn weight(&self) -> f64 {
        self.weight
    }

    /// When it is submitted, 0 or later.
    pub const fn release(&self) -> f64 {
        self.release
    }

    /// The times on 1, 2, … processors as they were given, infinite where it is not possible.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// How long it takes on so many processors; none if that is not possible.
    pub fn time_on(&self, processors: u32) -> Option<f64> {
        let place = (processors as usize).checked_sub(1)?;
        let time = self.times.get(place).copied();
        time.filter(|time| time.is_finite())
    }

    /// The fewest processors on which it takes at most so long. O(log m).
    pub fn fewest(&self, deadline: f64) -> Option<Allotment> {
        let place = self.first_place(deadline);
        (place < self.places()).then(|| self.at(place))
    }

    /// The smallest area of all ways to take at most so long; of several the fewest processors.
    /// O(log m).
    pub fn cheapest(&self, deadline: f64) -> Option<Allotment> {
        let place = self.first_place(deadline);
        let place = match &self.thrifty {
            None => place,
            Some(thrifty) => {
                let next = thrifty.partition_point(|thrifty| (*thrifty as usize) < place);
                thrifty.get(next).map_or(usize::MAX, |next| *next as usize)
            }
        };
        (place < self.places()).then(|| self.at(place))
    }

    /// The shortest time, on the fewest processors that reach it.
    pub fn fastest(&self) -> Allotment {
        self.at(self.places() - 1)
    }

    /// The shortest time on at most so many processors, on the fewest that reach it; none if it
    /// needs more. O(log m).
    pub fn fastest_on(&self, max_processors: u32) -> Option<Allotment> {
        let places = match &self.useful {
            None => (max_processors as usize).min(self.times.len()),
            Some(useful) => useful.partition_point(|size| *size <= max_processors),
        };
        places.checked_sub(1).map(|place| self.at(place))
    }

    /// The fewest processors on which it is possible.
    pub fn smallest(&self) -> Allotment {
        self.at(0)
    }

    /// All numbers of processors that are faster than every smaller one, in ascending order.
    pub fn allotments(
        &self,
    ) -> impl DoubleEndedIterator<Item = Allotment> + ExactSizeIterator + '_ {
        (0..self.places()).map(|place| self.at(place))
    }

    fn places(&self) -> usize {
        self.useful
            .as_ref()
            .map_or(self.times.len(), |useful| useful.len())
    }

    fn first_place(&self, deadline: f64) -> usize {
        match &self.useful {
            None => self.times.partition_point(|time| *time > deadline),
            Some(useful) => {
                useful.partition_point(|size| self.times[*size as usize - 1] > deadline)
            }
        }
    }

    #[allow(clippy::cast_possible_truncation)] // at most MAX_PROCESSORS
    fn at(&self, place: usize) -> Allotment {
        let processors = match &self.useful {
            None => place as u32 + 1,
            Some(useful) => useful[place],
        };
        Allotment {
            processors,
            time: self.times[processors as usize - 1],
        }
    }

    #[allow(clippy::cast_possible_truncation)] // at most MAX_PROCESSORS
    fn thrifty_places(&self) -> Option<Box<[u32]>> {
        if self.allotments().is_sorted_by_key(Allotment::area) {
            return None;
        }
        let mut least = f64::INFINITY;
        let mut places: Vec<u32> = Vec::new();
        for (place, allotment) in self.allotments().enumerate().rev() {
            if allotment.area() <= least {
                least = allotment.area();
                places.push(place as u32);
            }
        }
        places.reverse();
        Some(places.into_boxed_slice())
    }
}

/// The numbers of processors that are faster than all smaller ones; none if all are.
#[allow(clippy::cast_possible_truncation)] // at most MAX_PROCESSORS
fn useful(times: &[f64]) -> Option<Box<[u32]>> {
    let first = times.first()?;
    if first.is_finite() && times.is_sorted_by(|one, next| next < one) {
        return None;
    }
    let mut best = f64::INFINITY;
    let sizes = times.iter().enumerate().filter_map(|(place, time)| {
        let is_faster = *time < best;
        best = best.min(*time);
        is_faster.then_some(place as u32 + 1)
    });
    Some(sizes.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NO: f64 = f64::INFINITY;

    fn task(times: &[f64]) -> Task {
        Task::new("a", 1.0, 0.0, times.to_vec(), 100).expect("a task")
    }

    #[test]
    fn the_fewest_processors_are_not_always_the_cheapest() {
        let task = task(&[NO, 10.0, 12.0, 3.0, 3.0, 2.0]);
        let of = |allotment: Option<Allotment>| allotment.map(|found| found.processors);
        assert_eq!(of(task.fewest(10.0)), Some(2));
        assert_eq!(of(task.cheapest(10.0)), Some(4), "area 12 instead of 20");
        assert_eq!(of(task.fewest(2.5)), Some(6));
        assert_eq!(of(task.fewest(1.0)), None);
        assert_eq!(task.fastest().processors, 6);
        assert_eq!(task.smallest().processors, 2);
        assert_eq!(task.time_on(3), Some(12.0));
        assert_eq!(
            (task.time_on(1), task.time_on(0), task.time_on(7)),
            (None, None, None)
        );
    }

    #[test]
    fn values_out_of_range_are_errors() {
        let of = |id: &str, weight, release, times: &[f64]| {
            Task::new(id, weight, release, times.to_vec(), 2)
        };
        assert_eq!(of("", 1.0, 0.0, &[1.0]), Err(TaskError::Id));
        assert_eq!(of("a\n", 1.0, 0.0, &[1.0]), Err(TaskError::Id));
        assert_eq!(of("a", -1.0, 0.0, &[1.0]), Err(TaskError::Weight(-1.0)));
        assert!(matches!(
            of("a", f64::NAN, 0.0, &[1.0]),
            Err(TaskError::Weight(_))
        ));
        assert_eq!(of("a", 1.0, -1.0, &[1.0]), Err(TaskError::Release(-1.0)));
        assert_eq!(of("a", 1.0, 0.0, &[1.0, 0.0]), Err(TaskError::Time(2, 0.0)));
        let huge = of("a", 1.0, 0.0, &[1e308])
            .expect_err("no task")
            .to_string();
        assert!(huge.starts_with("the time 1e308 on 1 processors"), "{huge}");
        for times in [&[NO, NO, 1.0][..], &[]] {
            assert_eq!(of("a", 1.0, 0.0, times), Err(TaskError::TooLarge(2)));
        }
    }

    proptest! {
        #[test]
        fn queries_are_those_of_a_search_through_all(
            times in prop::collection::vec(prop_oneof![1 => Just(NO), 6 => (1..40u8).prop_map(f64::from)], 1..12),
            deadline in 0..45u8,
        ) {
            prop_assume!(times.iter().any(|time| time.is_finite()));
            let task = task(&times);
            let deadline = f64::from(deadline);
            let all: Vec<Allotment> = (1..).zip(&times)
                .filter(|(_, time)| **time <= deadline)
                .map(|(processors, time)| Allotment { processors, time: *time })
                .collect();
            prop_assert_eq!(task.fewest(deadline), all.first().copied());
            let least = all.iter().map(|one| one.area()).fold(NO, f64::min);
            prop_assert_eq!(task.cheapest(deadline).map_or(NO, Allotment::area), least);
            let fastest = times.iter().copied().fold(NO, f64::min);
            prop_assert_eq!(task.fastest().time, fastest);
            let half = times.len() / 2;
            let fastest = times[..half].iter().copied().fold(NO, f64::min);
            let found = task.fastest_on(u32::try_from(half).expect("few"));
            prop_assert_eq!(found.map_or(NO, |found| found.time), fastest);
        }
    }
}
