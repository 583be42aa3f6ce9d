//! `remuda orchestrator init`: the files of a new orchestrator.

use super::certificate;
use super::settings::{SETTINGS, TOKENS};
use super::template::InitOptions;
use super::token::{self, TokenScope};
use crate::failure::Failure;
use crate::fleet::{FleetFailure, private, secret_file};
use crate::session::Output;
use crate::style::Card;
use remuda_fleet::auth::Access;
use remuda_fleet::orchestrator::TlsFiles;
use serde_json::{Map, json};
use std::path::Path;

pub(super) fn init(out: Output, directory: &Path, options: &InitOptions) -> Result<(), Failure> {
    options.check()?;
    let InitOptions { listen, open, .. } = *options;
    let settings = directory.join(SETTINGS);
    if settings.exists() {
        let advice = "run it, or name another directory";
        return Err(FleetFailure::Exists { path: settings, advice }.into());
    }
    if let (Some(certificate), Some(key)) = (&options.tls_certificate, &options.tls_key) {
        let files = TlsFiles { certificate: certificate.clone(), key: key.clone() };
        files.check().map_err(|error| FleetFailure::Serve(error.into()))?;
    }
    private(directory)?;
    let mut files = Map::new();
    let mut card = Card::default();
    card.add("settings", settings.display());
    if !open {
        let mut access = Access::default();
        for scope in TokenScope::ALL {
            let file = directory.join(format!("{}.token", scope.name()));
            let made = token::make(&access, scope.name(), scope, &file)?;
            access.0.push(made);
            card.add(scope.name(), file.display());
            files.insert(scope.name().to_owned(), json!(file));
        }
        token::write(&directory.join(TOKENS), &access)?;
    }
    let authority = match options.tls_names.as_slice() {
        [] => None,
        names => Some(certificate::make(directory, names)?),
    };
    if let Some(authority) = &authority {
        card.add("authority", authority.display());
    }
    // The last, so that what is half made is not taken for whole. A URL may have a password in it.
    secret_file(&settings, &options.text())?;
    let shown = json!({
        "settings": settings, "tokens": files, "listen": listen, "ca_file": authority,
    });
    out.show(&shown, |_, style| {
        let home = directory.display();
        let ca = match &authority {
            Some(authority) => format!(" --ca-file {}", authority.display()),
            None if options.has_tls() => " [--ca-file CA.pem]".to_owned(),
            None if options.insecure && !listen.ip().is_loopback() => " --insecure".to_owned(),
            None => String::new(),
        };
        let token = |name: &str| match open {
            true => ca.clone(),
            false => format!("{ca} --token-file {home}/{name}.token"),
        };
        let (worker, submitter) = (token("worker"), token("submitter"));
        // A free port is known when it runs, and another one at its next start.
        let url = match listen.port() {
            0 => "URL".to_owned(),
            port => match (options.has_tls(), options.tls_names.first()) {
                (true, Some(name)) => format!("https://{name}:{port}"),
                (true, None) if listen.ip().is_unspecified() => format!("https://HOST:{port}"),
                (true, None) => format!("https://{listen}"),
                (false, _) => format!("http://{listen}"),
            },
        };
        let which = match listen.port() {
            0 => "  # it prints its URL: write that for URL below",
            _ => "",
        };
        format!(
            "{}\nThen:\n  remuda orchestrator run {home}{which}\n  \
             remuda worker init worker-1 --orchestrator {url}{worker}\n  \
             remuda worker run worker-1\n  \
             remuda run example > run.toml\n  \
             remuda run submit run.toml --orchestrator {url}{submitter} --watch\n",
            card.render(style)
        )
    })
}
