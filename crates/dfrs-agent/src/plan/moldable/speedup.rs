//! How much faster a job is on more nodes, by a word in its `--comment`.

use dfrs_moldable::downey;

/// What the word begins with.
const PREFIX: &str = "dfrs:speedup=";
const DOWNEY: &str = "downey";
/// More than any machine has.
const MAX_VALUE: f64 = 1e6;
/// The longest word that is read, in bytes: it is read at every decision.
const MAX_LENGTH: usize = 2000;

/// A speedup over one node.
#[derive(Clone, Debug, PartialEq)]
pub enum Speedup {
    /// As many times as fast as it has nodes, up to so many; no faster on more.
    Linear(u32),
    /// By Downey's model: average parallelism, in nodes, and the coefficient of its variance.
    Downey(f64, f64),
    /// On 1, 2, … nodes; on more as on the last.
    Table(Vec<f64>),
}

/// What a comment says of the job's speedup: none if it says nothing.
///
/// # Errors
///
/// The word, if it cannot be understood: the job is then taken for one that says nothing.
pub fn parse_comment(comment: &str) -> Result<Option<Speedup>, &str> {
    let mut words = comment.split([' ', ';']).flat_map(words_of);
    let Some(word) = words.next_back() else {
        return Ok(None);
    };
    parse(&word[PREFIX.len()..]).map(Some).ok_or(word)
}

/// The word within blanks and semicolons, which commas may set apart from words before it; it has
/// commas itself.
fn words_of(text: &str) -> Option<&str> {
    let at = text.rfind(PREFIX)?;
    let is_apart = at == 0 || text[..at].ends_with(',');
    let end = |rest: &str| rest.find(",dfrs:").unwrap_or(rest.len());
    is_apart.then(|| &text[at..at + end(&text[at..])])
}

fn parse(value: &str) -> Option<Speedup> {
    if value.len() > MAX_LENGTH {
        return None;
    }
    let number = |text: &str| {
        let number: f64 = text.parse().ok()?;
        (0.0..=MAX_VALUE).contains(&number).then_some(number)
    };
    let mut parts = value.split(',').peekable();
    if parts
        .next_if(|first| first.eq_ignore_ascii_case(DOWNEY))
        .is_some()
    {
        let (parallelism, sigma) = (number(parts.next()?)?, number(parts.next()?)?);
        let is_all = parts.next().is_none() && parallelism >= 1.0;
        return is_all.then_some(Speedup::Downey(parallelism, sigma));
    }
    let table: Vec<f64> = parts.map(number).collect::<Option<_>>()?;
    table
        .iter()
        .all(|times| *times > 0.0)
        .then_some(Speedup::Table(table))
}

impl Speedup {
    /// How many times as fast on so many nodes as on one: above 0.
    pub fn on(&self, nodes: u32) -> f64 {
        match self {
            Self::Linear(max) => f64::from(nodes.min(*max).max(1)),
            Self::Downey(parallelism, sigma) => downey(*parallelism, *sigma, f64::from(nodes)),
            Self::Table(table) => {
                let place = (nodes as usize).clamp(1, table.len());
                table[place - 1]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_speedup_of_a_comment_is_used() {
        let downey = |parallelism, sigma| Ok(Some(Speedup::Downey(parallelism, sigma)));
        assert_eq!(
            parse_comment("dfrs:speedup=downey,12,0.5"),
            downey(12.0, 0.5)
        );
        assert_eq!(
            parse_comment("project 7;dfrs:speedup=Downey,3,2 dfrs:never"),
            downey(3.0, 2.0)
        );
        assert_eq!(
            parse_comment("x,dfrs:speedup=downey,3,0,dfrs:never"),
            downey(3.0, 0.0)
        );
        let table = Ok(Some(Speedup::Table(vec![1.0, 1.9, 2.5])));
        assert_eq!(
            parse_comment("dfrs:speedup=4 dfrs:speedup=1,1.9,2.5"),
            table
        );
        for without in ["", "dfrs:never", "mydfrs:speedup=2", "speedup=3"] {
            assert_eq!(parse_comment(without), Ok(None), "{without}");
        }
    }

    #[test]
    fn invalid_speedup_is_returned_as_error() {
        for word in [
            "dfrs:speedup=",
            "dfrs:speedup=downey,3",
            "dfrs:speedup=downey,0.5,1",
            "dfrs:speedup=downey,3,-1",
            "dfrs:speedup=downey,3,1,1",
            "dfrs:speedup=1,nan",
            "dfrs:speedup=1,,2",
            "dfrs:speedup=0",
            "dfrs:speedup=1e99",
        ] {
            assert_eq!(parse_comment(word), Err(word));
        }
        let long = format!("{PREFIX}{}1", "1,".repeat(MAX_LENGTH / 2));
        assert_eq!(parse_comment(&long), Err(long.as_str()));
    }

    #[test]
    fn speedup_follows_its_model() {
        let on = |speedup: &Speedup| [0, 1, 2, 3, 9].map(|nodes| speedup.on(nodes));
        assert_eq!(on(&Speedup::Linear(3)), [1.0, 1.0, 2.0, 3.0, 3.0]);
        let table = Speedup::Table(vec![1.0, 1.5]);
        assert_eq!(on(&table), [1.0, 1.0, 1.5, 1.5, 1.5]);
        let downey = Speedup::Downey(4.0, 0.0);
        assert_eq!([1, 4, 9].map(|nodes| downey.on(nodes)), [1.0, 4.0, 4.0]);
    }
}
