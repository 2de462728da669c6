//! Small systems of linear equations.

/// A square matrix, factored by elimination with partial pivoting.
pub(super) struct Factors {
    size: usize,
    /// Both factors in one, by rows.
    values: Vec<f64>,
    order: Vec<usize>,
}

impl Factors {
    /// The matrix with these columns; none if it is singular. O(size^3).
    pub fn of(columns: &[Vec<f64>]) -> Option<Self> {
        let size = columns.len();
        let mut values = vec![0.0; size * size];
        for (column, entries) in columns.iter().enumerate() {
            for (row, entry) in entries.iter().enumerate() {
                values[row * size + column] = *entry;
            }
        }
        let mut order: Vec<usize> = (0..size).collect();
        for pivot in 0..size {
            let value = |row: &usize| values[row * size + pivot].abs();
            let best = (pivot..size).max_by(|one, other| value(one).total_cmp(&value(other)))?;
            if value(&best) < 1e-13 {
                return None;
            }
            order.swap(pivot, best);
            for column in 0..size {
                values.swap(pivot * size + column, best * size + column);
            }
            for row in pivot + 1..size {
                let factor = values[row * size + pivot] / values[pivot * size + pivot];
                values[row * size + pivot] = factor;
                if factor != 0.0 {
                    for column in pivot + 1..size {
                        values[row * size + column] -= factor * values[pivot * size + column];
                    }
                }
            }
        }
        Some(Self {
            size,
            values,
            order,
        })
    }

    /// The x with matrix x = right.
    pub fn solve(&self, right: &[f64]) -> Vec<f64> {
        let at = |row: usize, column: usize| self.values[row * self.size + column];
        let mut x: Vec<f64> = self.order.iter().map(|row| right[*row]).collect();
        for row in 0..self.size {
            for column in 0..row {
                x[row] -= at(row, column) * x[column];
            }
        }
        for row in (0..self.size).rev() {
            for column in row + 1..self.size {
                x[row] -= at(row, column) * x[column];
            }
            x[row] /= at(row, row);
        }
        x
    }

    /// The y with y matrix = right.
    pub fn solve_transposed(&self, right: &[f64]) -> Vec<f64> {
        let at = |row: usize, column: usize| self.values[row * self.size + column];
        let mut y = right.to_vec();
        for row in 0..self.size {
            for before in 0..row {
                y[row] -= at(before, row) * y[before];
            }
            y[row] /= at(row, row);
        }
        for row in (0..self.size).rev() {
            for after in row + 1..self.size {
                y[row] -= at(after, row) * y[after];
            }
        }
        let mut solution = vec![0.0; self.size];
        for (value, row) in y.into_iter().zip(&self.order) {
            solution[*row] = value;
        }
        solution
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_systems_are_solved() {
        let columns = [
            vec![0.0, 2.0, 1.0],
            vec![1.0, 1.0, 0.0],
            vec![3.0, 0.0, 4.0],
        ];
        let factors = Factors::of(&columns).expect("regular");
        let x = factors.solve(&[11.0, 4.0, 13.0]);
        let y = factors.solve_transposed(&[11.0, 4.0, 13.0]);
        for row in 0..3 {
            let right: f64 = (0..3).map(|column| columns[column][row] * x[column]).sum();
            let left: f64 = (0..3).map(|place| columns[row][place] * y[place]).sum();
            assert!((right - [11.0, 4.0, 13.0][row]).abs() < 1e-12);
            assert!((left - [11.0, 4.0, 13.0][row]).abs() < 1e-12);
        }
        assert!(Factors::of(&[vec![1.0, 2.0], vec![2.0, 4.0]]).is_none());
    }
}
