//! `AllowMobility`: what users may choose for their jobs.

use dfrs_core::Mobility;

use super::mobility::{MOBILITIES, all_mobilities, shown_unless_moldable};
use super::partition_policy::refuse_for_moldable;
use crate::conf::Partition;
use crate::conf::key::{GivenText, Key, KeyPurpose, Preset};
use crate::conf::value::{NONE, word_for};

pub(super) const KEY: Key<Partition> = Key {
    name: "AllowMobility",
    purpose: KeyPurpose::Operation,
    values: "a list of these, as `park,restart`; `all`, `none`",
    preset: Preset::Left("`all`"),
    meaning: "What users may choose for their jobs. Another choice counts as none.",
    sample: None,
    read: |partition, given| {
        refuse_for_moldable(partition, given)?;
        partition.allowed = list(given)?;
        Ok(())
    },
    show: |partition| match &partition.allowed {
        all if *all == all_mobilities() => None,
        allowed => shown_unless_moldable(partition, words(allowed)),
    },
};

/// A list of mobilities with commas, `all` or `none`; in the order of the words, each once.
fn list(given: &GivenText) -> Result<Vec<Mobility>, String> {
    if given.text.eq_ignore_ascii_case(NONE) {
        return Ok(Vec::new());
    }
    let mut allowed = all_mobilities();
    if given.text.eq_ignore_ascii_case("all") {
        return Ok(allowed);
    }
    let mut chosen = Vec::new();
    for text in given.text.split(',') {
        chosen.push(GivenText { text, ..*given }.word(MOBILITIES)?);
    }
    allowed.retain(|mobility| chosen.contains(mobility));
    Ok(allowed)
}

fn words(allowed: &[Mobility]) -> String {
    let words = allowed.iter();
    let words = words.map(|mobility| word_for(MOBILITIES, mobility));
    match Vec::from_iter(words) {
        none if none.is_empty() => NONE.into(),
        words => words.join(","),
    }
}

#[cfg(test)]
mod tests {
    use dfrs_core::Mobility;

    use crate::conf::key::testing::{config, partition_mistake, printed};

    #[test]
    fn allowed_mobilities_are_a_list() {
        let shown = |value: &str| {
            let line = format!("Partition=b AllowMobility={value}");
            printed(&line, "AllowMobility")
        };
        assert_eq!(shown("Never,park,park"), "park,never");
        assert_eq!(shown("NONE"), "none");
        let all = &config("Partition=b AllowMobility=All").partitions[1];
        assert_eq!(all.allowed.len(), 4);
        assert!(!all.to_string().contains("AllowMobility"));
        assert!(all.allowed.contains(&Mobility::Restart));
        let error = partition_mistake("AllowMobility=park,frozen");
        assert!(
            error.starts_with("AllowMobility=frozen is not known"),
            "{error}"
        );
        let error = partition_mistake("Policy=DEMT AllowMobility=all");
        assert!(error.starts_with("AllowMobility has no place"), "{error}");
    }
}
