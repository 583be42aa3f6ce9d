//! What a runner's own program would do, which is not a command of `remuda`: results.

use remuda_client::types::{HexHash, JobView};
use remuda_client::{Client, wallet};
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::primitives::keccak256;
use remuda_protocol::transaction::{Instruction, Reveal};
use remuda_protocol::verifier::commitment::{commitment, result_digest};
use std::path::Path;
use std::time::Duration;

/// Lets all runners that are drawn commit to a result and open it, until the job is over.
pub(crate) fn work(api: &str, job: &str, keys: &[String], result: &str) {
    let keys: Vec<SecretKey> =
        keys.iter().map(|key| wallet::read(Path::new(key)).expect("a key")).collect();
    let job: HexHash = job.parse().expect("a job's id");
    let client = Client::new(api).expect("a client");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let assigned = job_when(&client, job, |job| !job.seats.is_empty()).await;
        assert_eq!(assigned.seats.len(), keys.len(), "everybody is drawn");
        let chain_id = client.status().await.expect("a status").chain_id.0;
        let mut reveals = Vec::new();
        for key in &keys {
            let (commitment, reveal) = seal(chain_id, key, job, result.as_bytes());
            let commit = Instruction::CommitResult { job: job.0, commitment };
            assert!(client.send(key, commit).await.expect("a receipt").ok);
            reveals.push((key, reveal));
        }
        for (key, reveal) in reveals {
            let open = Instruction::RevealResult { job: job.0, reveal };
            assert!(client.send(key, open).await.expect("a receipt").ok);
        }
        job_when(&client, job, |job| job.over).await;
    });
}

async fn job_when(client: &Client, job: HexHash, ready: impl Fn(&JobView) -> bool) -> JobView {
    for _ in 0..600 {
        let view = client.job(job.0).await.expect("a job");
        if ready(&view) {
            return view;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("job {job} does not go on");
}

fn seal(
    chain_id: u64,
    key: &SecretKey,
    job: HexHash,
    result: &[u8],
) -> (remuda_protocol::primitives::B256, Reveal) {
    let runner = key.address();
    let digest = result_digest(chain_id, job.0, 0, runner, result);
    let result_sig = key.sign(&digest);
    let salt = keccak256([&digest[..], b"salt"].concat());
    let bound = commitment(chain_id, job.0, 0, runner, result, &salt, &result_sig.bytes);
    (bound, Reveal { runner, result: result.into(), salt, result_sig })
}
