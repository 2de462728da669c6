//! What a program or library needs of Debian.

use std::path::Path;
use std::process::Command;

use super::tool;

/// The packages, as `Depends` writes them.
///
/// # Errors
///
/// objdump fails.
pub(super) fn needs(file: &Path) -> Result<Vec<String>, String> {
    let dynamic = tool(Command::new("objdump").arg("-p").arg(file))?;
    Ok(from_headers(&dynamic))
}

/// From what `objdump -p` prints: the newest symbols of the C library, and libgcc.
fn from_headers(headers: &str) -> Vec<String> {
    let versions = headers.split_whitespace().filter_map(|word| {
        let (major, minor) = word.strip_prefix("GLIBC_")?.split_once('.')?;
        let minor = minor.split('.').next()?;
        Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?))
    });
    let mut needs = Vec::new();
    if let Some((major, minor)) = versions.max() {
        needs.push(format!("libc6 (>= {major}.{minor})"));
    }
    if headers.contains("libgcc_s.so.1") {
        needs.push("libgcc-s1 (>= 4.2)".to_owned());
    }
    needs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_symbol_counts_as_a_number() {
        let headers = "  NEEDED  libgcc_s.so.1\n 0x1 0x00 05 GLIBC_2.9\n 0x2 0x00 04 GLIBC_2.34\n 0x3 GLIBC_2.3.4\n";
        assert_eq!(
            from_headers(headers),
            ["libc6 (>= 2.34)", "libgcc-s1 (>= 4.2)"]
        );
    }
}
