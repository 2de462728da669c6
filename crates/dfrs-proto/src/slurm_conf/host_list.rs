//! Lists of hosts as slurm.conf has them: `n[1-4,07],login`.

/// The entries of a list: what is between the commas outside of brackets.
pub fn entries(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_u32;
    let parts = list.split(move |letter: char| {
        match letter {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0
    });
    parts.map(str::trim).filter(|entry| !entry.is_empty())
}

/// Whether this entry names this host. Names of node sets are none.
pub(super) fn matches_host(entry: &str, host: &str) -> bool {
    let Some((before, rest)) = entry.split_once('[') else {
        return entry == host;
    };
    let Some((ranges, after)) = rest.split_once(']') else {
        return false;
    };
    let Some(host) = host.strip_prefix(before) else {
        return false;
    };
    let digits = host.bytes().take_while(u8::is_ascii_digit).count();
    (1..=digits).any(|length| {
        let (number, rest) = host.split_at(length);
        ranges.split(',').any(|range| range_contains(range, number)) && matches_host(after, rest)
    })
}

/// Whether a range, as `07-12`, has this number. Its first number says with how many digits all are
/// written.
fn range_contains(range: &str, number: &str) -> bool {
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let (first, last) = (first.trim(), last.trim());
    let width = first.len();
    let is_written_so = number.len() == width || (number.len() > width && !number.starts_with('0'));
    let parse = |text: &str| text.parse::<u64>().ok();
    let within = || Some(parse(first)? <= parse(number)? && parse(number)? <= parse(last)?);
    is_written_so && within().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has_host(list: &str, host: &str) -> bool {
        entries(list).any(|entry| matches_host(entry, host))
    }

    #[test]
    fn host_list_matches_the_same_hosts_as_in_slurm() {
        for (list, hosts, others) in [
            ("n1,n2", &["n1", "n2"][..], &["n3", "n", ""][..]),
            ("n[1-3,7]", &["n1", "n3", "n7"], &["n4", "n01", "n11", "n"]),
            ("n[08-11]", &["n08", "n11"], &["n8", "n12", "n008"]),
            ("n[8-11]", &["n8", "n10"], &["n08", "n010"]),
            (
                "r[1-2]n[1-2],login",
                &["r2n1", "login"],
                &["r1n3", "r2", "r2n11"],
            ),
            ("n[1-2]-ib", &["n1-ib"], &["n1", "n1-ibx"]),
            ("n[1-", &[], &["n1", "n"]),
            ("n[]", &[], &["n1", "n"]),
            ("", &[], &["", "n1"]),
        ] {
            for host in hosts {
                assert!(has_host(list, host), "{list} names {host}");
            }
            for host in others {
                assert!(!has_host(list, host), "{list} does not name {host}");
            }
        }
    }
}
