//! `remuda orchestrator init`: the files of a new orchestrator.

use super::settings::{SETTINGS, TOKENS, template};
use super::token::{self, Wish};
use crate::failure::Failure;
use crate::fleet::FleetFailure;
use crate::session::Output;
use crate::style::Card;
use remuda_fleet::auth::Access;
use serde_json::{Map, json};
use std::fs;
use std::net::SocketAddr;
use std::path::Path;

pub(super) fn init(
    out: Output,
    directory: &Path,
    listen: SocketAddr,
    postgres: Option<&str>,
    open: bool,
) -> Result<(), Failure> {
    if open && !listen.ip().is_loopback() {
        let text = "--open is for this machine alone: listen on 127.0.0.1, or take tokens";
        return Err(Failure::Usage(text));
    }
    let settings = directory.join(SETTINGS);
    if settings.exists() {
        let advice = "run it, or name another directory";
        return Err(FleetFailure::Exists { path: settings, advice }.into());
    }
    fs::create_dir_all(directory)
        .map_err(|source| Failure::File { path: directory.to_owned(), source })?;
    let mut files = Map::new();
    let mut card = Card::default();
    card.add("settings", settings.display().to_string());
    if !open {
        let mut access = Access::default();
        for wish in Wish::ALL {
            let file = directory.join(format!("{}.token", wish.name()));
            let made = token::make(&access, wish.name(), wish, &file)?;
            access.0.push(made);
            card.add(wish.name(), file.display().to_string());
            files.insert(wish.name().to_owned(), json!(file));
        }
        token::write(&directory.join(TOKENS), &access)?;
    }
    // The last, so that what is half made is not taken for whole. A URL may have a password in it.
    token::secret_file(&settings, &template(listen, postgres, open))?;
    let shown = json!({ "settings": settings, "tokens": files, "listen": listen });
    out.show(&shown, |_, style| {
        let home = directory.display();
        let token = |name: &str| match open {
            true => String::new(),
            false => format!(" --token-file {home}/{name}.token"),
        };
        let (worker, submitter) = (token("worker"), token("submitter"));
        format!(
            "{}\nThen:\n  remuda orchestrator run {home}\n  \
             remuda worker init worker-1 --orchestrator http://{listen}{worker}\n  \
             remuda worker run worker-1\n  \
             remuda run example > run.toml\n  \
             remuda run submit run.toml --orchestrator http://{listen}{submitter} --watch\n",
            card.render(style)
        )
    })
}
