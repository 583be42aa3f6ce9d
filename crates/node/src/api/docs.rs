//! `GET /` and `/openapi.json`: the API about itself.

use axum::http::header::CONTENT_TYPE;
use axum::response::{Html, IntoResponse};
use std::fmt::Write;
use std::sync::LazyLock;
use utoipa::openapi::OpenApi;
use utoipa::openapi::path::{Operation, PathItem};

/// Made once: it does not change while the process runs.
static OPENAPI: LazyLock<String> = LazyLock::new(|| {
    super::openapi().to_json().unwrap_or_else(|error| {
        tracing::error!(%error, "OpenAPI serialisation failed");
        "{}".to_owned()
    })
});
static PAGE: LazyLock<String> = LazyLock::new(|| render(&super::openapi()));

/// The description of every endpoint.
#[utoipa::path(
    get, path = "/openapi.json", tag = "node",
    responses((status = 200, body = Object, description = "An OpenAPI 3.1 document"))
)]
pub(super) async fn openapi() -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], OPENAPI.as_str())
}

/// A page that lists the endpoints.
#[utoipa::path(
    get, path = "/", operation_id = "index", tag = "node",
    responses((status = 200, body = String, content_type = "text/html"))
)]
pub(super) async fn page() -> Html<&'static str> {
    Html(PAGE.as_str())
}

/// Nothing in here comes from outside, so nothing is escaped.
fn render(api: &OpenApi) -> String {
    let mut out = String::from(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Remuda node</title>\
         <style>body{font:16px/1.5 system-ui;max-width:50rem;margin:2rem auto;padding:0 1rem}\
         code{white-space:nowrap}td{padding:.1rem 1rem .1rem 0;vertical-align:top}</style>\
         <h1>Remuda node</h1><p>JSON; numbers over 53 bits as strings, bytes as 0x-hex. \
         <a href=\"/openapi.json\">openapi.json</a> describes everything.</p><table>",
    );
    for (path, item) in &api.paths.paths {
        for (method, operation) in operations(item) {
            let about = operation.summary.as_deref().unwrap_or_default();
            let link = if method == "GET" && !path.contains('{') {
                format!("<a href=\"{path}\">{path}</a>")
            } else {
                path.clone()
            };
            let _ = write!(out, "<tr><td><code>{method} {link}</code><td>{about}");
        }
    }
    out.push_str("</table></html>");
    out
}

fn operations(item: &PathItem) -> impl Iterator<Item = (&'static str, &Operation)> {
    // The API has no other methods.
    let both = [("GET", item.get.as_ref()), ("POST", item.post.as_ref())];
    both.into_iter().filter_map(|(method, operation)| Some((method, operation?)))
}
