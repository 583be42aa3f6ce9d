//! How long a node takes to start with a chain behind it.

use super::record::Record;
use super::validators::{Context, Measure, boot, deal, index_directory};
use commonware_runtime::{Runner as _, Spawner as _, Supervisor as _, tokio as runtime};
use remuda_node::network::{Network, Secrets};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A start ends when the node has its newest final block, and its index all blocks.
#[derive(Clone, Copy, Debug)]
pub struct StartTimes {
    /// Every block is read, as before there was an index on disk.
    pub without_index: Duration,
    pub with_index: Duration,
}

/// Makes a chain of so many blocks with one validator, then starts it with and without its index.
pub fn measure_start(what: &Measure, blocks: u64) -> Result<StartTimes, String> {
    let _ = std::fs::remove_dir_all(&what.directory);
    let (network, secrets) = deal(what);
    let times = starts(what, &network, &secrets[0], blocks);
    let _ = std::fs::remove_dir_all(&what.directory);
    times
}

fn starts(
    what: &Measure,
    network: &Arc<Network>,
    secrets: &Secrets,
    blocks: u64,
) -> Result<StartTimes, String> {
    run_until(what, network, secrets, blocks)?;
    std::fs::remove_dir_all(index_directory(what, 0)).map_err(|e| e.to_string())?;
    let without_index = run_until(what, network, secrets, 0)?;
    let with_index = run_until(what, network, secrets, 0)?;
    Ok(StartTimes { without_index, with_index })
}

/// Starts a node, lets it run until a height, and says how long the start took.
fn run_until(
    what: &Measure,
    network: &Arc<Network>,
    secrets: &Secrets,
    height: u64,
) -> Result<Duration, String> {
    let config = runtime::Config::default().with_storage_directory(what.directory.clone());
    runtime::Runner::new(config).start(|context: Context| async move {
        let (record, began) = (Arc::new(Record::default()), Instant::now());
        boot(context.child("validator"), what, network, 0, secrets, record.clone()).await?;
        let took = began.elapsed();
        while record.height() < height {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let _ = context.stop(0, Some(Duration::from_secs(2))).await;
        Ok(took)
    })
}
