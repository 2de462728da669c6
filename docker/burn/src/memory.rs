//! The memory that a task really uses: every page is written, and read again and again.

/// Pages that are kept in use. Each holds a word of its own, so that a page that was lost on its
/// way to swap and back is noticed.
#[derive(Debug)]
pub struct Ballast {
    words: Vec<u64>,
    words_per_page: usize,
    filled: usize,
    next: usize,
}

impl Ballast {
    /// `bytes` of memory in pages of `page_size` bytes, not touched yet (the kernel gives zeroed
    /// pages only when they are written).
    pub fn new(bytes: usize, page_size: usize) -> Self {
        let words_per_page = page_size / size_of::<u64>();
        Self {
            words: vec![0; bytes / size_of::<u64>()],
            words_per_page,
            filled: 0,
            next: 0,
        }
    }

    /// Number of pages.
    pub fn pages(&self) -> usize {
        self.words.len() / self.words_per_page
    }

    /// Whether every page has been written.
    pub fn is_full(&self) -> bool {
        self.filled == self.pages()
    }

    /// Writes to the next `count` pages that were not written yet.
    pub fn fill(&mut self, count: usize) {
        let end = self.pages().min(self.filled + count);
        for page in self.filled..end {
            self.words[page * self.words_per_page] = mark(page);
        }
        self.filled = end;
    }

    /// Reads and writes the next `count` pages, round and round.
    ///
    /// # Errors
    /// When a page does not hold what was written to it.
    pub fn sweep(&mut self, count: usize) -> Result<(), String> {
        for _ in 0..count.min(self.filled) {
            let page = self.next;
            let first = page * self.words_per_page;
            let (found, expected) = (self.words[first], mark(page));
            if found != expected {
                return Err(format!(
                    "page {page} of the task's memory has changed: it holds {found:#x}, not {expected:#x}"
                ));
            }
            // A changing second word makes the page dirty again: it is in use, not only read.
            self.words[first + 1] = self.words[first + 1].wrapping_add(1);
            self.next = (page + 1) % self.filled;
        }
        Ok(())
    }
}

/// What page number `page` holds.
fn mark(page: usize) -> u64 {
    (page as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fills_every_page_once() {
        let mut ballast = Ballast::new(10 * 4096, 4096);
        ballast.fill(7);
        assert!(!ballast.is_full());
        ballast.fill(7);
        assert!(ballast.is_full());
        assert_eq!(ballast.sweep(25), Ok(()));
    }

    #[test]
    fn no_memory_is_full_at_once() {
        let mut ballast = Ballast::new(0, 4096);
        assert!(ballast.is_full());
        assert_eq!(ballast.sweep(5), Ok(()));
    }

    #[test]
    fn notices_a_changed_page() {
        let mut ballast = Ballast::new(3 * 4096, 4096);
        ballast.fill(3);
        ballast.words[2 * ballast.words_per_page] = 0;
        assert_eq!(ballast.sweep(2), Ok(()));
        let error = ballast.sweep(1).unwrap_err();
        assert!(error.starts_with("page 2 "), "{error}");
    }
}
