//! What is between the columns of a header that has no plain bars there.

/// Names of columns by which a header of sacct is known, besides that of the job's id.
const KNOWN: &str = "\
    Submit Start End State NNodes AllocNodes NCPUS AllocCPUS ReqMem TotalCPU Timelimit \
    Eligible MaxRSS User Account Partition JobName Elapsed ExitCode Cluster";

/// How many of them there must be.
const MIN_COLUMNS: usize = 2;

/// What is between the names of columns of sacct in this line, for people, if it is the same everywhere, and
/// neither a `|` nor blanks.
pub(super) fn other_than_bar(line: &[u8]) -> Option<String> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let line = std::str::from_utf8(line).ok()?;
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let names = || {
        line.split(|letter| !is_name(letter))
            .filter(|name| !name.is_empty())
    };
    let is = |name: &str, known: &str| name.eq_ignore_ascii_case(known);
    let has_id = names().any(|name| is(name, "JobID") || is(name, "JobIDRaw"));
    let known = names().filter(|name| KNOWN.split(' ').any(|known| is(name, known)));
    if !has_id || known.take(MIN_COLUMNS).count() < MIN_COLUMNS {
        return None;
    }
    let trimmed = line.trim_matches(|letter| !is_name(letter));
    let mut between = trimmed.split(is_name).filter(|part| !part.is_empty());
    let first = between.next()?;
    let is_plain = first.trim() == "|" || first.trim_matches(' ').is_empty();
    if is_plain || between.any(|other| other != first) {
        return None;
    }
    Some(match first.trim_matches(' ') {
        "\t" => "tabs".to_owned(),
        other => other.escape_debug().to_string().replace("\\\"", "\""),
    })
}

#[cfg(test)]
mod tests {
    use super::other_than_bar;

    #[test]
    fn only_headers_of_sacct_have_delimiters() {
        let of = |line: &str| other_than_bar(line.as_bytes());
        assert_eq!(of("User;JobID;State").as_deref(), Some(";"));
        assert_eq!(
            of("\u{feff}JobID^|^Submit^|^State^|^").as_deref(),
            Some("^|^")
        );
        assert_eq!(
            of("\"JobID\",\"Submit\",\"State\"").as_deref(),
            Some("\",\"")
        );
        assert_eq!(of("JobIDRaw, Submit, State").as_deref(), Some(","));
        assert_eq!(of("JobID\u{1}Submit\u{1}State").as_deref(), Some("\\u{1}"));
        for none in [
            "JobID|Submit|State",
            "JobID|Submit|State|",
            "JobID    Submit State",
            "id,submit,tasks,cpu,mem,runtime",
            "JobID,a;Submit:State",
            "JobID",
            "",
            "17,0,1,1,1,5",
        ] {
            assert_eq!(of(none), None, "{none}");
        }
    }
}
