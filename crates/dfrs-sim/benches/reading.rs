//! How fast traces are read: uncompressed bytes of the file over the time until there is a trace.

use std::fmt::Write as _;
use std::hint::black_box;
use std::io::Write as _;
use std::time::Duration;

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use dfrs_sim::trace::{Model, read};
use flate2::Compression;
use flate2::write::GzEncoder;
use rustix::time::{ClockId, clock_gettime};

/// Number of jobs: 7 MB of SWF, like the longer traces of the archive.
const JOBS: u64 = 80_000;

/// Numbers that look like a trace's: no two lines are alike.
fn numbers() -> impl Iterator<Item = [u64; 5]> {
    let mut state = 42u64;
    let mut next = move |limit: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % limit
    };
    let mut submit = 0;
    (0..JOBS).map(move |_| {
        submit += next(500);
        [
            submit,
            next(100_000),
            next(90_000),
            1 + next(64),
            next(2_000_000),
        ]
    })
}

fn swf() -> Vec<u8> {
    let mut text = String::from("; MaxProcs: 128\n;\n");
    for (id, [submit, wait, runtime, processors, memory]) in (1..).zip(numbers()) {
        let _ = writeln!(
            text,
            "{id:>7} {submit:>9} {wait:>7} {runtime:>7} {processors:>4} -1 {memory:>8} {processors:>4} {:>7} -1 1 {:>4} {:>3} -1 1 -1 -1 -1",
            runtime + 1,
            id % 250,
            id % 20,
        );
    }
    text.into_bytes()
}

fn csv() -> Vec<u8> {
    let mut text = String::from("id,submit,tasks,cpu,mem,runtime\n");
    for (id, [submit, _, runtime, tasks, memory]) in (1..).zip(numbers()) {
        let memory = memory / 2;
        let _ = writeln!(
            text,
            "job{id},{submit}.{:03},{tasks},0.25,0.{memory:06},{runtime}.5",
            id % 1000
        );
    }
    text.into_bytes()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("memory takes all");
    encoder.finish().expect("memory takes all")
}

/// Processor time of this thread: what it waits while others use the machine does not count.
struct ProcessorTime;

impl Measurement for ProcessorTime {
    type Intermediate = Duration;
    type Value = Duration;

    fn start(&self) -> Duration {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Duration::try_from(time).expect("time runs forward")
    }

    fn end(&self, start: Duration) -> Duration {
        self.start() - start
    }

    fn add(&self, one: &Duration, other: &Duration) -> Duration {
        *one + *other
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        WallTime.to_f64(value)
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}

fn reading(criterion: &mut Criterion<ProcessorTime>) {
    let mut group = criterion.benchmark_group("read");
    let (swf, csv) = (swf(), csv());
    let packed = gzip(&swf);
    for (name, file, length) in [
        ("swf", &swf, swf.len()),
        ("swf.gz", &packed, swf.len()),
        ("csv", &csv, csv.len()),
    ] {
        group.throughput(Throughput::Bytes(length as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| read(black_box(&file[..]), Model::Hpc2n, true).expect("a trace"));
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(ProcessorTime);
    targets = reading
}
criterion_main!(benches);
