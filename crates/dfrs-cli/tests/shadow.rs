//! `dfrs status --shadow` as its user sees it, and what it refuses.

mod common;

use std::fmt::Write;
use std::process::Command;

use common::{Scratch, dfrs};

const PLATFORM: &str = r#"{"t":1700000000,"event":"platform","version":1,"policy":"P","nodes":[{"name":"n1","cpu":4,"mem":8e9}]}"#;

/// A journal of Slurm's own scheduling: one node, and jobs of 100 s that need all of its CPUs, one after the
/// other. The first ran when the journal began. `why`: of their starts.
fn journal(jobs: u32, why: &str) -> String {
    let mut text = format!("{PLATFORM}\n");
    let mut line = |t: u32, what: &str, job: u32, more: &str| {
        let t = 1_700_000_000 + t;
        let _ = writeln!(text, r#"{{"t":{t},"event":"{what}","job":"{job}"{more}}}"#);
    };
    let start = format!(r#","nodes":[0],"reason":"{why}""#);
    for job in 0..jobs {
        line(0, "submit", job, r#","tasks":1,"cpu":4,"mem":1e9"#);
        if job == 3 {
            // The job depends on the one before it.
            line(0, "eligible", job, r#","value":false"#);
        }
    }
    for job in 0..jobs {
        line(job * 100, "start", job, &start);
        line(job * 100, "yield", job, r#","value":1"#);
        line(job * 100 + 100, "finish", job, "");
    }
    text
}

struct Site {
    scratch: Scratch,
}

impl Site {
    fn new(test: &str, conf: &str) -> Self {
        let site = Self {
            scratch: Scratch::new(test),
        };
        let conf = conf.replace("JOURNAL", &site.scratch.path("journal"));
        std::fs::write(site.scratch.path("dfrs.conf"), conf).expect("temporary file");
        site
    }

    fn write(self, journal: &str) -> Self {
        std::fs::write(self.scratch.path("journal"), journal).expect("temporary file");
        self
    }

    /// Code, standard output and standard error.
    fn status(&self, more: &[&str]) -> (i32, String, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_dfrs"))
            .args(["status", "--shadow"])
            .args(more)
            .env("SLURM_CONF", self.scratch.path("slurm.conf"))
            .output()
            .expect("dfrs runs");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        let code = output.status.code().unwrap_or(-1);
        (code, text(output.stdout), text(output.stderr))
    }

    /// The one line on standard error.
    fn refusal(&self) -> String {
        let (code, output, errors) = self.status(&[]);
        assert_eq!((code, output.as_str()), (2, ""), "{errors}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
        errors
    }
}

const CONF: &str = "Mode=shadow\nJournal=JOURNAL\nSwapPerNode=16G\nPartition=a Mobility=park\n";

#[test]
fn shadow_report_compares_slurm_with_dfrs() {
    let site = Site::new("compared", CONF).write(&journal(13, "not by DFRS"));
    let (code, output, errors) = site.status(&[]);
    assert_eq!((code, errors.as_str()), (0, ""));
    // Jobs 1, 2 and 4 to 12 waited for 100 to 1200 s; job 3 for another, and then not.
    let was = output
        .lines()
        .find(|line| line.starts_with("Slurm, as it was"));
    let was = was.expect("there").to_owned();
    assert!(was.contains("10 min"), "{output}");
    for part in [
        "12 jobs on 1 nodes",
        "EASY/shared, simulated",
        "GreedyPMCR*/move-per/OPT=VT/MINVT=600, simulated",
        "Of 1 more jobs",
        "by 'park', and a pause or a move costs 60 s",
        "what memory jobs used",
    ] {
        assert!(output.contains(part), "{part:?} is not in\n{output}");
    }
}

#[test]
fn pause_cost_is_that_of_dfrs_conf_or_the_papers() {
    for (given, cost) in [("45", "costs 45 s"), ("0", "costs 300 s")] {
        let conf = format!("MoveCost={given}\n{CONF}");
        let site = Site::new(&format!("cost-{given}"), &conf).write(&journal(13, "not by DFRS"));
        let (code, output, _) = site.status(&[]);
        assert!(code == 0 && output.contains(cost), "{output}");
    }
}

#[test]
fn json_is_one_object() {
    let conf = CONF.replace(
        "SwapPerNode=16G\n",
        "RunTimeHint=limits\nJobWeight=priority\n",
    );
    let site = Site::new("json", &conf).write(&journal(13, "not by DFRS"));
    let (code, output, _) = site.status(&["--json"]);
    assert_eq!(code, 0);
    let report: serde_json::Value = serde_json::from_str(&output).expect("JSON");
    assert_eq!(
        (&report["version"], &report["jobs"]),
        (&1.into(), &12.into())
    );
    let schedules = report["schedules"].as_array().expect("a list");
    assert_eq!(schedules.len(), 3);
    assert_eq!(schedules[0]["simulated"], false);
    assert_eq!(schedules[0]["name"], "Slurm, as it was");
    // (100 + 200 + 0 + 400 + … + 1200) / 12, and the largest waited for 1200 of 1300 s.
    let close = |name: &str, to: f64| {
        let value = schedules[0][name].as_f64().expect("a number");
        assert!((value - to).abs() < 1e-6, "{name}: {value}");
    };
    close("mean_wait", 625.0);
    close("largest_stretch", 13.0);
    close("mean_stretch", 7.25);
    let notes = report["notes"].to_string();
    for part in ["no job is paused", "RunTimeHint is not", "JobWeight is not"] {
        assert!(notes.contains(part), "{notes}");
    }
}

#[test]
fn the_parts_of_a_rotated_journal_are_read_as_one() {
    let whole = Site::new("whole", CONF).write(&journal(13, "not by DFRS"));
    let (_, expected, _) = whole.status(&["--json"]);
    let text = journal(13, "not by DFRS");
    let site = Site::new("parts", CONF).write("");
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let parts = [&lines[..20], &lines[20..30], &lines[30..]];
    let names = ["journal.2", "journal.1", "journal.now"].map(|name| site.scratch.path(name));
    for (name, lines) in names.iter().zip(parts) {
        std::fs::write(name, lines.concat()).expect("temporary file");
    }
    let [oldest, older, now] = names.each_ref().map(String::as_str);
    let (code, output, errors) = site.status(&[oldest, older, now, "--json"]);
    assert_eq!((code, errors.as_str()), (0, ""));
    let jobs = |text: &str| {
        let report: serde_json::Value = serde_json::from_str(text).expect("JSON");
        (report["jobs"].clone(), report["schedules"].clone())
    };
    assert_eq!(jobs(&output), jobs(&expected));
    let (code, _, errors) = site.status(&[now, oldest]);
    assert_eq!(code, 2);
    assert!(
        errors.contains("name the parts of a journal oldest first"),
        "{errors}"
    );
    assert!(site.refusal().contains("name its parts after --shadow"));
}

#[test]
fn unusable_journal_is_refused_in_one_line() {
    let nowhere = Site::new("nowhere", CONF);
    assert!(nowhere.refusal().contains("journal: No such file"));
    std::fs::remove_file(nowhere.scratch.path("dfrs.conf")).expect("it was there");
    let no_conf = nowhere.refusal();
    assert!(no_conf.contains("dfrs.conf: No such file"), "{no_conf}");
    assert!(no_conf.contains("SLURM_CONF"), "{no_conf}");
    let none = Site::new("none", "Mode=shadow\nPartition=a\n").refusal();
    assert!(none.contains("names no journal; add Journal="), "{none}");
    let empty = Site::new("empty", CONF).write("").refusal();
    assert!(
        empty.contains("is empty: nothing was written yet"),
        "{empty}"
    );
    let only_platform = Site::new("platform", CONF).write(&format!("{PLATFORM}\n"));
    let refusal = only_platform.refusal();
    assert!(refusal.contains("no job"), "{refusal}");
    let short = Site::new("short", CONF).write(&journal(5, "not by DFRS"));
    let short = short.refusal();
    assert!(short.contains("only 4 jobs came, ran and ended"), "{short}");
    let other = Site::new("other", CONF).write("something else\n").refusal();
    assert!(other.contains("journal: "), "{other}");
    let own = Site::new("own", CONF).write(&journal(13, "its memory fits now"));
    let own = own.refusal();
    assert!(own.contains("DFRS itself has started 12 of 12"), "{own}");
    let (code, _, errors) = dfrs(&["status", "/tmp/dfrs_status.json", "--shadow"]);
    assert!(
        code == 2 && errors.contains("cannot be used with"),
        "{errors}"
    );
}
