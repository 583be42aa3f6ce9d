//! Programs and what they may use.

use crate::executors::job::{assert_timed_out, get, text, work};
use crate::executors::program::{ECHO, Folder, custom, module, module_with};
use remuda_protocol::dispatcher::spec::DataFormat;
use remuda_protocol::primitives::B256;
use remuda_runner::executor::ExecuteError;
use remuda_runner::executor::wasm::{
    FUEL_PER_SECOND, ModuleError, PAGE_FUEL, Wasm, WasmConfig, WasmError,
};
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// Counts down from a number in the params, and returns the params.
fn countdown() -> String {
    module(&format!(
        "(local $n i32)
         (local.set $n (i32.load (local.get $at)))
         (block $end (loop $again
             (br_if $end (i32.eqz (local.get $n)))
             (local.set $n (i32.sub (local.get $n) (i32.const 1)))
             (br $again)))
         {ECHO}"
    ))
}

/// Runs for as long as it is let.
fn endless() -> String {
    module("(loop $again (br $again)) (unreachable)")
}

#[tokio::test]
async fn params_go_in_and_a_result_comes_out() {
    let folder = Folder::new();
    let echo = folder.add(&module(ECHO));
    let wasm = folder.allowing(&[echo]);
    assert_eq!(wasm.programs().collect::<Vec<_>>(), [echo]);
    for params in [&b""[..], b"x", &[0xff; 60_000]] {
        let result = wasm.execute(&work(&custom(echo, params)), false).await;
        assert_eq!(result.as_deref(), Ok(params));
    }
    let as_format = |params: &[u8], data_format| {
        let mut spec = custom(echo, params);
        spec.result_schema.data_format = data_format;
        let wasm = &wasm;
        async move { wasm.execute(&work(&spec), false).await }
    };
    let json = as_format(br#" {"b": 1.0, "a": "\u0041"} "#, DataFormat::Json).await;
    assert_eq!(text(json), r#"{"a":"A","b":1}"#);
    assert_eq!(text(as_format("é".as_bytes(), DataFormat::Text).await), "é");
    for (params, data_format) in [
        (&b"\xff"[..], DataFormat::Text),
        (b"\xff", DataFormat::Json),
        (b"", DataFormat::Json),
        (br#"{"a":1,"a":2}"#, DataFormat::Json),
    ] {
        let result = as_format(params, data_format).await;
        assert!(matches!(result, Err(ExecuteError::Program(_))), "{params:?} {result:?}");
    }
}

#[tokio::test]
async fn somebody_vouches_for_every_program() {
    let folder = Folder::new();
    let (listed, other) = (folder.add(&module(ECHO)), folder.add(&countdown()));
    let wasm = folder.allowing(&[listed]);
    let result = wasm.execute(&work(&custom(other, &[0; 4])), false).await;
    assert!(matches!(result, Err(ExecuteError::NotAllowed(_))), "{result:?}");
    assert!(wasm.execute(&work(&custom(other, &[0; 4])), true).await.is_ok());

    // Governance vouches for it, but nobody has put it there.
    let result = wasm.execute(&work(&custom(B256::repeat_byte(7), b"")), true).await;
    assert!(matches!(result, Err(ExecuteError::NotAllowed(_))), "{result:?}");

    let strict = WasmConfig { allow_pinned: false, ..folder.config(&[listed]) };
    let strict = Wasm::new(&strict).unwrap();
    let result = strict.execute(&work(&custom(other, &[0; 4])), true).await;
    assert!(matches!(result, Err(ExecuteError::NotAllowed(_))), "{result:?}");
    assert!(strict.execute(&work(&custom(listed, b"")), true).await.is_ok());
    let result = strict.execute(&work(&get("http://127.0.0.1/")), true).await;
    assert!(matches!(result, Err(ExecuteError::BadJob(_))), "{result:?}");
}

#[tokio::test]
async fn a_file_that_holds_something_else_is_not_run() {
    let folder = Folder::new();
    let (echo, other) = (folder.add(&module(ECHO)), folder.add(&countdown()));
    let wasm = folder.allowing(&[echo]);
    std::fs::copy(folder.file(other), folder.file(echo)).unwrap();
    let result = wasm.execute(&work(&custom(echo, &[0; 4])), false).await;
    assert!(matches!(result, Err(ExecuteError::NotAllowed(_))), "{result:?}");
    let error = Wasm::new(&folder.config(&[echo])).err().unwrap();
    let WasmError::Module { reason: ModuleError::OtherHash(found), .. } = error else {
        panic!("{error}")
    };
    assert_eq!(found, other);
}

#[tokio::test]
async fn the_same_needs_the_same_fuel() {
    let folder = Folder::new();
    let count = folder.add(&countdown());
    let spec = custom(count, &1_000_000_u32.to_le_bytes());
    // Eight instructions each time, and some before. Whatever changes this number must not get into
    // a release: runners would disagree.
    let needed = 8_000_007;
    for _ in 0..2 {
        let enough = WasmConfig { fuel_max: needed, ..folder.config(&[count]) };
        let result = Wasm::new(&enough).unwrap().execute(&work(&spec), false).await;
        assert_eq!(result, Ok(1_000_000_u32.to_le_bytes().to_vec()));
        let less = WasmConfig { fuel_max: needed - 1, ..enough };
        let result = Wasm::new(&less).unwrap().execute(&work(&spec), false).await;
        let reason = format!("more than {} of fuel", needed - 1);
        assert_eq!(result, Err(ExecuteError::Program(reason)));
    }
}

#[tokio::test]
async fn a_second_of_a_job_is_so_much_fuel() {
    let folder = Folder::new();
    let count = folder.add(&countdown());
    let wasm = folder.allowing(&[count]);
    let run = |times: u32, seconds| {
        let mut spec = custom(count, &times.to_le_bytes());
        spec.bounds.max_wall_time_seconds = seconds;
        let wasm = &wasm;
        async move { wasm.execute(&work(&spec), false).await }
    };
    let times = (FUEL_PER_SECOND / 8) as u32;
    assert!(run(times - 10, 1).await.is_ok());
    let reason = format!("more than {FUEL_PER_SECOND} of fuel");
    assert_eq!(run(times + 10, 1).await, Err(ExecuteError::Program(reason)));
    assert!(run(times + 10, 2).await.is_ok());
}

#[tokio::test]
async fn memory_is_what_the_job_allows() {
    let folder = Folder::new();
    let grow = folder.add(&module(
        "(i32.store (i32.const 0) (memory.grow (i32.load (local.get $at)))) (i64.const 4)",
    ));
    let bounded = folder.add(&module_with(
        "(memory (export \"memory\") 1 3)",
        "(i32.store (i32.const 0) (memory.grow (i32.load (local.get $at)))) (i64.const 4)",
    ));
    let wasm = folder.allowing(&[grow, bounded]);
    let run = |program, pages: u32| {
        let mut spec = custom(program, &pages.to_le_bytes());
        spec.bounds.max_memory_mb = 1;
        let wasm = &wasm;
        async move { wasm.execute(&work(&spec), false).await }
    };
    assert_eq!(run(grow, 15).await, Ok(vec![1, 0, 0, 0]));
    let reason = "more than 1048576 bytes of memory and tables";
    assert_eq!(run(grow, 16).await, Err(ExecuteError::Program(reason.into())));
    // Beyond its own maximum a program is told, as WebAssembly has it.
    assert_eq!(run(bounded, 2).await, Ok(vec![1, 0, 0, 0]));
    assert_eq!(run(bounded, 3).await, Ok(vec![0xff; 4]));
    assert_eq!(run(bounded, 65_535).await, Ok(vec![0xff; 4]));

    let tight = WasmConfig { memory_bytes_max: 65_536, ..folder.config(&[grow]) };
    let tight = Wasm::new(&tight).unwrap();
    assert!(tight.execute(&work(&custom(grow, &[0; 4])), false).await.is_ok());
    let result = tight.execute(&work(&custom(grow, &[1, 0, 0, 0])), false).await;
    assert!(matches!(result, Err(ExecuteError::Program(_))), "{result:?}");
}

#[tokio::test]
async fn a_page_of_memory_costs_fuel() {
    let folder = Folder::new();
    let grow = folder.add(&module("(drop (memory.grow (i32.const 100))) (i64.const 0)"));
    let pages = 100 * u64::from(PAGE_FUEL);
    for (fuel_max, enough) in [(pages + 100, true), (pages, false)] {
        let wasm = Wasm::new(&WasmConfig { fuel_max, ..folder.config(&[grow]) }).unwrap();
        let result = wasm.execute(&work(&custom(grow, b"")), false).await;
        assert_eq!(result.is_ok(), enough, "{result:?}");
    }
}

#[tokio::test]
async fn not_a_number_has_one_form() {
    let folder = Folder::new();
    // Processors differ in the sign, and pass on the bits of their operands.
    let nan = folder.add(&module(
        "(f64.store (i32.const 0) (f64.div (f64.const 0) (f64.const 0)))
         (f64.store (i32.const 8) (f64.add (f64.const -nan:0xc000000001234) (f64.const 1)))
         (i64.const 16)",
    ));
    let result = folder.allowing(&[nan]).execute(&work(&custom(nan, b"")), false).await;
    let canonical = 0x7ff8_0000_0000_0000_u64.to_le_bytes();
    assert_eq!(result, Ok([canonical, canonical].concat()));
}

#[test]
fn a_program_that_nobody_waits_for_stops() {
    // With one thread for programs, the second has to wait for the end of the first.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .max_blocking_threads(1)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let folder = Folder::new();
        let (echo, endless) = (folder.add(&module(ECHO)), folder.add(&endless()));
        let config = WasmConfig { fuel_max: u64::MAX, ..folder.config(&[echo, endless]) };
        let wasm = Wasm::new(&config).unwrap();
        let mut forever = custom(endless, b"");
        forever.bounds.max_wall_time_seconds = 3_600;

        let mut timed = work(&forever);
        timed.time_limit = Duration::from_millis(300);
        let began = Instant::now();
        let result = wasm.execute(&timed, false).await;
        assert_timed_out(result, timed.time_limit, began);
        assert!(wasm.execute(&work(&custom(echo, b"")), false).await.is_ok());

        let patience = Duration::from_millis(100);
        assert!(timeout(patience, wasm.execute(&work(&forever), false)).await.is_err());
        assert!(wasm.execute(&work(&custom(echo, b"")), false).await.is_ok());
    });
}

#[tokio::test]
async fn the_end_of_one_is_not_the_end_of_others() {
    let folder = Folder::new();
    let (count, endless) = (folder.add(&countdown()), folder.add(&endless()));
    let wasm = folder.allowing(&[count, endless]);
    let spec = custom(count, &50_000_000_u32.to_le_bytes());
    let (work, forever) = (work(&spec), custom(endless, b""));
    let long = wasm.execute(&work, false);
    let stopping = async {
        for _ in 0..20 {
            let patience = Duration::from_millis(5);
            let work = crate::executors::job::work(&forever);
            assert!(timeout(patience, wasm.execute(&work, false)).await.is_err());
        }
    };
    let (result, ()) = tokio::join!(long, stopping);
    assert_eq!(result, Ok(50_000_000_u32.to_le_bytes().to_vec()));
}

#[tokio::test]
async fn the_latest_modules_are_kept() {
    let folder = Folder::new();
    let (echo, count) = (folder.add(&module(ECHO)), folder.add(&countdown()));
    let config = WasmConfig { kept_max: 1, ..folder.config(&[echo, count]) };
    let wasm = Wasm::new(&config).unwrap();
    let run = |program| {
        let spec = custom(program, &[0; 4]);
        let wasm = &wasm;
        async move { wasm.execute(&work(&spec), false).await }
    };
    assert!(run(echo).await.is_ok());
    std::fs::remove_file(folder.file(echo)).unwrap();
    assert!(run(echo).await.is_ok());
    assert!(run(count).await.is_ok());
    let result = run(echo).await;
    assert!(matches!(result, Err(ExecuteError::NotAllowed(_))), "{result:?}");
}

#[test]
fn an_operators_mistakes_are_told() {
    let folder = Folder::new();
    let echo = folder.add(&module(ECHO));
    let read = |text: &str| toml::from_str::<WasmConfig>(text);
    assert_eq!(read("").unwrap(), WasmConfig::default());
    assert!(read("fuel = 1").is_err());
    let new = |allow: &str| {
        let text = format!("folder = '{}'\nallow = ['{allow}']", folder.0.display());
        Wasm::new(&read(&text).unwrap())
    };
    assert!(new(&echo.to_string()).is_ok());
    assert!(new(&echo.to_string()[2..]).is_ok());
    assert!(matches!(new("abc").err(), Some(WasmError::BadHash(_))));
    let told = new(&B256::ZERO.to_string()).err().unwrap().to_string();
    assert!(told.contains(&folder.file(B256::ZERO).display().to_string()), "{told}");
}

#[test]
fn a_folder_that_is_not_there_is_told_at_the_start() {
    let config = WasmConfig { folder: "/nowhere/modules".into(), ..WasmConfig::default() };
    assert!(matches!(Wasm::new(&config), Err(WasmError::NoFolder(_))));
}
