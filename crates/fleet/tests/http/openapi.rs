//! The document that describes the orchestrator, against the orchestrator.

use crate::http::server::Server;
use reqwest::Method;
use serde_json::{Value, json};

async fn document(server: &Server) -> Value {
    let url = format!("{}/openapi.json", server.url);
    server.http.get(url).send().await.expect("an answer").json().await.expect("JSON")
}

/// Every method of every path, as the document has it.
fn operations(document: &Value) -> Vec<(Method, String, Value)> {
    let mut all = Vec::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (name, operation) in item.as_object().expect("operations") {
            let method = Method::from_bytes(name.to_uppercase().as_bytes()).expect("a method");
            all.push((method, path.clone(), operation.clone()));
        }
    }
    all
}

/// Paths of the protocol (SPEC §14), which others rely on.
const PROMISED: [&str; 10] = [
    "/api/v1/internal/lease",
    "/api/v1/internal/ack-lease",
    "/api/v1/internal/heartbeat",
    "/api/v1/internal/complete",
    "/api/v1/internal/cancel-ack",
    "/api/v1/runs",
    "/api/v1/runs/{id}",
    "/api/v1/runs/{id}/cancel",
    "/api/v1/runs/{id}/rerun",
    "/metrics",
];

#[tokio::test]
async fn every_route_of_the_document_is_there_and_takes_no_other_method() {
    let server = Server::open().await;
    let document = document(&server).await;
    let all = operations(&document);
    for promised in PROMISED {
        assert!(all.iter().any(|(_, path, _)| path == promised), "{promised}");
    }
    let names: std::collections::BTreeSet<&str> =
        all.iter().filter_map(|(_, _, about)| about["operationId"].as_str()).collect();
    assert_eq!(names.len(), all.len(), "operation ids are unique");
    for (method, path, _) in &all {
        let at = path.replace("{id}", "x").replace("{label}", "x").replace("{key}", "x");
        let at = format!("{}{}", server.url, at.replace("{path}", "x").replace("{page}", "queue"));
        let ask = |method: Method| server.http.request(method, &at).body("{}").send();
        let answer = ask(method.clone()).await.expect("an answer");
        let (status, text) = (answer.status().as_u16(), path.as_str());
        assert_ne!(status, 405, "{method} {text}");
        // A stream does not end by itself; everything else says why it is not there.
        if status == 404 {
            let body = answer.text().await.expect("a body");
            assert!(!body.contains("no such path"), "{method} {text}: {body}");
        }
        let other = ask(Method::PATCH).await.expect("an answer");
        assert_eq!(other.status().as_u16(), 405, "{text}");
    }
    server.stop().await;
}

fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get("$ref").and_then(Value::as_str));
            fields.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

#[tokio::test]
async fn every_reference_of_the_document_leads_somewhere() {
    let server = Server::open().await;
    let document = document(&server).await;
    let mut found = Vec::new();
    references(&document, &mut found);
    assert!(found.len() > 20, "{found:?}");
    for reference in found {
        let pointer = reference.strip_prefix('#').expect("a reference inside");
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
    server.stop().await;
}

/// The fields that a schema knows, through its parts.
fn fields(document: &Value, schema: &Value) -> Vec<String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let there = document.pointer(&reference[1..]).expect("a schema");
        return fields(document, there);
    }
    let own = schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.clone());
    let parts = schema["allOf"].as_array().into_iter().flatten();
    own.chain(parts.flat_map(|part| fields(document, part))).collect()
}

#[tokio::test]
async fn answers_have_the_fields_that_the_document_knows() {
    let server = Server::open().await;
    let document = document(&server).await;
    let run = server.submit().await;
    let granted = server.take("runner_a").await;
    let schema = |name: &str| document["components"]["schemas"][name].clone();
    let knows = |name: &str, answer: &Value| {
        let known = fields(&document, &schema(name));
        for field in answer.as_object().expect("an object").keys() {
            assert!(known.contains(field), "{name} has no {field}: {known:?}");
        }
    };
    knows("LeaseGranted", &granted);
    let request = json!({ "runner_id": "runner_b", "capabilities": [] });
    knows("NoWork", &server.post("/internal/lease", request).await.1);
    let lease = &document["paths"]["/api/v1/internal/lease"]["post"];
    let answers = &lease["responses"]["200"]["content"]["application/json"]["schema"]["oneOf"];
    let names: Vec<_> =
        answers.as_array().expect("two").iter().map(|one| one["$ref"].as_str()).collect();
    let at = |name: &str| format!("#/components/schemas/{name}");
    assert_eq!(names, [Some(&*at("LeaseGranted")), Some(&*at("NoWork"))]);
    assert_eq!(schema("LeaseGranted")["properties"]["type"]["enum"][0], "LeaseGranted");
    let view = server.get(&format!("/runs/{run}")).await.1;
    knows("RunView", &view);
    knows("JobView", &view["jobs"][0]);
    let queue = server.get("/queue").await.1;
    knows("QueueView", &queue);
    knows("OpenJob", &queue["running"][0]);
    let workers = server.get("/workers").await.1;
    knows("WorkerList", &workers);
    knows("WorkerView", &workers["workers"][0]);
    knows("RunList", &server.get("/runs").await.1);
    server.stop().await;
}

/// What a program that was made from the document takes for success is what it gets.
#[tokio::test]
async fn what_is_new_has_the_status_that_the_document_knows() {
    let server = Server::open().await;
    let document = document(&server).await;
    let known = |path: &str| {
        let answers = document["paths"][path]["post"]["responses"].as_object().expect("answers");
        answers.keys().cloned().collect::<Vec<_>>()
    };
    let order =
        json!({ "jobs": [{ "name": "a", "job_spec": { "name": "a", "steps": ["true"] } }] });
    for status in ["201", "200"] {
        let submit = server.http.post(format!("{}/api/v1/runs", server.url));
        let submit =
            submit.header("content-type", "application/json").header("idempotency-key", "a");
        let answer = submit.body(order.to_string()).send().await.expect("an answer");
        assert_eq!(answer.status().as_str(), status);
        assert!(known("/api/v1/runs").iter().any(|known| known == status), "{status}");
    }
    assert_eq!(known("/api/v1/runs/{id}/rerun"), known("/api/v1/runs"));
    server.stop().await;
}
