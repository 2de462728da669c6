//! Compiles the C shim against a Slurm source tree.
//!
//! `DFRS_SLURM_SOURCE` names the tree, unpacked from the upstream tarball of exactly the version
//! that the site runs; it need not be configured. Without it the cfg `no_slurm` is set:
//! unit tests, clippy and documentation do without the shim, and everything else refuses to build.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Release series (major, minor) with which the shim was compiled and tried, in ascending order.
const KNOWN: [(u32, u32); 8] = [
    (22, 5),
    (23, 2),
    (23, 11),
    (24, 5),
    (24, 11),
    (25, 5),
    (25, 11),
    (26, 5),
];

/// What keeps Slurm's other schedulers from DFRS's jobs.
const BURST_BUFFER: &str = "burst_buffer_dfrs.so";

/// Files of `c_shim/` that are not compiled as the rest of it is: the other plugin, and the site's backfill.
const SEPARATE_FILES: [&str; 2] = ["burst_buffer_dfrs.c", "embedded_backfill.c"];

/// A Slurm version, as in `SLURM_VERSION_NUMBER`.
#[derive(Clone, Copy)]
struct SlurmVersion {
    major: u32,
    minor: u32,
    micro: u32,
}

impl SlurmVersion {
    fn number(self) -> u32 {
        (self.major << 16) | (self.minor << 8) | self.micro
    }

    fn text(self) -> String {
        format!("{}.{:02}.{}", self.major, self.minor, self.micro)
    }
}

fn main() -> ExitCode {
    println!("cargo::rustc-check-cfg=cfg(no_slurm)");
    println!("cargo::rerun-if-env-changed=DFRS_SLURM_SOURCE");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=c_shim");
    let Some(tree) = env::var_os("DFRS_SLURM_SOURCE").filter(|tree| !tree.is_empty()) else {
        println!("cargo::rustc-cfg=no_slurm");
        return ExitCode::SUCCESS;
    };
    match build(Path::new(&tree)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            println!("cargo::error={message}");
            ExitCode::FAILURE
        }
    }
}

fn build(tree: &Path) -> Result<(), String> {
    let version = version_of(tree)?;
    check_known_series(tree, version)?;
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR: not set: run me with cargo")?);
    write_configuration(&out, version)?;
    compile(tree, &out);
    link_burst_buffer(tree, &out)?;
    // Slurm loads plugins lazily; a symbol that only some daemons have must not keep it from that.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,lazy");
    Ok(())
}

/// What is newer than all known series may differ from them in ways that the compiler finds, `cargo xtask
/// symbols` finds, or the canary finds before each pass: that is worth a warning. What is older does.
fn check_known_series(tree: &Path, version: SlurmVersion) -> Result<(), String> {
    let series = (version.major, version.minor);
    if KNOWN.contains(&series) {
        return Ok(());
    }
    let problem = format!(
        "DFRS_SLURM_SOURCE={}: this is Slurm {}; the shim knows {}",
        tree.display(),
        version.text(),
        KNOWN
            .map(|(major, minor)| format!("{major}.{minor:02}"))
            .join(", "),
    );
    if KNOWN.iter().any(|&known| known > series) {
        return Err(problem);
    }
    println!(
        "cargo::warning={problem}: check it with `cargo test -p sched_dfrs` and `cargo xtask symbols`"
    );
    Ok(())
}

/// The tree's version: from `slurm/slurm_version.h` where the tree was configured, else from META.
fn version_of(tree: &Path) -> Result<SlurmVersion, String> {
    let meta = tree.join("META");
    let backfill = tree.join("src/plugins/sched/backfill/backfill.c");
    for file in [&meta, &backfill] {
        println!("cargo::rerun-if-changed={}", file.display());
        if !file.is_file() {
            return Err(format!(
                "DFRS_SLURM_SOURCE={}: no {} there: unpack Slurm's upstream tarball and name its top directory (docker/slurm-source VERSION does both)",
                tree.display(),
                file.strip_prefix(tree).unwrap_or(file).display(),
            ));
        }
    }
    let text = fs::read_to_string(&meta).map_err(|error| format!("{}: {error}", meta.display()))?;
    let field = |name: &str| {
        text.lines()
            .filter_map(|line| line.trim().strip_prefix(name)?.strip_prefix(':'))
            .find_map(|value| value.trim().split('-').next()?.parse::<u32>().ok())
            .filter(|&value| value < 256)
            .ok_or_else(|| {
                format!(
                    "{}: no {name}: line with a number: is this a Slurm source tree?",
                    meta.display()
                )
            })
    };
    Ok(SlurmVersion {
        major: field("Major")?,
        minor: field("Minor")?,
        micro: field("Micro")?,
    })
}

/// What `./configure` would have written, as far as it matters to Slurm's headers: records do not
/// depend on it, and NDEBUG is what every distribution builds with.
fn write_configuration(out: &Path, version: SlurmVersion) -> Result<(), String> {
    let number = format!("#define SLURM_VERSION_NUMBER {:#08x}\n", version.number());
    let config = format!(
        "#ifndef DFRS_CONFIG_H\n#define DFRS_CONFIG_H\n#ifndef NDEBUG\n#define NDEBUG 1\n#endif\n\
         #ifndef _GNU_SOURCE\n#define _GNU_SOURCE\n#endif\n#define HAVE_SYS_PRCTL_H 1\n\
         #define MULTIPLE_SLURMD 1\n#define SLURM_VERSION_STRING \"{}\"\n{number}#endif\n",
        version.text(),
    );
    let version_header = format!(
        "#ifndef _SLURM_VERSION_H\n#define _SLURM_VERSION_H\n#undef SLURM_VERSION_NUMBER\n{number}\
         #define SLURM_VERSION_NUM(a, b, c) (((a) << 16) + ((b) << 8) + (c))\n\
         #define SLURM_VERSION_MAJOR(a) (((a) >> 16) & 0xff)\n\
         #define SLURM_VERSION_MINOR(a) (((a) >> 8) & 0xff)\n\
         #define SLURM_VERSION_MICRO(a) ((a) & 0xff)\n#endif\n",
    );
    let constants = format!(
        "/// `SLURM_VERSION_NUMBER` of the Slurm that this was built for.\n\
         pub const SLURM_VERSION_NUMBER: u32 = {:#08x};\n\
         /// The same as text.\n\
         pub const SLURM_VERSION: &str = \"{}\";\n",
        version.number(),
        version.text(),
    );
    write(&out.join("config.h"), &config)?;
    write(&out.join("slurm/slurm_version.h"), &version_header)?;
    write(&out.join("slurm_version.rs"), &constants)
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let make = || {
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory)?;
        }
        fs::write(path, text)
    };
    make().map_err(|error| format!("{}: {error}", path.display()))
}

/// How everything is compiled that includes Slurm's headers.
fn compiler(tree: &Path, out: &Path) -> cc::Build {
    let mut build = cc::Build::new();
    build
        .std("gnu11")
        .include(out)
        .include(tree)
        .include(tree.join("slurm"))
        .define("HAVE_CONFIG_H", None)
        .flag("-fvisibility=hidden")
        .flag("-fno-strict-aliasing")
        // A function that this Slurm does not have would be found missing when it is called.
        .flag("-Werror=implicit-function-declaration")
        .flag("-Wno-unused-parameter")
        .flag("-Wno-sign-compare")
        .flag("-Wno-missing-field-initializers")
        .warnings(true)
        .extra_warnings(true)
        .pic(true)
        .opt_level(2);
    build
}

fn compile(tree: &Path, out: &Path) {
    let mut slurm = compiler(tree, out);

    // The site's own backfill, unchanged; its queue goes through the shim.
    let mut backfill = slurm.clone();
    backfill
        .warnings(false)
        .extra_warnings(false)
        .define("build_job_queue", "dfrs_build_job_queue");
    let directory = tree.join("src/plugins/sched/backfill");
    let oracle = directory.join("oracle.c");
    if oracle.is_file() {
        backfill.file(oracle);
    }
    let shim = Path::new("c_shim");
    backfill.file(shim.join("embedded_backfill.c"));
    slurm.files(shim_files(shim)).compile("dfrs_shim");
    // After the shim: it needs this one.
    backfill.compile("dfrs_backfill");
}

/// All others, in the order of their names: what is forgotten would be missed only when it is called.
fn shim_files(shim: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(shim).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path());
    let mut files: Vec<PathBuf> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .filter(|path| !SEPARATE_FILES.iter().any(|name| path.ends_with(name)))
        .collect();
    files.sort();
    files
}

/// The other plugin, in C alone: it goes where cargo puts `libsched_dfrs.so`.
fn link_burst_buffer(tree: &Path, out: &Path) -> Result<(), String> {
    let library = out.join(BURST_BUFFER);
    let mut command = compiler(tree, out).get_compiler().to_command();
    command
        .args(["-shared", "-fvisibility=default", "-Wl,-z,lazy", "-o"])
        .arg(&library)
        .arg("c_shim/burst_buffer_dfrs.c");
    let status = command
        .status()
        .map_err(|error| format!("the C compiler: {error}"))?;
    if !status.success() {
        return Err(format!("{}: not made, see above", library.display()));
    }
    // OUT_DIR is build/PACKAGE/out there.
    let Some(profile) = out.ancestors().nth(3) else {
        return Ok(());
    };
    let installed = profile.join(BURST_BUFFER);
    let _ = fs::remove_file(&installed);
    fs::copy(&library, &installed)
        .map(|_| ())
        .map_err(|error| format!("{}: {error}", installed.display()))
}
