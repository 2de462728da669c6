//! The hosts that a list of slurm.conf names, as `n[1-4,07],login`.

use dfrs_proto::slurm_conf::host_list_entries;

/// The most hosts that one list may name: as many as one of Slurm's ranges.
const MAX_HOSTS: usize = 1 << 16;

/// All hosts of a list, in its order, as Slurm names them: `n[1-2]x[07-08]` has `n1x07`, `n1x08`,
/// `n2x07`, `n2x08`. One that stands twice is there twice.
///
/// # Errors
///
/// One line: the entry that names no hosts, or more than 65536.
pub fn expand_hosts(list: &str) -> Result<Vec<String>, String> {
    let mut hosts = Vec::new();
    for entry in host_list_entries(list) {
        let mut found = vec![String::new()];
        let mut rest = entry;
        while let Some((before, bracket)) = rest.split_once('[') {
            let (ranges, after) = bracket
                .split_once(']')
                .ok_or_else(|| format!("{entry}: a bracket is not closed"))?;
            let numbers = numbers_of(ranges).map_err(|problem| format!("{entry}: {problem}"))?;
            if found.len().saturating_mul(numbers.len()) > MAX_HOSTS {
                return Err(format!("{entry}: more than {MAX_HOSTS} hosts"));
            }
            found = found
                .iter()
                .flat_map(|name| numbers.iter().map(move |it| format!("{name}{before}{it}")))
                .collect();
            rest = after;
        }
        if rest.contains(']') {
            return Err(format!("{entry}: a bracket is not opened"));
        }
        found.iter_mut().for_each(|name| name.push_str(rest));
        hosts.append(&mut found);
        if hosts.len() > MAX_HOSTS {
            return Err(format!("more than {MAX_HOSTS} hosts up to {entry}"));
        }
    }
    Ok(hosts)
}

/// The numbers of `1-3,07`, with as many digits as the first of each range has.
fn numbers_of(ranges: &str) -> Result<Vec<String>, String> {
    let mut numbers = Vec::new();
    for range in ranges.split(',').map(str::trim) {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let parse = |text: &str| {
            let is_number = !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
            text.parse::<u64>().ok().filter(|_| is_number)
        };
        let (Some(from), Some(to)) = (parse(first), parse(last)) else {
            return Err(format!("[{range}] is no range of numbers"));
        };
        if to < from {
            return Err(format!("[{range}] ends before it begins"));
        }
        if to - from >= MAX_HOSTS as u64 {
            return Err(format!("[{range}] has more than {MAX_HOSTS} numbers"));
        }
        let width = first.len();
        numbers.extend((from..=to).map(|number| format!("{number:0width$}")));
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expansion_names_the_hosts_that_slurm_names() {
        for (list, hosts) in [
            ("n1", &["n1"][..]),
            ("n[1-3,07]", &["n1", "n2", "n3", "n07"]),
            ("n[09-11]", &["n09", "n10", "n11"]),
            (
                "r[0-1]n[1-2]-ib",
                &["r0n1-ib", "r0n2-ib", "r1n1-ib", "r1n2-ib"],
            ),
            ("a,b[2],c", &["a", "b2", "c"]),
            ("", &[]),
        ] {
            assert_eq!(
                expand_hosts(list).as_deref(),
                Ok(&hosts.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>()[..]),
                "{list}"
            );
        }
    }

    #[test]
    fn expansion_refuses_what_names_no_hosts() {
        for (list, words) in [
            ("n[1-", "not closed"),
            ("n1-3]", "not opened"),
            ("n[]", "no range of numbers"),
            ("bg[000x133]", "no range of numbers"),
            ("n[+1-3]", "no range of numbers"),
            ("n[4-2]", "ends before it begins"),
            ("n[0-999999999]", "more than"),
            ("n[1-1000]m[1-1000]", "more than"),
            ("n[1-40000],m[1-40000]", "more than"),
        ] {
            let error = expand_hosts(list).expect_err(list);
            assert!(error.contains(words) && !error.contains('\n'), "{error}");
        }
    }
}
