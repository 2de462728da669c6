//! How much swap this node has to park jobs in.

use std::path::Path;

use dfrs_proto::swap::Swap;

use crate::cgroup::files;

/// Reads this file, which is as `/proc/swaps`; no swap if it cannot be read.
pub fn read(swaps: &Path) -> Swap {
    files::read(swaps)
        .map(|text| Swap::parse(&text))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_none_where_it_cannot_be_read() {
        assert_eq!(read(Path::new("/no/such/file")), Swap::default());
    }
}
