//! A network with runners that work, and actors on it.

use remuda::demo::network::{Network, NetworkOptions, Runner};
use remuda_client::types::{HexBytes, ReceiptView};
use remuda_protocol::actors::actor_address;
use remuda_protocol::primitives::{Address, Amount, B256};
use remuda_protocol::transaction::Instruction;
use remuda_runner::daemon::ResultTampering;
use remuda_vm::{HostValue, cbor};
use std::path::Path;
use std::time::Duration;

use super::Folder;

const NAMES: [&str; 3] = ["ada", "ben", "cleo"];

/// Room for a call: cycles and cells beyond what the transaction itself costs.
const ROOM: (u64, u64) = (2_000_000, 65_536);

pub(crate) struct Ranch {
    pub(crate) network: Network,
    runners: Vec<Runner>,
    /// Goes last.
    _folder: Folder,
}

impl Ranch {
    pub(crate) async fn new(name: &str, work: &str) -> Self {
        let folder = Folder::new(name);
        let program = env!("CARGO_BIN_EXE_remuda");
        let options = NetworkOptions::new(program, Duration::from_millis(150), NAMES);
        let network = Network::start(Some(Path::new(&folder.file("net"))), &options)
            .await
            .expect("a network");
        let mut runners = Vec::new();
        for name in NAMES {
            let mut runner = network.equip(name, work).expect("a folder");
            network.register(&runner).await.expect("registered");
            runner.join(ResultTampering::none()).await.expect("it starts");
            runners.push(runner);
        }
        let addresses: Vec<Address> = runners.iter().map(Runner::address).collect();
        network.present(&addresses).await.expect("all are there");
        Self { network, runners, _folder: folder }
    }

    pub(crate) async fn send(&self, instruction: Instruction) -> ReceiptView {
        let (client, submitter) = (&self.network.client, &self.network.submitter);
        let mut body = client.quote(submitter.address()).await.unwrap().transaction(instruction);
        body.cycles_limit += ROOM.0;
        body.cells_limit += ROOM.1;
        let signed = remuda_client::sign::Signed::new(&body.sign(submitter));
        let receipt = client.submit_and_wait(&signed).await.expect("taken");
        assert!(receipt.ok, "{receipt:?}");
        receipt
    }

    pub(crate) async fn deploy(&self, code: &str, payload: &HostValue) -> Address {
        let instruction = Instruction::DeployActor {
            salt: B256::ZERO,
            code: code.to_owned(),
            payload: cbor::encode(payload).unwrap().into(),
            value: Amount::cby(2_000),
        };
        self.send(instruction).await;
        actor_address(self.network.submitter.address(), B256::ZERO, code)
    }

    pub(crate) async fn call(
        &self,
        actor: Address,
        method: &str,
        payload: &HostValue,
    ) -> ReceiptView {
        let payload = cbor::encode(payload).unwrap().into();
        let value = Amount::ZERO;
        self.send(Instruction::CallActor { actor, method: method.to_owned(), payload, value }).await
    }

    /// An entry of an actor's storage, once it is there.
    pub(crate) async fn stored(&self, actor: Address, name: &str) -> HostValue {
        let prefix = HexBytes(name.as_bytes().to_vec());
        let look = async || {
            let page = self.network.client.actor_state(actor, &prefix, None).await.ok()?;
            let entry = page.entries.into_iter().find(|entry| entry.key == prefix)?;
            cbor::decode(&entry.value.0).ok()
        };
        match self.network.wait(name, look).await {
            Ok(value) => value,
            Err(error) => {
                let logs = self.network.client.actor_logs(actor, None).await;
                panic!("{error}: {logs:#?}");
            }
        }
    }

    pub(crate) async fn stop(self) {
        for mut runner in self.runners {
            runner.kill().await;
        }
        self.network.stop().await;
    }
}

pub(crate) fn text(text: &str) -> HostValue {
    HostValue::Str(text.to_owned())
}
