//! Pages: who may see them, and that nothing of what they show becomes part of them.

use crate::http::server::Server;
use futures::StreamExt;
use remuda_fleet::auth::{Access, Scope, Token, TokenHash};
use reqwest::redirect::Policy;
use reqwest::{Client, Response};
use serde_json::json;

const EVIL: &str = "<script>alert(1)</script>\"'&";

fn browser() -> Client {
    Client::builder().redirect(Policy::none()).build().expect("a client")
}

async fn guarded() -> Server {
    let token =
        |name: &str, scope| Token::new(name, scope, TokenHash::of(&format!("secret-{name}")));
    Server::with(|config| {
        config.access = Access(vec![
            token("viewer", Scope::Viewer),
            token("submitter", Scope::Submitter),
            token("enrol", Scope::Enrol),
        ]);
    })
    .await
}

fn header<'a>(answer: &'a Response, name: &str) -> &'a str {
    answer.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

async fn log_in(server: &Server, browser: &Client, token: &str, to: &str) -> Response {
    let form = format!("token={token}&to={}", to.replace('/', "%2F").replace(':', "%3A"));
    let request = browser.post(format!("{}/login", server.url)).body(form);
    request.send().await.expect("an answer")
}

fn cookie(answer: &Response) -> String {
    header(answer, "set-cookie").split(';').next().unwrap_or_default().to_owned()
}

const PAGES: [&str; 5] = ["/", "/queue", "/workers", "/runs/run_1", "/jobs/job_1"];

#[tokio::test]
async fn strangers_are_asked_for_a_token_and_a_cookie_only_lets_them_look() {
    let (server, browser) = (guarded().await, browser());
    for page in PAGES {
        let answer = browser.get(format!("{}{page}", server.url)).send().await.expect("an answer");
        assert_eq!(answer.status(), 303, "{page}");
        assert_eq!(header(&answer, "location"), format!("/login?to={page}"));
    }
    let live = browser.get(format!("{}/live/queue", server.url)).send().await.expect("an answer");
    assert_eq!(live.status(), 401);
    for wrong in ["secret-enrol", "secret-nobody", ""] {
        let answer = log_in(&server, &browser, wrong, "/").await;
        assert_eq!((answer.status().as_u16(), cookie(&answer).as_str()), (403, ""), "{wrong}");
    }
    let answer = log_in(&server, &browser, "secret-submitter", "/queue").await;
    assert_eq!((answer.status().as_u16(), header(&answer, "location")), (303, "/queue"));
    let set = header(&answer, "set-cookie");
    assert!(set.contains("HttpOnly") && set.contains("SameSite=Lax"), "{set}");
    assert!(!set.contains("secret"), "the token is not in the cookie: {set}");
    let cookie = cookie(&answer);
    let look = browser.get(format!("{}/queue", server.url)).header("cookie", &cookie);
    assert_eq!(look.send().await.expect("an answer").status(), 200);
    // It was a submitter's token, and the cookie is not a submitter.
    let run = json!({ "jobs": [{ "name": "a", "job_spec": { "name": "a", "steps": ["true"] } }] });
    let submit = browser.post(format!("{}/api/v1/runs", server.url)).header("cookie", &cookie);
    let answer = submit.body(run.to_string()).send().await.expect("an answer");
    assert_eq!(answer.status(), 401);
    let elsewhere = log_in(&server, &browser, "secret-viewer", "//evil.example").await;
    assert_eq!(header(&elsewhere, "location"), "/");
    server.stop().await;
}

/// A run of one job whose every text is an attack.
async fn attack(server: &Server) -> (String, String) {
    let job = json!({
        "name": EVIL, "tags": ["<b>gpu</b>"], "job_spec": { "name": EVIL, "steps": ["true"] },
    });
    let run = server.ok("/runs", json!({ "name": EVIL, "jobs": [job] })).await;
    let ask = json!({ "runner_id": "runner_a", "capabilities": ["<b>gpu</b>"] });
    let granted = server.ok("/internal/lease", ask).await;
    let (lease, runner) = (&granted["lease_id"], "runner_a");
    let ack = json!({ "job_id": granted["job_id"], "lease_id": lease, "runner_id": runner });
    server.ok("/internal/ack-lease", ack).await;
    let progress = json!({ "percent": 1, "current_step": EVIL, "step_index": 0 });
    let beat = json!({ "lease_id": lease, "runner_id": runner, "progress": progress });
    server.ok("/internal/heartbeat", beat).await;
    // `<script>` in base64.
    let chunk = json!({ "lease_id": lease, "runner_id": runner, "number": 0, "offset": 0,
        "data": "PHNjcmlwdD5ldmlsPC9zY3JpcHQ+DQpvaw0=" });
    server.ok("/internal/log", chunk).await;
    let text = |value: &serde_json::Value| value.as_str().expect("an id").to_owned();
    (text(&run["run_id"]), text(&granted["job_id"]))
}

#[tokio::test]
async fn nothing_that_a_stranger_wrote_becomes_part_of_a_page() {
    let server = Server::open().await;
    let (run, job) = attack(&server).await;
    let pages = ["/", "/queue", "/workers", &format!("/runs/{run}"), &format!("/jobs/{job}")];
    for page in pages {
        let answer = server.http.get(format!("{}{page}", server.url)).send().await.expect("a page");
        assert_eq!(answer.status(), 200, "{page}");
        let policy = header(&answer, "content-security-policy");
        assert!(policy.contains("default-src 'none'"), "{page}: {policy}");
        assert!(!policy.contains("unsafe"), "{page}: {policy}");
        assert_eq!(header(&answer, "x-content-type-options"), "nosniff");
        let html = answer.text().await.expect("text");
        assert!(!html.contains("<script>"), "{page}: {html}");
        assert!(!html.contains("<b>"), "{page}: {html}");
        assert!(html.contains("&lt;"), "{page} shows what it is about: {html}");
    }
    let raw = server.http.get(format!("{}/jobs/{job}/log", server.url)).send().await.expect("text");
    assert!(header(&raw, "content-type").starts_with("text/plain"));
    assert_eq!(header(&raw, "x-content-type-options"), "nosniff");
    server.stop().await;
}

/// Reads a stream until it has said something.
async fn until(answer: Response, word: &str) -> String {
    let mut stream = answer.bytes_stream();
    let mut text = String::new();
    let read = async {
        while let Some(piece) = stream.next().await {
            text += &String::from_utf8_lossy(&piece.expect("bytes"));
            if text.contains(word) {
                return;
            }
        }
        panic!("it ended without {word}: {text}");
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), read).await.expect("in time");
    text
}

/// Fault 24.
#[tokio::test]
async fn one_viewer_does_not_have_all_live_pages() {
    let server = guarded().await;
    let open = async |name: &str| {
        let request = server.http.get(format!("{}/live/queue", server.url));
        request.bearer_auth(format!("secret-{name}")).send().await.expect("an answer")
    };
    let mut kept = Vec::new();
    for _ in 0..64 {
        kept.push(open("viewer").await);
    }
    assert!(kept.iter().all(|live| live.status() == 200));
    assert_eq!(open("viewer").await.status(), 503);
    assert_eq!(open("submitter").await.status(), 200, "others have their places");
}

#[tokio::test]
async fn a_live_page_says_the_same_as_a_still_one_and_ends_with_its_run() {
    let server = Server::open().await;
    let run = server.submit().await;
    let url = format!("{}/live/runs/{run}", server.url);
    let live = server.http.get(&url).send().await.expect("a stream");
    assert!(header(&live, "content-type").starts_with("text/event-stream"));
    let granted = server.take("runner_a").await;
    server.complete(&granted, "runner_a").await;
    let told = until(live, "event: end").await;
    let told = match told.contains("SUCCEEDED") {
        true => told,
        // The end's own lines may come a moment after its name.
        false => until(server.http.get(&url).send().await.expect("a stream"), "SUCCEEDED").await,
    };
    let page = server.http.get(format!("{}/runs/{run}", server.url)).send().await.expect("a page");
    let page = page.text().await.expect("text");
    assert!(!page.contains("data-events"), "what has ended is not watched: {page}");
    let last = told.lines().rev().find_map(|line| line.strip_prefix("data: ")).expect("html");
    assert!(page.contains(last), "{last}\n\n{page}");
    let missing = format!("{}/live/runs/run_none", server.url);
    assert_eq!(server.http.get(missing).send().await.expect("an answer").status(), 404);
    server.stop().await;
}

#[tokio::test]
async fn a_job_that_nobody_can_do_says_so_until_somebody_can() {
    let server = Server::open().await;
    let job =
        json!({ "name": "a", "tags": ["gpu"], "job_spec": { "name": "a", "steps": ["true"] } });
    let run = server.ok("/runs", json!({ "jobs": [job] })).await;
    let page = format!("{}/runs/{}", server.url, run["run_id"].as_str().expect("an id"));
    let html = || async {
        server.http.get(&page).send().await.expect("a page").text().await.expect("text")
    };
    let plain = json!({ "runner_id": "runner_a", "capabilities": [] });
    server.ok("/internal/lease", plain).await;
    assert!(html().await.contains("no worker seen recently has the tags gpu"));
    let able = json!({ "runner_id": "runner_b", "capabilities": ["gpu"] });
    assert_eq!(server.ok("/internal/lease", able).await["type"], "LeaseGranted");
    assert!(!html().await.contains("no worker"));
    let workers = server.get("/workers").await.1;
    assert_eq!(workers["total"], 2, "{workers}");
    assert_eq!(workers["workers"][0]["runner_id"], "runner_b", "who works is first: {workers}");
    server.stop().await;
}
