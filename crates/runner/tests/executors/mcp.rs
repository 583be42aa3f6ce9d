//! Calls of tools, of servers that are programs.

use crate::executors::job::{assert_timed_out, get, text, work};
use crate::executors::tools::{
    Notes, answering, assert_gone, call, greeting, script, simple, texts, with,
};
use remuda_protocol::dispatcher::spec::DataFormat;
use remuda_runner::executor::ExecuteError;
use remuda_runner::executor::mcp::{Mcp, McpConfig, ServerConfig};
use std::time::{Duration, Instant};
use tokio::time::timeout;

#[tokio::test]
async fn an_answer_has_one_form() {
    let text_of = |text: &str| texts(text);
    let structured = r#"{"content":[{"type":"text","text":"{}"}],"structuredContent":{"b":1.50,"a":[9007199254740993]}}"#;
    let cases = [
        (text_of("hello"), r#"{"text":"hello"}"#, "hello"),
        (text_of("12"), r#"{"text":"12"}"#, "12"),
        (text_of(" {\"b\": 1.0,\"a\":2}"), r#"{"value":{"a":2,"b":1}}"#, " {\"b\": 1.0,\"a\":2}"),
        (text_of("[1]"), r#"{"value":[1]}"#, "[1]"),
        (text_of("{\"a\":1,\"a\":2}"), r#"{"text":"{\"a\":1,\"a\":2}"}"#, "{\"a\":1,\"a\":2}"),
        (structured.to_owned(), r#"{"value":{"a":[9007199254740993],"b":1.5}}"#, "{}"),
        (
            r#"{"content":[],"structuredContent":{"b":1,"a":[]}}"#.to_owned(),
            r#"{"value":{"a":[],"b":1}}"#,
            r#"{"a":[],"b":1}"#,
        ),
        (
            r#"{"content":[{"type":"text","text":"1"},{"type":"text","text":"2"}]}"#.to_owned(),
            r#"{"text":"1\n2"}"#,
            "1\n2",
        ),
    ];
    for (result, json, plain) in cases {
        // Shells have their own idea of backslashes, but not in single quotes.
        let mcp = with(script(&answering(&result)));
        assert_eq!(text(mcp.execute(&work(&simple(DataFormat::Json))).await), json);
        assert_eq!(text(mcp.execute(&work(&simple(DataFormat::Text))).await), plain);
        assert_eq!(text(mcp.execute(&work(&simple(DataFormat::Bytes))).await), plain);
    }
}

#[tokio::test]
async fn what_is_no_result_is_told() {
    let image = r#"{"type":"image","data":"AAAA","mimeType":"image/png"}"#;
    for (result, why) in [
        (r#"{"content":[]}"#.to_owned(), "neither text nor structured"),
        (format!(r#"{{"content":[{image}]}}"#), "neither text nor structured"),
        (
            format!(r#"{{"content":[{{"type":"text","text":"x"}},{image}]}}"#),
            "neither text nor structured",
        ),
        (r#"{"content":[],"structuredContent":{"a":1e30}}"#.to_owned(), "structured content: "),
        (
            r#"{"content":[{"type":"text","text":"no\u0007 such city"}],"isError":true}"#
                .to_owned(),
            "the tool reports an error: no such city",
        ),
        (r#"{"tools":[]}"#.to_owned(), "no answer to a call"),
    ] {
        let mcp = with(script(&answering(&result)));
        let outcome = mcp.execute(&work(&simple(DataFormat::Json))).await;
        let Err(ExecuteError::BadAnswer(reason)) = outcome else { panic!("{result} {outcome:?}") };
        assert!(reason.contains(why), "{reason}");
    }
    let refusing = greeting(
        r#"printf '%s\n' '{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no such tool"}}'; read -r line"#,
    );
    let outcome = with(script(&refusing)).execute(&work(&simple(DataFormat::Json))).await;
    let Err(ExecuteError::BadAnswer(reason)) = outcome else { panic!("{outcome:?}") };
    assert!(reason.ends_with("it refuses: no such tool"), "{reason}");
}

#[tokio::test]
async fn only_what_is_listed_is_called() {
    let notes = Notes::new("mcp-listed");
    let noting = format!("echo started >> {}; {}", notes.0.display(), answering(&texts("1")));
    let mcp = with(script(&noting));
    for (server, tool) in [
        ("server", "other"),
        ("server", ""),
        ("server", "Tool"),
        ("server", "tool "),
        ("other", "tool"),
        ("", "tool"),
        ("/bin/sh", "tool"),
    ] {
        let outcome = mcp.execute(&work(&call(server, tool, "{}", DataFormat::Json))).await;
        assert!(matches!(outcome, Err(ExecuteError::NotAllowed(_))), "{server} {tool} {outcome:?}");
    }
    for arguments in ["", "[]", "1", "{", "{\"a\":1,\"a\":2}", "{\"a\":1e30}", "{}{}"] {
        let outcome =
            mcp.execute(&work(&call("server", "tool", arguments, DataFormat::Json))).await;
        assert!(matches!(outcome, Err(ExecuteError::BadJob(_))), "{arguments} {outcome:?}");
    }
    let outcome = mcp.execute(&work(&get("http://127.0.0.1/"))).await;
    assert!(matches!(outcome, Err(ExecuteError::BadJob(_))), "{outcome:?}");
    assert_eq!(notes.lines().len(), 0);
    assert!(mcp.execute(&work(&simple(DataFormat::Json))).await.is_ok());
    assert_eq!(notes.lines().len(), 1);
}

#[tokio::test]
async fn a_tool_gets_the_jobs_arguments_and_nothing_else() {
    let notes = Notes::new("mcp-arguments");
    let noting = greeting(&format!("printf '%s\\n' \"$call\" >> {}", notes.0.display()));
    let spec = call("server", "tool", r#"{"b": 1.50, "a": 9007199254740993}"#, DataFormat::Json);
    assert!(with(script(&noting)).execute(&work(&spec)).await.is_err());
    let said: serde_json::Value = serde_json::from_str(&notes.lines()[0]).unwrap();
    assert_eq!(said["method"], "tools/call");
    assert_eq!(said["params"]["name"], "tool");
    assert_eq!(said["params"]["arguments"].to_string(), r#"{"a":9007199254740993,"b":1.5}"#);
}

#[tokio::test]
async fn a_program_gets_nothing_of_ours() {
    let notes = Notes::new("mcp-environment");
    let noting = greeting(&format!(
        "/usr/bin/env > {0}; tr '\\0' ' ' < /proc/$$/cmdline >> {0}; echo >> {0}; pwd >> {0}; \
         ls -l /proc/$$/fd | grep -c socket >> {0}",
        notes.0.display()
    ));
    let mut server = script(&noting);
    server.env = [("CITY".to_owned(), "Paris".to_owned())].into();
    let spec =
        call("server", "tool", r#"{"PATH":"needle","LD_PRELOAD":"needle"}"#, DataFormat::Json);
    assert!(with(server).execute(&work(&spec)).await.is_err());
    let lines = notes.lines();
    assert!(lines.contains(&"CITY=Paris".to_owned()), "{lines:?}");
    assert!(!lines.iter().any(|line| line.contains("needle")), "nothing of the job's: {lines:?}");
    let ours = |line: &&String| {
        ["CARGO", "HOME", "USER", "RUST"].iter().any(|name| line.starts_with(name))
    };
    assert_eq!(lines.iter().find(ours), None);
    assert_eq!(lines[lines.len() - 2..], ["/", "0"]);
}

#[tokio::test]
async fn a_program_and_what_it_starts_end_with_the_job() {
    let family = |notes: &Notes, then: &str| {
        let path = notes.0.display();
        // Neither heeds a polite word.
        format!("trap '' TERM HUP INT; sleep 1000 & echo $! >> {path}; echo $$ >> {path}; {then}")
    };
    let done = Notes::new("mcp-done");
    let mcp = with(script(&family(&done, &answering(&texts("1")))));
    assert!(mcp.execute(&work(&simple(DataFormat::Json))).await.is_ok());
    assert_eq!(done.lines().len(), 2);
    assert_gone(&done.lines());

    for (name, then) in [("mcp-mute", "sleep 1000"), ("mcp-deaf", &greeting("sleep 1000"))] {
        let notes = Notes::new(name);
        let mcp = with(script(&family(&notes, then)));
        let spec = simple(DataFormat::Json);
        let mut timed = work(&spec);
        timed.time_limit = Duration::from_millis(1_500);
        let began = Instant::now();
        let outcome = mcp.execute(&timed).await;
        assert_timed_out(outcome, timed.time_limit, began);
        assert_eq!(notes.lines().len(), 2);
        assert_gone(&notes.lines());
    }

    // Nobody waits for it any longer.
    let left = Notes::new("mcp-left");
    let mcp = with(script(&family(&left, "sleep 1000")));
    let spec = simple(DataFormat::Json);
    assert!(timeout(Duration::from_millis(1_500), mcp.execute(&work(&spec))).await.is_err());
    assert_eq!(left.lines().len(), 2);
    assert_gone(&left.lines());

    // It has ended by itself; what it started has not, and holds its end of the pipe.
    let gone = Notes::new("mcp-gone");
    let mcp = with(script(&family(&gone, &greeting("exit 0"))));
    let mut timed = work(&spec);
    timed.time_limit = Duration::from_millis(1_500);
    assert_eq!(mcp.execute(&timed).await, Err(ExecuteError::TimedOut(timed.time_limit)));
    assert_eq!(gone.lines().len(), 2);
    assert_gone(&gone.lines());
}

#[tokio::test]
async fn a_server_that_never_answers_is_left() {
    let notes = Notes::new("mcp-never");
    let mute = ServerConfig {
        start_ms: 1_000,
        ..script(&format!("echo started >> {}; sleep 1000", notes.0.display()))
    };
    let mut spec = simple(DataFormat::Json);
    spec.bounds.max_retries = 1;
    let outcome = with(mute).execute(&work(&spec)).await;
    let Err(ExecuteError::Unreachable(reason)) = outcome else { panic!("{outcome:?}") };
    assert!(reason.contains("not ready within 1s"), "{reason}");
    assert_eq!(notes.lines().len(), 2);

    let notes = Notes::new("mcp-never-called");
    let then = format!("echo called >> {}; sleep 1000", notes.0.display());
    let slow = ServerConfig { answer_ms: 1_000, ..script(&greeting(&then)) };
    let outcome = with(slow).execute(&work(&spec)).await;
    assert_eq!(outcome, Err(ExecuteError::TimedOut(Duration::from_millis(1_000))));
    assert_eq!(notes.lines().len(), 1);
}

#[tokio::test]
async fn a_session_is_tried_again_and_a_call_is_not() {
    let mut spec = simple(DataFormat::Json);
    spec.bounds.max_retries = 2;
    for then in ["exit 1", "echo garbage; exit 0", "read -r line; echo '{}'", "exec 1>&-"] {
        let notes = Notes::new("mcp-again");
        let failing = format!("echo started >> {}; {then}", notes.0.display());
        let outcome = with(script(&failing)).execute(&work(&spec)).await;
        assert!(matches!(outcome, Err(ExecuteError::Unreachable(_))), "{then} {outcome:?}");
        assert_eq!(notes.lines().len(), 3, "{then}");
    }
    let missing = ServerConfig { command: Some("/nonexistent/server".into()), ..script("") };
    let outcome = with(missing).execute(&work(&spec)).await;
    let Err(ExecuteError::Unreachable(reason)) = outcome else { panic!("{outcome:?}") };
    assert!(!reason.contains("nonexistent"), "{reason}");

    let notes = Notes::new("mcp-once");
    let then = format!("echo called >> {}; exit 0", notes.0.display());
    let outcome = with(script(&greeting(&then))).execute(&work(&spec)).await;
    let Err(ExecuteError::BadAnswer(reason)) = outcome else { panic!("{outcome:?}") };
    assert!(reason.contains("not repeated"), "{reason}");
    assert_eq!(notes.lines().len(), 1);
}

#[tokio::test]
async fn an_answer_that_is_too_large_is_not_read() {
    let mut spec = simple(DataFormat::Text);
    spec.result_schema.max_return_bytes = 100;
    let fits = with(script(&answering(&texts(&"x".repeat(100)))));
    assert!(fits.execute(&work(&spec)).await.is_ok());
    let larger = with(script(&answering(&texts(&"x".repeat(101)))));
    let outcome = larger.execute(&work(&spec)).await;
    assert_eq!(outcome, Err(ExecuteError::TooLarge { limit: 100 }));

    let wire = 256 * 1024 + 8 * 100;
    let chatter = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}"#;
    for endless in ["cat /dev/zero".to_owned(), "yes".to_owned(), format!("yes '{chatter}'")] {
        for script in [script(&endless), script(&greeting(&endless))] {
            let began = Instant::now();
            let outcome = with(script).execute(&work(&spec)).await;
            assert_eq!(outcome, Err(ExecuteError::TooLarge { limit: wire }), "{endless}");
            assert!(began.elapsed() < Duration::from_secs(10));
        }
    }
}

#[tokio::test]
async fn no_error_holds_a_programs_key() {
    const KEY: &str = "token-0123456789";
    let failing =
        r#"{"content":[{"type":"text","text":"bad key token-0123456789"}],"isError":true}"#;
    let refusing = greeting(&format!(
        r#"printf '%s\n' '{{"jsonrpc":"2.0","id":1,"error":{{"code":1,"message":"bad {KEY}"}}}}'; read -r line"#
    ));
    for text in [answering(failing), refusing] {
        let mut server = script(&text);
        server.env = [("KEY".to_owned(), KEY.to_owned())].into();
        let error = with(server).execute(&work(&simple(DataFormat::Json))).await.unwrap_err();
        assert!(error.to_string().contains("bad"), "{error}");
        assert!(!error.to_string().contains(KEY), "{error}");
    }
}

#[test]
fn an_operators_mistakes_are_told() {
    let read = |text: &str| toml::from_str::<McpConfig>(text);
    let config = read("[servers.time]\ncommand = '/usr/bin/time-server'\ntools = ['now']").unwrap();
    assert_eq!(
        (config.servers["time"].start_ms, config.servers["time"].answer_ms),
        (15_000, 60_000)
    );
    assert!(Mcp::new(&config).is_ok());
    assert!(read("[servers.time]\ncommand = '/bin/x'\nshell = true").is_err());
    let fails = |text: &str| {
        let config = read(&format!("[servers.time]\n{text}")).unwrap();
        Mcp::new(&config).err().unwrap().to_string()
    };
    assert!(fails("tools = ['now']").contains("either a command or a url"));
    assert!(fails("command = '/bin/x'\nurl = 'http://h/'").contains("either a command or a url"));
    assert!(fails("command = 'npx'").contains("absolute path"));
    assert!(fails("command = '/bin/x'\napi_key_file = '/x'").contains("api_key_file"));
    assert!(fails("url = 'http://h/'\nargs = ['x']").contains("args"));
    assert!(fails("url = 'ftp://h/'").contains("http"));
    assert!(fails("url = 'http://h/'\napi_key_file = '/nonexistent'").contains("/nonexistent"));
}
