//! Runners whose validators change.

use crate::daemon::network::{ROTATION, TestNetwork, sees};
use remuda_protocol::event::Event;
use remuda_protocol::primitives::Address;

/// Blocks between two orders.
const ORDER_EVERY: u64 = 3;
/// Subset epochs that end under load.
const TURNS: u64 = 1;

/// Times at which a runner was absent that had been present.
fn absences(events: &[Event]) -> Vec<Address> {
    let lost = events.iter().filter_map(|event| match event {
        Event::PresenceChanged { runner, present: false, .. } => Some(*runner),
        _ => None,
    });
    lost.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_runner_is_absent_for_a_block_while_its_validators_change_under_load() {
    const RUNNERS: usize = 6;
    let network = TestNetwork::rotating(RUNNERS, 10).await;
    // Just before an epoch begins: so runners that only ask every 30 blocks ask when the overlap is about to
    // end.
    network.until("it is time", |world| world.chain.height().get() >= ROTATION - 1).await;
    let names: Vec<String> = (0..RUNNERS).map(|number| format!("rotation {number}")).collect();
    let starting = (0..RUNNERS).map(|number| network.runner(number, &names[number]));
    let runners = futures::future::join_all(starting).await;
    for runner in &runners {
        sees(runner, "it is present", |status| status.standing.as_ref().is_some_and(|s| s.present))
            .await;
    }
    assert_eq!(absences(&network.world().events), [Address::ZERO; 0]);
    let (start, end) = (network.height(), 1 + (TURNS + 1) * ROTATION + ROTATION * 2 / 3);
    let mut jobs = Vec::new();
    for height in (start..end).step_by(ORDER_EVERY as usize) {
        network.until("it is time", |world| world.chain.height().get() >= height).await;
        jobs.push(network.order(network.single("GET")));
    }
    for job in jobs {
        network.settled(job).await;
    }
    assert_eq!(absences(&network.world().events), [Address::ZERO; 0]);
    assert_eq!(network.world().subset_epoch(), TURNS + 1);
    for runner in runners {
        runner.stop().await;
    }
}
