//! What a processor can do: a program that has found that out must find it after a restore, too.

use std::collections::BTreeSet;

/// Flags that say nothing about instructions that programs use, and differ between equal machines.
const IRRELEVANT: &[&str] = &[
    "hypervisor",
    "constant_tsc",
    "nonstop_tsc",
    "tsc_known_freq",
    "arat",
];

/// The flags of the first processor in the text of `/proc/cpuinfo`.
pub fn flags(information: &str) -> BTreeSet<String> {
    let mut lines = information.lines().filter_map(|line| line.split_once(':'));
    // x86 and ARM name them differently.
    let flags = lines.find(|(name, _)| ["flags", "Features"].contains(&name.trim()));
    let words = flags.map_or("", |(_, flags)| flags).split_whitespace();
    let words = words.filter(|word| !IRRELEVANT.contains(word));
    words.map(str::to_owned).collect()
}

/// Flags that this processor lacks; a part of a line.
pub fn missing(needed: &BTreeSet<String>, there: &BTreeSet<String>) -> Option<String> {
    let missing: Vec<&str> = needed.difference(there).map(String::as_str).collect();
    (!missing.is_empty()).then(|| missing.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_of_the_other_node_have_to_be_here() {
        let old = flags("processor\t: 0\nflags\t\t: fpu sse\nflags\t: other\n");
        let new = flags("flags : sse avx fpu hypervisor\n");
        assert_eq!(missing(&old, &new), None);
        assert_eq!(missing(&new, &old).unwrap(), "avx");
        assert!(flags("").is_empty());
    }
}
