//! Which jobs of a trace can do what: few traces say it, so it is drawn.

use std::fmt;
use std::str::FromStr;

use dfrs_core::Mobility;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::trace::{Trace, scaled};

/// Decimal digits of a share.
const DIGITS: u32 = 9;

/// All jobs, in the unit of a share.
pub(crate) const WHOLE: u32 = 10u32.pow(DIGITS);

/// The share of jobs of each kind. The default is the papers' world, in which all jobs are
/// [`Mobility::Checkpoint`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MobilityShares {
    /// Of all kinds but the last, which takes what the others leave, in billionths.
    parts: [u32; Mobility::ALL.len() - 1],
}

impl MobilityShares {
    /// Draws the kind of every job of which the trace does not say it. It depends on the seed, these shares and the
    /// job's id alone: not on other jobs, the machine or the number of threads. A job that cannot move keeps that
    /// kind when shares of others grow. Of those that would be carried, only jobs of one task
    /// without GPUs are; others are parked. O(jobs).
    pub fn draw(&self, seed: u64, trace: &mut Trace) {
        for job in &mut trace.jobs {
            let declared = job.declared_mobility;
            let kind = declared.unwrap_or_else(|| self.kind(seed, &job.id));
            job.mobility = match kind {
                Mobility::Carry if !job.can_be_carried() => Mobility::Park,
                kind => kind,
            };
        }
    }

    fn kind(&self, seed: u64, id: &str) -> Mobility {
        let mut place = drawn(seed, id);
        let parts = self.parts.iter().zip(Mobility::ALL);
        for (part, kind) in parts {
            match place.checked_sub(*part) {
                Some(rest) => place = rest,
                None => return kind,
            }
        }
        Mobility::Checkpoint
    }
}

impl fmt::Display for MobilityShares {
    /// Writes the shares in the form in which they are read, without kinds of which there are none.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let given: u32 = self.parts.iter().sum();
        let parts = self.parts.into_iter().chain([WHOLE.saturating_sub(given)]);
        let there = parts.zip(Mobility::ALL).filter(|(part, _)| *part > 0);
        let texts =
            there.map(|(part, kind)| format!("{kind}={}", f64::from(part) / f64::from(WHOLE)));
        out.write_str(&texts.collect::<Vec<_>>().join(","))
    }
}

/// The kind with this name.
pub(crate) fn kind_named(name: &str) -> Option<Mobility> {
    name.to_ascii_lowercase().parse().ok()
}

/// A number from 0 to less than `WHOLE`, by a generator whose values are the same in all versions.
pub(crate) fn drawn(seed: u64, id: &str) -> u32 {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    let mut generator = ChaCha8Rng::from_seed(key);
    generator.set_stream(digest(id));
    let place = (u128::from(generator.next_u64()) * u128::from(WHOLE)) >> 64;
    u32::try_from(place).unwrap_or(0) // less than WHOLE
}

/// FNV-1a, 64 bits.
fn digest(id: &str) -> u64 {
    id.bytes().fold(0xcbf2_9ce4_8422_2325, |digest, byte| {
        (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

impl FromStr for MobilityShares {
    type Err = String;

    /// Reads e.g. `park=0.7,checkpoint=0.2,never=0.1`. What is left to 1 is checkpoint.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut given: [Option<u32>; Mobility::ALL.len()] = [None; Mobility::ALL.len()];
        for part in text.split(',') {
            let Some((name, share)) = part.split_once('=') else {
                let part = part.trim();
                return Err(format!(
                    "{part:?} is not of the form KIND=SHARE; an example: park=0.7,checkpoint=0.2,never=0.1"
                ));
            };
            let (name, share) = (name.trim(), share.trim());
            let kind = kind_named(name);
            let Some(place) = Mobility::ALL.iter().position(|known| Some(*known) == kind) else {
                return Err(format!(
                    "{name:?} is no kind of mobility; allowed are checkpoint, carry, park, restart, never"
                ));
            };
            let parts = scaled(share.as_bytes(), DIGITS)
                .and_then(|parts| u32::try_from(parts).ok())
                .filter(|parts| *parts <= WHOLE)
                .ok_or_else(|| {
                    format!(
                        "the share of {} is {share:?}; allowed are 0 to 1",
                        Mobility::ALL[place]
                    )
                })?;
            if given[place].replace(parts).is_some() {
                return Err(format!(
                    "{} is there twice; give each kind once",
                    Mobility::ALL[place]
                ));
            }
        }
        let parts = given.map(Option::unwrap_or_default);
        if parts.iter().map(|part| u64::from(*part)).sum::<u64>() > u64::from(WHOLE) {
            return Err("the shares add up to more than 1; lower one of them (what is left to 1 is checkpoint)".into());
        }
        let [never, restart, park, carry, _] = parts;
        Ok(Self {
            parts: [never, restart, park, carry],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_shown_as_they_are_read() {
        for text in [
            "checkpoint=1",
            "park=1",
            "never=0.1,park=0.7,checkpoint=0.2",
            "never=0.25,restart=0.75",
        ] {
            assert_eq!(shares(text).to_string(), text);
        }
    }

    fn shares(text: &str) -> MobilityShares {
        text.parse().expect("shares")
    }

    #[test]
    fn remaining_share_is_checkpoint() {
        let all = MobilityShares::default();
        assert_eq!(all.kind(1, "a"), Mobility::Checkpoint);
        assert_eq!(shares("checkpoint=1"), all);
        assert_eq!(shares("checkpoint=0.3"), all);
        assert_eq!(
            shares("park=0.7,checkpoint=0.2,never=0.1"),
            shares(" Never = 0.1 ,park=.7")
        );
        assert_eq!(shares("never=1").kind(7, "x"), Mobility::Never);
        assert_eq!(shares("park=1").kind(7, "x"), Mobility::Park);
        assert_eq!(shares("restart=1").kind(7, "x"), Mobility::Restart);
        assert_eq!(shares("carry=1").kind(7, "x"), Mobility::Carry);
    }

    #[test]
    fn invalid_shares_are_one_line_errors() {
        let error_of = |text: &str| {
            let error = text.parse::<MobilityShares>().unwrap_err().to_string();
            assert!(!error.contains('\n'), "{error}");
            error
        };
        assert!(error_of("").contains("KIND=SHARE"));
        assert!(error_of("park").contains("\"park\" is not of the form"));
        assert!(error_of("swap=0.5").contains("\"swap\" is no kind"));
        assert!(error_of("park=0.5,Park=0.1").contains("park is there twice"));
        for share in ["-0.1", "1.1", "nan", "", "1e9", "half"] {
            assert!(error_of(&format!("park={share}")).contains("the share of park"));
        }
        assert!(error_of("park=0.7,checkpoint=0.2,never=0.2").contains("more than 1"));
    }

    /// The kinds of a seed never change, whatever version draws them. The numbers are those of another
    /// implementation of the generator.
    #[test]
    fn draws_of_a_seed_never_change() {
        let drawn_of = |seed| ["1", "2", "17", "x-1"].map(|id| drawn(seed, id));
        assert_eq!(
            drawn_of(1),
            [236_862_199, 437_898_508, 507_437_680, 964_145_442]
        );
        assert_eq!(
            drawn_of(2),
            [346_877_349, 783_856_863, 179_768_561, 47_708_074]
        );
    }

    #[test]
    fn drawn_kinds_match_their_shares() {
        let mix = shares("park=0.4,restart=0.2,never=0.1,carry=0.1");
        let mut counts = [0; Mobility::ALL.len()];
        for id in 0..10_000 {
            let kind = mix.kind(3, &id.to_string());
            counts[Mobility::ALL
                .iter()
                .position(|other| *other == kind)
                .expect("a kind")] += 1;
        }
        // Ten standard deviations are at most 500.
        for (count, share) in counts.into_iter().zip([1_000, 2_000, 4_000, 1_000, 2_000]) {
            assert!((share - 500..share + 500).contains(&count), "{counts:?}");
        }
    }

    #[test]
    fn immobile_job_stays_immobile_when_the_share_grows() {
        for id in 0..1_000 {
            let id = id.to_string();
            if shares("never=0.2,park=0.5").kind(5, &id) == Mobility::Never {
                assert_eq!(shares("never=0.6").kind(5, &id), Mobility::Never);
            }
        }
    }
}
