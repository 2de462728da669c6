//! Parallel jobs whose tasks wait for each other: how much longer they take than their yields explain.

/// How much a job on several nodes loses because its caps are not in step: on n nodes at yield y it takes
/// 1 + C (1 - y) log2 n times as long as its yield explains. Hundredths of C. The form and its values are measured, see
/// docs/parallel.md: 2 for steps of a millisecond, 0.2 for steps of ten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CouplingLoss(u32);

impl CouplingLoss {
    /// Yields alone determine the speed.
    pub const NONE: Self = Self(0);

    /// C in hundredths.
    pub const fn from_hundredths(hundredths: u32) -> Self {
        Self(hundredths)
    }

    /// Whether yields alone determine the speed.
    pub fn is_none(self) -> bool {
        self == Self::NONE
    }

    /// How fast a job with this yield is that has tasks on so many nodes: from 0 to the yield. O(1).
    ///
    /// The logarithm is that of the next power of two below, and linear between them, so that machines agree.
    pub(crate) fn speed(self, share: f64, nodes: u32) -> f64 {
        let loss = f64::from(self.0) / 100.0 * (1.0 - share).max(0.0) * doublings(nodes);
        share / (1.0 + loss)
    }
}

/// log2 n, linear between powers of two: 0 for 1, 1 for 2, 1.5 for 3.
fn doublings(nodes: u32) -> f64 {
    let whole = nodes.max(1).ilog2();
    let power = f64::from(1u32 << whole);
    f64::from(whole) + f64::from(nodes.max(1)) / power - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loss(hundredths: u32, share: f64, nodes: u32) -> f64 {
        share / CouplingLoss::from_hundredths(hundredths).speed(share, nodes)
    }

    /// The medians of docs/parallel.md with periods of 20 ms: steps of 1 ms, then of 10.
    #[test]
    fn loss_matches_the_measurements() {
        for (share, nodes, measured) in [
            (0.1, 2, 2.8),
            (0.25, 2, 2.5),
            (0.5, 2, 2.1),
            (0.2, 4, 4.3),
            (0.1, 8, 6.2),
        ] {
            let modelled = loss(200, share, nodes);
            assert!((modelled / measured - 1.0).abs() < 0.1, "{modelled}");
        }
        for share in [0.1, 0.25, 0.5] {
            assert!((loss(20, share, 2) - 1.2).abs() < 0.11);
        }
    }

    #[test]
    fn whole_nodes_and_single_nodes_lose_nothing() {
        assert_eq!(loss(200, 1.0, 8), 1.0);
        assert_eq!(loss(200, 0.25, 1), 1.0);
        assert_eq!(loss(0, 0.25, 8), 1.0);
    }

    #[test]
    fn doublings_are_logarithms() {
        let found = [1, 2, 3, 4, 8, 12].map(doublings);
        assert_eq!(found, [0.0, 1.0, 1.5, 2.0, 3.0, 3.5]);
    }
}
