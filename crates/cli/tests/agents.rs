//! Actors that wait for work, through real consensus and with real runners.

use crate::support;

use remuda_client::types::{EventBody, HexBytes};
use remuda_vm::{HostValue, cbor};
use support::ranch::{Ranch, text};
use support::web;

/// Ten questions in a loop, with a helper and a `try` around the awaits.
const AGENT: &str = r#"
import cowboy
from cowboy import runner, storage, emit

async def ask(url, step):
    while True:
        try:
            answer = await runner.http(url, extract="price", timeout_blocks=200)
            return int(answer["value"])
        except cowboy.HostError as error:
            # After the nodes' death no runner is there for a moment.
            emit("again", str(error))
            await cowboy.sleep(5)

async def work(message):
    seen = []
    for step in range(10):
        try:
            seen.append(await ask(message["url"], step))
        finally:
            storage["step"] = step + 1
        emit("step", step + 1)
    storage["seen"] = seen
    return len(seen)
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_agent_of_ten_steps_survives_the_death_of_every_node() {
    let url = web::serve(|asked| async move { format!(r#"{{"price":"{asked}"}}"#) }).await;
    let mut ranch =
        Ranch::new("ten-steps", "[http]\naddresses = { allow = [\"127.0.0.0/8\"] }\n").await;
    let actor = ranch.deploy(AGENT, &HostValue::None).await;
    let receipt =
        ranch.call(actor, "work", &HostValue::Dict(vec![(text("url"), text(&url))])).await;
    let waits = |event: &EventBody| matches!(event, EventBody::CallSuspended { .. });
    assert!(receipt.events.iter().any(waits), "{receipt:?}");
    // Between two awaits, somewhere in the middle.
    ranch
        .network
        .wait("step 4", async || {
            let prefix = HexBytes(b"step".to_vec());
            let page = ranch.network.client.actor_state(actor, &prefix, None).await.ok()?;
            let step = cbor::decode(&page.entries.first()?.value.0).ok()?;
            matches!(step, HostValue::Int(4..)).then_some(())
        })
        .await
        .expect("it gets on");
    ranch.network.strike_down().await.expect("all are killed and started again");
    let HostValue::List(seen) = ranch.stored(actor, "seen").await else { panic!("no list") };
    assert_eq!(seen.len(), 10);
    // Every question was answered once, in order; the web's numbers grow.
    let numbers: Vec<i64> = seen
        .iter()
        .map(|seen| match seen {
            HostValue::Int(number) => *number,
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
    assert_eq!(ranch.network.client.actor(actor).await.unwrap().waiting, 0);
    ranch.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_price_feed_takes_the_median_of_three_runners_again_and_again() {
    let url = web::serve(|asked| async move { format!(r#"{{"price":"{asked}"}}"#) }).await;
    let ranch =
        Ranch::new("price-feed", "[http]\naddresses = { allow = [\"127.0.0.0/8\"] }\n").await;
    let code = include_str!("../../../examples/price_feed.py");
    let settings = [
        (text("url"), text(&url)),
        (text("every"), HostValue::Int(10)),
        (text("alarm_below"), HostValue::Int(1_000)),
    ];
    let actor = ranch.deploy(code, &HostValue::Dict(settings.to_vec())).await;
    let HostValue::Float(first) = ranch.stored(actor, "price").await else { panic!("no price") };
    assert!(first >= 2.0, "the middle one of three: {first}");
    // The web's numbers grow, so the next median is another one.
    ranch
        .network
        .wait("another price", async || {
            let price = ranch.stored(actor, "price").await;
            (price != HostValue::Float(first)).then_some(())
        })
        .await
        .expect("the feed goes on");
    let logs = ranch.network.client.actor_logs(actor, None).await.unwrap();
    let alarms = |event: &EventBody| matches!(event, EventBody::ActorEvent { topic, .. } if topic == "alarm");
    assert!(logs.entries.iter().any(|entry| alarms(&entry.event)), "{logs:#?}");
    ranch.stop().await;
}
