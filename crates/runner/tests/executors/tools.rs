//! MCP servers that are shell scripts: what they say is up to the test.

use crate::executors::job::job;
use remuda_protocol::dispatcher::spec::{DataFormat, JobSpec, JobType};
use remuda_runner::executor::mcp::{Mcp, McpConfig, ServerConfig};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What a server says about itself.
pub(crate) const ABOUT: &str = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"test","version":"1"}}"#;

/// A script that greets, waits for a call, and goes on with some other script.
pub(crate) fn greeting(then: &str) -> String {
    let about = message(0, ABOUT);
    format!("read -r line; printf '%s\\n' '{about}'; read -r line; read -r call; {then}")
}

/// A script that answers its only call.
pub(crate) fn answering(result: &str) -> String {
    greeting(&format!("printf '%s\\n' '{}'; read -r line", message(1, result)))
}

/// The result of some text.
pub(crate) fn texts(text: &str) -> String {
    format!(r#"{{"content":[{{"type":"text","text":{text:?}}}]}}"#)
}

fn message(id: u32, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

/// Settings of a script.
pub(crate) fn script(script: &str) -> ServerConfig {
    ServerConfig {
        command: Some("/bin/sh".into()),
        args: vec!["-c".into(), script.into()],
        tools: ["tool".to_owned()].into(),
        ..Default::default()
    }
}

/// An executor with one server.
pub(crate) fn with(server: ServerConfig) -> Mcp {
    let servers = [("server".to_owned(), server)].into();
    Mcp::new(&McpConfig { servers, ca_file: None }).unwrap()
}

/// A call of a tool.
pub(crate) fn call(server: &str, tool: &str, arguments: &str, format: DataFormat) -> JobSpec {
    let job_type =
        JobType::Mcp { server: server.into(), tool: tool.into(), arguments: arguments.into() };
    job(job_type, format)
}

/// A call of the only tool.
pub(crate) fn simple(format: DataFormat) -> JobSpec {
    call("server", "tool", "{}", format)
}

/// A file that scripts write into, a line each time; it goes when this does.
pub(crate) struct Notes(pub(crate) PathBuf);

impl Notes {
    /// Nothing written yet; tests run side by side, so each names its own.
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("remuda-{}-{name}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        Self(path)
    }

    /// What was written.
    pub(crate) fn lines(&self) -> Vec<String> {
        let text = std::fs::read_to_string(&self.0).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

impl Drop for Notes {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Waits until processes are gone, and fails if they stay.
#[track_caller]
pub(crate) fn assert_gone(ids: &[String]) {
    let lives = |id: &String| {
        let status = std::fs::read_to_string(Path::new("/proc").join(id).join("stat"));
        // One that has ended, and that nobody has asked about, is in state Z.
        let status = status.unwrap_or_default();
        status.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
    };
    let began = Instant::now();
    while ids.iter().any(lives) {
        assert!(began.elapsed() < Duration::from_secs(10), "{ids:?} live on");
        std::thread::sleep(Duration::from_millis(10));
    }
}
