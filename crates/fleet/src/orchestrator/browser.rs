//! Protects an orchestrator without tokens against web pages: a browser on its machine could send requests
//! for any page that it shows.
//!
//! `Origin` must be the orchestrator's own. `Host` must name this machine, against DNS rebinding. Bodies must
//! be JSON, which a page of another origin cannot send without a preflight.

use super::answer::Failure;
use super::app::App;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use std::net::{IpAddr, SocketAddr};

/// With tokens every request passes: the token is enough.
pub(super) async fn refuse_foreign_pages(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> Response {
    if app.0.tokens.is_open()
        && let Err(failure) = check(own_scheme(&app), &request)
    {
        return failure.into_response();
    }
    next.run(request).await
}

fn own_scheme(app: &App) -> &'static str {
    if app.0.config.tls.is_some() { "https://" } else { "http://" }
}

fn check(scheme: &str, request: &Request) -> Result<(), Failure> {
    let (method, path, headers) = (request.method(), request.uri().path(), request.headers());
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let forbidden = |code, text: &str| Err(Failure::new(StatusCode::FORBIDDEN, code, text));
    let host = text(header::HOST);
    if host.is_some_and(|host| !is_local(host)) {
        let text = "without tokens the host must be localhost or a loopback address; start the orchestrator with tokens";
        return forbidden("WRONG_HOST", text);
    }
    if let Some(origin) = text(header::ORIGIN)
        && origin.strip_prefix(scheme) != host
    {
        let text = "cross-origin requests need tokens; start the orchestrator with tokens";
        return forbidden("WRONG_ORIGIN", text);
    }
    // Other methods that change something need a preflight.
    let json = text(header::CONTENT_TYPE).is_some_and(is_json);
    if *method == Method::POST && path.starts_with("/api/") && !json {
        let text = "send `content-type: application/json`";
        return Err(Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "NOT_JSON_TYPE", text));
    }
    Ok(())
}

fn is_local(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let address = host.parse::<SocketAddr>().map(|address| address.ip());
    match address.or_else(|_| bare.parse::<IpAddr>()) {
        Ok(address) => address.is_loopback(),
        Err(_) => host.split(':').next().is_some_and(|name| name.eq_ignore_ascii_case("localhost")),
    }
}

fn is_json(kind: &str) -> bool {
    let kind = kind.split(';').next().unwrap_or_default();
    kind.trim().eq_ignore_ascii_case("application/json")
}

#[cfg(test)]
mod tests {
    use super::is_local;

    #[test]
    fn names_of_this_machine_are_told_from_others() {
        for host in
            ["localhost", "LOCALHOST:4400", "127.0.0.1", "127.0.0.1:4400", "[::1]:1", "[::1]"]
        {
            assert!(is_local(host), "{host}");
        }
        for host in [
            "",
            "x",
            "example.com:4400",
            "localhost.example.com",
            "127.0.0.1.example.com",
            "10.0.0.1:4400",
        ] {
            assert!(!is_local(host), "{host}");
        }
    }
}
