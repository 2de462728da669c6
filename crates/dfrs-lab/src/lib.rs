//! The laboratory: everything that computes, reads traces and writes pages for `dfrs`, the command
//! line, and for other programs.
//!
//! Functions return values, text or files; what is printed, and with which exit code a process ends,
//! is decided by their callers. An error is one line: what, where, what to do.
//!
//! [`input`] reads traces, journals and dumps of accounting. [`sim`] runs one trace under policies,
//! [`study`] many traces under many settings, [`replay`] what a site's jobs did, [`trial`] the same with DFRS on top of
//! the site's own queue, [`reproduce`] the
//! experiments of the papers; [`runs`] executes such work on all cores and keeps what is finished.
#![forbid(unsafe_code)]

mod arriving;
pub mod bound;
pub mod gaming;
pub mod generate;
pub mod input;
pub mod moldable;
pub mod options;
pub mod outputs;
pub mod overload;
pub mod paired;
pub mod policy_arg;
pub mod replay;
pub mod reproduce;
pub mod run_options;
pub mod runs;
pub mod show;
pub mod sim;
pub mod study;
pub mod summary;
pub mod trial;
pub mod usage;
mod weeks;
