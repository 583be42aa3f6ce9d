//! `remuda worker init`: the files of a new worker, and its key known to the orchestrator.

use super::settings::{ImagesWish, KEY, NetworkWish, SETTINGS};
use super::template::Wish;
use crate::failure::Failure;
use crate::fleet::{FleetArgs, FleetFailure, private, read_token, secret_file};
use remuda_fleet::auth::KeyPair;
use remuda_fleet::message::Tag;
use remuda_fleet::time::Clock;
use remuda_fleet::worker::{Link, LinkError, Network, Runc};
use serde_json::json;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use tokio::runtime::Runtime;

pub(super) fn init(fleet: &FleetArgs, directory: &Path, wish: &Wish) -> Result<(), Failure> {
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
    wish.check()?;
    let tags = all_tags(&wish.tags)?;
    // Whatever would keep it from running is said now, not at its first job.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(Failure::Start)?;
    let mut wish = wish.clone();
    // A missing sandbox comes first: without it the network does not matter.
    wish.sandbox.find(&Network::None)?;
    let network = network(&mut wish, &runtime)?;
    wish.sandbox.find(&network)?;
    if wish.images == ImagesWish::Runc {
        Runc::version(&wish.runc).map_err(FleetFailure::NoRunc)?;
        let folder = directory.join(&wish.images_folder);
        fs::create_dir_all(&folder).map_err(failed(&folder))?;
    }
    let token = fleet.token_file.as_deref().map(read_token).transpose()?;
    private(directory)?;
    let key = KeyPair::load_or_generate(&directory.join(KEY)).map_err(FleetFailure::Key)?;
    let key_id = key.id();
    let enrolled = runtime.block_on(async {
        let link = Link::new(endpoint, Arc::new(key), Clock::default());
        link.enrol(token.as_deref().unwrap_or_default()).await
    });
    enrolled.map_err(|error| match error {
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
    })?;
    // The last, so that a worker that is not enrolled is not taken for one that is.
    // Secrets of jobs, and a broker's password, may come to stand in it.
    secret_file(&settings, &wish.text(&url, &fleet.trust(), &tags))?;
    let shown = json!({ "key": key_id.as_str(), "settings": settings, "tags": tags });
    fleet.out().show(&shown, |_, _| {
        let words: Vec<&str> = tags.iter().map(Tag::as_str).collect();
        let network = wish.network.unwrap_or(NetworkWish::Host).name();
        let (settings, home) = (settings.display(), directory.display());
        format!(
            "enrolled {key_id} at {url}\ntags     {}\nnetwork  {network}\nsettings {settings}\n\nThen:\n  \
             remuda worker run {home}\n",
            words.join(" ")
        )
    })
}

/// The network for jobs. Without `--network` the settings get the default that this machine supports.
fn network(wish: &mut Wish, runtime: &Runtime) -> Result<Network, FleetFailure> {
    let wished = match wish.network {
        Some(wished) => wished,
        None if wish.confines() => NetworkWish::Internet,
        None => NetworkWish::Host,
    };
    let tried = wished.find().and_then(|network| {
        if let (Network::Internet(internet), true) = (&network, wish.confines()) {
            runtime.block_on(internet.try_out()).map_err(FleetFailure::NoJobNetwork)?;
        }
        Ok(network)
    });
    let network = match tried {
        Err(error) if wish.network.is_none() => {
            eprintln!("the settings get network = \"none\", so jobs have no network: {error}");
            wish.network = Some(NetworkWish::None);
            return Ok(Network::None);
        }
        tried => tried?,
    };
    wish.network = Some(wished);
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
