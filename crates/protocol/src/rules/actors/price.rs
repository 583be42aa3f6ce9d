//! What the host's calls cost. A cycle is about 50 ns of a validator, a cell a byte that it keeps.
//!
//! Every call is charged before it acts. Bytes that pass between program and host are charged by the
//! machine.
//!
//! # What was measured
//! `cargo run -p remuda-vm --example host_calls` runs each call many times on a chain in memory. The measure
//! is what a cycle takes that the interpreter spends: 36 ns when this was written, and no call may take
//! more than three times that. Nanoseconds of a call, its cycles, and the one by the other:
//!
//! | | ns | cycles | ns for a cycle |
//! |---|---|---|---|
//! | `context` | 2,300 | 53 | 44 |
//! | `storage_get`, 32 bytes; 64 KiB | 1,000; 20,500 | 112; 3,796 | 9; 5 |
//! | `storage_set`, a new key; the same; 64 KiB | 10,700; 1,300; 24,400 | 3,821; 511; 11,527 | 3; 3; 2 |
//! | `storage_set` and `storage_delete` | 4,600 | 2,724 | 2 |
//! | `storage_scan`, 100 keys | 40,000 | 20,645 | 2 |
//! | `emit`, 32 bytes; 16 KiB | 770; 43,000 | 112; 2,564 | 7; 17 |
//! | `balance`, `transfer` | 3,100, 1,200 | 157, 806 | 20, 2 |
//! | `randomness`, 5 bytes; 64 KiB | 1,500; 145,000 | 60; 9,071 | 26; 16 |
//! | `call`; with 60 KB there and back | 4,800; 17,500 | 1,620; 7,621 | 3; 2 |
//! | `send`, 60 KB; `ask`; `sleep_until` | 13,300; 7,800; 2,300 | 10,909; 5,412; 3,509 | 1; 1; 1 |
//! | `schedule_timer`, `submit_job` | 7,300, 16,600 | 4,009, 7,329 | 2, 2 |
//! | a job of 2,000 values that is refused | 117,000 | 16,839 | 7 |
//! | `encode` and `decode`, a small dict; 5,000 numbers | 1,150; 269,000 | 15; 5,252 | 78; 51 |
//! | Keccak-256, 32 bytes; 64 KiB | 830; 164,000 | 21; 6,165 | 40; 27 |
//! | compiling, for a byte of the densest program | 168 | 4 | 42 |
//!
//! Reads and writes are cheap here because the state is in memory; a node's comes from a disk, and a write
//! is hashed into a tree. They keep their prices for that: a read what a read of a disk's cache takes, a
//! write four times as much. Whatever is queued is paid for until it has run.

/// A machine is made and the code is loaded into it.
pub const CALL_CYCLES: u64 = 1_500;
/// Bytes of code for a cycle of every call: its instructions and constants are put in place.
pub const CODE_BYTES_PER_CYCLE: u64 = 16;
/// A byte of code is compiled: at deployment and upgrade, and by the first call of it in a block.
pub const COMPILE_BYTE_CYCLES: u64 = 4;
/// Context, and other things that are at hand.
pub const CONTEXT_CYCLES: u64 = 40;
/// A record of the state is read.
pub const READ_CYCLES: u64 = 100;
/// Bytes that are read for a cycle.
pub const READ_BYTES_PER_CYCLE: u64 = 32;
/// Bytes of CBOR that are walked over for a cycle.
pub const CARRIED_BYTES_PER_CYCLE: u64 = 8;
/// A record of the state is written, and hashed into its root.
pub const WRITE_CYCLES: u64 = 400;
/// Bytes that are written for a cycle.
pub const WRITE_BYTES_PER_CYCLE: u64 = 8;
/// Cells of a storage entry besides its key and value: its place in the order of the keys.
pub const ENTRY_CELLS: u64 = 64;
/// An event, besides its bytes.
pub const EVENT_CYCLES: u64 = 100;
/// Cells of an event besides its topic and data.
pub const EVENT_CELLS: u64 = 32;
pub const TRANSFER_CYCLES: u64 = 800;
pub const RANDOM_CYCLES: u64 = 50;
/// A call is put into the queue and taken out again.
pub const DEFER_CYCLES: u64 = 1_500;
/// Cells of a queued call besides its payload.
pub const DEFER_CELLS: u64 = 200;
/// A promise for a height is written and kept.
pub const PROMISE_CYCLES: u64 = 2_000;
/// Bytes of a waiting call for a cycle, each time it is written or read.
pub const FRAME_BYTES_PER_CYCLE: u64 = 4;

/// A value of a document is read twice, and becomes part of a job.
pub const DOCUMENT_VALUE_CYCLES: u64 = 8;

/// Price of making a job of a document of this many values, with this many bytes of text.
pub const fn document(values: u64, bytes: u64) -> u64 {
    values * DOCUMENT_VALUE_CYCLES + bytes / WRITE_BYTES_PER_CYCLE
}

/// Price of an event with this many bytes: they are hashed into the receipts.
pub const fn event(bytes: usize) -> u64 {
    EVENT_CYCLES + bytes as u64 / WRITE_BYTES_PER_CYCLE
}

/// Price of reading a record of this many bytes.
pub const fn read(bytes: usize) -> u64 {
    READ_CYCLES + bytes as u64 / READ_BYTES_PER_CYCLE
}

/// Price of walking over what a timer carries: CBOR in which a byte can be a value.
pub const fn carried(bytes: usize) -> u64 {
    bytes as u64 / CARRIED_BYTES_PER_CYCLE
}

/// Price of writing a record of this many bytes.
pub const fn write(bytes: usize) -> u64 {
    WRITE_CYCLES + bytes as u64 / WRITE_BYTES_PER_CYCLE
}

/// Price of a call of code of this many bytes, before the code does anything, if an earlier call of this
/// block had the same code.
pub const fn call(code_bytes: u64) -> u64 {
    CALL_CYCLES + code_bytes / CODE_BYTES_PER_CYCLE
}

/// The same if none had. Caches of compiled code are local: they must not decide what a call costs, and a
/// node without one must be able to follow.
pub const fn first_call(code_bytes: u64) -> u64 {
    call(code_bytes) + code_bytes * COMPILE_BYTE_CYCLES
}
