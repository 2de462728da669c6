#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| dfrs_fuzz::scenario(input));
