//! Compiles the fake slurmctld: `host.c`, some of Slurm's own files, and a stub for every other
//! symbol that the plugin or these need.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Slurm's files that depend on little else.
const SLURM_FILES: [&str; 4] = ["bitstring.c", "list.c", "xmalloc.c", "xstring.c"];

/// The plugin that cargo has built for this test.
pub fn plugin() -> PathBuf {
    let test = env::current_exe().expect("this test's path");
    let built = test.with_file_name("libsched_dfrs.so");
    assert!(
        built.is_file(),
        "{}: cargo builds it with this test",
        built.display()
    );
    built
}

/// The program; compiled once for all tests.
pub fn host() -> &'static Path {
    static HOST: OnceLock<PathBuf> = OnceLock::new();
    HOST.get_or_init(compile)
}

fn compile() -> PathBuf {
    let tree = PathBuf::from(env!("DFRS_SLURM_SOURCE"));
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tree = root.join(tree);
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fake-host");
    std::fs::create_dir_all(&out).expect("a directory for the host");

    let mut sources = vec![root.join("tests/fake_slurmctld/host.c")];
    sources.extend(
        SLURM_FILES
            .iter()
            .map(|file| tree.join("src/common").join(file)),
    );
    let objects: Vec<PathBuf> = sources
        .iter()
        .map(|source| compile_one(source, &tree, root, &out))
        .collect();
    let stubs = out.join("stubs.c");
    std::fs::write(&stubs, stub_source(&objects)).expect("stubs.c");
    let stubs = compile_one(&stubs, &tree, root, &out);

    let host = out.join("host");
    let mut link = Command::new("cc");
    link.arg("-rdynamic")
        .arg("-o")
        .arg(&host)
        .args(&objects)
        .arg(stubs)
        .args(["-ldl", "-lpthread"]);
    succeed(link);
    host
}

fn compile_one(source: &Path, tree: &Path, root: &Path, out: &Path) -> PathBuf {
    let object = out
        .join(source.file_name().expect("a file"))
        .with_extension("o");
    let mut compiler = Command::new("cc");
    compiler
        .args([
            "-c",
            "-g",
            "-O1",
            "-std=gnu11",
            "-w",
            "-DHAVE_CONFIG_H",
            "-DUSE_ALIAS=1",
        ])
        .arg("-I")
        .arg(env!("OUT_DIR"))
        .arg("-I")
        .arg(root.join("c_shim"))
        .arg("-I")
        .arg(tree)
        .arg("-I")
        .arg(tree.join("slurm"))
        .arg("-o")
        .arg(&object)
        .arg(source);
    succeed(compiler);
    object
}

/// A function for each symbol that nobody defines: it counts its calls and returns 0. What the
/// plugin knows as a variable has to be in `host.c`.
fn stub_source(objects: &[PathBuf]) -> String {
    let plugin = plugin();
    let mut needed = symbols(["--dynamic", "--undefined-only"], &plugin);
    let mut defined = libc_symbols();
    for object in objects {
        needed.extend(symbols(["--undefined-only"], object));
        defined.extend(symbols(["--defined-only"], object));
    }
    let mut source = String::from("void count_call(const char *name);\n");
    for name in needed.difference(&defined) {
        if name.starts_with("_ITM_") || name.starts_with("__") || name == "_GLOBAL_OFFSET_TABLE_" {
            continue;
        }
        source.push_str(&format!(
            "long {name}(void) {{ count_call(\"{name}\"); return 0; }}\n"
        ));
    }
    source
}

fn libc_symbols() -> BTreeSet<String> {
    [
        "libc.so.6",
        "libm.so.6",
        "libgcc_s.so.1",
        "ld-linux-x86-64.so.2",
    ]
    .iter()
    .filter_map(|name| {
        let output = Command::new("cc")
            .arg(format!("-print-file-name={name}"))
            .output()
            .expect("cc");
        let path = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
        path.is_file()
            .then(|| symbols(["--dynamic", "--defined-only"], &path))
    })
    .flatten()
    .collect()
}

fn symbols<const N: usize>(options: [&str; N], file: &Path) -> BTreeSet<String> {
    let output = Command::new("nm")
        .args(options)
        .arg(file)
        .output()
        .expect("nm, of binutils");
    assert!(output.status.success(), "nm {}", file.display());
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| line.split_whitespace().next_back())
        .filter_map(|symbol| symbol.split('@').next())
        .map(str::to_owned)
        .collect()
}

fn succeed(mut command: Command) {
    let output = command.output().expect("a C compiler");
    assert!(
        output.status.success(),
        "{:?}: {}",
        command.get_args().collect::<Vec<&OsStr>>(),
        String::from_utf8_lossy(&output.stderr)
    );
}
