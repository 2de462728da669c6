//! Texts for people.

use std::borrow::Cow;
use std::fmt::Display;

/// The longest text that is shown whole, in characters; of a longer one, its beginning and its end.
const MAX_CHARACTERS: usize = 500;
const BEGINNING: usize = 300;
const END: usize = 150;

/// `text` without its middle if it is long, as an error is that quotes its input: what is wrong
/// stands at its beginning and what to do at its end.
pub fn shortened(text: &str) -> Cow<'_, str> {
    let length = text.chars().count();
    if length <= MAX_CHARACTERS {
        return text.into();
    }
    let beginning = text.chars().take(BEGINNING);
    let end = text.chars().skip(length - END);
    beginning.chain(" ... ".chars()).chain(end).collect()
}

/// The first `max` names of a list, and how many more there are; nothing if there are none. O(`max`).
pub fn some_of(names: impl ExactSizeIterator<Item = impl Display>, max: usize) -> String {
    let more = names.len().saturating_sub(max);
    let shown: Vec<String> = names.take(max).map(|name| name.to_string()).collect();
    let shown = shown.join(", ");
    match more {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// A number with the name of what is counted: "1 node", "2 nodes".
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(number: N, name: &str) -> String {
    let ending = if number == N::from(1u8) { "" } else { "s" };
    format!("{number} {name}{ending}")
}

#[cfg(test)]
mod tests {
    use super::{counted, shortened, some_of};

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

    #[test]
    fn list_ends_with_how_many_more_there_are() {
        let shown = |count: u32| some_of((0..count).map(|node| format!("n{node}")), 2);
        assert_eq!(shown(0), "");
        assert_eq!(shown(1), "n0");
        assert_eq!(shown(2), "n0, n1");
        assert_eq!(shown(3), "n0, n1 and 1 more");
    }

    #[test]
    fn name_of_what_is_counted_has_its_plural() {
        assert_eq!(counted(0u32, "node"), "0 nodes");
        assert_eq!(counted(1usize, "node"), "1 node");
        assert_eq!(counted(2u64, "node"), "2 nodes");
    }
}
