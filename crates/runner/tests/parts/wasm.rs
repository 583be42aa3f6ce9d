//! A program that a compiler of others makes, from a source as an author would write it.

use crate::parts::job::{job, text, work};
use crate::parts::support::{Folder, part};
use remuda_protocol::dispatcher::spec::{DataFormat, JobSpec, JobType};
use remuda_protocol::primitives::B256;
use remuda_runner::executor::ExecuteError;
use remuda_runner::executor::wasm::{Wasm, WasmConfig};
use std::path::Path;
use std::process::Command;

/// Compiles the program, into a file with the name of its hash.
fn compile(folder: &Folder) -> B256 {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parts");
    let module = folder.path().join("primes.wasm");
    let output = Command::new("node")
        .arg(part("wasm").join("node_modules/assemblyscript/bin/asc.js"))
        .args(["primes.ts", "--optimize", "--runtime", "stub"])
        // Nothing is imported: what goes wrong traps.
        .args(["--use", "abort=", "--outFile"])
        .arg(&module)
        .current_dir(sources)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let hash = *blake3::hash(&std::fs::read(&module).unwrap()).as_bytes();
    let named = folder.path().join(format!("{}.wasm", blake3::Hash::from_bytes(hash).to_hex()));
    std::fs::rename(&module, named).unwrap();
    hash.into()
}

fn below(executor_hash: B256, limit: &str) -> JobSpec {
    let params = limit.as_bytes().into();
    job(JobType::Custom { executor_hash, params }, DataFormat::Json)
}

#[tokio::test]
async fn assemblyscript_is_run() {
    let folder = Folder::new("assemblyscript");
    let primes = compile(&folder);
    let config = WasmConfig {
        folder: folder.path().to_owned(),
        allow: vec![primes.to_string()],
        ..Default::default()
    };
    let wasm = Wasm::new(&config).unwrap();
    for (limit, document) in [
        ("10", r#"{"below":10,"count":4,"last":[3,5,7],"reciprocals":1.176190476}"#),
        ("1000", r#"{"below":1000,"count":168,"last":[983,991,997],"reciprocals":2.198080127}"#),
        (
            "1000000",
            r#"{"below":1000000,"count":78498,"last":[999961,999979,999983],"reciprocals":2.8873281}"#,
        ),
    ] {
        let spec = below(primes, limit);
        assert_eq!(text(wasm.execute(&work(&spec), false).await), document);
    }

    // It gives up by itself, is out of memory, and is out of fuel.
    let mut small = below(primes, "100000000");
    small.bounds.max_memory_mb = 16;
    let mut short = below(primes, "10000000");
    short.bounds.max_wall_time_seconds = 1;
    for (spec, why) in [
        (below(primes, ""), "unreachable"),
        (below(primes, "ten"), "unreachable"),
        (small, "bytes of memory"),
        (short, "of fuel"),
    ] {
        let result = wasm.execute(&work(&spec), false).await;
        let Err(ExecuteError::Program(reason)) = result else { panic!("{result:?}") };
        assert!(reason.contains(why), "{reason}");
    }
}
