#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| remuda_protocol::fuzz::transaction(data));
