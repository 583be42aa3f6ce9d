//! Where everything is, once blocks flow.

use crate::format::count;
use remuda_node::config::{Faucet, Initialised};
use serde_json::json;
use std::io::Write as _;
use std::path::Path;

pub(super) fn announce(as_json: bool, home: &Path, network: &Initialised) {
    let apis: Vec<String> =
        network.addresses.iter().map(|at| format!("http://{}", at.api)).collect();
    let text = if as_json { json(&apis, home, network) } else { render(&apis, home, network) };
    let mut stdout = std::io::stdout();
    // The parent process may have closed its end of the pipe; the network runs anyway.
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}

fn json(apis: &[String], home: &Path, network: &Initialised) -> String {
    let object = json!({
        "ok": true,
        "directory": home,
        "genesis_hash": network.genesis_hash.to_string(),
        "apis": apis,
        "faucet": network.faucet.as_ref().map(|faucet| json!({
            "address": faucet.address.to_string(),
            "key": faucet.key,
        })),
    });
    format!("{object}\n")
}

fn render(apis: &[String], home: &Path, network: &Initialised) -> String {
    let makes = if apis.len() == 1 { "makes" } else { "make" };
    let mut text = format!("{} {makes} blocks\n\n", count(apis.len(), "validator"));
    for (i, api) in apis.iter().enumerate() {
        text += &format!("  validator {i}   {api}   ({api}/openapi.json)\n");
    }
    text += &format!("  genesis       {}\n", network.genesis_hash);
    if let Some(Faucet { address, key }) = &network.faucet {
        text += &format!("  money         {address}\n");
        text += &format!("  its key       {}\n", key.display());
    }
    text += &format!("  files, logs   {}\n\n", home.display());
    // A line of its own from its first character on, to be pasted.
    text +=
        &format!("in another terminal:\nexport REMUDA_NODE={}\nremuda status --watch\n\n", apis[0]);
    text + "Ctrl-C stops everything\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_announced_can_be_pasted() {
        let network = Initialised {
            genesis_hash: Default::default(),
            settings: Vec::new(),
            addresses: Vec::new(),
            faucet: Some(Faucet { key: "net/faucet.key".into(), address: Default::default() }),
        };
        let apis = ["http://127.0.0.1:4100".to_owned(), "http://127.0.0.1:4101".to_owned()];
        let text = render(&apis, Path::new("net"), &network);
        assert!(text.starts_with("2 validators make blocks\n"), "{text}");
        assert!(text.contains("\nexport REMUDA_NODE=http://127.0.0.1:4100\n"), "{text}");
        let text = render(&apis[..1], Path::new("net"), &network);
        assert!(text.starts_with("1 validator makes blocks\n"), "{text}");
    }
}
