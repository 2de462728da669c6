//! Traces as files: formats, compression, and malformed lines.

use std::io::Write;

use dfrs_core::{Bytes, Cores, Mobility, Span, Time};
use dfrs_sim::MobilityShares;
use dfrs_sim::trace::{Model, Reading, Trace, TraceError, read, write_csv};
use flate2::Compression;
use flate2::write::GzEncoder;

const SWF: &str = "; MaxProcs: 128\n;\n\
    7 10 0 100 4 -1 -1 8 600 -1 1 1 1 -1 -1 -1 -1 -1\n\
    \n\
    8 5.5 -1 0 -1 -1 -1 2 -1 -1 0 1 1 -1 -1 -1 -1 -1\n";

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).expect("memory");
    encoder.finish().expect("memory")
}

fn trace_of(input: &[u8], strict: bool) -> Result<Reading, TraceError> {
    read(input, Model::Processors, strict)
}

fn lenient(text: &str) -> Reading {
    trace_of(text.as_bytes(), false).unwrap_or_else(|error| panic!("{error}"))
}

fn reported_lines(text: &str) -> Vec<String> {
    lenient(text).bad.iter().map(ToString::to_string).collect()
}

#[test]
fn swf_is_read_by_processors() {
    let trace = lenient(SWF).trace;
    assert_eq!((trace.nodes, trace.has_memory), (Some(128), false));
    let ids: Vec<&str> = trace.jobs.iter().map(|job| job.id.as_str()).collect();
    assert_eq!(ids, ["8", "7"]); // by submission
    let job = &trace.jobs[1];
    assert_eq!(
        (job.submit, job.runtime),
        (Time::from_seconds(10), Span::from_seconds(100))
    );
    assert_eq!(
        (job.tasks, job.cpu, job.memory),
        (4, Cores::from_cores(1), Bytes::ZERO)
    );
    assert_eq!(
        (trace.jobs[0].tasks, trace.jobs[0].submit),
        (2, Time(5_500_000))
    );
    let estimates = [None, Some(Span::from_seconds(600))];
    assert_eq!([trace.jobs[0].estimate, job.estimate], estimates);
    assert_eq!([trace.jobs[0].waited, job.waited], [None, Some(Span::ZERO)]);
    assert_eq!(trace.recorded_schedule(), None);
}

#[test]
fn machine_size_in_the_header_is_bounded() {
    let of =
        |count: &str| lenient(&SWF.replace("MaxProcs: 128", &format!("MaxProcs: {count}"))).trace;
    assert_eq!(of("1000000").nodes, Some(1_000_000));
    for count in ["0", "1000001", "4000000000", "99999999999", "-1", "many"] {
        assert_eq!(of(count).nodes, None, "{count}");
    }
}

#[test]
fn compressed_is_the_same() {
    assert_eq!(
        trace_of(&gzip(SWF)[..], true).expect("a trace"),
        lenient(SWF)
    );
}

#[test]
fn csv_is_read_with_and_without_its_header() {
    let lines = "# a comment\nx-1, 3, 2, 0.25, 0.1, 7.5\ny,3,1,1,0,1\n";
    let with = format!("id,submit,tasks,cpu,mem,runtime\n{lines}");
    assert_eq!(lenient(&with).trace, lenient(lines).trace);
    let trace = lenient(lines).trace;
    assert!(trace.has_memory);
    let job = &trace.jobs[0];
    assert_eq!(
        (job.id.as_str(), job.tasks, job.cpu),
        ("x-1", 2, Cores(250_000))
    );
    assert_eq!(
        (job.memory, job.runtime),
        (Bytes(100_000_000_000), Span(7_500_000))
    );
}

#[test]
fn csv_columns_follow_the_header() {
    let plain = lenient("id,3,2,0.25,0.1,7.5\ny,3,1,1,0,1\n").trace;
    let mixed = "Runtime, mem,cpu,tasks,submit,id\n7.5,0.1,0.25,2,3,id\n1,0,1,1,3,y\n";
    assert_eq!(lenient(mixed).trace, plain);
}

#[test]
fn a_header_that_is_not_complete_is_refused() {
    let refused = |header: &str| {
        let text = format!("# a comment\n{header}\n1,0,1,0.5,0.5,10\n");
        trace_of(text.as_bytes(), false)
            .expect_err("no trace")
            .to_string()
    };
    assert_eq!(
        refused("id,submit,tasks,need,mem,runtime"),
        "line 2: the header does not name cpu; expected are the columns id,submit,tasks,cpu,mem,runtime, in any order, and where known limit, mobility, gpus"
    );
    let user = refused("id,submit,tasks,cpu,mem,runtime,user");
    assert!(
        user.contains("the header names the column \"user\""),
        "{user}"
    );
    let twice = refused("id,submit,submit,tasks,cpu,mem,runtime");
    assert!(twice.contains("the header names submit twice"), "{twice}");
    let twice = refused("id,submit,tasks,cpu,mem,runtime,limit,Limit");
    assert!(twice.contains("the header names limit twice"), "{twice}");
}

#[test]
fn quotes_around_names_and_fields_are_removed() {
    let plain =
        lenient("id,submit,tasks,cpu,mem,runtime\na 1,3,2,0.25,0.1,7.5\nb,3,1,1,0,1\n").trace;
    let quoted = "\"id\",\"submit\",\"tasks\",\"mem\",\"cpu\", \"runtime\"\n\
        \"a 1\",3,2,0.1,\"0.25\",7.5\n\"b\" ,3,1,0,1,\" 1\"\n";
    assert_eq!(lenient(quoted).trace, plain);
    assert_eq!(lenient("\"#1\",3,2,0.25,0.1,7.5\n").trace.jobs[0].id, "#1");
    let csv = |line: &str| reported_lines(&format!("a,0,1,1,1,1\n{line}\n"))[0].clone();
    assert!(csv("\"b,0,1,1,1,1").contains("a quote is opened and not closed"));
    assert!(csv("\"b\"c,0,1,1,1,1").contains("\"c\" follows a quote"));
    assert!(csv("\"b\"\"c\",0,1,1,1,1").contains("\"c\\\"\" follows a quote"));
    let message = csv("\"b,c\",0,1,1,1,1");
    assert!(
        message.ends_with("expected is a text without quotes and commas"),
        "{message}"
    );
}

#[test]
fn a_first_line_that_is_neither_a_job_nor_a_header_is_refused() {
    let refused = |line: &str| {
        let text = format!("{line}\n1,0,1,0.5,0.5,10\n");
        let error = trace_of(text.as_bytes(), false).expect_err("no trace");
        error.to_string()
    };
    for line in [
        "job,arrival,width,share,memory,length",
        "\"job\",\"arrival\",\"width\",\"share\",\"memory\",\"length\"",
        "a,b",
    ] {
        assert_eq!(
            refused(line),
            "line 1: the first line is no job and names no column; expected are the columns id,submit,tasks,cpu,mem,runtime, in any order, and where known limit, mobility, gpus"
        );
    }
    assert!(refused("id,b,c,d,e,f").contains("the header does not name submit, tasks"));
    assert!(refused("\"id,submit").contains("a quote is opened and not closed"));
}

#[test]
fn malformed_lines_are_reported_and_left_out() {
    let swf = |line: &str| reported_lines(&format!("{SWF}{line}\n"))[0].clone();
    let rest = "-1 -1 2 -1 -1 0 1 1 -1 -1 -1 -1 -1";
    assert_eq!(swf("1 2 3"), "line 6: has 3 fields, a line of SWF has 18");
    assert!(swf(&format!("9 -1 0 5 1 {rest}")).contains("submit time (field 2) is \"-1\""));
    assert!(swf(&format!("9 1 0 -1 1 {rest}")).contains("run time (field 4) is \"-1\""));
    assert!(swf(&format!("9 1 0 x 1 {rest}")).contains("run time (field 4) is \"x\""));
    assert!(swf(&format!("9 1 0 5 9999999 {rest}")).contains("9999999, allowed are 1 to"));
    assert!(swf(&format!("9 1 0 5 3.7 {rest}")).contains("is \"3.7\", which is no whole number"));
    assert!(swf(&format!("7.4 1 0 5 1 {rest}")).contains("job number (field 1) is \"7.4\""));
    assert!(swf(&format!("7 1 0 5 1 {rest}")).contains("job 7 is on line 3 already"));
    let csv = |line: &str| reported_lines(&format!("a,0,1,1,1,1\n{line}\n"))[0].clone();
    assert!(csv("b,0,1,1,1").contains("has 5 columns"));
    for tasks in ["1.5", "2.0004"] {
        let message = csv(&format!("b,0,{tasks},1,1,1"));
        assert!(message.contains("which is no whole number"), "{message}");
    }
    assert_eq!(lenient("b,0,2.0,1,1,1\n").trace.jobs[0].tasks, 2);
    assert!(csv("b,0,0,1,1,1").contains("number of tasks is 0"));
    assert!(csv("b,0,1,0,1,1").contains("cpu is \"0\""));
    assert!(csv("b,0,1,1,1.01,1").contains("mem is \"1.01\""));
    assert!(csv("b,0,1,1,nan,1").contains("mem is \"nan\""));
    assert!(csv("b,0,1,1,1,1e300").contains("run time"));
    assert!(csv(",0,1,1,1,1").contains("the id"));
    assert_eq!(lenient("a,0,1,1,1,1\nb\nc\n").bad_lines, 2);
    let strict = trace_of("a,0,1,1,1,1\nb\n".as_bytes(), true);
    assert!(matches!(strict, Err(TraceError::Strict(bad)) if bad.line == 2));
}

/// What the first job's limit is, and what is reported of it.
fn limit_and_note(text: &str) -> (Option<Span>, String) {
    let reading = lenient(text);
    assert_eq!(
        (reading.bad_lines, reading.trace.jobs.len()),
        (0, 1),
        "{text}"
    );
    let note = reading.invalid_limits.note().unwrap_or_default();
    (reading.trace.jobs[0].estimate, note)
}

#[test]
fn malformed_limit_is_unknown_and_reported() {
    let swf = |time: &str| {
        let line = format!("9 1 0 5 1 -1 -1 2 {time} -1 0 1 1 -1 -1 -1 -1 -1\n");
        limit_and_note(&line)
    };
    let csv = |time: &str| {
        let header = "limit,id,submit,tasks,cpu,mem,runtime";
        limit_and_note(&format!("{header}\n{time},b,0,1,1,1,1\n"))
    };
    for time in ["99999999999", "1e99", "-1e308", "x"] {
        let (limit, note) = swf(time);
        assert_eq!(limit, None);
        assert_eq!(
            note,
            format!(
                "time limits that make no sense, taken as unknown: 1; the first: line 1: the requested time (field 9) is \"{time}\", allowed are 0 to 4294967296 s"
            )
        );
        let (limit, note) = csv(time);
        assert_eq!(limit, None);
        assert!(
            note.contains(&format!("line 2: the limit is \"{time}\"")),
            "{note}"
        );
    }
    for time in ["0", "-1", "-0.5"] {
        assert_eq!(
            (swf(time), csv(time)),
            ((None, String::new()), (None, String::new()))
        );
    }
    let minute = (Some(Span::from_seconds(60)), String::new());
    assert_eq!((swf("60"), csv("60.0")), (minute.clone(), minute));
    assert_eq!(csv(""), (None, String::new()));
    let strict = trace_of(SWF.replace(" 600 ", " x ").as_bytes(), true);
    assert!(matches!(strict, Err(TraceError::Strict(bad)) if bad.line == 3));
}

#[test]
fn malformed_memory_is_ignored_when_the_model_has_none() {
    let line = "9 1 0 5 1 -1 x 2 -1 x 0 1 1 -1 -1 -1 -1 -1\n";
    let read = |model| read(line.as_bytes(), model, false);
    assert_eq!(read(Model::Processors).expect("a trace").bad_lines, 0);
    let error = read(Model::Hpc2n).expect_err("no job").to_string();
    assert!(
        error.contains("the used memory (field 7) is \"x\", which is no number"),
        "{error}"
    );
}

#[test]
fn csv_mobility_column_is_read_and_written() {
    let header = "id,submit,tasks,cpu,mem,runtime,mobility,limit";
    let text = format!("{header}\na,0,1,1,1,1,,\nb,0,1,1,1,1,Park,60\nc,0,1,1,1,1,never,-1\n");
    let mut trace = lenient(&text).trace;
    let kinds =
        |trace: &Trace| -> Vec<Mobility> { trace.jobs.iter().map(|job| job.mobility).collect() };
    assert_eq!(
        kinds(&trace),
        [Mobility::Checkpoint, Mobility::Park, Mobility::Never]
    );
    let shares: MobilityShares = "restart=1".parse().expect("shares");
    shares.draw(1, &mut trace);
    assert_eq!(
        kinds(&trace),
        [Mobility::Restart, Mobility::Park, Mobility::Never]
    );
    let mut written = Vec::new();
    write_csv(&lenient(&text).trace, &mut written).expect("memory");
    let again = trace_of(&written, true).expect("a trace");
    assert_eq!(again.trace, lenient(&text).trace);
    let odd = reported_lines(&text.replace("never", "fly"))[0].clone();
    assert!(
        odd.starts_with("line 4: mobility is \"fly\", allowed are checkpoint,"),
        "{odd}"
    );
}

#[test]
fn no_jobs_a_cut_file_and_endless_lines_are_errors() {
    assert!(matches!(
        trace_of(&b""[..], false),
        Err(TraceError::Empty(None))
    ));
    let error = trace_of("x y z\n".as_bytes(), false)
        .expect_err("no job")
        .to_string();
    assert!(error.contains("line 1: has 3 fields"), "{error}");
    let whole = gzip(&SWF.repeat(1000));
    let cut = trace_of(&whole[..whole.len() / 2], false);
    assert!(matches!(cut, Err(TraceError::Io { .. })), "{cut:?}");
    let endless = vec![b'1'; 1 << 20];
    assert!(matches!(
        trace_of(&endless[..], false),
        Err(TraceError::Io { line: 1, .. })
    ));
}

/// SWF with this as its job number.
fn numbered(id: &str) -> String {
    format!("{id} 0 0 1 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1")
}

#[test]
fn line_ends_marks_and_bytes_of_other_systems() {
    let plain = lenient(SWF);
    assert_eq!(lenient(&SWF.replace('\n', "\r\n")), plain);
    assert_eq!(lenient(&format!("\u{feff}{SWF}")), plain);
    assert_eq!(lenient(SWF.trim_end()), plain);
    let mark_inside = reported_lines(&format!("{SWF}\u{feff}{}", numbered("9")));
    assert!(
        mark_inside[0].contains("line 6: the job number (field 1) is"),
        "{mark_inside:?}"
    );
    for bytes in [&b"\0\0\0"[..], b"\xff\xfe9 0", b"\x80,\x80,1,1,1,1"] {
        let reading = trace_of(&[SWF.as_bytes(), bytes, b"\n"].concat(), false).expect("a trace");
        assert_eq!(
            (reading.trace, reading.bad_lines),
            (plain.trace.clone(), 1),
            "{bytes:?}"
        );
    }
}

#[test]
fn numbers_out_of_range_are_reported() {
    let digits = "9".repeat(10_000);
    let zeros = format!("0.{}1", "0".repeat(10_000));
    for (field, value, words) in [
        (
            1,
            digits.as_str(),
            "the job number (field 1) is \"999999999999999999999999\"",
        ),
        (1, "-7", "must not be negative"),
        (2, digits.as_str(), "the submit time (field 2)"),
        (2, "1e308", "the submit time (field 2) is \"1e308\""),
        (2, "NaN", "the submit time (field 2) is \"NaN\""),
        (4, "inf", "the run time (field 4)"),
        (4, "4294967297", "allowed are 0 to 4294967296 s"),
        (4, "9223372036854775807", "allowed are 0 to 4294967296 s"),
        (5, "1000000000", "are 1000000000, allowed are 1 to"),
        (5, "1e9", "are 1000000000, allowed are 1 to"),
    ] {
        let line = numbered("9");
        let mut fields: Vec<&str> = line.split(' ').collect();
        fields[field - 1] = value;
        let messages = reported_lines(&format!("{SWF}{}\n", fields.join(" ")));
        assert!(
            messages[0].starts_with("line 6: ") && messages[0].contains(words),
            "{value}: {messages:?}"
        );
        assert!(messages[0].len() < 200, "{messages:?}");
    }
    let tiny = lenient(&format!("a,{zeros},1,1,1,{zeros}\n")).trace;
    assert_eq!(
        (tiny.jobs[0].submit, tiny.jobs[0].runtime),
        (Time::ZERO, Span::ZERO)
    );
}

#[test]
fn repeated_ids_are_reported_in_file_order() {
    let lines: Vec<String> = ["7", "3", "07", "3", "1", "7.0"].map(numbered).into();
    let reading = lenient(&lines.join("\n"));
    let bad: Vec<String> = reading.bad.iter().map(ToString::to_string).collect();
    assert_eq!(
        bad,
        [
            "line 3: job 7 is on line 1 already",
            "line 4: job 3 is on line 2 already",
            "line 6: job 7 is on line 1 already"
        ]
    );
    let ids: Vec<&str> = reading
        .trace
        .jobs
        .iter()
        .map(|job| job.id.as_str())
        .collect();
    assert_eq!(ids, ["7", "3", "1"]);
    let strict = trace_of(lines.join("\n").as_bytes(), true);
    assert!(matches!(strict, Err(TraceError::Strict(bad)) if bad.line == 3));
}

#[test]
fn repeated_id_is_reported_after_ascending_ids() {
    let ids = ["8", "9", "10", "11", "9", "12", "12", "7", "7"];
    let lines = ids.map(numbered).join("\n");
    assert_eq!(
        reported_lines(&lines),
        [
            "line 5: job 9 is on line 2 already",
            "line 7: job 12 is on line 6 already",
            "line 9: job 7 is on line 8 already"
        ]
    );
    let last = ["8", "9", "9"].map(numbered).join("\n");
    assert_eq!(
        reported_lines(&last),
        ["line 3: job 9 is on line 2 already"]
    );
}

/// Reads as if the file had been cut at every place where a system may cut a read.
struct Dribble<'a>(&'a [u8], usize);

impl std::io::Read for Dribble<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let length = self.0.len().min(self.1).min(into.len());
        let (now, later) = self.0.split_at(length);
        into[..length].copy_from_slice(now);
        self.0 = later;
        Ok(length)
    }
}

#[test]
fn result_does_not_depend_on_read_sizes() {
    let longest = format!("# {}\n", "x".repeat((64 << 10) - 2));
    let text = format!("{longest}{SWF}{longest}{longest}{}\n#", numbered("9"));
    let whole = lenient(&text);
    assert_eq!(whole.trace.jobs.len(), 3);
    for step in [1, 7, 4096, 65_535, 65_537, 131_072] {
        let input = std::io::BufReader::with_capacity(step, Dribble(text.as_bytes(), step));
        let reading = read(input, Model::Processors, false).expect("a trace");
        assert_eq!(reading, whole, "{step}");
    }
    let longer = text.replacen("xx", "xxx", 1);
    let error = trace_of(longer.as_bytes(), false)
        .expect_err("a long line")
        .to_string();
    assert_eq!(
        error,
        "line 1: cannot be read: the line is longer than 65536 bytes; is this a trace?"
    );
}

/// A reader of the same bytes again and again.
struct Endless(&'static [u8], usize);

impl std::io::Read for Endless {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        for byte in into.iter_mut() {
            *byte = self.0[self.1 % self.0.len()];
            self.1 += 1;
        }
        Ok(into.len())
    }
}

/// A bomb of zeros is one endless line; one of the same job is that job and bad lines, which are
/// counted and not kept.
#[test]
fn decompression_bombs_take_little_memory() {
    let bomb = |bytes: &'static [u8], length: usize| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        let mut endless = std::io::Read::take(Endless(bytes, 0), length as u64);
        std::io::copy(&mut endless, &mut encoder).expect("memory");
        encoder.finish().expect("memory")
    };
    let zeros = bomb(b"\0", 100 << 20);
    assert!(zeros.len() < 200 << 10);
    let error = trace_of(&zeros, false).expect_err("an endless line");
    assert!(matches!(error, TraceError::Io { line: 1, .. }), "{error}");
    let line = b"7 10 0 100 4 -1 -1 8 600 -1 1 1 1 -1 -1 -1 -1 -1\n";
    let reading = trace_of(&bomb(line, line.len() * 100_000), false).expect("one job");
    assert_eq!((reading.trace.jobs.len(), reading.bad.len()), (1, 100));
    assert_eq!(reading.bad_lines, 99_999);
}

#[test]
fn file_with_almost_no_jobs_is_refused() {
    let endless = |bytes: &'static [u8]| {
        let job = numbered("7") + "\n";
        let input = std::io::Read::chain(job.as_bytes(), Endless(bytes, 0));
        let error = read(std::io::BufReader::new(input), Model::Processors, false);
        error.expect_err("an endless file").to_string()
    };
    assert_eq!(
        endless(b"\n"),
        "line 4194306: 256 MiB of lines up to here are no jobs; is this a trace?"
    );
    const COMMENT: [u8; 4096] = {
        let mut comment = [b'x'; 4096];
        comment[0] = b';';
        comment[4095] = b'\n';
        comment
    };
    assert!(endless(&COMMENT).ends_with("are no jobs; is this a trace?"));
}

#[test]
fn truncated_or_damaged_gzip_file_is_an_error() {
    let whole = gzip(&SWF.repeat(1000));
    for cut in [3, 12, whole.len() / 2, whole.len() - 8, whole.len() - 1] {
        let error = trace_of(&whole[..cut], false).expect_err("cut").to_string();
        assert!(error.ends_with("; is the file whole?"), "{cut}: {error}");
    }
    let mut damaged = whole.clone();
    damaged[whole.len() - 6] ^= 1; // its checksum
    let error = trace_of(&damaged, false).expect_err("damaged").to_string();
    assert!(
        error.contains("is the file whole?") && !error.contains('\n'),
        "{error}"
    );
    let twice = [gzip(SWF), gzip(&numbered("9"))].concat();
    assert_eq!(trace_of(&twice, true).expect("a trace").trace.jobs.len(), 3);
}
