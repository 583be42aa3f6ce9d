//! The token for the orchestrator, and whether its scope is enough.

use super::FleetSettings;
use crate::private::{self, PrivateError};
use remuda_fleet::auth::Scope;
use remuda_fleet::client::{Client, ClientError};
use remuda_fleet::http::EndpointError;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use thiserror::Error;
use tracing::debug;

/// For requests without a job.
pub(super) const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// A token has a few dozen characters.
const TOKEN_BYTES_MAX: u64 = 4_096;
/// The orchestrator's code for an unknown token.
const UNAUTHORIZED: &str = "UNAUTHORIZED";

/// Why a fleet cannot be used.
#[derive(Debug, Error)]
pub enum TokenError {
    /// The orchestrator's address, or the authorities that its certificate may come from.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// The file cannot be read.
    #[error("cannot read token file {} of [fleet]: {error}", path.display())]
    File { path: PathBuf, error: std::io::Error },
    #[error(transparent)]
    Private(#[from] PrivateError),
    #[error("{} is too long for a token file", .0.display())]
    Long(PathBuf),
    #[error(
        "the orchestrator at {url} asks for a token with the scope submitter: set token_file under [fleet] to \
         a copy of its submitter.token"
    )]
    None { url: String },
    /// The orchestrator does not know it.
    #[error(
        "the orchestrator at {url} does not know the token in {file}, the token_file of [fleet]. It needs one with \
         the scope submitter: a copy of the orchestrator's submitter.token",
        file = .file.display()
    )]
    Unknown { url: String, file: PathBuf },
    /// It does not allow enough.
    #[error(
        "the token in {file}, the token_file of [fleet], has the scope {found}, and handing out jobs needs the scope \
         submitter: take the orchestrator's submitter.token, or have one made: remuda orchestrator token new DIR \
         --name NAME --scope submitter",
        file = .file.display()
    )]
    Scope { file: PathBuf, found: Scope },
}

/// Checks the token's scope at the orchestrator, until it is known to be enough.
#[derive(Clone)]
pub(super) struct TokenCheck {
    url: String,
    file: Option<PathBuf>,
    /// The orchestrator has confirmed the token's scope.
    known: Arc<AtomicBool>,
}

fn read_token(path: &Path) -> Result<String, TokenError> {
    let failed = |error| TokenError::File { path: path.to_owned(), error };
    private::tighten(path)?;
    if std::fs::metadata(path).map_err(failed)?.len() > TOKEN_BYTES_MAX {
        return Err(TokenError::Long(path.to_owned()));
    }
    Ok(std::fs::read_to_string(path).map_err(failed)?.trim().to_owned())
}

impl TokenCheck {
    /// The token of the settings, and a way to the orchestrator with it.
    pub(super) fn read(settings: &FleetSettings) -> Result<(Client, Self), TokenError> {
        let token = settings.token_file.as_deref().map(read_token).transpose()?;
        let client = Client::new(settings.endpoint()?, token);
        let (url, file) = (settings.orchestrator.clone(), settings.token_file.clone());
        Ok((client, Self { url, file, known: Arc::default() }))
    }

    /// Whether the token allows jobs to be handed out: an operator hears of it at the start, not when the first
    /// job is missed. An orchestrator that is away is asked again when it is back.
    pub(super) async fn check(&self, client: &Client) -> Result<(), TokenError> {
        if self.known.load(Ordering::Relaxed) {
            return Ok(());
        }
        let file = || self.file.clone().unwrap_or_default();
        match tokio::time::timeout(REQUEST_TIMEOUT, client.token()).await {
            Ok(Ok(token)) if token.scope.allows(Scope::Submitter) => {
                self.known.store(true, Ordering::Relaxed);
                Ok(())
            }
            Ok(Ok(token)) => Err(TokenError::Scope { file: file(), found: token.scope }),
            Ok(Err(ClientError::Refused { code, .. })) if code == UNAUTHORIZED => {
                let url = self.url.clone();
                Err(match &self.file {
                    Some(file) => TokenError::Unknown { url, file: file.clone() },
                    None => TokenError::None { url },
                })
            }
            Ok(Err(error)) => {
                debug!(%error, "cannot check the token scope");
                Ok(())
            }
            Err(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use remuda_fleet::auth::{Access, Token, TokenHash};
    use remuda_fleet::orchestrator::{Config, StoreConfig, serve};
    use tokio::net::TcpListener;

    async fn check(settings: &FleetSettings) -> Result<(), TokenError> {
        let (client, check) = TokenCheck::read(settings)?;
        check.check(&client).await
    }

    /// An orchestrator with a token for each scope, each called like it.
    async fn guarded() -> (String, PathBuf, tokio::task::JoinHandle<()>) {
        let scopes = [Scope::Viewer, Scope::Submitter, Scope::Enrol];
        let folder = std::env::temp_dir().join(format!("runner-scope-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let mut config = Config::in_folder(&folder);
        config.store = StoreConfig::Memory;
        let token = |scope: Scope| {
            std::fs::write(folder.join(format!("{scope}.token")), format!("{scope}\n")).unwrap();
            Token::new(&scope.to_string(), scope, TokenHash::of(&scope.to_string()))
        };
        config.access = Access(scopes.map(token).to_vec());
        std::fs::write(folder.join("nobody.token"), "nobody\n").unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let serving = tokio::spawn(async move {
            serve(listener, config, std::future::pending()).await.unwrap();
        });
        (url, folder, serving)
    }

    #[tokio::test]
    async fn a_token_that_does_not_allow_submitting_is_refused_at_the_start() {
        let (url, folder, serving) = guarded().await;
        let ask = async |name: Option<&str>| {
            let token_file = name.map(|name| folder.join(format!("{name}.token")));
            let orchestrator = url.clone();
            let settings =
                FleetSettings { orchestrator, token_file, http: true, ..FleetSettings::default() };
            check(&settings).await
        };
        assert!(ask(Some("submitter")).await.is_ok());
        for scope in ["viewer", "enrol"] {
            let error = ask(Some(scope)).await.unwrap_err();
            assert!(matches!(error, TokenError::Scope { .. }), "{error}");
            let text = error.to_string();
            assert!(text.contains(&format!("the scope {scope}")), "{text}");
            assert!(text.contains("the scope submitter"), "{text}");
        }
        assert!(matches!(ask(Some("nobody")).await, Err(TokenError::Unknown { .. })));
        assert!(matches!(ask(None).await, Err(TokenError::None { .. })));
        serving.abort();
        // An unreachable orchestrator may be back by the first job.
        let gone = FleetSettings {
            orchestrator: "http://127.0.0.1:9".to_owned(),
            ..FleetSettings::default()
        };
        assert!(check(&gone).await.is_ok());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
