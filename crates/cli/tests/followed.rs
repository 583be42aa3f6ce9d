//! `remuda run logs --follow`, with an orchestrator that says what a test wants.

use crate::support;

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use support::{Run, remuda};

const JOB: &str = "job_1-0";

/// Answers each request with what these say about its path, one after the other.
fn orchestrator(mut answer: impl FnMut(&str) -> (u16, String) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a socket");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let mut lines = BufReader::new(stream.try_clone().expect("the same")).lines();
            let first = lines.next().and_then(Result::ok).unwrap_or_default();
            // Its head ends with an empty line.
            let _ = lines.find(|line| line.as_ref().map_or(true, String::is_empty));
            let path = first.split(' ').nth(1).unwrap_or_default();
            let (status, body) = answer(path);
            let head = format!("HTTP/1.1 {status} X\r\nconnection: close\r\n");
            let head = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
            let _ = stream.write_all(head.as_bytes());
        }
    });
    url
}

fn job(state: &str, fence: u32, log_bytes: usize) -> (u16, String) {
    let view = serde_json::json!({ "job_id": JOB, "name": "a", "state": state, "attempt": 1,
        "fence": fence, "losses": 0, "log_bytes": log_bytes });
    (200, view.to_string())
}

fn follow(url: &str) -> Run {
    let mut command = remuda();
    command.env("REMUDA_ORCHESTRATOR", url).args(["run", "logs", JOB, "--follow"]);
    Run::of(&mut command)
}

#[test]
fn what_a_lost_grant_wrote_last_is_shown_before_the_next_ones_log() {
    let mut looks = 0;
    let url = orchestrator(move |path| {
        let log = |text: &str| (200, text.to_owned());
        match path.split_once("/log?").map(|(_, query)| query) {
            None => {
                looks += 1;
                if looks == 1 { job("RUNNING", 1, 4) } else { job("SUCCEEDED", 2, 4) }
            }
            Some("offset=0&fence=1") => log("one\n"),
            // It wrote this after it was looked at, and before its lease was lost.
            Some("offset=4&fence=1") => log("last, half"),
            Some("offset=0&fence=2") => log("two\n"),
            Some(_) => log(""),
        }
    });
    let followed = follow(&url).ok();
    assert_eq!(followed.stdout, "one\nlast, half\ntwo\n", "{followed:?}");
    assert!(followed.stderr.contains("fence 2"), "{followed:?}");
}

#[test]
fn an_answer_that_is_none_is_not_waited_for() {
    let mut looks = 0;
    let url = orchestrator(move |path| {
        if path.contains("/log?") {
            return (200, "one\n".to_owned());
        }
        looks += 1;
        match looks {
            1 => job("RUNNING", 1, 4),
            // Away for a moment: this is waited for.
            2 => (503, String::new()),
            3 => job("RUNNING", 1, 4),
            _ => (200, "<html>somebody else's page</html>".to_owned()),
        }
    });
    let followed = follow(&url).failed(1);
    assert_eq!(followed.stdout, "one\n", "{followed:?}");
    assert!(followed.stderr.contains("not understood"), "{followed:?}");
}
