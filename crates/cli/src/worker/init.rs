//! `remuda worker init`: the files of a new worker, and its key known to the orchestrator.

use super::settings::{ImagePolicy, KEY, NetworkKind, SETTINGS};
use super::template::InitOptions;
use crate::failure::Failure;
use crate::fleet::{FleetArgs, FleetFailure, private, read_token, secret_file};
use crate::session::block_on;
use remuda_fleet::auth::KeyPair;
use remuda_fleet::message::Tag;
use remuda_fleet::time::Clock;
use remuda_fleet::worker::{Link, LinkError, Network, Runc};
use serde_json::json;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

pub(super) fn init(
    fleet: &FleetArgs,
    directory: &Path,
    options: &InitOptions,
) -> Result<(), Failure> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| Failure::File { path, source }
    };
    let settings = directory.join(SETTINGS);
    if settings.exists() {
        let advice = "run it, or name another directory";
        return Err(FleetFailure::Exists { path: settings, advice }.into());
    }
    let endpoint = fleet.endpoint()?;
    let url = endpoint.url().to_owned();
    options.check()?;
    let tags = all_tags(&options.tags)?;
    // Whatever would keep it from running is said now, not at its first job.
    let mut options = options.clone();
    // A missing sandbox comes first: without it the network does not matter.
    options.sandbox.find(&Network::None)?;
    let network = network(&mut options)?;
    options.sandbox.find(&network)?;
    if options.images == ImagePolicy::Runc {
        Runc::version(&options.runc).map_err(FleetFailure::NoRunc)?;
        let folder = directory.join(&options.images_folder);
        fs::create_dir_all(&folder).map_err(failed(&folder))?;
    }
    let token = fleet.token_file.as_deref().map(read_token).transpose()?;
    private(directory)?;
    let key = KeyPair::load_or_generate(&directory.join(KEY)).map_err(FleetFailure::Key)?;
    let key_id = key.id();
    let explain = |error: LinkError| match error {
        LinkError::Refused { code, message } => {
            FleetFailure::of_refusal(code, message, url.clone(), fleet.token_file.as_deref())
        }
        LinkError::Unreachable(why) => FleetFailure::Unreachable { url: url.clone(), why },
        LinkError::Between(_) => {
            FleetFailure::Unreachable { url: url.clone(), why: error.to_string() }
        }
        LinkError::Failing { code, message } => {
            FleetFailure::Unreachable { url: url.clone(), why: format!("{message} ({code})") }
        }
        LinkError::Stale(_) | LinkError::Own(_) => FleetFailure::Demo(error.to_string()),
    };
    let link = Link::new(endpoint, Arc::new(key), Clock::default());
    let enrolled = link.enrol(token.as_deref().unwrap_or_default());
    block_on(async { enrolled.await.map_err(|error| explain(error).into()) })?;
    // The last, so that a worker that is not enrolled is not taken for one that is.
    // Secrets of jobs, and a broker's password, may come to stand in it.
    secret_file(&settings, &options.text(&url, &fleet.trust(), &tags))?;
    let shown = json!({ "key": key_id.as_str(), "settings": settings, "tags": tags });
    fleet.out().show(&shown, |_, _| {
        let words: Vec<&str> = tags.iter().map(Tag::as_str).collect();
        let network = options.network.unwrap_or(NetworkKind::Host).name();
        let (settings, home) = (settings.display(), directory.display());
        format!(
            "enrolled {key_id} at {url}\ntags     {}\nnetwork  {network}\nsettings {settings}\n\nThen:\n  \
             remuda worker run {home}\n",
            words.join(" ")
        )
    })
}

/// The network for jobs. Without `--network` the settings get the default that this machine supports.
fn network(options: &mut InitOptions) -> Result<Network, Failure> {
    let wished = match options.network {
        Some(wished) => wished,
        None if options.confines() => NetworkKind::Internet,
        None => NetworkKind::Host,
    };
    let tried = wished.find().map_err(Failure::from).and_then(|network| {
        if let (Network::Internet(internet), true) = (&network, options.confines()) {
            let failed = |error| FleetFailure::NoJobNetwork(error).into();
            block_on(async { internet.try_out().await.map_err(failed) })?;
        }
        Ok(network)
    });
    let network = match tried {
        Err(error) if options.network.is_none() => {
            eprintln!("the settings get network = \"none\", so jobs have no network: {error}");
            options.network = Some(NetworkKind::None);
            return Ok(Network::None);
        }
        tried => tried?,
    };
    options.network = Some(wished);
    Ok(network)
}

/// What it was said to have, and what it is.
fn all_tags(said: &[String]) -> Result<BTreeSet<Tag>, Failure> {
    let os = format!("os:{}", std::env::consts::OS);
    let arch = format!("arch:{}", std::env::consts::ARCH);
    let text = "a tag has 1 to 128 visible characters without quotes, backslashes and commas";
    let read = |tag: &String| Tag::new(tag).map_err(|_| Failure::Usage(text));
    said.iter().chain([&os, &arch]).map(read).collect()
}
