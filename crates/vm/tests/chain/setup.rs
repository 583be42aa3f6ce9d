//! A chain with code on it.

use crate::chain::common::{World, calm};
use remuda_protocol::actors::actor_address;
use remuda_protocol::actors::record::Actor;
use remuda_protocol::codec::Bytes;
use remuda_protocol::event::{Event, Receipt};
use remuda_protocol::key::{ActorKey, StorageKey};
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::{Address, Amount, B256};
use remuda_protocol::state::read;
use remuda_protocol::transaction::Instruction;
use remuda_vm::{HostValue, cbor};

/// Python text of a job's specification: three runners vote on a web request.
macro_rules! spec {
    () => {
        "\
SPEC = {
    'job_type': {'Http': {'method': 'GET', 'url': 'https://example.org/price'}},
    'verification': {'mode': 'majority_vote', 'runners': 3, 'threshold': 2,
                     'checks': [{'MajorityVote': {'field': 'answer'}}]},
    'result_schema': {'max_return_bytes': 1024, 'expected_execution_ms': 100, 'data_format': 'json'},
    'max_price': 10 ** 9,
    'timeout_blocks': 10,
}
"
    };
}
pub(crate) use spec;

/// A chain with so many runners.
pub(crate) fn world(runners: usize) -> World {
    world_of(calm(), runners)
}

/// The same with other parameters.
pub(crate) fn world_of(params: ChainParams, runners: usize) -> World {
    let mut world = World::new(params, runners);
    world.chain.actors = remuda_vm::chain::machine();
    world
}

pub(crate) fn text(text: &str) -> HostValue {
    HostValue::Str(text.to_owned())
}

pub(crate) fn int(int: i64) -> HostValue {
    HostValue::Int(int)
}

pub(crate) fn addr(address: Address) -> HostValue {
    HostValue::Bytes(address.to_vec())
}

pub(crate) fn list<const N: usize>(items: [HostValue; N]) -> HostValue {
    HostValue::List(items.into())
}

/// What a call that ended well returned.
pub(crate) fn returned(receipt: &Receipt) -> HostValue {
    assert_eq!(receipt.code, 0, "{:?}", receipt.events);
    let value = receipt.events.iter().find_map(|event| match event {
        Event::ActorReturned { value, .. } => Some(value.clone()),
        _ => None,
    });
    let value = value.unwrap_or_else(|| panic!("nothing was returned: {:?}", receipt.events));
    if value.is_empty() {
        return HostValue::None;
    }
    cbor::decode(&value).unwrap_or(HostValue::Bytes(value.0))
}

/// What a failed call said.
pub(crate) fn error(receipt: &Receipt) -> String {
    let told = receipt.events.iter().find_map(|event| match event {
        Event::CallFailed { error, .. } => Some(error.clone()),
        _ => None,
    });
    told.unwrap_or_else(|| panic!("nothing failed: {:?}", receipt.events))
}

/// Topics and data of what actors said.
pub(crate) fn said(events: &[Event]) -> Vec<(String, HostValue)> {
    let said = events.iter().filter_map(|event| match event {
        Event::ActorEvent { topic, data, .. } => {
            let data = cbor::decode(data).unwrap_or_else(|_| HostValue::Bytes(data.0.clone()));
            Some((topic.clone(), data))
        }
        _ => None,
    });
    said.collect()
}

impl World {
    /// Deploys for the customer, with a thousand CBY.
    pub(crate) fn deploy(&mut self, code: &str) -> Address {
        let receipt = self.deploy_with(code, &[], Amount::cby(1_000));
        assert_eq!(receipt.code, 0, "{:?}", receipt.events);
        actor_address(self.customer().address(), B256::ZERO, code)
    }

    pub(crate) fn deploy_with(&mut self, code: &str, payload: &[u8], value: Amount) -> Receipt {
        let (code, payload) = (code.to_owned(), Bytes::from(payload));
        let deploy = Instruction::DeployActor { salt: B256::ZERO, code, payload, value };
        self.run(&self.customer(), deploy)
    }

    /// Calls in a block of its own.
    pub(crate) fn call(&mut self, actor: Address, method: &str, argument: HostValue) -> Receipt {
        self.call_with(actor, method, argument, Amount::ZERO)
    }

    pub(crate) fn call_with(
        &mut self,
        actor: Address,
        method: &str,
        argument: HostValue,
        value: Amount,
    ) -> Receipt {
        let payload = match argument {
            HostValue::None => Vec::new(),
            argument => cbor::encode(&argument).unwrap(),
        };
        let (method, payload) = (method.to_owned(), Bytes(payload));
        let call = Instruction::CallActor { actor, method, payload, value };
        self.run(&self.customer(), call)
    }

    /// Calls and reads what came back.
    pub(crate) fn asked(&mut self, actor: Address, method: &str, argument: HostValue) -> HostValue {
        returned(&self.call(actor, method, argument))
    }

    pub(crate) fn actor(&self, actor: Address) -> Actor {
        read(&self.chain.state, &ActorKey { actor }).expect("it is deployed")
    }

    pub(crate) fn stored(&self, actor: Address, key: &[u8]) -> Option<Bytes> {
        read(&self.chain.state, &StorageKey { actor, key })
    }

    /// Blocks until an actor says something on a topic; what it says.
    pub(crate) fn until_said(&mut self, topic: &str) -> HostValue {
        for _ in 0..200 {
            let events = self.step();
            if let Some((_, data)) = said(&events).into_iter().find(|(said, _)| said == topic) {
                return data;
            }
        }
        panic!("nobody said {topic}");
    }
}
