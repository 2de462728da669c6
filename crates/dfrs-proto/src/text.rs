//! Texts for people.

use std::borrow::Cow;

/// The longest text that is shown whole, in characters; of a longer one, its beginning and its end.
const MAX_BYTES: usize = 500;
const BEGINNING: usize = 300;
const END: usize = 150;

/// `text` without its middle if it is long, as an error is that quotes its input: what is wrong
/// stands at its beginning and what to do at its end.
pub fn shortened(text: &str) -> Cow<'_, str> {
    let length = text.chars().count();
    if length <= MAX_BYTES {
        return text.into();
    }
    let beginning = text.chars().take(BEGINNING);
    let end = text.chars().skip(length - END);
    beginning.chain(" ... ".chars()).chain(end).collect()
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn the_middle_of_long_texts_is_left_out() {
        let short = "ä".repeat(500);
        assert_eq!(shortened(&short), short);
        let long = format!("{}{}{}", "ä".repeat(300), "x".repeat(51), "ö".repeat(150));
        assert_eq!(
            shortened(&long),
            format!("{} ... {}", "ä".repeat(300), "ö".repeat(150))
        );
    }
}
