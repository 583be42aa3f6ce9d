//! A program that governance vouches for and no operator lists.

use crate::daemon::network::{TestNetwork, folder, sees, settings};
use remuda_protocol::dispatcher::spec::JobType;
use remuda_protocol::primitives::B256;
use remuda_protocol::transaction::Instruction;

/// Returns its params.
const ECHO: &str = r#"(module
    (memory (export "memory") 1)
    (func (export "alloc") (param i32) (result i32) (i32.const 0))
    (func (export "run") (param $at i32) (param $len i32) (result i64)
        (i64.or
            (i64.shl (i64.extend_i32_u (local.get $at)) (i64.const 32))
            (i64.extend_i32_u (local.get $len)))))"#;

#[tokio::test]
async fn a_pinned_program_is_offered_and_run() {
    let module = wat::parse_str(ECHO).unwrap();
    let hash = B256::from(*blake3::hash(&module).as_bytes());
    let network = TestNetwork::build_with(1, 1, vec![hash]).await;
    let modules = folder("pinned-modules");
    std::fs::create_dir_all(&modules).unwrap();
    let name = hash.to_string();
    let name = name.trim_start_matches("0x");
    std::fs::write(format!("{modules}/{name}.wasm"), &module).unwrap();
    let section = format!("[wasm]\nfolder = '{modules}'");
    let runner = network.runner_with(0, "pinned", &section).await;
    let lacks = format!("programs: 0x{name} only here");
    sees(&runner, "that it is not offered yet", |s| {
        s.problems.iter().any(|why| why.contains(&lacks))
    })
    .await;
    {
        let mut world = network.world();
        let key = world.runners[0].clone();
        let offer = settings("d", &[], &format!("{section}\n[http]")).offer_with(&[hash]).unwrap();
        world.chain.send(&key, Instruction::UpdateRunner { offer });
    }
    sees(&runner, "that it is", |s| s.problems.is_empty()).await;
    let mut spec = network.single("GET");
    spec.job_type =
        JobType::Custom { executor_hash: hash, params: br#"{"a":1}"#.as_slice().into() };
    let job = network.order(spec);
    network.settled(job).await;
    let result = network.world().chain.result(job).unwrap();
    assert_eq!(&result.result[..], br#"{"a":1}"#);
    runner.stop().await;
}
