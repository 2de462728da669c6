//! What is in use at one time.

use dfrs_core::Time;

/// The most of something that is in use at one time, of changes: when, whether it comes (or goes),
/// and how much. At one time, what goes comes first. O(n log n).
pub fn most_at_once(mut changes: Vec<(Time, bool, u64)>) -> u128 {
    changes.sort_unstable();
    let (mut now, mut max) = (0u128, 0);
    for (_, comes, amount) in changes {
        let amount = u128::from(amount);
        now = if comes {
            now + amount
        } else {
            now.saturating_sub(amount)
        };
        max = max.max(now);
    }
    max
}
