//! Sets of small numbers.

/// Numbers in a word.
pub(super) const WORD: u32 = u64::BITS;

/// A set of which only the words that are not empty are kept, ascending.
#[derive(Clone, Debug, Default)]
pub(super) struct SparseSet {
    words: Vec<(u32, u64)>,
}

impl SparseSet {
    pub fn clear(&mut self) {
        self.words.clear();
    }

    /// All words that are not empty.
    pub fn words(&self) -> impl Iterator<Item = (u32, u64)> {
        self.words.iter().copied()
    }

    /// The words from this one on, those that are not empty.
    pub fn words_from(&self, word: u32) -> &[(u32, u64)] {
        let start = self.words.partition_point(|(place, _)| *place < word);
        &self.words[start..]
    }

    pub fn contains(&self, number: u32) -> bool {
        let bit = 1u64 << (number % WORD);
        self.find(number / WORD)
            .is_ok_and(|place| self.words[place].1 & bit != 0)
    }

    /// The place of the word, or where it should be.
    fn find(&self, word: u32) -> Result<usize, usize> {
        // Mostly it is the last word that is looked for.
        match self.words.last() {
            None => Err(0),
            Some((last, _)) if *last < word => Err(self.words.len()),
            Some((last, _)) if *last == word => Ok(self.words.len() - 1),
            Some(_) => self.words.binary_search_by_key(&word, |word| word.0),
        }
    }

    /// Takes the number in, or out.
    pub fn set(&mut self, number: u32, is_in: bool) {
        let (word, bit) = (number / WORD, 1u64 << (number % WORD));
        match (self.find(word), is_in) {
            (Ok(place), true) => self.words[place].1 |= bit,
            (Ok(place), false) => {
                self.words[place].1 &= !bit;
            }
            (Err(place), true) => self.words.insert(place, (word, bit)),
            (Err(_), false) => {}
        }
    }
}

/// A set of numbers below a limit.
#[derive(Clone, Debug, Default)]
pub(super) struct DenseSet {
    words: Vec<u64>,
}

impl DenseSet {
    /// No number, with room for all below the limit.
    pub fn clear(&mut self, limit: usize) {
        self.words.clear();
        self.words.resize(limit / WORD as usize + 1, 0);
    }

    /// All numbers below the limit, and some above.
    pub fn fill(&mut self, limit: usize) {
        self.words.clear();
        self.words.resize(limit / WORD as usize + 1, u64::MAX);
    }

    pub fn word(&self, word: u32) -> u64 {
        self.words[word as usize]
    }

    pub fn insert(&mut self, number: u32) {
        self.insert_all(number / WORD, 1 << (number % WORD));
    }

    pub fn remove(&mut self, number: u32) {
        self.remove_all(number / WORD, 1 << (number % WORD));
    }

    /// Takes these numbers of a word in.
    pub fn insert_all(&mut self, word: u32, bits: u64) {
        self.words[word as usize] |= bits;
    }

    /// Takes these numbers of a word out.
    pub fn remove_all(&mut self, word: u32, bits: u64) {
        self.words[word as usize] &= !bits;
    }

    pub fn iter(&self) -> impl Iterator<Item = u32> {
        (0..)
            .zip(&self.words)
            .flat_map(|(word, bits)| numbers(word, *bits))
    }
}

/// The numbers in a word.
pub(super) fn numbers(word: u32, mut bits: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        (bits != 0).then(|| {
            let number = word * WORD + bits.trailing_zeros();
            bits &= bits - 1;
            number
        })
    })
}
