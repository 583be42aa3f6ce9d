//! What is told through the broker, in the seed's words.

use super::{Broker, server};
use crate::parts::peer::PATIENCE;
use futures::StreamExt;
use serde_json::{Value, json};

const SEED: &str = include_str!("../../seed/CancelRequested.json");

/// As somebody reads it who knows the seed and nothing else.
#[tokio::test]
async fn a_request_to_stop_has_the_seeds_fields() {
    let broker = Broker::start();
    let server = server::Server::with(|config| config.broker = Some(broker.config())).await;
    let client = async_nats::connect(broker.url()).await.expect("a connection");
    let mut told = client.subscribe("remuda.cancel.*").await.expect("a subscription");
    client.flush().await.expect("a broker");
    let run = server.submit().await;
    let granted = server.take("runner_xyz").await;
    server.ok(&format!("/runs/{run}/cancel"), json!({})).await;
    let message = tokio::time::timeout(PATIENCE, told.next()).await.expect("in time");
    let cancel: Value = serde_json::from_slice(&message.expect("one").payload).expect("JSON");
    let seed: Value = serde_json::from_str(SEED).expect("JSON");
    for (field, value) in seed.as_object().expect("an object") {
        let found = &cancel[field];
        let same = std::mem::discriminant(found) == std::mem::discriminant(value);
        assert!(same, "`{field}` is {found}, in the seed {value}: {cancel}");
    }
    for field in ["type", "reason", "deadline_seconds"] {
        assert_eq!(cancel[field], seed[field], "{field}");
    }
    for field in ["lease_id", "job_id", "cancel_token"] {
        assert_eq!(cancel[field], granted[field], "{field}");
    }
    server.stop().await;
}
