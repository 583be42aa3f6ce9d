//! `remuda runner init`: the files of a new runner.

use crate::failure::Failure;
use crate::session::Session;
use remuda_client::types::HexAddress;
use remuda_client::wallet;
use remuda_runner::daemon::{Template, template};
use remuda_runner::private;
use serde_json::json;
use std::path::Path;

/// Names within the directory.
pub(super) const SETTINGS: &str = "runner.toml";
const KEY: &str = "runner.key";

/// Makes a directory with a key and settings. What is there already is never overwritten.
pub(super) fn init(
    session: &Session,
    directory: &Path,
    nodes: &[String],
    status: std::net::SocketAddr,
    stake: &str,
) -> Result<(), Failure> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| Failure::File { path, source }
    };
    if !status.ip().is_loopback() {
        let text = "--status must be a loopback address, such as 127.0.0.1:8090: any client of the page \
                    can drain the runner";
        return Err(Failure::Usage(text));
    }
    let settings = directory.join(SETTINGS);
    if settings.exists() {
        return Err(Failure::RunnerExists(settings));
    }
    let modules = directory.join("modules");
    private::make_folder(&modules).map_err(failed(&modules))?;
    let key = directory.join(KEY);
    // A key that is there may have money.
    let secret = if key.exists() { wallet::read(&key)? } else { wallet::create(&key)? };
    let text =
        template(&Template { key: KEY, data: "data", nodes, status: &status.to_string(), stake });
    private::write_new(&settings, &text).map_err(failed(&settings))?;
    let address = HexAddress(secret.address());
    let shown = json!({ "address": address, "settings": settings, "key": key });
    session.out.show(&shown, |_, _| {
        let (settings, key) = (settings.display(), key.display());
        format!(
            "runner   {address}\nkey      {key}\nsettings {settings}\n\n\
             Look at the settings: what it does and for how much. It needs its stake ({stake}) and \
             money for fees; on a development network the faucet has some:\n  \
             remuda account faucet --key {key}\n\
             Then:\n  remuda runner register {settings} --key {key}\n  \
             remuda runner run {settings}\n"
        )
    })
}
