//! Short names for long content.

use std::fs::File;
use std::hash::{Hash, Hasher};
use std::io::{self, Read};
use std::sync::OnceLock;

use siphasher::sip128::{Hasher128, SipHasher13};

/// 32 hexadecimal digits, the same for the same content, on one kind of machine.
pub fn digest(content: &impl Hash) -> String {
    let mut hasher = SipHasher13::new();
    content.hash(&mut hasher);
    text(&hasher)
}

/// This program: its version and a digest of its file. A result of another program, be it built a
/// minute later, may be another.
pub fn program() -> Result<&'static str, String> {
    static PROGRAM: OnceLock<Result<String, String>> = OnceLock::new();
    let program = PROGRAM.get_or_init(|| {
        let digest = own_file().map_err(|error| error.to_string())?;
        Ok(format!("{} {digest}", env!("CARGO_PKG_VERSION")))
    });
    program.as_deref().map_err(Clone::clone)
}

fn own_file() -> io::Result<String> {
    // By this name it is found even if another has been put in its place since.
    let mut file =
        File::open("/proc/self/exe").or_else(|_| File::open(std::env::current_exe()?))?;
    let mut hasher = SipHasher13::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(text(&hasher)),
            length => hasher.write(&buffer[..length]),
        }
    }
}

fn text(hasher: &SipHasher13) -> String {
    format!("{:032x}", hasher.finish128().as_u128())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digest_differs_when_content_differs() {
        assert_eq!(digest(&(1, "a")), digest(&(1, "a")));
        assert_ne!(digest(&(1, "a")), digest(&(2, "a")));
        assert_eq!(digest(&"a").len(), 32);
    }

    #[test]
    fn program_digest_is_version_and_file_digest() {
        let program = program().expect("an executable");
        assert!(program.starts_with(env!("CARGO_PKG_VERSION")), "{program}");
        assert!(
            program.ends_with(&own_file().expect("an executable")),
            "{program}"
        );
    }
}
