//! A linear program of packing form, by the simplex method with bounded variables.

/// What is smaller than this is taken for 0; coefficients are about 1.
const EPSILON: f64 = 1e-11;

/// Maximise the sum of x, where 0 <= x <= bounds and A x <= b, A and b being nowhere negative: x =
/// 0 is feasible, and the program is bounded.
///
/// The tableau is dense: memory is rows times variables, and so is the time of each step.
pub(crate) struct LpProgram {
    /// Upper bounds of the columns' variables. Slacks have none.
    bounds: Vec<f64>,
    rows: Vec<Row>,
    /// What one more of each column's variable adds to the sum.
    gains: Vec<f64>,
    /// The variable of each column: below the number of variables it is an x, else a slack.
    columns: Vec<Variable>,
}

/// A variable, or what it lacks to its upper bound.
#[derive(Clone, Copy, Debug)]
struct Variable {
    index: usize,
    complement: bool,
    bound: f64,
}

/// A row of the tableau: the value of its basic variable when all columns' variables are 0, and
/// what one more of each takes off.
struct Row {
    basic: Variable,
    value: f64,
    terms: Vec<f64>,
}

/// What limits a step.
#[derive(Clone, Copy)]
enum StepLimit {
    /// The entering variable reaches its bound.
    Itself,
    /// A row's basic variable falls to 0.
    Falls(usize),
    /// A row's basic variable rises to its bound.
    Rises(usize),
}

impl LpProgram {
    /// A program with these upper bounds and no constraint yet.
    pub(crate) fn new(bounds: Vec<f64>) -> Self {
        let columns = bounds.iter().enumerate();
        Self {
            columns: columns
                .map(|(index, bound)| Variable {
                    index,
                    complement: false,
                    bound: *bound,
                })
                .collect(),
            gains: vec![1.0; bounds.len()],
            rows: Vec::new(),
            bounds,
        }
    }

    /// Adds a constraint: the sum of the terms' coefficients times x is at most `max`.
    pub(crate) fn add(&mut self, terms: &[(usize, f64)], max: f64) {
        let index = self.bounds.len() + self.rows.len();
        let mut dense = vec![0.0; self.bounds.len()];
        for (variable, coefficient) in terms {
            dense[*variable] += coefficient;
        }
        let basic = Variable {
            index,
            complement: false,
            bound: f64::INFINITY,
        };
        self.rows.push(Row {
            basic,
            value: max,
            terms: dense,
        });
    }

    /// The values of x in an optimal solution.
    pub(crate) fn solve(mut self) -> Vec<f64> {
        // Degenerate steps can only cycle if the entering variable is chosen by gain; after as many
        // as there are variables and rows, Bland's rule is used until the sum grows again.
        let max_stalls = self.bounds.len() + self.rows.len();
        let mut stalled = 0;
        while let Some(column) = self.entering(stalled > max_stalls) {
            let (step, limit) = self.limit(column);
            stalled = if step > EPSILON { 0 } else { stalled + 1 };
            match limit {
                StepLimit::Itself => self.complement_column(column),
                StepLimit::Falls(row) => self.pivot(row, column),
                StepLimit::Rises(row) => {
                    self.complement_basic(row);
                    self.pivot(row, column);
                }
            }
        }
        self.values()
    }

    /// The column to raise: that of the greatest gain, or by Bland's rule the first variable that
    /// gains at all.
    fn entering(&self, bland: bool) -> Option<usize> {
        let gaining = (0..self.gains.len()).filter(|column| self.gains[*column] > EPSILON);
        if bland {
            gaining.min_by_key(|column| self.columns[*column].index)
        } else {
            gaining.reduce(|best, column| {
                if self.gains[column] > self.gains[best] {
                    column
                } else {
                    best
                }
            })
        }
    }

    /// How far the column's variable can be raised, and by what it is limited; of equal limits the
    /// one with the lowest variable, as Bland's rule requires.
    fn limit(&self, column: usize) -> (f64, StepLimit) {
        let mut step = self.columns[column].bound;
        let mut limit = StepLimit::Itself;
        let mut lowest = self.columns[column].index;
        for (place, row) in self.rows.iter().enumerate() {
            let term = row.terms[column];
            let (max, what) = if term > EPSILON {
                (row.value / term, StepLimit::Falls(place))
            } else if term < -EPSILON && row.basic.bound.is_finite() {
                (
                    (row.basic.bound - row.value) / -term,
                    StepLimit::Rises(place),
                )
            } else {
                continue;
            };
            let max = max.max(0.0);
            if max < step - EPSILON || max <= step && row.basic.index < lowest {
                (step, limit, lowest) = (max.min(step), what, row.basic.index);
            }
        }
        (step, limit)
    }

    /// Measures the column's variable from its upper bound from now on.
    fn complement_column(&mut self, column: usize) {
        let variable = &mut self.columns[column];
        variable.complement = !variable.complement;
        for row in &mut self.rows {
            row.value -= row.terms[column] * variable.bound;
            row.terms[column] = -row.terms[column];
        }
        self.gains[column] = -self.gains[column];
    }

    /// Measures the row's basic variable from its upper bound from now on.
    fn complement_basic(&mut self, row: usize) {
        let row = &mut self.rows[row];
        row.basic.complement = !row.basic.complement;
        row.value = row.basic.bound - row.value;
        for term in &mut row.terms {
            *term = -*term;
        }
    }

    /// Swaps the row's basic variable with the column's variable.
    fn pivot(&mut self, place: usize, column: usize) {
        let mut pivot_row = std::mem::take(&mut self.rows[place].terms);
        let pivot = pivot_row[column];
        pivot_row[column] = 1.0;
        for term in &mut pivot_row {
            *term /= pivot;
        }
        let value = self.rows[place].value / pivot;
        for row in &mut self.rows {
            if row.terms.is_empty() || row.terms[column] == 0.0 {
                continue;
            }
            let factor = std::mem::take(&mut row.terms[column]);
            row.value -= factor * value;
            for (term, pivot_term) in row.terms.iter_mut().zip(&pivot_row) {
                *term -= factor * pivot_term;
            }
        }
        let factor = std::mem::take(&mut self.gains[column]);
        for (gain, pivot_term) in self.gains.iter_mut().zip(&pivot_row) {
            *gain -= factor * pivot_term;
        }
        let row = &mut self.rows[place];
        row.terms = pivot_row;
        row.value = value;
        std::mem::swap(&mut row.basic, &mut self.columns[column]);
    }

    fn values(&self) -> Vec<f64> {
        let mut values = vec![0.0; self.bounds.len()];
        let basic = self.rows.iter().map(|row| (row.basic, row.value));
        for (variable, value) in self
            .columns
            .iter()
            .map(|column| (*column, 0.0))
            .chain(basic)
        {
            if let Some(slot) = values.get_mut(variable.index) {
                let value = if variable.complement {
                    variable.bound - value
                } else {
                    value
                };
                *slot = value.clamp(0.0, variable.bound);
            }
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solve(bounds: &[f64], rows: &[(&[f64], f64)]) -> Vec<f64> {
        let mut program = LpProgram::new(bounds.to_vec());
        for (terms, max) in rows {
            program.add(&terms.iter().copied().enumerate().collect::<Vec<_>>(), *max);
        }
        program.solve()
    }

    fn assert_close(found: &[f64], expected: &[f64]) {
        assert!(
            found
                .iter()
                .zip(expected)
                .all(|(one, other)| (one - other).abs() < 1e-9),
            "{found:?} {expected:?}"
        );
    }

    #[test]
    fn without_constraints_all_reach_their_bounds() {
        assert_close(&solve(&[1.0, 0.5], &[]), &[1.0, 0.5]);
    }

    #[test]
    fn the_cheaper_variable_is_preferred() {
        assert_close(&solve(&[1.0, 1.0], &[(&[1.0, 2.0], 1.5)]), &[1.0, 0.25]);
        assert_close(
            &solve(
                &[1.0, 1.0, 1.0],
                &[(&[1.0, 1.0, 0.0], 1.0), (&[0.0, 1.0, 1.0], 1.0)],
            ),
            &[1.0, 0.0, 1.0],
        );
    }

    #[test]
    fn nothing_is_left_where_capacity_is_zero() {
        assert_close(
            &solve(&[1.0, 1.0], &[(&[1.0, 0.0], 0.0), (&[1.0, 1.0], 0.5)]),
            &[0.0, 0.5],
        );
    }

    #[test]
    fn the_greatest_gain_enters_or_by_blands_rule_the_first() {
        let mut program = LpProgram::new(vec![1.0; 4]);
        program.gains = vec![-1.0, 1.0, 3.0, 2.0];
        assert_eq!(program.entering(false), Some(2));
        assert_eq!(program.entering(true), Some(1));
        program.gains = vec![-1.0, 0.0, 0.0, 0.0];
        assert_eq!(
            (program.entering(false), program.entering(true)),
            (None, None)
        );
    }

    #[test]
    fn of_equal_limits_that_of_the_lowest_variable_counts() {
        let limit = |rows: &[(usize, f64)]| {
            let mut program = LpProgram::new(vec![1.0; 3]);
            for (basic, value) in rows {
                program.add(&[(1, 1.0)], *value);
                program.rows.last_mut().unwrap().basic.index = *basic;
            }
            let (step, limit) = program.limit(1);
            let row = match limit {
                StepLimit::Itself => None,
                StepLimit::Falls(row) | StepLimit::Rises(row) => Some(row),
            };
            (step, row)
        };
        assert_eq!(limit(&[(3, 1.0)]), (1.0, None));
        assert_eq!(limit(&[(3, 1.0), (0, 1.0)]), (1.0, Some(1)));
        assert_eq!(limit(&[(4, 0.5), (3, 0.5), (5, 0.5)]), (0.5, Some(1)));
        assert_eq!(limit(&[(0, 0.5), (3, 0.25)]), (0.25, Some(1)));
    }

    #[test]
    fn degenerate_steps_come_to_an_end() {
        // Beale, Cycling in the dual simplex algorithm, Naval Research Logistics Quarterly 2
        // (1955): by the greatest gain alone the same bases would come again for ever.
        let mut program = LpProgram::new(vec![f64::INFINITY; 4]);
        program.gains = vec![0.75, -20.0, 0.5, -6.0];
        program.add(&[(0, 0.25), (1, -8.0), (2, -1.0), (3, 9.0)], 0.0);
        program.add(&[(0, 0.5), (1, -12.0), (2, -0.5), (3, 3.0)], 0.0);
        program.add(&[(2, 1.0)], 1.0);
        assert_close(&program.solve(), &[1.0, 0.0, 1.0, 0.0]);
    }
}
