//! What is wrong with code and calls, where no machine is needed to see it.

use super::common::{World, callback};
use super::{Case, Signed, case};
use remuda_protocol::codec::Bytes;
use remuda_protocol::error::Refusal::*;
use remuda_protocol::primitives::{Address, Amount, B256};
use remuda_protocol::transaction::Instruction;

impl World {
    fn deployment(&self, code: &str, payload: usize) -> Signed {
        let (code, payload) = (code.to_owned(), Bytes(vec![0; payload]));
        let (salt, value) = (B256::ZERO, Amount::ZERO);
        let deploy = Instruction::DeployActor { salt, code, payload, value };
        self.signed(&self.customer(), deploy)
    }

    fn actor_call(&self, method: &str, payload: usize) -> Signed {
        let (method, payload) = (method.to_owned(), Bytes(vec![0; payload]));
        let (actor, value) = (Address::repeat_byte(0xac), Amount::ZERO);
        self.signed(&self.customer(), Instruction::CallActor { actor, method, payload, value })
    }
}

pub(super) fn actor_cases() -> Vec<Case> {
    vec![
        case(NoMachine, "code on a chain that runs none", |w| w.deployment("pass", 0)),
        case(CodeTooLarge, "no code at all", |w| w.deployment("", 0)),
        case(PayloadTooLong, "an init with too much", |w| w.deployment("pass", 65_537)),
        case(PayloadTooLong, "a call with too much", |w| w.actor_call("m", 65_537)),
        case(MethodTooLong, "a method without a name", |w| w.actor_call("", 0)),
        case(MethodTooLong, "a method with a long name", |w| w.actor_call(&"m".repeat(65), 0)),
        case(HandlerNotOpen, "a result for an actor that asked for nothing", |w| {
            w.spoiled_vote(|spec| spec.callback = Some(callback(1)))
        }),
        case(NoCode, "a call of nobody", |w| w.actor_call("m", 0)),
        case(NoCode, "other code for nobody", |w| {
            let (actor, code) = (Address::repeat_byte(0xac), "pass".to_owned());
            w.signed(&w.customer(), Instruction::UpgradeActor { actor, code })
        }),
    ]
}
