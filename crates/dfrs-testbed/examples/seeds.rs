//! Tries seeds from FIRST on and below END, at a fixed step, and prints the first one that fails.
//! `cargo xtask defects` builds this program with each defect and runs it on every core.

use dfrs_testbed::simulation::generate::{Kinds, generate};
use dfrs_testbed::simulation::run;

fn main() -> Result<(), String> {
    // Failures are printed; a panic is one of them.
    std::panic::set_hook(Box::new(|_| {}));
    let arguments: Result<Vec<u64>, _> =
        std::env::args().skip(1).map(|text| text.parse()).collect();
    let Ok(&[first, end, step]) = arguments.as_deref() else {
        return Err("expected are three numbers: FIRST END STEP".into());
    };
    let kinds = Kinds::sound();
    let step = usize::try_from(step.max(1)).unwrap_or(usize::MAX);
    for seed in (first..end).step_by(step) {
        if let Err(failure) = run(&generate(seed, &kinds)) {
            println!("{seed} {failure}");
            break;
        }
    }
    Ok(())
}
