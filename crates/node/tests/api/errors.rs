//! Whatever goes wrong, the answer is JSON with a stable code.

use crate::api::chain::{calm, key};
use crate::api::world::{World, roomy, unserved};
use remuda_client::types::{ApiError, code};
use remuda_node::api::{App, router};
use remuda_protocol::primitives::Address;
use reqwest::Method;
use std::collections::BTreeSet;
use tower::ServiceExt;

const ADDRESS: &str = "0x0101010101010101010101010101010101010101";
const HASH: &str = "0x0101010101010101010101010101010101010101010101010101010101010101";

struct Case {
    method: Method,
    path: String,
    body: Option<&'static str>,
    header: Option<(&'static str, &'static str)>,
    status: u16,
    code: &'static str,
}

fn get(path: impl Into<String>, status: u16, code: &'static str) -> Case {
    Case { method: Method::GET, path: path.into(), body: None, header: None, status, code }
}

fn post(path: impl Into<String>, body: &'static str, status: u16, code: &'static str) -> Case {
    let header = Some(("content-type", "application/json"));
    let path = path.into();
    Case { method: Method::POST, path, body: Some(body), header, status, code }
}

fn cases() -> Vec<Case> {
    let mut cases = vec![
        get("/nowhere", 404, "not_found"),
        get("/block", 404, "not_found"),
        get("/submit", 405, "method_not_allowed"),
        post("/health", "{}", 405, "method_not_allowed"),
        get("/block/99", 404, "unknown_block"),
        get(format!("/block/{HASH}"), 404, "unknown_block"),
        get("/block/-1", 400, "malformed_path"),
        get("/block/0x12", 400, "malformed_path"),
        get("/block/%ff", 400, "malformed_path"),
        get("/block/18446744073709551616", 400, "malformed_path"),
        get("/block/latest?full=maybe", 400, "malformed_query"),
        get("/block/latest?ful=true", 400, "malformed_query"),
        get(format!("/transaction/{HASH}"), 404, "unknown_transaction"),
        get(format!("/transaction/{HASH}/receipt"), 404, "unknown_transaction"),
        get("/transaction/0x12", 400, "malformed_path"),
        get("/transaction/0x12/status", 400, "malformed_path"),
        get(format!("/transaction/{HASH}/status?wait_ms=-1"), 400, "malformed_query"),
        get(format!("/transaction/{HASH}/status?wait=1"), 400, "malformed_query"),
        get("/account/ann", 400, "malformed_path"),
        get(format!("/account/{HASH}"), 400, "malformed_path"),
        get(format!("/actor/{ADDRESS}"), 404, "unknown_actor"),
        get(format!("/actor/{ADDRESS}/logs"), 404, "unknown_actor"),
        get(format!("/actor/{ADDRESS}/state"), 404, "unknown_actor"),
        get("/actor/x", 400, "malformed_path"),
        get("/runners?after=x", 400, "malformed_query"),
        get("/runners?limit=-1", 400, "malformed_query"),
        get(format!("/runner/{ADDRESS}"), 404, "unknown_runner"),
        get(format!("/runner/{ADDRESS}/jobs"), 404, "unknown_runner"),
        get(format!("/job/{HASH}"), 404, "unknown_job"),
        get(format!("/job/{HASH}/history"), 404, "unknown_job"),
        get(format!("/job/{HASH}/receipt"), 404, "unknown_job"),
        get(format!("/timer/{HASH}"), 404, "unknown_timer"),
        get("/pool/nobody's", 404, "unknown_pool"),
        get("/pool/0x1", 400, "malformed_path"),
        get("/pool/nobody's?after=-1", 400, "malformed_query"),
        get(format!("/entitlement/{HASH}"), 404, "unknown_entitlement"),
        get("/entitlement/0x12", 400, "malformed_path"),
        get("/account/0x12/entitlements", 400, "malformed_path"),
        get("/timer/7", 400, "malformed_path"),
        get("/job/7", 400, "malformed_path"),
        get("/jobs?after=7", 400, "malformed_query"),
        get("/jobs?submitter=ann", 400, "malformed_query"),
        get("/jobs?limit=-1", 400, "malformed_query"),
        get("/presence?limit=x", 400, "malformed_query"),
        get("/proof/0x", 400, "malformed_path"),
        get("/proof/05", 400, "malformed_path"),
        get(format!("/proof/0x{}", "00".repeat(300)), 400, "malformed_path"),
        get("/events?kinds=weather", 400, "malformed_query"),
        get("/events?from=x", 400, "malformed_query"),
        post("/submit", "{", 400, "malformed_json"),
        post("/submit", "{}", 422, "invalid_body"),
        post("/submit", "[]", 422, "invalid_body"),
        post("/submit", "{\"transaction\":1}", 422, "invalid_body"),
        post("/submit", "{\"transaction\":\"12\"}", 422, "invalid_body"),
        post("/submit", "{\"transaction\":\"0x\",\"wait\":\"yes\"}", 422, "invalid_body"),
        post("/submit", "{\"transaction\":\"0x\",\"waits\":true}", 422, "invalid_body"),
        post("/submit", "{\"transaction\":\"0x\",\"transactions\":[]}", 422, "invalid_body"),
        post("/submit", "{\"transaction\":\"0x\"}", 422, "malformed"),
        post("/faucet", "{\"address\":\"me\"}", 422, "invalid_body"),
        post(format!("/runner/{ADDRESS}/heartbeat"), "{}", 422, "invalid_body"),
        post(format!("/runner/{ADDRESS}/job_result"), "nonsense", 400, "malformed_json"),
        post("/runner/x/heartbeat", "{}", 400, "malformed_path"),
    ];
    let mut untyped = post("/submit", "{}", 415, "unsupported_media_type");
    untyped.header = None;
    let mut header = get("/events", 400, "malformed_header");
    header.header = Some(("last-event-id", "yesterday"));
    cases.extend([untyped, header]);
    cases
}

#[tokio::test]
async fn every_error_is_json_with_its_code() {
    let world = World::still(calm(), roomy()).await;
    let http = reqwest::Client::new();
    for case in cases() {
        let Case { method, path, body, header, status, code } = case;
        let what = format!("{method} {path} {body:?}");
        let mut request = http.request(method, format!("{}{path}", world.server.url()));
        if let Some(body) = body {
            request = request.body(body);
        }
        if let Some((name, value)) = header {
            request = request.header(name, value);
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.headers()["content-type"], "application/json", "{what}");
        let found = response.status().as_u16();
        let error: ApiError = response.json().await.unwrap();
        assert_eq!((found, error.code.as_str()), (status, code), "{what}: {error}");
        assert!(!error.message.is_empty() && error.message.chars().count() <= 401);
    }
}

#[test]
fn no_code_goes_untested() {
    let here: BTreeSet<&str> = cases().iter().map(|case| case.code).collect();
    // In the tests of what they are about.
    let elsewhere = [
        "no_faucet",
        "timeout",
        "sunset",
        "body_too_large",
        "batch_too_large",
        "wrong_signer",
        "wrong_status",
        "wrong_instruction",
        "rate_limited",
        "too_many_streams",
        "busy",
        "no_proof",
        "not_ready",
        "pool_full",
    ];
    // Nothing that a request can bring about leads here.
    let never = ["internal"];
    for (code, status) in code::ALL {
        let known = here.contains(code) || elsewhere.contains(code) || never.contains(code);
        assert!(known, "{code}");
        for case in cases().iter().filter(|case| case.code == *code) {
            assert_eq!(case.status, *status, "{code}");
        }
    }
}

#[tokio::test]
async fn a_long_mistake_is_not_repeated_at_length() {
    let world = World::still(calm(), roomy()).await;
    let field = "x".repeat(100_000);
    let response = reqwest::Client::new()
        .post(format!("{}/submit", world.server.url()))
        .header("content-type", "application/json")
        .body(format!("{{\"{field}\":1}}"))
        .send();
    let text = response.await.unwrap().text().await.unwrap();
    assert!(text.len() < 1_000, "{}", text.len());
}

#[tokio::test]
async fn a_full_pool_says_when_to_come_back() {
    let world = World::still(calm(), roomy()).await;
    world.chain.full.store(true, std::sync::atomic::Ordering::Relaxed);
    let quote = world.client.quote(key("ann").address()).await.unwrap();
    let signed = quote.sign(
        &key("ann"),
        remuda_protocol::transaction::Instruction::Transfer {
            to: Address::ZERO,
            amount: remuda_protocol::primitives::Amount::CBY,
        },
    );
    let body = format!("{{\"transaction\":\"0x{}\"}}", alloy_primitives::hex::encode(signed.bytes));
    let response = reqwest::Client::new()
        .post(format!("{}/submit", world.server.url()))
        .header("content-type", "application/json")
        .body(body)
        .send()
        .await
        .unwrap();
    assert_eq!(
        (response.status().as_u16(), &response.headers()["retry-after"]),
        (503, &"1".parse().unwrap())
    );
    let error: ApiError = response.json().await.unwrap();
    assert_eq!(error.code, "pool_full");
}

/// SplitMix64: the same nonsense in every run.
struct Nonsense(u64);

impl Nonsense {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z ^ (z >> 27)
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[(self.next() % from.len() as u64) as usize]
    }
}

#[tokio::test]
async fn nonsense_is_answered_and_never_fatal() {
    let chain = crate::api::chain::Chain::start(calm(), &crate::api::world::PEOPLE);
    let service = router(App::new(chain, unserved(), roomy()));
    let mut nonsense = Nonsense(7);
    let words = [
        "block",
        "job",
        "runner",
        "account",
        "proof",
        "transaction",
        "events",
        "latest",
        "0",
        "-1",
        "0x",
        "0xzz",
        ADDRESS,
        HASH,
        "%00",
        "%ff",
        "..",
        "jobs",
        "history",
        "receipt",
        "submit",
        "heartbeat",
        "job_result",
        "actor",
        "state",
        "18446744073709551615",
        "presence",
        "faucet",
    ];
    let queries = ["", "?", "?full=true", "?limit=0", "?limit=4294967295", "?after=0x", "?from=-1"];
    let bodies = [
        "",
        "{}",
        "[]",
        "null",
        "1",
        "\"",
        "{\"transaction\":null}",
        "{\"transactions\":[[]]}",
        "{\"transaction\":\"0x00\",\"wait\":true}",
        "{\"parts\":{}}",
        "{\"address\":\"0x\"}",
    ];
    for round in 0..3_000 {
        let depth = 1 + nonsense.next() % 3;
        let path: String = (0..depth).map(|_| format!("/{}", nonsense.pick(&words))).collect();
        let query = nonsense.pick(&queries);
        let method = nonsense.pick(&["GET", "POST"]);
        let request = axum::http::Request::builder()
            .method(method)
            .uri(format!("{path}{query}"))
            .header("content-type", "application/json")
            .body(axum::body::Body::from(nonsense.pick(&bodies)))
            .unwrap();
        let what = format!("round {round}: {method} {path}{query}");
        let response = service.clone().oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        assert!(status < 500 || status == 501, "{what}: {status}");
        if status >= 400 {
            let body = axum::body::to_bytes(response.into_body(), 10_000).await.unwrap();
            let error: ApiError = serde_json::from_slice(&body).expect(&what);
            assert!(!error.code.is_empty(), "{what}");
        }
    }
}
