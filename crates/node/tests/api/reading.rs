//! Every getter, and the API's description of itself.

use crate::api::chain::{FAUCET, calm, key};
use crate::api::world::{PEOPLE, STAKE, World, roomy, vote_job};
use remuda_client::types::{EventBody, InstructionView, RunnerStatusName};
use remuda_client::{BlockId, ClientError};
use remuda_node::backend::Backend;
use remuda_protocol::codec::Encode;
use remuda_protocol::key::{AccountKey, RunnerKey};
use remuda_protocol::primitives::{Address, Amount, Height, keccak256};
use remuda_protocol::state::{StateKey, read};
use remuda_protocol::timers::host::ScheduleTimer;
use remuda_protocol::transaction::Instruction;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

#[tokio::test]
async fn a_block_says_the_same_under_all_its_names() {
    let world = World::still(calm(), roomy()).await;
    let transfer = Instruction::Transfer { to: Address::repeat_byte(9), amount: Amount::CBY };
    let signed = world.client.sign(&key("ann"), transfer).await.unwrap();
    world.client.submit(&signed).await.unwrap();
    world.chain.step();
    let latest = world.client.block(BlockId::Latest).await.unwrap();
    assert_eq!(latest.height.0, 1);
    assert_eq!(latest, world.client.block(BlockId::Height(Height(1))).await.unwrap());
    assert_eq!(latest, world.client.block(BlockId::Hash(latest.hash.0)).await.unwrap());
    assert_eq!((latest.bodies.as_ref(), latest.receipts.as_ref()), (None, None));
    assert!(!latest.seeds.is_empty() || latest.view.0 == 1);

    let full = world.client.full_block(BlockId::Latest).await.unwrap();
    let bodies = full.bodies.unwrap();
    assert_eq!(bodies[0].hash.0, signed.hash);
    assert_eq!(bodies[0].from.unwrap().0, key("ann").address());
    assert_eq!(bodies[0].instruction.name(), "Transfer");
    let receipts = full.receipts.unwrap();
    assert_eq!(receipts.len(), 1);
    let transaction = world.client.transaction(signed.hash).await.unwrap();
    assert_eq!(transaction, bodies[0]);
    let InstructionView::Transfer { amount, .. } = transaction.instruction else {
        panic!("it was a transfer");
    };
    assert_eq!(amount.0, Amount::CBY.get());
    assert_eq!(world.client.receipt(signed.hash).await.unwrap(), receipts[0]);

    let genesis = world.client.block(BlockId::Height(Height(0))).await.unwrap();
    assert_eq!(genesis.hash, latest.parent);
    assert_eq!(genesis.hash, world.client.status().await.unwrap().genesis_hash);
}

#[tokio::test]
async fn a_timer_is_shown_until_it_has_ended() {
    let world = World::still(calm(), roomy()).await;
    let timer =
        ScheduleTimer { height: Height(3), payload: b"tick".to_vec().into(), ..Default::default() };
    let signed =
        world.client.sign(&key("ann"), Instruction::ScheduleTimer { timer }).await.unwrap();
    world.client.submit(&signed).await.unwrap();
    world.chain.step();
    let receipt = world.client.receipt(signed.hash).await.unwrap();
    let scheduled = receipt.events.iter().find_map(|event| match event {
        EventBody::TimerScheduled { timer, .. } => Some(*timer),
        _ => None,
    });
    let timer = scheduled.expect("it is scheduled");
    let shown = world.client.timer(timer.0).await.unwrap();
    assert_eq!((shown.actor.0, shown.due.0), (key("ann").address(), 3));
    assert_eq!((&shown.payload.0[..], shown.height.0), (&b"tick"[..], 1));
    let lane = world.client.timers().await.unwrap();
    assert_eq!((lane.waiting.0, lane.system_deployers[0].0), (0, key(FAUCET).address()));
    world.chain.step();
    world.chain.step();
    let error = world.client.timer(timer.0).await.unwrap_err();
    assert_eq!(error.code(), Some("unknown_timer"));
}

#[tokio::test]
async fn status_says_where_node_and_chain_stand() {
    let world = World::still(calm(), roomy()).await;
    world.chain.step();
    let status = world.client.status().await.unwrap();
    assert_eq!((status.height.0, status.peers, status.mempool.0), (1, 3, 0));
    assert_eq!(status.chain_id.0, calm().chain_id);
    assert_eq!((status.validators.len(), status.policy.as_str()), (4, "shadow"));
    assert_eq!(status.supply.0, Amount::cby(1_000_000).get() * (PEOPLE.len() as u128 + 1));
    assert!(status.ready && status.basefees.cycle.0 > 0);
    assert!(world.client.health().await.unwrap().ok);
    assert_eq!(world.client.ready().await.unwrap().height.0, 1);
    world.chain.behind.store(true, Ordering::Relaxed);
    let error = world.client.ready().await.unwrap_err();
    assert!(matches!(error, ClientError::Refused { status: 503, .. }));
    assert_eq!(error.code(), Some("not_ready"));
    assert!(world.client.health().await.unwrap().ok, "alive, though behind");
}

#[tokio::test]
async fn params_are_the_whole_table() {
    let world = World::still(calm(), roomy()).await;
    let view = world.client.params().await.unwrap();
    assert_eq!(view.hash.0, calm().hash());
    let table = calm().table();
    assert_eq!(view.params.len(), table.len());
    for (view, row) in view.params.iter().zip(table) {
        assert_eq!((view.key.as_str(), view.value.0), (row.key, row.value));
        assert_eq!((view.min.0, view.max.0), (row.min, row.max));
    }
}

#[tokio::test]
async fn runners_come_in_pages_that_leave_nobody_out() {
    let world = World::new().await;
    let keys = world.register(4).await;
    let mut expected: Vec<Address> = keys.iter().map(|key| key.address()).collect();
    expected.sort();
    for limit in [1, 2, 3, 4, 100] {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let page = world.client.runners(after, limit).await.unwrap();
            assert!(page.runners.len() <= limit as usize);
            found.extend(page.runners.iter().map(|runner| runner.address.0));
            match page.next {
                Some(next) => after = Some(next.0),
                None => break,
            }
        }
        assert_eq!(found, expected, "pages of {limit}");
    }
    let runner = world.client.runner(expected[0]).await.unwrap();
    assert_eq!((runner.stake.0, runner.status), (STAKE.get(), RunnerStatusName::Active));
    assert!(runner.healthy);
    assert!(world.client.account(expected[0]).await.unwrap().is_runner);
    assert!(world.client.runner(Address::ZERO).await.unwrap_err().is_not_found());
}

#[tokio::test]
async fn jobs_come_newest_first_in_pages_that_leave_none_out() {
    let world = World::new().await;
    world.register(2).await;
    let (ann, bob) = (key("ann").address(), key("bob").address());
    let mut all = Vec::new();
    for _ in 0..3 {
        all.push(world.submit_job(vote_job()).await);
    }
    let receipt = world.ok(&key("bob"), Instruction::SubmitJob { spec: vote_job() }).await;
    let bobs = receipt.events.iter().find_map(|event| match event {
        EventBody::JobSubmitted { job, .. } => Some(job.0),
        _ => None,
    });
    all.push(bobs.unwrap());
    all.reverse();
    let listed = async |submitter, limit| {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let page = world.client.jobs(submitter, after, limit).await.unwrap();
            assert!(page.jobs.len() <= limit as usize);
            found.extend(page.jobs.iter().map(|job| job.id.0));
            match page.next {
                Some(next) => after = Some(next),
                None => return found,
            }
        }
    };
    for limit in [1, 2, 3, 4, 100] {
        assert_eq!(listed(None, limit).await, all, "pages of {limit}");
        assert_eq!(listed(Some(ann), limit).await, all[1..], "pages of {limit}");
        assert_eq!(listed(Some(bob), limit).await, all[..1], "pages of {limit}");
    }
    assert!(listed(Some(Address::ZERO), 9).await.is_empty());
    let page = world.client.jobs(Some(bob), None, 1).await.unwrap();
    let job = world.client.job(all[0]).await.unwrap();
    let listed = &page.jobs[0];
    assert_eq!((listed.submitter.0, listed.submitted_at), (bob, job.submitted_at));
    assert_eq!((listed.kind, listed.escrow), (job.kind, job.escrow));
}

#[tokio::test]
async fn presence_has_a_row_for_each_runner_and_a_column_for_each_validator() {
    let world = World::new().await;
    world.register(3).await;
    let view = world.client.presence(None, 100).await.unwrap();
    assert_eq!((view.validators.len(), view.rows.len(), view.next), (4, 3, None));
    assert_eq!((view.subset_size, view.threshold), (3, 2));
    assert!(view.rows.windows(2).all(|pair| pair[0].slot < pair[1].slot));
    for row in &view.rows {
        assert_eq!(row.members.len(), 3);
        assert!(row.members.iter().all(|member| *member < 4));
        assert_eq!(row.attested_by.as_deref(), Some(&[][..]));
        assert_eq!(row.connected_here, row.slot == 1);
    }
    let first = world.client.presence(None, 2).await.unwrap();
    assert_eq!((first.rows.len(), first.next), (2, Some(1)));
    let rest = world.client.presence(first.next, 2).await.unwrap();
    assert_eq!((rest.rows.len(), rest.next), (1, None));
    assert_eq!(rest.rows[0].slot, 2);
}

#[tokio::test]
async fn proofs_are_of_values_and_of_absence() {
    let world = World::still(calm(), roomy()).await;
    world.chain.step();
    let account = AccountKey { address: key("ann").address() };
    let proof = world.client.proof(&account).await.unwrap();
    let stored = read(&world.chain.tip().state, &account).unwrap();
    assert_eq!(proof.value.unwrap().0, stored.to_bytes());
    assert_eq!(proof.key.0, account.bytes());
    let block = world.client.block(BlockId::Height(Height(proof.height.0))).await.unwrap();
    assert_eq!(proof.root, block.state.root);
    let absent = world.client.proof(&RunnerKey { runner: Address::ZERO }).await.unwrap();
    assert_eq!(absent.value, None);
    world.chain.proofless.store(true, Ordering::Relaxed);
    assert_eq!(world.client.proof(&account).await.unwrap_err().code(), Some("no_proof"));
}

/// A path of the description with its parameters filled in.
fn filled(path: &str) -> String {
    path.replace("{address}", &format!("{}", Address::repeat_byte(1)).to_lowercase())
        .replace("{hash}", &format!("{:#x}", keccak256("x")))
        .replace("/entitlement/{id}", &format!("/entitlement/{:#x}", keccak256("x")))
        .replace("/job/{id}", &format!("/job/{:#x}", keccak256("x")))
        .replace("{id}", "latest")
        .replace("{key}", "0x05")
}

#[tokio::test]
async fn the_description_lists_what_is_served_and_all_of_its_types() {
    let world = World::still(calm(), roomy()).await;
    let api = world.client.openapi().await.unwrap();
    assert!(api["openapi"].as_str().unwrap().starts_with("3.1"));
    let paths = api["paths"].as_object().unwrap();
    let documented: BTreeSet<&str> = paths.keys().map(String::as_str).collect();
    for (path, operations) in paths {
        for operation in operations.as_object().unwrap().values() {
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                let name = parameter["name"].as_str().unwrap();
                let in_path = path.contains(&format!("{{{name}}}"));
                let place = match name {
                    "Last-Event-ID" => "header",
                    _ if in_path => "path",
                    _ => "query",
                };
                assert_eq!(parameter["in"], place, "{name} of {path}");
                assert_eq!(parameter["required"] == true, in_path, "{name} of {path}");
            }
        }
    }
    for message in ["EventView", "ProgressNews", "StreamEnd"] {
        assert!(api["components"]["schemas"][message].is_object(), "{message} of /events");
    }
    let of_the_spec = [
        "/submit",
        "/transaction/{hash}",
        "/transaction/{hash}/receipt",
        "/transaction/{hash}/status",
        "/block/{id}",
        "/account/{address}",
        "/account/{address}/entitlements",
        "/actor/{address}",
        "/actor/{address}/logs",
        "/actor/{address}/state",
        "/timers",
        "/timer/{id}",
        "/runners",
        "/runner/{address}",
        "/runner/{address}/jobs",
        "/runner/{address}/job_result",
        "/runner/{address}/heartbeat",
        "/runner/{address}/validators",
        "/jobs",
        "/job/{id}",
        "/job/{id}/history",
        "/job/{id}/receipt",
        "/job/{id}/handover",
        "/presence",
        "/params",
        "/pool/{name}",
        "/entitlement/{id}",
        "/proof/{key}",
        "/events",
        "/faucet",
        "/health",
        "/ready",
        "/metrics",
        "/openapi.json",
        "/status",
        "/",
    ];
    assert_eq!(documented, of_the_spec.into_iter().collect());

    let http = reqwest::Client::new();
    for (path, item) in paths {
        for method in item.as_object().unwrap().keys() {
            let url = format!("{}{}", world.server.url(), filled(path));
            let request = match method.as_str() {
                "get" => http.get(url),
                "post" => http.post(url),
                other => panic!("{other} {path}"),
            };
            let response = request.send().await.unwrap();
            let status = response.status().as_u16();
            assert_ne!(status, 405, "{method} {path}");
            if status == 404 {
                let error: Value = response.json().await.unwrap();
                assert_ne!(error["code"], "not_found", "{method} {path}");
            }
        }
    }

    let operations = paths.values().flat_map(|item| item.as_object().unwrap().values());
    let ids: Vec<&str> = operations.map(|one| one["operationId"].as_str().unwrap()).collect();
    let distinct: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(distinct.len(), ids.len(), "{ids:?}");

    let page = http.get(world.server.url()).send().await.unwrap().text().await.unwrap();
    assert!(documented.iter().all(|path| page.contains(path)));

    let mut references = BTreeSet::new();
    collect_references(&api, &mut references);
    assert!(references.len() > 30, "{references:?}");
    for reference in references {
        let pointer = reference.strip_prefix('#').expect("a local reference");
        assert!(api.pointer(pointer).is_some(), "{reference} leads nowhere");
    }
}

fn collect_references(value: &Value, out: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            out.extend(map.get("$ref").and_then(Value::as_str).map(str::to_owned));
            map.values().for_each(|value| collect_references(value, out));
        }
        Value::Array(list) => list.iter().for_each(|value| collect_references(value, out)),
        _ => {}
    }
}

#[tokio::test]
async fn metrics_count_by_route_and_carry_the_engines() {
    let world = World::still(calm(), roomy()).await;
    world.client.account(Address::ZERO).await.unwrap();
    let _ = world.client.job(keccak256("x")).await;
    let url = format!("{}/metrics", world.server.url());
    let text = reqwest::get(url).await.unwrap().text().await.unwrap();
    let expected = [
        "remuda_api_requests_total{route=\"/account/{address}\",status=\"200\"} 1",
        "remuda_api_requests_total{route=\"/job/{id}\",status=\"404\"} 1",
        "remuda_api_connections ",
        "engine_views_total 7",
    ];
    for line in expected {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
}

#[tokio::test]
async fn no_answer_holds_a_secret() {
    let world = World::new().await;
    world.register(3).await;
    let id = world.submit_job(vote_job()).await;
    world.assigned(id).await;
    world.client.faucet(Address::repeat_byte(9)).await.unwrap();
    // A key made from a label is the label's hash.
    let people = PEOPLE.iter().chain(&[FAUCET]);
    let secrets: Vec<String> = people
        .flat_map(|name| [format!("{:x}", keccak256(name.as_bytes())), (*name).to_owned()])
        .filter(|secret| secret.len() > 8)
        .collect();
    let job = format!("{id:#x}");
    let runner = format!("{}", key("runner 0").address()).to_lowercase();
    let mut paths: Vec<String> =
        ["/", "/status", "/health", "/ready", "/metrics", "/params"].map(str::to_owned).into();
    paths.extend(["/runners", "/presence", "/openapi.json"].map(str::to_owned));
    paths.extend(["", "/history", "/receipt"].map(|part| format!("/job/{job}{part}")));
    paths.extend(["", "/jobs"].map(|part| format!("/runner/{runner}{part}")));
    for height in 0..=world.height().await {
        paths.push(format!("/block/{height}?full=true"));
    }
    let faucet = format!("{}", key(FAUCET).address()).to_lowercase();
    paths.push(format!("/account/{faucet}"));
    for path in paths {
        let url = format!("{}{path}", world.server.url());
        let response = reqwest::get(url).await.unwrap();
        assert!(response.status().is_success(), "{path}: {}", response.status());
        let text = response.text().await.unwrap().to_lowercase();
        for secret in &secrets {
            assert!(!text.contains(secret), "{path} holds a secret");
        }
    }
}
