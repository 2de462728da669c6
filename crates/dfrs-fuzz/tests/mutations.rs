//! A short fuzzing on every run of the tests: seeds, and what random changes make of them. Cases
//! are drawn afresh each time; `PROPTEST_CASES` says how many.

use std::path::Path;

use dfrs_fuzz::{conf, csv, journal, message, policy, sacct, scenario, simulation, swf};
use proptest::prelude::*;
use proptest::sample::Index;

/// What upsets readers.
const HOSTILE_INPUTS: [&[u8]; 16] = [
    b"\0",
    b"\n",
    b"\r\n",
    b"-",
    b"1e308",
    b"-1",
    b"NaN",
    b"99999999999999999999",
    b",",
    b"|",
    b"\"",
    b"{",
    b"]",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"0.0000000000000000000000000001",
];

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("seeds")
        .join(target);
    let files = std::fs::read_dir(directory).expect("seeds");
    let mut seeds: Vec<Vec<u8>> = files
        .map(|file| std::fs::read(file.expect("a file").path()).expect("a seed"))
        .collect();
    seeds.sort();
    assert!(!seeds.is_empty());
    seeds
}

/// One change.
#[derive(Clone, Debug)]
enum Mutation {
    Cut(Index),
    Remove(Index, usize),
    Repeat(Index, usize, usize),
    Flip(Index, u8),
    Insert(Index, &'static [u8]),
    Splice(Index, Index, Index),
}

fn mutations() -> impl Strategy<Value = Vec<Mutation>> {
    let change = prop_oneof![
        1 => any::<Index>().prop_map(Mutation::Cut),
        3 => (any::<Index>(), 1usize..40).prop_map(|(at, length)| Mutation::Remove(at, length)),
        2 => (any::<Index>(), 1usize..40, 1usize..200).prop_map(|(at, length, times)| Mutation::Repeat(at, length, times)),
        4 => (any::<Index>(), 1u8..).prop_map(|(at, bits)| Mutation::Flip(at, bits)),
        5 => (any::<Index>(), prop::sample::select(&HOSTILE_INPUTS[..])).prop_map(|(at, bytes)| Mutation::Insert(at, bytes)),
        2 => any::<(Index, Index, Index)>().prop_map(|(seed, at, from)| Mutation::Splice(seed, at, from)),
    ];
    proptest::collection::vec(change, 1..6)
}

fn mutated(seeds: &[Vec<u8>], seed: Index, changes: Vec<Mutation>) -> Vec<u8> {
    let mut bytes = seed.get(seeds).clone();
    for change in changes {
        let length = bytes.len();
        let place = |at: Index| at.index(length + 1);
        match change {
            Mutation::Cut(at) => bytes.truncate(place(at)),
            Mutation::Remove(at, count) => {
                let at = place(at);
                bytes.drain(at..length.min(at + count));
            }
            Mutation::Repeat(at, count, times) => {
                let at = place(at);
                let part = bytes[at..length.min(at + count)].repeat(times);
                bytes.splice(at..at, part);
            }
            Mutation::Flip(at, bits) => {
                if let Some(byte) = bytes.get_mut(place(at)) {
                    *byte ^= bits;
                }
            }
            Mutation::Insert(at, what) => {
                let at = place(at);
                bytes.splice(at..at, what.iter().copied());
            }
            Mutation::Splice(seed, at, from) => {
                let other = seed.get(seeds);
                bytes.truncate(place(at));
                bytes.extend(&other[from.index(other.len() + 1)..]);
            }
        }
    }
    bytes
}

/// A test of one target: its seeds, and changes of them.
macro_rules! target {
    ($name:ident, $function:path, $cases:literal) => {
        #[test]
        fn $name() {
            let seeds = seeds(stringify!($function));
            seeds.iter().for_each(|seed| $function(seed));
            $function(b"");
            proptest!(ProptestConfig::with_cases($cases), |(seed: Index, mutations in mutations())| {
                $function(&mutated(&seeds, seed, mutations));
            });
        }
    };
}

target!(mutated_swf_is_read_or_refused_in_one_line, swf, 400);
target!(mutated_csv_is_read_or_refused_in_one_line, csv, 400);
target!(
    mutated_sacct_dump_is_read_or_refused_in_one_line,
    sacct,
    400
);
target!(
    mutated_journal_round_trips_or_is_refused_in_one_line,
    journal,
    400
);
target!(
    mutated_dfrs_conf_round_trips_or_is_refused_in_one_line,
    conf,
    400
);
target!(
    mutated_policy_name_round_trips_or_is_refused_in_one_line,
    policy,
    1000
);
target!(
    mutated_message_round_trips_or_is_refused_in_one_line,
    message,
    400
);
target!(
    mutated_scenario_round_trips_or_is_refused_in_one_line,
    scenario,
    400
);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn simulation_of_any_bytes_has_a_valid_journal(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        simulation(&bytes);
    }
}
