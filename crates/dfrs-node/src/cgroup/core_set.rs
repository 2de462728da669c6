//! Sets of a machine's CPUs, as the kernel writes them: `0-3,8`.

use std::collections::BTreeSet;
use std::fmt;

/// The kernel has far fewer (`CONFIG_NR_CPUS`). A longer range is no set of CPUs, and would be one of memory.
const MAX_CPU: u32 = 65_535;

/// CPUs, by the kernel's numbers. Cores, in cgroup.conf's word (`ConstrainCores`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CoreSet(BTreeSet<u32>);

impl CoreSet {
    /// The set that the kernel writes as `text`; empty if that is empty. None if it is anything else
    /// than ascending numbers and ranges of them.
    pub fn parse(text: &str) -> Option<CoreSet> {
        let mut cores = BTreeSet::new();
        let parts = text.split(',').filter(|_| !text.is_empty());
        for part in parts {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (number(first)?, number(last)?);
            let follows = cores.last().is_none_or(|before| *before < first);
            if !follows || last < first {
                return None;
            }
            cores.extend(first..=last);
        }
        Some(CoreSet(cores))
    }

    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds those of `other`.
    pub fn add(&mut self, other: &CoreSet) {
        self.0.extend(&other.0);
    }

    /// Those that are not in `other`.
    pub fn without(&self, other: &CoreSet) -> CoreSet {
        CoreSet(&self.0 - &other.0)
    }

    /// What is left of these beside those that others hold. All, if nothing is.
    pub fn left_by(&self, held: &CoreSet) -> CoreSet {
        let left = self.without(held);
        if left.is_empty() { self.clone() } else { left }
    }
}

/// Digits only: `parse()` would accept a sign.
fn number(text: &str) -> Option<u32> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|_| is_number)?;
    (number <= MAX_CPU).then_some(number)
}

impl fmt::Display for CoreSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for &core in &self.0 {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == core => *last = core,
                _ => ranges.push((core, core)),
            }
        }
        for (index, (first, last)) in ranges.into_iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            write!(formatter, "{comma}{first}")?;
            if first < last {
                write!(formatter, "-{last}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::btree_set;
    use proptest::prelude::*;

    fn cores(text: &str) -> CoreSet {
        CoreSet::parse(text).unwrap()
    }

    #[test]
    fn kernels_lists_are_read_and_written() {
        for text in ["", "0", "0-3,8", "2,4-5,7", "65535"] {
            assert_eq!(cores(text).to_string(), text);
        }
        assert_eq!(cores("0-1,2,3-3").to_string(), "0-3");
    }

    #[test]
    fn other_lists_are_refused() {
        for text in [
            ",",
            "0,",
            ",0",
            "0,,1",
            "-",
            "1-",
            "-1",
            "3-1",
            "1,0",
            "0-3,3",
            "1,1",
            "0-3-5",
            "+1",
            " 1",
            "1 ",
            "0, 1",
            "0-3\n",
            "x",
            "0-3:1/2",
            "٣",
            "max",
            "65536",
            "0-4294967295",
            "99999999999999999999",
        ] {
            assert_eq!(CoreSet::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn all_are_left_where_others_hold_all() {
        let left = |held| cores("0-3").left_by(&cores(held)).to_string();
        assert_eq!(left(""), "0-3");
        assert_eq!(left("0,2,9"), "1,3");
        assert_eq!(left("0-7"), "0-3");
    }

    proptest! {
        #[test]
        fn text_of_a_set_is_that_set(numbers in btree_set(0..200_u32, 0..100)) {
            let set = CoreSet(numbers);
            prop_assert_eq!(CoreSet::parse(&set.to_string()), Some(set));
        }

        #[test]
        fn any_text_is_a_set_that_is_written_again_or_none(text in "[-0-9, x]{0,12}") {
            if let Some(set) = CoreSet::parse(&text) {
                prop_assert_eq!(CoreSet::parse(&set.to_string()), Some(set));
            }
        }

        #[test]
        fn what_is_left_is_held_by_none_and_nothing_is_lost(
            all in btree_set(0..80_u32, 1..40),
            held in btree_set(0..80_u32, 0..40),
        ) {
            let (all, held) = (CoreSet(all), CoreSet(held));
            let left = all.left_by(&held);
            prop_assert!(!left.is_empty());
            let kept = all.without(&held);
            prop_assert_eq!(&left, if kept.is_empty() { &all } else { &kept });
            let mut both = kept.clone();
            both.add(&held);
            prop_assert!(all.without(&both).is_empty());
            prop_assert_eq!(kept.without(&held), kept);
        }
    }
}
