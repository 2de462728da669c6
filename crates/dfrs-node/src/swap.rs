//! How much swap this node has to park jobs in, and how much memory.

use std::path::Path;

use dfrs_node_proto::swap::Swap;

use crate::cgroup::{CgroupError, files};

/// Reads this file, which is as `/proc/swaps`; no swap if it cannot be read.
pub fn read(swaps: &Path) -> Swap {
    files::read(swaps)
        .map(|text| Swap::parse(&text))
        .unwrap_or_default()
}

/// Bytes of RAM, by this file, which is as `/proc/meminfo`.
///
/// # Errors
///
/// If the file does not contain it.
pub fn installed_memory(meminfo: &Path) -> Result<u64, CgroupError> {
    let text = files::read(meminfo)?;
    dfrs_node_proto::spare::installed(&text)
        .ok_or_else(|| files::failed("understand", meminfo)(std::io::ErrorKind::InvalidData.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_none_where_it_cannot_be_read() {
        assert_eq!(read(Path::new("/no/such/file")), Swap::default());
    }

    #[test]
    fn installed_memory_is_read_in_bytes() {
        let scratch = crate::scratch::Scratch::new();
        let file = scratch.path().join("meminfo");
        assert!(installed_memory(&file).is_err());
        files::write(&file, "MemFree: 1 kB\nMemTotal:        2048 kB\n").unwrap();
        assert_eq!(installed_memory(&file).unwrap(), 2 << 20);
    }
}
