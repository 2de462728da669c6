//! `cargo xtask bindings`: the Rust side of the shim's contract, from its one header.

use std::path::Path;

use crate::files;

const HEADER: &str = "c_shim/dfrs_shim.h";
const BINDINGS: &str = "src/shim/bindings.rs";

#[derive(clap::Args)]
pub struct BindingsArguments {
    /// Change nothing; fail if the committed file is not what the header gives
    #[arg(long)]
    check: bool,
}

/// Generates the bindings, or compares them with the committed ones.
///
/// # Errors
///
/// One line: the header cannot be parsed, a file cannot be read or written, or (with `--check`)
/// the committed bindings are stale.
pub fn run(arguments: &BindingsArguments) -> Result<(), String> {
    let root = crate::root();
    let path = root.join(BINDINGS);
    let generated = generate(&root.join(HEADER))?;
    if !arguments.check {
        return files::write(&path, generated);
    }
    if files::read(&path)? == generated {
        return Ok(());
    }
    Err(format!(
        "{BINDINGS}: not what {HEADER} gives: run `cargo xtask bindings`"
    ))
}

fn generate(header: &Path) -> Result<String, String> {
    let bindings = bindgen::Builder::default()
        .header(header.to_string_lossy())
        .clang_arg("-std=gnu11")
        .allowlist_file(".*/dfrs_shim\\.h")
        .size_t_is_usize(true)
        .layout_tests(true)
        .derive_default(true)
        .disable_header_comment()
        .raw_line("// Generated from c_shim/dfrs_shim.h by `cargo xtask bindings`; do not edit.")
        .formatter(bindgen::Formatter::Rustfmt)
        .rustfmt_configuration_file(Some(crate::root().join("rustfmt.toml")))
        .generate()
        .map_err(|error| format!("{HEADER}: {error}"))?;
    Ok(bindings.to_string())
}
