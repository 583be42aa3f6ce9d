//! The same against servers that others wrote: one in Python over pipes, one in JavaScript over HTTP.

use crate::parts::job::{job, text, work};
use crate::parts::support::{Folder, Running, own_port, part, status};
use remuda_protocol::dispatcher::spec::{DataFormat, JobSpec, JobType};
use remuda_runner::executor::ExecuteError;
use remuda_runner::executor::mcp::{Mcp, McpConfig, ServerConfig};
use serde_json::Value;
use std::process::Command;

fn call(server: &str, tool: &str, arguments: &str) -> JobSpec {
    let job_type =
        JobType::Mcp { server: server.into(), tool: tool.into(), arguments: arguments.into() };
    job(job_type, DataFormat::Json)
}

fn with(name: &str, server: ServerConfig) -> Mcp {
    let servers = [(name.to_owned(), server)].into();
    Mcp::new(&McpConfig { servers, ca_file: None }).unwrap()
}

fn tools<const N: usize>(names: [&str; N]) -> std::collections::BTreeSet<String> {
    names.map(str::to_owned).into()
}

#[tokio::test]
async fn the_time_server_is_asked_over_its_pipes() {
    let time = with(
        "time",
        ServerConfig {
            command: Some(part("mcp").join("python/bin/python")),
            args: ["-m", "mcp_server_time", "--local-timezone", "UTC"].map(str::to_owned).into(),
            tools: tools(["convert_time"]),
            ..Default::default()
        },
    );
    let convert = |from: &str| {
        let arguments = format!(
            r#"{{"source_timezone":"{from}","time":"12:00","target_timezone":"Asia/Kolkata"}}"#
        );
        call("time", "convert_time", &arguments)
    };
    // Neither zone has a summer time, so the answer is the same on any day but for its date.
    let answer = text(time.execute(&work(&convert("Asia/Tokyo"))).await);
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let target = answer["value"]["target"]["datetime"].as_str().unwrap();
    assert!(target.ends_with("T08:30:00+05:30"), "{answer}");
    assert_eq!(answer["value"]["time_difference"], "-3.5h");

    let outcome = time.execute(&work(&convert("Nowhere/City"))).await;
    let Err(ExecuteError::BadAnswer(reason)) = outcome else { panic!("{outcome:?}") };
    assert!(reason.contains("Nowhere/City"), "{reason}");
    let outcome = time.execute(&work(&call("time", "get_current_time", "{}"))).await;
    assert!(matches!(outcome, Err(ExecuteError::NotAllowed(_))), "{outcome:?}");
}

/// The server with a bit of everything, over HTTP.
fn everything(folder: &Folder) -> (Running, String) {
    // It listens at every address of the machine, with the port that it is told.
    let port = own_port();
    let main =
        part("mcp").join("node/node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    let mut command = Command::new("env");
    command.arg(format!("PORT={port}")).arg("node").arg(main).arg("streamableHttp");
    let mut running = Running::start(folder, "everything", &command);
    let address = format!("127.0.0.1:{port}");
    // A GET without a session is refused, once the server is there to refuse it.
    running.until(|| status(&address, "/mcp"));
    (running, format!("http://{address}/mcp"))
}

#[tokio::test]
async fn the_everything_server_is_asked_over_http() {
    let folder = Folder::new("everything");
    let (_running, url) = everything(&folder);
    let mcp = with(
        "everything",
        ServerConfig {
            url: Some(url),
            tools: tools([
                "echo",
                "get-sum",
                "get-structured-content",
                "get-tiny-image",
                "trigger-long-running-operation",
            ]),
            answer_ms: 20_000,
            ..Default::default()
        },
    );
    for (tool, arguments, answer) in [
        ("echo", r#"{"message":"hello \"world\""}"#, r#"{"text":"Echo: hello \"world\""}"#),
        ("get-sum", r#"{"a":1.5,"b":2}"#, r#"{"text":"The sum of 1.5 and 2 is 3.5."}"#),
        (
            "get-structured-content",
            r#"{"location":"New York"}"#,
            r#"{"value":{"conditions":"Cloudy","humidity":82,"temperature":33}}"#,
        ),
    ] {
        let outcome = mcp.execute(&work(&call("everything", tool, arguments))).await;
        assert_eq!(text(outcome), answer);
    }
    for (tool, arguments) in [("get-tiny-image", "{}"), ("get-sum", r#"{"a":"one"}"#)] {
        let outcome = mcp.execute(&work(&call("everything", tool, arguments))).await;
        assert!(matches!(outcome, Err(ExecuteError::BadAnswer(_))), "{tool} {outcome:?}");
    }
    let outcome = mcp.execute(&work(&call("everything", "get-env", "{}"))).await;
    assert!(matches!(outcome, Err(ExecuteError::NotAllowed(_))), "{outcome:?}");
    let long = call("everything", "trigger-long-running-operation", r#"{"duration":2,"steps":4}"#);
    let answer = text(mcp.execute(&work(&long)).await);
    assert!(answer.contains("completed"), "{answer}");
}
