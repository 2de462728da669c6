//! Decisions worked out by hand: every file in `scenarios/` says what is given and what is
//! expected.
//!
//! `DFRS_REWRITE=1` makes the files expect what is decided: look at the difference before you
//! commit it.

#[path = "../../dfrs-core/tests/common/scenarios.rs"]
mod common;

use std::path::Path;

#[test]
fn decisions_are_as_expected() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    common::check_scenarios(&directory, dfrs_papers::policy);
}
