//! Programs that mean harm. Each fails in the way that is said here, soon, and leaves the executor
//! as it was.

use crate::executors::job::work;
use crate::executors::program::{ECHO, Folder, custom, module, module_with};
use remuda_runner::executor::ExecuteError;
use remuda_runner::executor::wasm::{ModuleError, Wasm, WasmConfig, WasmError};
use std::time::{Duration, Instant};

const MEMORY: &str = "(memory (export \"memory\") 1)";

/// Runs a program with little fuel and 16 MiB, and then another to see that it still can be done.
#[track_caller]
fn fails_with(text: &str, expected: &str) {
    let folder = Folder::new();
    let (bomb, echo) = (folder.add(text), folder.add(&module(ECHO)));
    let wasm = folder.allowing(&[bomb, echo]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut spec = custom(bomb, b"params");
        spec.bounds.max_wall_time_seconds = 1;
        spec.bounds.max_memory_mb = 16;
        let began = Instant::now();
        let first = wasm.execute(&work(&spec), false).await;
        assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
        let Err(ExecuteError::Program(reason)) = &first else { panic!("{first:?}") };
        assert!(reason.contains(expected), "{reason}");
        assert_eq!(wasm.execute(&work(&spec), false).await, first);
        let echoed = wasm.execute(&work(&custom(echo, b"alive")), false).await;
        assert_eq!(echoed, Ok(b"alive".to_vec()));
    });
}

#[test]
fn an_endless_loop_burns_its_fuel() {
    fails_with(&module("(loop $again (br $again)) (unreachable)"), "of fuel");
}

#[test]
fn an_endless_loop_before_the_work_burns_its_fuel() {
    let start = format!("{MEMORY} (func $start (loop $again (br $again))) (start $start)");
    fails_with(&module_with(&start, ECHO), "of fuel");
    let alloc = format!(
        "(module {MEMORY}
            (func (export \"alloc\") (param i32) (result i32) (loop $again (br $again)) (unreachable))
            (func (export \"run\") (param i32 i32) (result i64) (i64.const 0)))"
    );
    fails_with(&alloc, "of fuel");
}

#[test]
fn calls_without_end_are_too_deep() {
    let calling = format!(
        "{MEMORY} (func $deeper (param i32) (result i32) (i32.add (i32.const 1) (call $deeper (local.get 0))))"
    );
    fails_with(
        &module_with(&calling, "(drop (call $deeper (i32.const 0))) (i64.const 0)"),
        "too deep",
    );
    // Frames of many locals go deep with few calls.
    let locals = "i64 ".repeat(20_000);
    let wide = format!("{MEMORY} (func $wide (result i64) (local {locals}) (call $wide))");
    fails_with(&module_with(&wide, "(call $wide)"), "too deep");
}

#[test]
fn calls_in_a_circle_through_a_table_are_too_deep() {
    let table = format!(
        "{MEMORY} (table 1 funcref) (elem (i32.const 0) $deeper) (type $t (func (result i64)))
         (func $deeper (result i64) (i64.add (i64.const 1) (call_indirect (type $t) (i32.const 0))))"
    );
    fails_with(&module_with(&table, "(call $deeper)"), "too deep");
}

#[test]
fn memory_ends() {
    let memory = "bytes of memory and tables";
    fails_with(
        &module("(loop $again (drop (memory.grow (i32.const 1))) (br $again)) (unreachable)"),
        memory,
    );
    fails_with(&module("(drop (memory.grow (i32.const 65535))) (i64.const 0)"), memory);
    fails_with(&module_with("(memory (export \"memory\") 65536)", ECHO), memory);
    fails_with(&module_with("(memory (export \"memory\") 257)", ECHO), memory);
}

#[test]
fn tables_end() {
    let memory = "bytes of memory and tables";
    let huge = format!("{MEMORY} (table 4000000 funcref)");
    fails_with(&module_with(&huge, ECHO), memory);
    let growing = format!("{MEMORY} (table $t 1 funcref)");
    let grow = "(loop $again (drop (table.grow $t (ref.null func) (i32.const 10000))) (br $again)) (unreachable)";
    fails_with(&module_with(&growing, grow), memory);
    // Each of them is small enough by itself.
    let many = format!("{MEMORY} {}", "(table 100000 funcref)".repeat(20));
    fails_with(&module_with(&many, ECHO), memory);
}

#[test]
fn moving_memory_costs_what_it_takes() {
    let fill = "(drop (memory.grow (i32.const 200)))
        (loop $again (memory.fill (i32.const 0) (i32.const 1) (i32.const 13000000)) (br $again))
        (unreachable)";
    fails_with(&module(fill), "of fuel");
    let copy = fill.replace(
        "memory.fill (i32.const 0) (i32.const 1)",
        "memory.copy (i32.const 0) (i32.const 8)",
    );
    fails_with(&module(&copy), "of fuel");
}

#[test]
fn params_and_results_stay_inside_of_memory() {
    for at in ["65536", "65535", "-1", "-5"] {
        let alloc = format!(
            "(module {MEMORY}
                (func (export \"alloc\") (param i32) (result i32) (i32.const {at}))
                (func (export \"run\") (param i32 i32) (result i64) (i64.const 0)))"
        );
        fails_with(&alloc, "its room for the params is outside");
    }
    for place in [
        "0x0001_0000_0000_0001",
        "0x0000_ffff_0000_0002",
        "0xffff_ffff_0000_0010",
        "0x7fff_ffff_0000_0001",
        "0x0001_0001_0000_0000",
    ] {
        fails_with(&module(&format!("(i64.const {place})")), "its result is outside");
    }
}

#[test]
fn traps_are_told() {
    fails_with(&module("(unreachable)"), "unreachable");
    fails_with(&module("(i64.div_u (i64.const 1) (i64.const 0))"), "divide by zero");
    fails_with(&module("(i64.load (i32.const -1))"), "out of bounds");
    let start = format!("{MEMORY} (func $start (unreachable)) (start $start)");
    fails_with(&module_with(&start, ECHO), "unreachable");
    let data = format!("{MEMORY} (data (i32.const 65535) \"xy\")");
    fails_with(&module_with(&data, ECHO), "out of bounds");
}

#[tokio::test]
async fn a_result_has_its_size() {
    let folder = Folder::new();
    let long = folder.add(&module("(i64.extend_i32_u (i32.load (local.get $at)))"));
    let wasm = folder.allowing(&[long]);
    let run = |length: u32| {
        let mut spec = custom(long, &length.to_le_bytes());
        spec.result_schema.max_return_bytes = 1_000;
        let wasm = &wasm;
        async move { wasm.execute(&work(&spec), false).await }
    };
    assert_eq!(run(1_000).await, Ok(vec![0; 1_000]));
    for length in [1_001, 65_537, u32::MAX] {
        assert_eq!(run(length).await, Err(ExecuteError::TooLarge { limit: 1_000 }), "{length}");
    }
}

#[test]
fn a_program_gets_nothing_but_its_params() {
    for import in [
        "(import \"wasi_snapshot_preview1\" \"fd_write\" (func (param i32 i32 i32 i32) (result i32)))",
        "(import \"env\" \"abort\" (func (param i32 i32 i32 i32)))",
        "(import \"env\" \"table\" (table 1 funcref))",
        "(import \"env\" \"global\" (global i32))",
    ] {
        fails_with(&module_with(&format!("{import} {MEMORY}"), ECHO), "imports are not allowed");
    }
    fails_with("(module (import \"env\" \"memory\" (memory 1)))", "imports are not allowed");
}

#[test]
fn what_a_program_must_export_is_named() {
    let alloc = "(func (export \"alloc\") (param i32) (result i32) (i32.const 0))";
    let run = "(func (export \"run\") (param i32 i32) (result i64) (i64.const 0))";
    fails_with("(module)", "no memory");
    fails_with(&format!("(module (memory 1) {alloc} {run})"), "no memory");
    fails_with(&format!("(module {MEMORY} {run})"), "no alloc(");
    fails_with(&format!("(module {MEMORY} {alloc})"), "no run(");
    let other = run.replace("i64", "i32");
    fails_with(&format!("(module {MEMORY} {alloc} {other})"), "no run(");
    let global = "(global (export \"run\") i32 (i32.const 0))";
    fails_with(&format!("(module {MEMORY} {alloc} {global})"), "no run(");
}

#[test]
fn only_settled_webassembly_is_spoken() {
    for more in [
        "(memory (export \"memory\") 1 2 shared)",
        "(memory (export \"memory\") i64 1)",
        "(memory (export \"memory\") 1) (memory 1)",
        "(memory (export \"memory\") 1) (table 1 externref)",
        "(memory (export \"memory\") 1) (type (struct))",
        "(memory (export \"memory\") 1) (tag)",
        "(memory (export \"memory\") 1) (func $f (result i32) (return_call $f))",
        "(memory (export \"memory\") 1) (func (param v128) (result v128)
            (f32x4.relaxed_madd (local.get 0) (local.get 0) (local.get 0)))",
        "(memory (export \"memory\") 1) (func (result i32) (i32.atomic.load (i32.const 0)))",
    ] {
        fails_with(&module_with(more, ECHO), "invalid module");
    }
}

#[tokio::test]
async fn a_file_that_is_no_module_is_refused() {
    let folder = Folder::new();
    // Without names: a module that has lost its last names is still one.
    let whole = "(module (memory (export \"memory\") 1)
        (func (export \"alloc\") (param i32) (result i32) (i32.const 0))
        (func (export \"run\") (param i32 i32) (result i64) (i64.const 0)))";
    let whole = wat::parse_str(whole).unwrap();
    let runs = folder.add_bytes(&whole);
    let result = folder.allowing(&[runs]).execute(&work(&custom(runs, b"")), false).await;
    assert_eq!(result, Ok(vec![]));
    let mut cases = vec![
        vec![],
        b"\0asm".to_vec(),
        module(ECHO).into_bytes(),
        b"\x7fELF\x02\x01\x01".to_vec(),
        b"\0asm\x0d\0\x01\0".to_vec(),
        vec![0; 100_000],
    ];
    cases.extend((9..whole.len()).map(|end| whole[..end].to_vec()));
    // A section that claims four gigabytes.
    cases.push(b"\0asm\x01\0\0\0\x01\xff\xff\xff\xff\x0f".to_vec());
    // A function with 2^32 - 1 locals.
    cases.push(
        [
            &b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x03\x02\x01\0\x0a\x0a\x01\x08\x01"[..],
            b"\xff\xff\xff\xff\x0f\x7f\x0b",
        ]
        .concat(),
    );
    let hashes: Vec<_> = cases.iter().map(|bytes| folder.add_bytes(bytes)).collect();
    let wasm = folder.allowing(&hashes);
    for (hash, bytes) in hashes.iter().zip(&cases) {
        let result = wasm.execute(&work(&custom(*hash, b"")), false).await;
        assert!(matches!(result, Err(ExecuteError::Program(_))), "{bytes:?} {result:?}");
    }
}

#[tokio::test]
async fn a_huge_file_is_not_read() {
    let folder = Folder::new();
    let echo = folder.add(&module(ECHO));
    let size = std::fs::metadata(folder.file(echo)).unwrap().len() as usize;
    let config = WasmConfig { module_bytes_max: size, ..folder.config(&[echo]) };
    assert!(Wasm::new(&config).unwrap().execute(&work(&custom(echo, b"")), false).await.is_ok());
    let config = WasmConfig { module_bytes_max: size - 1, ..config };
    let error = Wasm::new(&config).err().unwrap();
    assert!(matches!(error, WasmError::Module { reason: ModuleError::TooLarge(_), .. }), "{error}");

    // It grows after the start. Without its limit, all of a tebibyte would be read.
    let wasm = folder.allowing(&[echo]);
    std::fs::OpenOptions::new()
        .write(true)
        .open(folder.file(echo))
        .unwrap()
        .set_len(1 << 40)
        .unwrap();
    let result = wasm.execute(&work(&custom(echo, b"")), false).await;
    assert!(matches!(result, Err(ExecuteError::NotAllowed(_))), "{result:?}");
}
