//! Login: exchanges a token for a cookie.

use super::html::Markup;
use super::session::Sessions;
use super::{OnPage, guarded, whole};
use crate::auth::Scope;
use crate::orchestrator::answer::QueryParams;
use crate::orchestrator::app::App;
use axum::body::to_bytes;
use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::Response;
use serde::Deserialize;

/// Longest form: a token and a path.
const FORM_BYTES_MAX: usize = 4_096;

#[derive(Debug, Deserialize)]
pub(in crate::orchestrator) struct Wanted {
    to: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Filled {
    #[serde(default)]
    token: String,
    to: Option<String>,
}

/// A path on this server, against open redirects.
fn own(to: Option<String>) -> String {
    let safe = |to: &String| {
        to.starts_with('/')
            && !to.starts_with("//")
            && to.bytes().all(|b| b.is_ascii_alphanumeric() || b"/_-.".contains(&b))
    };
    to.filter(safe).unwrap_or_else(|| "/".to_owned())
}

fn go(to: &str) -> Response {
    let mut response = guarded(StatusCode::SEE_OTHER, "text/plain; charset=utf-8", "");
    let to = HeaderValue::from_str(to).unwrap_or(HeaderValue::from_static("/"));
    response.headers_mut().insert(header::LOCATION, to);
    response
}

fn with_cookie(mut response: Response, cookie: &str) -> Response {
    if let Ok(cookie) = HeaderValue::from_str(cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

/// Redirects to the login form, and back to this path afterwards.
pub(super) fn ask(path: &str) -> Response {
    go(&format!("/login?to={}", own(Some(path.to_owned()))))
}

fn page(status: StatusCode, to: &str, wrong: bool) -> Response {
    let mut page = Markup::default();
    page.raw("<h1>Log in</h1>");
    if wrong {
        page.raw("<p class=\"bad\">Unknown token, or not allowed to view.</p>");
    }
    page.raw("<form method=\"post\" action=\"/login\"><input type=\"hidden\" name=\"to\" value=\"")
        .text(to)
        .raw("\"><label>Token <input type=\"password\" name=\"token\" autocomplete=\"off\" ")
        .raw("size=\"48\" required autofocus></label> <button>Log in</button></form>")
        .raw("<p class=\"dim\">Any token for viewers, submitters or operators. The operator ")
        .raw("creates tokens with <code>remuda orchestrator token new</code>.</p>");
    whole(status, "Log in", None, page, false)
}

/// `GET /login`
pub(in crate::orchestrator) async fn form(
    OnPage(QueryParams(Wanted { to })): OnPage<QueryParams<Wanted>>,
) -> Response {
    page(StatusCode::OK, &own(to), false)
}

/// `POST /login`
pub(in crate::orchestrator) async fn login(State(app): State<App>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let read = tokio::time::timeout(app.0.config.request_timeout, to_bytes(body, FORM_BYTES_MAX));
    let bytes = read.await.ok().and_then(Result::ok).unwrap_or_default();
    let Filled { token, to } = filled(&bytes).unwrap_or(Filled { token: String::new(), to: None });
    let to = own(to);
    let access = app.0.tokens.access();
    let known = access.find(token.trim()).filter(|token| token.scope.allows(Scope::Viewer));
    match known {
        Some(token) => {
            app.note(&token.name, "login", "", Ok(()));
            let secure = app.0.config.tls.is_some() || secure(&parts.headers);
            let cookie = app.0.pages.sessions.cookie(app.now(), token, secure);
            with_cookie(go(&to), &cookie)
        }
        None if app.0.tokens.is_open() => go(&to),
        None => page(StatusCode::FORBIDDEN, &to, true),
    }
}

/// Forms are encoded like queries.
fn filled(bytes: &[u8]) -> Option<Filled> {
    let uri: Uri = format!("/?{}", std::str::from_utf8(bytes).ok()?).parse().ok()?;
    Query::<Filled>::try_from_uri(&uri).ok().map(|Query(filled)| filled)
}

/// Whether a proxy terminated TLS.
fn secure(headers: &HeaderMap) -> bool {
    headers.get("x-forwarded-proto").is_some_and(|proto| proto == "https")
}

/// `POST /logout`
pub(in crate::orchestrator) async fn logout() -> Response {
    with_cookie(go("/login"), &Sessions::no_cookie())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_sent_elsewhere() {
        for elsewhere in ["//evil.example", "https://evil.example", "/\\evil", "", "/a\r\nb: c"] {
            assert_eq!(own(Some(elsewhere.to_owned())), "/", "{elsewhere}");
        }
        assert_eq!(own(Some("/runs/run_1".to_owned())), "/runs/run_1");
    }
}
