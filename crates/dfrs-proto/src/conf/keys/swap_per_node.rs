//! `SwapPerNode`: how much swap parked jobs may fill.

use dfrs_core::Bytes;

use crate::conf::Config;
use crate::conf::key::{GivenText, Key, Preset};
use crate::conf::value::set;

const MEGABYTE: u64 = 1 << 20;

pub(super) const SWAP_PER_NODE: Key<Config> = Key {
    name: "SwapPerNode",
    preset: Preset::Text("0"),
    read: |config, given| set(&mut config.swap_per_node, memory(given)),
};

fn memory(given: &GivenText) -> Result<Bytes, String> {
    let (key, text) = (given.key, given.text);
    memory_bytes(text).map(Bytes).ok_or_else(|| {
        format!("{key}={text} is wrong; allowed: a whole number of megabytes, or with a suffix K, M, G or T, as in {key}=2G")
    })
}

fn memory_bytes(text: &str) -> Option<u64> {
    let (digits, unit) = match text.char_indices().last()? {
        (at, suffix @ ('k' | 'K' | 'm' | 'M' | 'g' | 'G' | 't' | 'T')) => {
            (&text[..at], unit_bytes(suffix))
        }
        _ => (text, MEGABYTE),
    };
    if !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

fn unit_bytes(suffix: char) -> u64 {
    match suffix.to_ascii_uppercase() {
        'K' => 1 << 10,
        'G' => 1 << 30,
        'T' => 1 << 40,
        _ => MEGABYTE,
    }
}

#[cfg(test)]
mod tests {
    use dfrs_core::Bytes;

    use crate::conf::key::testing::{config, mistake, printed};

    #[test]
    fn swap_per_node_is_in_megabytes_or_has_a_suffix() {
        let key = "SwapPerNode";
        assert_eq!(config("").swap_per_node, Bytes::ZERO);
        assert_eq!(printed("", key), "0");
        for (text, bytes) in [
            ("512", 512 << 20),
            ("3K", 3 << 10),
            ("3m", 3 << 20),
            ("3g", 3 << 30),
            ("1T", 1_u64 << 40),
        ] {
            let config = config(&format!("SwapPerNode={text}"));
            assert_eq!(config.swap_per_node, Bytes(bytes));
        }
        assert_eq!(printed("SwapPerNode=2g", key), "2048");
        assert_eq!(printed("SwapPerNode=1025K", key), "1025K");
        let error = mistake("SwapPerNode=99999999T");
        assert!(error.ends_with("as in SwapPerNode=2G"), "{error}");
    }
}
