//! Trackable resources besides CPUs and memory: devices of nodes, of which GPUs can count, and what is lent to all, which
//! does not.

use crate::trace::values::shown;

/// The most bytes of a resource's name and number that are shown.
const MAX_SHOWN: usize = 48;

/// The first device of `cpu=4,gres/gpu=2,mem=8G,node=1` of which there is one at least; the whole of
/// a kind rather than of one type of it.
pub(super) fn of_tres(text: &[u8]) -> Option<Box<str>> {
    let is_typed = |part: &&[u8]| part.contains(&b':');
    let found = || counted(text).filter(|part| part.starts_with(b"gres/"));
    found()
        .find(|part| !is_typed(part))
        .or_else(|| found().next())
        .map(named)
}

/// How many GPUs there are of all types in `cpu=4,gres/gpu=2,gres/gpu:a100=2`; none if there is none, or another
/// device. Where the name without a type is there, it counts those of all types.
pub(super) fn gpus_of_tres(text: &[u8]) -> Option<u32> {
    let (mut named, mut typed) = (None, 0_u32);
    for part in counted(text).filter_map(|part| part.strip_prefix(b"gres/")) {
        let equals = part.iter().position(|byte| *byte == b'=')?;
        let number = || std::str::from_utf8(&part[equals + 1..]).ok()?.parse().ok();
        match &part[..equals] {
            b"gpu" => named = Some(number()?),
            // How GPUs are used, which is nothing that a job holds.
            b"gpumem" | b"gpuutil" => {}
            name if name.starts_with(b"gpu:") => typed = typed.checked_add(number()?)?,
            _ => return None,
        }
    }
    named.or((typed > 0).then_some(typed))
}

/// The same of `gpu:2` or `gpu:tesla:2`, as columns of Slurm 20.11 have it.
pub(super) fn gpus_of_gres(text: &[u8]) -> Option<u32> {
    let parts = text.split(|byte| *byte == b',');
    let sum = parts.into_iter().try_fold(0_u32, |sum, part| {
        let mut words = part.split(|byte| *byte == b':');
        let number = match (words.next(), words.next_back()) {
            (Some(b"gpu"), None) => 1,
            (Some(b"gpu"), Some(number)) => std::str::from_utf8(number).ok()?.parse().ok()?,
            _ => return None,
        };
        sum.checked_add(number)
    });
    sum.filter(|sum| *sum > 0)
}

/// The first licence or burst buffer of the same.
pub(super) fn licenses(text: &[u8]) -> Option<Box<str>> {
    let is_lent = |part: &&[u8]| part.starts_with(b"license/") || part.starts_with(b"bb/");
    counted(text).find(is_lent).map(named)
}

/// The first device of `gpu:2` or `gpu:tesla:2`, as columns of Slurm 20.11 have it.
pub(super) fn of_gres(text: &[u8]) -> Option<Box<str>> {
    let mut parts = text.split(|byte| *byte == b',');
    let found = parts.find(|part| {
        let number = part.rsplit(|byte| *byte == b':').next().unwrap_or_default();
        !matches!(*part, b"" | b"(null)" | b"N/A") && number != b"0"
    });
    found.map(named)
}

/// The parts with a number that is not 0.
fn counted(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b',').filter(|part| {
        let equals = part.iter().position(|byte| *byte == b'=');
        equals.is_some_and(|equals| part[equals + 1..].iter().any(|byte| *byte != b'0'))
    })
}

/// The resource as it is written, if that can be shown.
fn named(part: &[u8]) -> Box<str> {
    let plain = part.len() <= MAX_SHOWN && part.iter().all(u8::is_ascii_graphic);
    match std::str::from_utf8(part) {
        Ok(text) if plain => text.into(),
        _ => shown(part).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpus_and_their_kind_are_devices() {
        let of = |text: &str| of_tres(text.as_bytes());
        let is = |text: &str, expected: &str| assert_eq!(of(text).as_deref(), Some(expected));
        is(
            "billing=2,cpu=2,gres/gpu:a100=4,gres/gpu=4,mem=8G,node=1",
            "gres/gpu=4",
        );
        is("cpu=2,gres/gpu:a100=4", "gres/gpu:a100=4");
        is("cpu=2,gres/shard=10,node=1", "gres/shard=10");
        is("gres/scratch=1.50T", "gres/scratch=1.50T");
        is("gres/\u{1}=1", "\"gres/\\u{1}=1\"");
        for none in [
            "",
            "cpu=4,mem=8G,node=1",
            "gres/gpu=0",
            "gres/gpu",
            "energy=12",
        ] {
            assert_eq!(of(none), None, "{none}");
        }
    }

    #[test]
    fn gpus_of_all_types_are_counted_once() {
        let of = |text: &str| gpus_of_tres(text.as_bytes());
        assert_eq!(of("cpu=2,gres/gpu:a100=4,gres/gpu=6,node=2"), Some(6));
        assert_eq!(of("gres/gpu:a100=4,gres/gpu:v100=2"), Some(6));
        assert_eq!(of("gres/gpu=2,gres/gpumem=10G,gres/gpuutil=50"), Some(2));
        for none in [
            "",
            "cpu=4",
            "gres/gpu=0",
            "gres/gpu=4,gres/shard=1",
            "gres/gpu=1.5K",
            "gres/gpu=99999999999",
        ] {
            assert_eq!(of(none), None, "{none}");
        }
        let old = |text: &str| gpus_of_gres(text.as_bytes());
        assert_eq!(old("gpu:2"), Some(2));
        assert_eq!(old("gpu:tesla:1,gpu:k80:2"), Some(3));
        assert_eq!(old("gpu"), Some(1));
        for none in ["", "gpu:0", "gpu:2,mps:100", "gpu:x", "N/A"] {
            assert_eq!(old(none), None, "{none}");
        }
    }

    #[test]
    fn old_columns_have_gpus_too() {
        let of = |text: &str| of_gres(text.as_bytes());
        assert_eq!(of("gpu:2").as_deref(), Some("gpu:2"));
        assert_eq!(of("gpu:tesla:0,mps:100").as_deref(), Some("mps:100"));
        assert_eq!(of("gpu").as_deref(), Some("gpu"));
        for none in ["", "(null)", "gpu:0", "N/A"] {
            assert_eq!(of(none), None, "{none}");
        }
    }

    #[test]
    fn licenses_are_found_in_tres() {
        let of = |text: &str| licenses(text.as_bytes());
        assert_eq!(
            of("cpu=1,license/solver=2").as_deref(),
            Some("license/solver=2")
        );
        assert_eq!(of("bb/datawarp=200G").as_deref(), Some("bb/datawarp=200G"));
        assert_eq!(of("cpu=1,gres/gpu=1,license/solver=0"), None);
    }
}
