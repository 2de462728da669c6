//! Compiles programs of the fake slurmctld: `slurmctld.c`, their own files, some of Slurm's, and a stub
//! for every other symbol that the plugin or these need.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

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

/// The other plugin, which the plugin's build script makes.
pub fn burst_buffer() -> PathBuf {
    Path::new(env!("OUT_DIR")).join("burst_buffer_dfrs.so")
}

/// A program of the fake slurmctld.
pub struct TestProgram {
    name: &'static str,
    /// Its own files, beside `slurmctld.c`.
    files: &'static [&'static str],
    /// Whether the shim is linked into it, but for [`NOT_LINKED`].
    with_shim: bool,
    /// Whether select/cons_tres's records are those of Slurm, and not what `no_select.c` says.
    with_records: bool,
}

/// Loads the plugin.
pub const HOST: TestProgram = TestProgram {
    name: "host",
    files: &["host.c", "configured.c"],
    with_shim: false,
    with_records: false,
};

/// Calls the shim.
pub const SNAPSHOT_TEST: TestProgram = TestProgram {
    name: "snapshot_test",
    files: &[
        "snapshot_test.c",
        "mutations.c",
        "client_view.c",
        "no_select.c",
    ],
    with_shim: true,
    with_records: false,
};

/// Calls the shim for jobs with devices.
pub const DEVICE_TEST: TestProgram = TestProgram {
    name: "device_test",
    files: &["device_test.c", "mutations.c", "no_select.c"],
    with_shim: true,
    with_records: false,
};

/// Calls the shim on the records of select/cons_tres.
pub const CORE_ROWS_TEST: TestProgram = TestProgram {
    name: "core_rows_test",
    files: &["core_rows_test.c", "mutations.c"],
    with_shim: true,
    with_records: true,
};

/// Files of the shim that need what only a real slurmctld has, or are no part of it.
const NOT_LINKED: [&str; 2] = ["backfill.c", "burst_buffer_dfrs.c"];

/// Where select/cons_tres's records are kept: in cons_common of 22.05, in cons_tres since.
const RECORD_FILES: [&str; 3] = ["job_resources.c", "part_data.c", "node_data.c"];

fn record_sources(tree: &Path, root: &Path) -> Vec<PathBuf> {
    let plugins = tree.join("src/plugins/select");
    let common = plugins.join("cons_common");
    let own = if common.is_dir() {
        common
    } else {
        plugins.join("cons_tres")
    };
    let mut sources = vec![root.join("tests/fake_slurmctld/cons_tres.c")];
    sources.extend(RECORD_FILES.iter().map(|file| own.join(file)));
    let cores = [own, tree.join("src/common")].map(|directory| directory.join("core_array.c"));
    sources.extend(cores.into_iter().find(|path| path.is_file()));
    sources
}

impl TestProgram {
    /// The program; compiled once for all tests.
    pub fn path(&self) -> PathBuf {
        static COMPILED: Mutex<BTreeMap<&str, PathBuf>> = Mutex::new(BTreeMap::new());
        let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
        compiled
            .entry(self.name)
            .or_insert_with(|| compile(self))
            .clone()
    }

    fn sources(&self, root: &Path) -> Vec<PathBuf> {
        let own = root.join("tests/fake_slurmctld");
        let mut sources = vec![own.join("slurmctld.c")];
        sources.extend(self.files.iter().map(|file| own.join(file)));
        if self.with_shim {
            let shim = std::fs::read_dir(root.join("c_shim")).expect("the shim");
            sources.extend(shim.flatten().map(|entry| entry.path()).filter(|path| {
                let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
                let is_linked = !NOT_LINKED.contains(&name);
                name.ends_with(".c") && is_linked && (self.with_records || name != "select.c")
            }));
        }
        sources
    }
}

fn compile(program: &TestProgram) -> PathBuf {
    let tree = PathBuf::from(env!("DFRS_SLURM_SOURCE"));
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tree = root.join(tree);
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(program.name);
    std::fs::create_dir_all(&out).expect("a directory for the program");

    let common = SLURM_FILES
        .iter()
        .map(|file| tree.join("src/common").join(file));
    let objects: Vec<PathBuf> = program
        .sources(root)
        .into_iter()
        .chain(common)
        .map(|source| compile_one(&source, &tree, root, &out))
        .collect();
    let library: Vec<PathBuf> = if program.with_records {
        let sources = record_sources(&tree, root);
        let compile = |source: &PathBuf| compile_one(source, &tree, root, &out);
        sources.iter().map(compile).collect()
    } else {
        Vec::new()
    };
    let stubs = out.join("stubs.c");
    let all = [objects.as_slice(), library.as_slice()].concat();
    std::fs::write(&stubs, stub_source(&all)).expect("stubs.c");
    let stubs = compile_one(&stubs, &tree, root, &out);

    let compiled = out.join("program");
    let mut link = Command::new("cc");
    link.arg("-rdynamic")
        .arg("-o")
        .arg(&compiled)
        .args(&objects)
        .arg(stubs)
        .args(["-ldl", "-lpthread"]);
    if program.with_records {
        // Loaded from the program's own directory, which it has for that of plugins.
        link.arg(link_records(&library, &out))
            .arg("-Wl,-rpath,$ORIGIN");
    }
    succeed(link);
    compiled
}

/// A library like Slurm's own with the records in it.
fn link_records(objects: &[PathBuf], out: &Path) -> PathBuf {
    let library = out.join("select_cons_tres.so");
    let mut link = Command::new("cc");
    link.args(["-shared", "-Wl,-soname,select_cons_tres.so", "-o"])
        .arg(&library)
        .args(objects);
    succeed(link);
    library
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
            "-fPIC",
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

/// A function for each undefined symbol: it counts its calls and returns 0. What the plugin knows
/// as a variable has to be in `slurmctld.c`.
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
