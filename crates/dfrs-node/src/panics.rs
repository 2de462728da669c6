//! A panic in any thread ends the daemon: with one of its threads gone it would go on, deaf, or
//! never reclaiming. The service manager starts another, which takes over what is there.

use std::panic::{PanicHookInfo, set_hook, take_hook};
use std::process;

/// As the standard library ends a program of which the main thread panicked.
const EXIT_CODE: i32 = 101;

/// From now on a panic anywhere is reported as usual, and ends this process.
pub fn end_the_process() {
    let report = take_hook();
    set_hook(Box::new(move |panic: &PanicHookInfo<'_>| {
        report(panic);
        process::exit(EXIT_CODE);
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;
    use std::thread;

    /// What the other test runs in a process of its own.
    #[test]
    #[ignore = "ends its process"]
    fn a_thread_panics() {
        end_the_process();
        let thread = thread::spawn(|| panic!("as planned"));
        let _ = thread.join();
        process::exit(0);
    }

    #[test]
    fn a_panic_in_a_thread_ends_the_process() {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "panics::tests::a_thread_panics", "--ignored"])
            .arg("--nocapture")
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(EXIT_CODE));
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains("as planned"), "{errors}");
    }
}
