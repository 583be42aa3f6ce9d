//! Web requests that go well, and what their results look like.

use crate::executors::job::{Heard, get, request, text, work, work_for};
use crate::executors::server::{Server, Step, answer, json, redirect};
use remuda_protocol::dispatcher::spec::DataFormat;
use remuda_protocol::verifier::excuse::Excuse;
use remuda_runner::executor::address::AddressRules;
use remuda_runner::executor::http::{Http, HttpConfig};
use remuda_runner::executor::{ExecuteError, excuse};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// An executor that reaches this machine.
pub(crate) fn open() -> Http {
    let addresses = AddressRules { allow: vec!["127.0.0.0/8".parse().unwrap()], deny: vec![] };
    Http::new(&HttpConfig { addresses, ..Default::default() }).unwrap()
}

#[tokio::test]
async fn an_answer_has_one_envelope_however_its_numbers_are_written() {
    let spellings = [
        r#"{"price":1.50,"n":[1e2,-0.0],"name":"\u00e9"}"#,
        "{ \"name\" : \"é\",\n \"n\":[100 , 0], \"price\": 15e-1 }",
    ];
    let server = Server::start(move |request| {
        json(spellings[request.target.trim_start_matches('/').parse::<usize>().unwrap()])
    })
    .await;
    for path in ["/0", "/1", "/0"] {
        let result = text(open().execute(&work(&get(&server.url(path)))).await);
        assert_eq!(
            result,
            r#"{"body":{"n":[100,0],"name":"é","price":1.5},"content_type":"application/json","status":200}"#
        );
    }
}

#[tokio::test]
async fn big_numbers_are_exact() {
    let server = Server::start(|_| json("[9007199254740993, 0.1, 18446744073709551615]")).await;
    let result = text(open().execute(&work(&get(&server.url("/")))).await);
    assert!(result.starts_with(r#"{"body":[9007199254740993,0.1,18446744073709551615],"#));
}

#[tokio::test]
async fn a_body_is_json_text_or_base64() {
    let cases: [(&str, &[u8], &str); 6] = [
        ("text/plain", b"{}", r#"{"body":"{}","content_type":"text/plain","status":200}"#),
        (
            "application/problem+json; charset=utf-8",
            b" [ ] ",
            r#"{"body":[],"content_type":"application/problem+json; charset=utf-8","status":200}"#,
        ),
        ("Text/JSON", b"1.0", r#"{"body":1,"content_type":"Text/JSON","status":200}"#),
        (
            "image/png",
            b"\x89PNG\xff",
            r#"{"body":"iVBOR/8=","content_type":"image/png","encoding":"base64","status":200}"#,
        ),
        ("text/html", b"", r#"{"body":"","content_type":"text/html","status":200}"#),
        (
            "application/jsonx",
            b"1",
            r#"{"body":"1","content_type":"application/jsonx","status":200}"#,
        ),
    ];
    for (content_type, body, result) in cases {
        let server =
            Server::start(move |_| answer("200 OK", &[("content-type", content_type)], body)).await;
        assert_eq!(text(open().execute(&work(&get(&server.url("/")))).await), result);
    }
}

#[tokio::test]
async fn where_http_has_no_body_it_is_null() {
    let server = Server::start(|request| match &request.method[..] {
        "HEAD" => vec![Step::Send(
            b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99999999\r\n\r\n"
                .to_vec(),
        )],
        _ => vec![Step::Send(b"HTTP/1.1 204 No Content\r\n\r\n".to_vec())],
    })
    .await;
    let head = request("HEAD", &server.url("/"), &[], b"", "");
    assert_eq!(
        text(open().execute(&work(&head)).await),
        r#"{"body":null,"content_type":"application/json","status":200}"#
    );
    let delete = request("DELETE", &server.url("/"), &[], b"", "");
    assert_eq!(
        text(open().execute(&work(&delete)).await),
        r#"{"body":null,"content_type":null,"status":204}"#
    );
}

#[tokio::test]
async fn a_path_takes_a_part() {
    let server =
        Server::start(|_| answer("404 Not Found", &[], br#"{"a":[{"b":1.10},{"b":null}]}"#)).await;
    let part = |path| request("GET", &server.url("/"), &[], b"", path);
    let result = open().execute(&work(&part("a[0].b"))).await;
    assert_eq!(text(result), r#"{"status":404,"value":1.1}"#);
    let result = open().execute(&work(&part("a[1].b"))).await;
    assert_eq!(text(result), r#"{"status":404,"value":null}"#);
    let missing = open().execute(&work(&part("a[2].b"))).await;
    assert!(matches!(missing, Err(ExecuteError::BadAnswer(_))), "{missing:?}");
}

#[tokio::test]
async fn a_part_of_what_is_no_json_is_a_useless_answer() {
    let server = Server::start(|_| answer("200 OK", &[], b"<html>")).await;
    let result = open().execute(&work(&request("GET", &server.url("/"), &[], b"", "a"))).await;
    assert!(matches!(result, Err(ExecuteError::BadAnswer(_))), "{result:?}");
}

#[tokio::test]
async fn text_and_bytes_are_the_body_alone() {
    let server = Server::start(|request| match &request.target[..] {
        "/text" => answer("200 OK", &[("content-type", "application/json")], "1.0 é".as_bytes()),
        _ => answer("200 OK", &[("content-encoding", "gzip")], b"\xff\x00"),
    })
    .await;
    let with = |path, format| {
        let mut spec = get(&server.url(path));
        spec.result_schema.data_format = format;
        spec
    };
    let result = open().execute(&work(&with("/text", DataFormat::Text))).await;
    assert_eq!(text(result), "1.0 é");
    let result = open().execute(&work(&with("/bytes", DataFormat::Bytes))).await;
    assert_eq!(result, Ok(b"\xff\x00".to_vec()));
    let result = open().execute(&work(&with("/bytes", DataFormat::Text))).await;
    assert!(matches!(result, Err(ExecuteError::BadAnswer(_))), "{result:?}");
}

#[tokio::test]
async fn a_document_that_its_envelope_makes_too_deep_is_useless() {
    let server = Server::start(|request| {
        let depth: usize = request.target[1..].parse().unwrap();
        json(&("[".repeat(depth) + &"]".repeat(depth)))
    })
    .await;
    assert!(open().execute(&work(&get(&server.url("/63")))).await.is_ok());
    let result = open().execute(&work(&get(&server.url("/64")))).await;
    assert!(matches!(result, Err(ExecuteError::BadAnswer(_))), "{result:?}");
}

#[tokio::test]
async fn a_request_arrives_as_the_job_wrote_it() {
    let server = Server::start(|_| json("1")).await;
    for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
        let headers = [("X-One", "1"), ("x-one", "2"), ("Accept", "application/json")];
        let spec = request(method, &server.url("/p/a?q=%20x#f"), &headers, b"body", "");
        open().execute(&work(&spec)).await.unwrap();
        let seen = server.seen().pop().unwrap();
        assert_eq!((&seen.method[..], &seen.target[..]), (method, "/p/a?q=%20x"));
        assert_eq!(seen.body, b"body");
        let ones: Vec<_> = seen.headers.iter().filter(|(name, _)| name == "x-one").collect();
        assert_eq!(ones.len(), 2);
        assert_eq!(seen.header("accept"), Some("application/json"));
        assert_eq!(seen.header("accept-encoding"), Some("identity"));
        assert_eq!(seen.header("host"), Some(&server.address.to_string()[..]));
    }
}

#[tokio::test]
async fn what_is_not_a_jobs_to_say_is_refused_before_anything_is_sent() {
    let server = Server::start(|_| json("1")).await;
    let url = server.url("/");
    let with_user = url.replace("http://", "http://user:pass@");
    let jobs = [
        request("TRACE", &url, &[], b"", ""),
        request("CONNECT", &url, &[], b"", ""),
        request("get", &url, &[], b"", ""),
        request("GET", "file:///etc/passwd", &[], b"", ""),
        request("GET", "ftp://127.0.0.1/", &[], b"", ""),
        request("GET", "data:text/plain,x", &[], b"", ""),
        request("GET", "/relative", &[], b"", ""),
        request("GET", &with_user, &[], b"", ""),
        request("GET", &url, &[("Host", "other")], b"", ""),
        request("GET", &url, &[("Transfer-Encoding", "chunked")], b"", ""),
        request("GET", &url, &[("Content-Length", "3")], b"", ""),
        request("GET", &url, &[("Proxy-Authorization", "x")], b"", ""),
        request("GET", &url, &[("a b", "x")], b"", ""),
        request("GET", &url, &[("x", "a\r\nhost: evil")], b"", ""),
        request("GET", &url, &[], b"", "a..b"),
    ];
    for spec in jobs {
        let result = open().execute(&work(&spec)).await;
        assert!(matches!(result, Err(ExecuteError::BadJob(_))), "{result:?} {:?}", spec.job_type);
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn redirects_are_followed_as_browsers_do() {
    let server = Server::start(|request| match &request.target[..] {
        "/301" => redirect("301 Moved Permanently", "/end"),
        "/303" => redirect("303 See Other", "end"),
        "/307" => redirect("307 Temporary Redirect", "/308"),
        "/308" => redirect("308 Permanent Redirect", "/end#part"),
        _ => json("1"),
    })
    .await;
    let cases = [
        ("POST", "/301", "GET"),
        ("PUT", "/301", "PUT"),
        ("POST", "/303", "GET"),
        ("PUT", "/303", "GET"),
        ("HEAD", "/303", "HEAD"),
        ("POST", "/307", "POST"),
    ];
    for (method, from, arrives_as) in cases {
        let headers = [("content-type", "text/x"), ("authorization", "secret")];
        let spec = request(method, &server.url(from), &headers, b"body", "");
        open().execute(&work(&spec)).await.unwrap();
        let seen = server.seen().pop().unwrap();
        assert_eq!((&seen.method[..], &seen.target[..]), (arrives_as, "/end"), "{method} {from}");
        let kept = arrives_as == method;
        assert_eq!(seen.body.is_empty(), !kept, "{method} {from}");
        assert_eq!(seen.header("content-type").is_some(), kept, "{method} {from}");
        assert_eq!(seen.header("authorization"), Some("secret"), "the host is the same");
    }
}

#[tokio::test]
async fn what_fails_in_passing_is_tried_again_if_that_is_harmless() {
    let tries = AtomicUsize::new(0);
    let server = Server::start(move |_| match tries.fetch_add(1, Ordering::Relaxed) % 3 {
        0 => answer("503 Service Unavailable", &[], b""),
        1 => vec![Step::Send(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab".to_vec())],
        _ => json("1"),
    })
    .await;
    let mut spec = get(&server.url("/"));
    spec.bounds.max_retries = 2;
    assert!(open().execute(&work(&spec)).await.is_ok());
    assert_eq!(server.connections(), 3);

    spec.bounds.max_retries = 1;
    let result = open().execute(&work(&spec)).await;
    assert!(matches!(result, Err(ExecuteError::Unreachable(_))), "{result:?}");
    assert_eq!(server.connections(), 5);
}

#[tokio::test]
async fn what_may_have_had_an_effect_is_not_sent_twice() {
    for steps in [answer("500 Oops", &[], b""), vec![]] {
        let server = Server::start(move |_| steps.clone()).await;
        let mut spec = request("POST", &server.url("/"), &[], b"pay", "");
        spec.bounds.max_retries = 5;
        let result = open().execute(&work(&spec)).await;
        assert!(matches!(&result, Err(error) if !error.is_transient()), "{result:?}");
        assert_eq!(server.connections(), 1);
    }
}

#[tokio::test]
async fn a_server_that_turns_this_runner_away_gives_no_result() {
    for (status, headers) in [
        ("429 Slow down", &[][..]),
        ("403 Forbidden", &[("cf-mitigated", "challenge")]),
        ("202 Accepted", &[("x-amzn-waf-action", "challenge")]),
        ("405 Not Allowed", &[("x-amzn-waf-action", "captcha")]),
        ("403 Forbidden", &[("x-vercel-mitigated", "deny")]),
    ] {
        let steps = answer(status, headers, b"ray 7f3a");
        let server = Server::start(move |_| steps.clone()).await;
        let spec = get(&server.url("/"));
        let error = open().execute(&work(&spec)).await.unwrap_err();
        assert_eq!(excuse::of(&spec, &error), Some(Excuse::Refused), "{status}: {error:?}");
    }
    for status in ["401 Unauthorized", "402 Payment Required", "403 Forbidden", "404 Not Found"] {
        let server = Server::start(move |_| answer(status, &[], b"")).await;
        let told = open().execute(&work(&get(&server.url("/")))).await;
        assert!(told.is_ok(), "{status} is what the job asked for: {told:?}");
    }
    let server = Server::start(|_| answer("503 Down", &[], b"")).await;
    let spec = get(&server.url("/"));
    let error = open().execute(&work(&spec)).await.unwrap_err();
    assert_eq!(excuse::of(&spec, &error), Some(Excuse::Unreachable), "{error:?}");
}

#[tokio::test]
async fn nobody_listening_is_unreachable() {
    let server = Server::start(|_| json("1")).await;
    let url = server.url("/");
    drop(server);
    tokio::time::sleep(Duration::from_millis(50)).await;
    for (method, retries) in [("GET", 2), ("PUT", 2), ("POST", 0), ("PATCH", 0)] {
        let mut spec = request(method, &url, &[], b"", "");
        spec.bounds.max_retries = 2;
        let heard = Heard::default();
        let result = open().execute(&work_for(&spec, &heard)).await;
        assert!(matches!(result, Err(ExecuteError::Unreachable(_))), "{result:?}");
        assert_eq!(heard.reports().len(), retries, "{method}");
    }
}

#[test]
fn an_operator_opens_networks_by_name() {
    let text = "body_bytes_max = 5\n[addresses]\nallow = ['10.0.0.0/8', 'fd00::/64']";
    let config: HttpConfig = toml::from_str(text).unwrap();
    assert_eq!((config.body_bytes_max, config.addresses.allow.len()), (5, 2));
    assert_eq!(toml::from_str::<HttpConfig>("").unwrap(), HttpConfig::default());
    let mistakes =
        ["allow = []", "[addresses]\nallowed = []", "[addresses]\nallow = ['10.0.0.0/33']"];
    for mistake in mistakes {
        assert!(toml::from_str::<HttpConfig>(mistake).is_err(), "{mistake}");
    }
}

/// A runner does many jobs at once, each in a task.
#[tokio::test]
async fn the_work_can_be_spawned() {
    let server = Server::start(|_| json("1")).await;
    let spec = get(&server.url("/"));
    let task = tokio::spawn(async move { open().execute(&work(&spec)).await });
    assert!(task.await.unwrap().is_ok());
}

#[tokio::test]
async fn how_much_of_a_body_is_there_is_told_in_percent() {
    // Announced: of its own length. Not announced: of what is allowed.
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n";
    for (announced, details) in [(true, "of 8000 bytes"), (false, "of 1048576 bytes")] {
        let length = if announced { "content-length: 8000\r\n" } else { "" };
        let head = format!("{head}{length}connection: close\r\n\r\n").into_bytes();
        let server = Server::start(move |_| {
            let pieces = (0..8).map(|_| Step::Send(vec![b'x'; 1_000]));
            std::iter::once(Step::Send(head.clone())).chain(pieces).collect()
        })
        .await;
        let heard = Heard::default();
        let mut spec = get(&server.url("/"));
        spec.result_schema.max_return_bytes = 100_000;
        let result = open().execute(&work_for(&spec, &heard)).await;
        assert!(result.is_ok(), "{result:?}");
        let reports = heard.reports();
        assert_eq!(reports[0], (0, "the server answers 200".to_owned()));
        let percents: Vec<u8> = reports.iter().map(|(percent, _)| *percent).collect();
        assert!(percents[1..].windows(2).all(|two| two[0] < two[1]), "{reports:?}");
        assert!(reports[1..].iter().all(|(_, detail)| detail.ends_with(details)), "{reports:?}");
        assert_eq!(announced, percents.contains(&99), "{reports:?}");
    }
}
