//! The engine: which WebAssembly is spoken, and what it costs.

use wasmtime::{Config, Engine, OperatorCost, Strategy, WasmFeatures};

/// Fuel for a page of memory: 64 KiB that the system has to find and to clear.
pub const PAGE_FUEL: u8 = 250;
/// Bytes of stack for a program. Its thread has 2 MiB, of which the host needs some.
const STACK_BYTES: usize = 512 * 1024;
/// Version 2.0 but for `externref`, which needs a garbage collector. What is not named here is off,
/// also what later releases of the engine would switch on.
const FEATURES: WasmFeatures = WasmFeatures::WASM2.difference(WasmFeatures::GC_TYPES);

/// An engine for all programs. The same everywhere: whatever changes a result or the fuel for it
/// would split a committee.
pub(super) fn new() -> Engine {
    let mut cost = OperatorCost::new();
    cost.variable.memory_grow_per_page = PAGE_FUEL;
    let mut config = Config::new();
    config
        .strategy(Strategy::Cranelift)
        .wasm_features(WasmFeatures::all(), false)
        .wasm_features(FEATURES, true)
        .cranelift_nan_canonicalization(true)
        .consume_fuel(true)
        .operator_cost(cost)
        .epoch_interruption(true)
        .max_wasm_stack(STACK_BYTES)
        // Backtraces are not used, and are long in a deep recursion.
        .wasm_backtrace_max_frames(None);
    Engine::new(&config).expect("these settings go together")
}
