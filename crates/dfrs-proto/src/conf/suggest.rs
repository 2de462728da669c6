//! "did you mean": the known word that is nearest to a wrong one.

/// The word of `known` that a user who wrote `wrong` most likely meant, if any is near. Case does
/// not count.
pub(super) fn nearest<'a>(wrong: &str, known: &[&'a str]) -> Option<&'a str> {
    let wrong: Vec<char> = wrong.to_ascii_lowercase().chars().collect();
    let near_enough = (wrong.len() / 3).clamp(1, 3);
    known
        .iter()
        .filter(|word| word.chars().count().abs_diff(wrong.len()) <= near_enough)
        .map(|word| {
            let letters: Vec<char> = word.to_ascii_lowercase().chars().collect();
            // Of words as near, the one as long: a wrong character is likelier than one too many.
            (
                edits(&wrong, &letters),
                wrong.len().abs_diff(letters.len()),
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

/// Number of insertions, deletions and replacements that turn one word into the other
/// (Levenshtein), two swapped adjacent characters counting as one.
fn edits(from: &[char], to: &[char]) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in to.iter().enumerate() {
            let mut best = (last[j] + usize::from(a != b))
                .min(last[j + 1] + 1)
                .min(row[j] + 1);
            if i > 0 && j > 0 && *a == to[j - 1] && from[i - 1] == *b {
                best = best.min(before_last[j - 1] + 1);
            }
            row.push(best);
        }
        before_last = last;
        last = row;
    }
    last[to.len()]
}
