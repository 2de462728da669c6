//! Traces, dumps and the names of policies.

use std::collections::BTreeSet;

use dfrs_core::{Bytes, Cores, Span};
use dfrs_sim::Scheduler;
use dfrs_sim::trace::sacct::{Rules, Site, SiteGpus, read_dump, to_trace};
use dfrs_sim::trace::{MAX_TASKS, Model, NODE_CPU, NODE_GPUS, NODE_MEMORY, Trace, read, write_csv};

use super::is_clear;

/// A file that is read as a trace, SWF if it has no commas.
pub fn swf(file: &[u8]) {
    for model in [Model::Processors, Model::Hpc2n] {
        trace(file, model);
    }
}

/// A file that is read as CSV, with and without the columns that only a header can name.
pub fn csv(file: &[u8]) {
    for header in [
        &b"id,submit,tasks,cpu,mem,runtime\n"[..],
        b"id,submit,tasks,cpu,mem,runtime,limit,mobility\n",
    ] {
        trace(&[header, file].concat(), Model::default());
    }
}

fn trace(file: &[u8], model: Model) {
    let strict = read(file, model, true);
    let reading = match read(file, model, false) {
        Ok(reading) => reading,
        Err(error) => {
            assert!(strict.is_err());
            return is_clear(&error);
        }
    };
    reading.bad.iter().for_each(is_clear);
    reading.invalid_limits.note().iter().for_each(is_clear);
    assert_eq!(reading.bad.len(), reading.bad_lines.min(100));
    match strict {
        Ok(strict) => assert_eq!(strict, reading),
        Err(error) => {
            let odd = reading.bad_lines + reading.invalid_limits.count;
            assert_ne!(odd, 0, "{error}");
            is_clear(&error);
        }
    }
    is_right(&reading.trace);
    let mut written = Vec::new();
    write_csv(&reading.trace, &mut written).expect("memory takes all");
    // Models are for SWF: what is written has CPU needs and memory of its own.
    let again = read(&written[..], Model::default(), true)
        .expect("what was written")
        .trace;
    assert_eq!(again.jobs.len(), reading.trace.jobs.len());
    for (again, job) in again.jobs.iter().zip(&reading.trace.jobs) {
        assert_eq!(
            (&again.id, again.submit, again.tasks),
            (&job.id, job.submit, job.tasks)
        );
        assert_eq!(
            (again.cpu, again.memory, again.runtime),
            (job.cpu, job.memory, job.runtime)
        );
        assert_eq!(
            (again.estimate, again.declared_mobility),
            (job.estimate, job.declared_mobility)
        );
    }
}

/// All that the type promises.
fn is_right(trace: &Trace) {
    assert!(!trace.jobs.is_empty());
    assert!(trace.jobs.is_sorted_by_key(|job| job.submit));
    assert_ne!(trace.nodes, Some(0));
    let ids: BTreeSet<&str> = trace.jobs.iter().map(|job| job.id.as_str()).collect();
    assert_eq!(ids.len(), trace.jobs.len());
    for job in &trace.jobs {
        assert!(!job.id.is_empty() && !job.id.chars().any(char::is_control));
        assert!(job.submit.0 >= 0 && job.runtime >= Span::ZERO);
        assert!((1..=MAX_TASKS).contains(&job.tasks));
        assert!(job.cpu > Cores(0) && job.cpu <= NODE_CPU && job.memory <= NODE_MEMORY);
        assert!(job.gpus <= NODE_GPUS);
        assert!(job.estimate.is_none_or(|estimate| estimate > Span::ZERO));
    }
}

/// A dump of Slurm's accounting.
pub fn sacct(file: &[u8]) {
    let strict = read_dump(file, true);
    let dump = match read_dump(file, false) {
        Ok(dump) => dump,
        Err(error) => {
            assert!(strict.is_err());
            return is_clear(&error);
        }
    };
    dump.bad.iter().for_each(is_clear);
    dump.invalid_limits.note().iter().for_each(is_clear);
    if let Err(error) = strict {
        is_clear(&error);
    }
    for run in &dump.runs {
        assert!(run.submit <= run.start && run.start <= run.end);
        assert!(run.nodes > 0 && run.cpus > 0);
    }
    let site = Site {
        nodes: 100,
        cpus_per_node: 64,
        memory_per_node: Bytes(256 << 30),
        gpus: Some(SiteGpus {
            per_node: 4,
            nodes: 50,
        }),
    };
    let made = to_trace(&dump, &site, &Rules::default());
    let left_out = [&made.misfits.lines, &made.generic.lines];
    left_out.iter().copied().flatten().for_each(is_clear);
    let left_out: usize = left_out.iter().map(|lines| lines.len()).sum();
    for trace in [&made.trace, &made.by_cpus] {
        assert_eq!(trace.jobs.len() + left_out, dump.runs.len());
        if !trace.jobs.is_empty() {
            is_right(trace);
        }
    }
}

/// The name of a policy.
pub fn policy(name: &[u8]) {
    let name = String::from_utf8_lossy(name);
    match name.parse::<Scheduler>() {
        Ok(scheduler) => {
            let printed = scheduler.to_string();
            let again: Scheduler = printed.parse().expect("its own name");
            assert_eq!(again, scheduler, "{printed}");
            assert_eq!(again.to_string(), printed);
        }
        Err(error) => is_clear(&error),
    }
}
