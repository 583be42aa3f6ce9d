//! A client in Python that knows nothing but docs/spec and public libraries.

use crate::parts::started::part;
use crate::support::Network;
use std::path::Path;
use std::process::Command;

#[test]
fn a_client_written_from_the_specification_pays_registers_and_opens_a_session() {
    let network = Network::start("spec");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/spec/client.py");
    let python = part("spec").join("python/bin/python");
    let client = Command::new(python).arg(script).arg(&network.api).output().expect("python");
    assert!(client.status.success(), "{client:?}");
    let said = String::from_utf8_lossy(&client.stdout);
    for line in ["hello of an unregistered key: not_registered", "hello of the runner: HelloAck"] {
        assert!(said.contains(line), "{said}");
    }
}
