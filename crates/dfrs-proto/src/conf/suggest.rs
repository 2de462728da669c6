//! "did you mean": the known word that is nearest to a wrong one.

use strsim::osa_distance;

/// The word of `known` that a user who wrote `wrong` most likely meant, if any is near. Case does
/// not count.
pub(super) fn nearest<'a>(wrong: &str, known: &[&'a str]) -> Option<&'a str> {
    let wrong = wrong.to_ascii_lowercase();
    let length = wrong.chars().count();
    let near_enough = (length / 3).clamp(1, 3);
    known
        .iter()
        .filter(|word| word.chars().count().abs_diff(length) <= near_enough)
        .map(|word| {
            // Of words as near, the one as long: a wrong character is likelier than one too many.
            (
                osa_distance(&wrong, &word.to_ascii_lowercase()),
                length.abs_diff(word.chars().count()),
                *word,
            )
        })
        .filter(|(distance, ..)| *distance <= near_enough)
        .min_by_key(|(distance, longer, _)| (*distance, *longer))
        .map(|(.., word)| word)
}

/// ` did you mean 'X'?`, or the list of what is allowed.
pub(super) fn hint(wrong: &str, known: &[&str]) -> String {
    match nearest(wrong, known) {
        Some(word) => format!("did you mean '{word}'?"),
        None => format!("allowed: {}", known.join(", ")),
    }
}
