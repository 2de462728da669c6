//! Names of nodes and lists of them, in the notation of Slurm's host lists: `n[0-3,7],big`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use dfrs_core::{Cluster, Mapping, NodeIndex};

use crate::error::shown;
use crate::mappings;
use crate::words::SizeBudget;

/// The list without any node.
pub(crate) const NOTHING: &str = "none";

/// The most digits of a number within a name.
const MAX_DIGITS: usize = 18;

/// The most names that one range stands for: Slurm has fewer nodes.
const MAX_RANGE: u64 = 1 << 16;

/// Whether all letters are those of usual names.
fn is_usual(text: &str) -> bool {
    let mut letters = text.chars();
    letters.all(|letter| letter.is_ascii_alphanumeric() || "_-.".contains(letter))
}

/// Whether a name needs no quotes.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name != NOTHING && is_usual(name)
}

/// A name as it is declared: between quotes if it is unusual.
pub(crate) fn declared(name: &str) -> Cow<'_, str> {
    match is_plain(name) {
        true => name.into(),
        false => format!("\"{}\"", name.escape_debug()).into(),
    }
}

/// How scenario files refer to each node: by its name, or by its position, as in `#7`, if the name
/// is unusual or that of several nodes.
pub struct Labels(Vec<String>);

impl Labels {
    /// Of the nodes of this cluster. O(nodes log nodes).
    pub fn of(cluster: &Cluster) -> Self {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for node in &cluster.nodes {
            *counts.entry(&node.name).or_default() += 1;
        }
        let label = |(index, name): (usize, &str)| match is_plain(name) && counts[name] == 1 {
            true => name.to_owned(),
            false => format!("#{index}"),
        };
        let names = cluster.nodes.iter().map(|node| node.name.as_str());
        Self(names.enumerate().map(label).collect())
    }

    /// Where tasks are, e.g. `n0,n[2-3]*4`.
    pub fn mapping(&self, mapping: &Mapping) -> String {
        mappings::show(mapping, self)
    }

    /// The node at this position, whether there is one or not.
    pub fn label(&self, node: NodeIndex) -> Cow<'_, str> {
        match self.0.get(node.index()) {
            Some(label) => label.into(),
            None => format!("#{node}").into(),
        }
    }

    /// A list of nodes.
    pub(crate) fn list(&self, nodes: impl Iterator<Item = NodeIndex>) -> String {
        let labels: Vec<Cow<'_, str>> = nodes.map(|node| self.label(node)).collect();
        match labels.is_empty() {
            true => NOTHING.into(),
            false => fold(labels.iter().map(AsRef::as_ref)),
        }
    }
}

/// Names that differ only in a number that grows by 1.
struct Range<'a> {
    prefix: &'a str,
    /// The number of the first, as it is written; empty if the name has none.
    low: &'a str,
    first: u64,
    count: u64,
}

impl<'a> Range<'a> {
    fn of(label: &'a str) -> Self {
        let digits = label.bytes().rev().take_while(u8::is_ascii_digit).count();
        let digits = if label.starts_with('"') {
            0
        } else {
            digits.min(MAX_DIGITS)
        };
        let (prefix, low) = label.split_at(label.len() - digits);
        Self {
            prefix,
            low,
            first: low.parse().unwrap_or(0),
            count: 1,
        }
    }

    /// The number that is so far from the first.
    fn number(&self, distance: u64) -> String {
        format!("{:0width$}", self.first + distance, width = self.low.len())
    }

    fn is_followed_by(&self, next: &Self) -> bool {
        self.prefix == next.prefix && !next.low.is_empty() && self.number(self.count) == next.low
    }

    /// As it stands between brackets.
    fn inside(&self) -> String {
        match self.count {
            1 => self.low.to_owned(),
            _ => format!("{}-{}", self.low, self.number(self.count - 1)),
        }
    }
}

/// Labels as one list, in their order.
pub(crate) fn fold<'a>(labels: impl Iterator<Item = &'a str>) -> String {
    let mut ranges: Vec<Range<'a>> = Vec::new();
    for label in labels {
        let next = Range::of(label);
        match ranges.last_mut().filter(|last| last.is_followed_by(&next)) {
            Some(last) => last.count += 1,
            None => ranges.push(next),
        }
    }
    let alike = |one: &Range<'_>, next: &Range<'_>| {
        one.prefix == next.prefix && !one.low.is_empty() && !next.low.is_empty()
    };
    let groups: Vec<String> = ranges.chunk_by(alike).map(fold_group).collect();
    groups.join(",")
}

/// Ranges that have their prefix in common.
fn fold_group(ranges: &[Range<'_>]) -> String {
    let inside: Vec<String> = ranges.iter().map(Range::inside).collect();
    let (prefix, inside) = (ranges[0].prefix, inside.join(","));
    match ranges {
        [Range { count: 1, .. }] => format!("{prefix}{inside}"),
        _ => format!("{prefix}[{inside}]"),
    }
}

/// The parts of a list between its commas, but those within brackets or quotes.
pub(crate) fn pieces(list: &str) -> Vec<&str> {
    let (mut is_quoted, mut is_escaped, mut is_bracketed) = (false, false, false);
    let is_comma = |letter: char| {
        let was_escaped = std::mem::take(&mut is_escaped);
        match letter {
            '\\' if is_quoted => is_escaped = !was_escaped,
            '"' if !was_escaped => is_quoted = !is_quoted,
            '[' if !is_quoted => is_bracketed = true,
            ']' if !is_quoted => is_bracketed = false,
            _ => {}
        }
        letter == ',' && !is_quoted && !is_bracketed
    };
    list.split(is_comma).collect()
}

/// The names that one piece of a list stands for.
pub(crate) fn expand(piece: &str, budget: &mut SizeBudget) -> Result<Vec<String>, String> {
    if let Some(name) = piece.strip_prefix('"') {
        let name = name.strip_suffix('"').and_then(unescaped);
        let name = name.ok_or_else(|| format!("{} is no quoted name", shown(piece)))?;
        return Ok(vec![name]);
    }
    let (prefix, inside) = match piece.split_once('[') {
        None => (piece, None),
        Some((prefix, rest)) => (prefix, Some(rest.strip_suffix(']').unwrap_or("?"))),
    };
    let bare = prefix.strip_prefix('#').unwrap_or(prefix);
    let is_list = match inside {
        None => is_plain(bare),
        Some(_) => is_usual(bare),
    };
    if !is_list {
        let piece = shown(piece);
        return Err(format!(
            "{piece} is no list of nodes; write e.g. n[0-3,7],big, and other names in quotes"
        ));
    }
    let mut names = Vec::new();
    match inside {
        None => names.push(piece.to_owned()),
        Some(inside) => {
            for range in inside.split(',') {
                names.extend(expand_range(prefix, range, budget)?);
            }
        }
    }
    Ok(names)
}

/// What `low-high`, or a single number, between brackets stands for.
fn expand_range(
    prefix: &str,
    range: &str,
    budget: &mut SizeBudget,
) -> Result<impl Iterator<Item = String>, String> {
    let (low, high) = range.split_once('-').unwrap_or((range, range));
    let number = |text: &str| {
        let is_number = text.len() <= MAX_DIGITS && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<u64>().ok().filter(|_| is_number)
    };
    let bounds = number(low).zip(number(high));
    let Some((first, last)) = bounds.filter(|(first, last)| first <= last) else {
        let range = shown(range);
        return Err(format!(
            "{range} is no range of numbers; write e.g. n[0-3,7]"
        ));
    };
    if last - first >= MAX_RANGE {
        let range = shown(range);
        return Err(format!(
            "{range} stands for more than {MAX_RANGE} nodes; shorten it"
        ));
    }
    budget.take_many(last - first + 1)?;
    let width = low.len();
    Ok((first..=last).map(move |number| format!("{prefix}{number:0width$}")))
}

/// The text that `escape_debug` has made this of.
fn unescaped(text: &str) -> Option<String> {
    let mut name = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            name.push(letter);
            continue;
        }
        name.push(match letters.next()? {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            '0' => '\0',
            'u' => {
                let hexadecimal: String = letters.by_ref().take_while(|one| *one != '}').collect();
                let digits = hexadecimal.strip_prefix('{')?;
                char::from_u32(u32::from_str_radix(digits, 16).ok()?)?
            }
            other => other,
        });
    }
    Some(name)
}

/// Which node each name stands for.
#[derive(Default)]
pub(crate) struct NodeNames {
    /// `None`: several nodes have this name.
    nodes: BTreeMap<String, Option<NodeIndex>>,
}

impl NodeNames {
    /// Takes the node at this position in.
    pub(crate) fn add(&mut self, name: String, index: NodeIndex) {
        let entry = self.nodes.entry(name);
        entry.and_modify(|node| *node = None).or_insert(Some(index));
    }

    /// The node of this label.
    pub(crate) fn find(&self, label: &str) -> Result<NodeIndex, String> {
        if let Some(index) = label.strip_prefix('#') {
            let index = index.parse().map(NodeIndex);
            return index.map_err(|_| format!("{} is no position of a node", shown(label)));
        }
        match self.nodes.get(label) {
            Some(Some(node)) => Ok(*node),
            Some(None) => Err(format!(
                "{} is the name of several nodes; write # and the position, as in #0",
                shown(label)
            )),
            None => Err(format!(
                "there is no node {}; declare it in a line 'nodes' above",
                shown(label)
            )),
        }
    }

    /// The nodes that a list stands for, in its order.
    pub(crate) fn list(
        &self,
        list: &str,
        budget: &mut SizeBudget,
    ) -> Result<Vec<NodeIndex>, String> {
        if list == NOTHING {
            return Ok(Vec::new());
        }
        let mut nodes = Vec::new();
        for piece in pieces(list) {
            nodes.extend(self.piece(piece, budget)?);
        }
        Ok(nodes)
    }

    /// The nodes that one piece of a list stands for.
    pub(crate) fn piece(
        &self,
        piece: &str,
        budget: &mut SizeBudget,
    ) -> Result<Vec<NodeIndex>, String> {
        let labels = expand(piece, budget)?;
        budget.take_many(labels.len() as u64)?;
        labels.iter().map(|label| self.find(label)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(list: &str) -> Result<Vec<String>, String> {
        let mut budget = SizeBudget::default();
        let names = pieces(list).into_iter();
        let names: Result<Vec<_>, _> = names.map(|piece| expand(piece, &mut budget)).collect();
        names.map(|names| names.concat())
    }

    #[test]
    fn names_are_folded_in_their_order_and_unfolded_to_the_same() {
        for (names, list) in [
            (vec!["n0", "n1", "n2"], "n[0-2]"),
            (vec!["n0", "n2", "n1"], "n[0,2,1]"),
            (vec!["n08", "n09", "n10", "n11"], "n[08-11]"),
            (vec!["n8", "n09", "n10"], "n[8,09-10]"),
            (vec!["n9", "n10"], "n[9-10]"),
            (vec!["big", "n1", "m1", "m2"], "big,n1,m[1-2]"),
            (vec!["n", "n"], "n,n"),
            (vec!["a1b", "7", "8"], "a1b,[7-8]"),
            (vec!["#3", "#4"], "#[3-4]"),
        ] {
            assert_eq!(fold(names.iter().copied()), list);
            assert_eq!(expanded(list).unwrap(), names, "{list}");
        }
    }

    #[test]
    fn unusual_names_are_quoted() {
        for name in ["", "none", "a b", "a,\"[b]\\", "\n\u{7f}ä", "#7"] {
            let text = declared(name);
            assert!(text.starts_with('"') && !text.contains('\n'), "{text}");
            assert_eq!(expanded(&text).unwrap(), [name], "{text}");
        }
        assert_eq!(declared("node-1.x_y"), "node-1.x_y");
    }

    #[test]
    fn malformed_list_is_refused() {
        for list in [
            "",
            ",",
            "n[",
            "n[]",
            "n[1",
            "n[2-1]",
            "n[a-b]",
            "n[1]x",
            "a b",
            "n*2",
            "\"a",
            "none",
            "n[0-9999999999999]",
            "n[0-99999999999999999999]",
            "[",
        ] {
            let error = expanded(list).unwrap_err();
            assert!(error.len() < 200 && !error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn nodes_are_found_by_name_or_position() {
        let mut directory = NodeNames::default();
        for (name, index) in [("n0", 0), ("n1", 1), ("twin", 2), ("twin", 3)] {
            directory.add(name.into(), NodeIndex(index));
        }
        let mut budget = SizeBudget::default();
        let mut list = |list: &str| directory.list(list, &mut budget);
        assert_eq!(
            list("n[1,0],#3"),
            Ok(vec![NodeIndex(1), NodeIndex(0), NodeIndex(3)])
        );
        assert_eq!(list("none"), Ok(vec![]));
        assert!(list("n2").unwrap_err().contains("no node 'n2'"));
        assert!(list("twin").unwrap_err().contains("several nodes"));
        assert!(list("#x").is_err());
    }
}
