//! The first of many things that is small enough.

/// Values in a fixed order; finds the first that is at most a limit in O(log n).
pub(crate) struct Tree<T> {
    /// The smaller of two children; leaves from `width` on.
    nodes: Vec<T>,
    width: usize,
    greatest: T,
}

impl<T: Copy + PartialOrd> Tree<T> {
    /// A tree of these values; `greatest` marks places without a value and is above every limit in
    /// use.
    pub fn new(values: impl ExactSizeIterator<Item = T>, greatest: T) -> Self {
        let width = values.len().next_power_of_two();
        let mut nodes = vec![greatest; 2 * width];
        for (leaf, value) in nodes[width..].iter_mut().zip(values) {
            *leaf = value;
        }
        for node in (1..width).rev() {
            nodes[node] = smaller(nodes[2 * node], nodes[2 * node + 1]);
        }
        Self {
            nodes,
            width,
            greatest,
        }
    }

    /// The first value that is at most `limit`.
    pub fn first_within(&self, limit: T) -> Option<usize> {
        if self.nodes[1] > limit || self.nodes[1] == self.greatest {
            return None;
        }
        let mut node = 1;
        while node < self.width {
            node *= 2;
            if self.nodes[node] > limit {
                node += 1;
            }
        }
        Some(node - self.width)
    }

    /// Changes a value.
    pub fn set(&mut self, place: usize, value: T) {
        let mut node = self.width + place;
        self.nodes[node] = value;
        while node > 1 {
            node /= 2;
            self.nodes[node] = smaller(self.nodes[2 * node], self.nodes[2 * node + 1]);
        }
    }

    /// Takes a value out.
    pub fn remove(&mut self, place: usize) {
        self.set(place, self.greatest);
    }
}

fn smaller<T: PartialOrd>(one: T, other: T) -> T {
    if other < one { other } else { one }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_value_within_the_limit_is_found() {
        for count in [1, 2, 5, 8, 9] {
            let values: Vec<u32> = (0..count).map(|place| 7 * place % 5 + 1).collect();
            let mut tree = Tree::new(values.iter().copied(), u32::MAX);
            let mut left: Vec<Option<u32>> = values.into_iter().map(Some).collect();
            for limit in [0, 3, 1, 4, 2, 5, 5, 5, 5, 5, 5, 9] {
                let expected = left
                    .iter()
                    .position(|value| value.is_some_and(|value| value <= limit));
                assert_eq!(tree.first_within(limit), expected, "{left:?} {limit}");
                if let Some(place) = expected {
                    left[place] = None;
                    tree.remove(place);
                }
            }
        }
        assert_eq!(Tree::new([].into_iter(), u32::MAX).first_within(3), None);
    }
}
