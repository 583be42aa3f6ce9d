//! What the host's calls cost. A cycle is about 50 ns of a validator, a cell a byte that it keeps.
//!
//! Every call is charged before it acts. Bytes that pass between program and host are charged by the
//! machine.

/// A machine is made and the code is loaded into it.
pub const CALL_CYCLES: u64 = 1_500;
/// Bytes of code for a cycle of every call: its instructions and constants are put in place.
pub const CODE_BYTES_PER_CYCLE: u64 = 16;
/// A byte of code is compiled: at deployment and upgrade, and by the first call of it in a block.
pub const COMPILE_BYTE_CYCLES: u64 = 4;
/// Context, and other things that are at hand.
pub const CONTEXT_CYCLES: u64 = 20;
/// A record of the state is read.
pub const READ_CYCLES: u64 = 100;
/// Bytes that are read for a cycle.
pub const READ_BYTES_PER_CYCLE: u64 = 32;
/// A record of the state is written, and hashed into its root.
pub const WRITE_CYCLES: u64 = 400;
/// Bytes that are written for a cycle.
pub const WRITE_BYTES_PER_CYCLE: u64 = 8;
/// Cells of a storage entry besides its key and value: its place in the order of the keys.
pub const ENTRY_CELLS: u64 = 64;
/// An event, besides its bytes, which are cells.
pub const EVENT_CYCLES: u64 = 100;
/// Cells of an event besides its topic and data.
pub const EVENT_CELLS: u64 = 32;
/// Two balances change.
pub const TRANSFER_CYCLES: u64 = 800;
/// A hash or two.
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

/// Price of making a job of a document of so many values, with so many bytes of text.
pub const fn document(values: u64, bytes: u64) -> u64 {
    values * DOCUMENT_VALUE_CYCLES + bytes / WRITE_BYTES_PER_CYCLE
}

/// Price of reading a record of so many bytes.
pub const fn read(bytes: usize) -> u64 {
    READ_CYCLES + bytes as u64 / READ_BYTES_PER_CYCLE
}

/// Price of writing a record of so many bytes.
pub const fn write(bytes: usize) -> u64 {
    WRITE_CYCLES + bytes as u64 / WRITE_BYTES_PER_CYCLE
}

/// Price of a call of code of so many bytes, before the code does anything, if an earlier call of this
/// block had the same code.
pub const fn call(code_bytes: u64) -> u64 {
    CALL_CYCLES + code_bytes / CODE_BYTES_PER_CYCLE
}

/// The same if none had. What a machine has kept of compiled code is its own affair: nothing of it may
/// decide what a call costs, and whoever keeps nothing must be able to follow.
pub const fn first_call(code_bytes: u64) -> u64 {
    call(code_bytes) + code_bytes * COMPILE_BYTE_CYCLES
}
