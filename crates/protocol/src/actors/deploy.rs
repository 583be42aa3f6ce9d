//! How code comes to the chain, and how it changes.

use super::host::Running;
use super::record::Actor;
use super::{Argument, Call, call::PAYLOAD_BYTES_MAX};
use crate::error::Refusal;
use crate::event::Event;
use crate::execute::Exec;
use crate::key::{ActorKey, CodeKey};
use crate::primitives::{Address, Amount, B256, TxHash, keccak256};

/// What is called once, if it is there.
const INIT: &str = "init";
/// No method at all: the program's body runs, and nothing is called. Callers cannot name it.
pub const BODY: &str = "";

/// Last 20 bytes of `keccak256("cowboy-actor-v1:" ‖ deployer ‖ salt ‖ keccak256(code))`: known before
/// it is deployed, and bound to the code.
pub fn actor_address(deployer: Address, salt: B256, code: &str) -> Address {
    let mut bytes = b"cowboy-actor-v1:".to_vec();
    bytes.extend_from_slice(deployer.as_slice());
    bytes.extend_from_slice(salt.as_slice());
    bytes.extend_from_slice(keccak256(code).as_slice());
    Address::from_word(keccak256(bytes))
}

impl Exec<'_> {
    fn check_code(&mut self, code: &str) -> Result<(), Refusal> {
        if code.is_empty() || code.len() as u64 > self.params.actor_code_bytes_max {
            return Err(Refusal::CodeTooLarge);
        }
        self.actors.check(code)?;
        self.compiled.insert(keccak256(code));
        Ok(())
    }

    /// DeployActor.
    pub(crate) fn deploy(
        &mut self,
        who: Address,
        hash: TxHash,
        salt: B256,
        code: &str,
        payload: &[u8],
        value: Amount,
    ) -> Result<(), Refusal> {
        if payload.len() > PAYLOAD_BYTES_MAX {
            return Err(Refusal::PayloadTooLong);
        }
        self.check_code(code)?;
        let actor = actor_address(who, salt, code);
        if self.state.get(&ActorKey { actor }).is_some() {
            return Err(Refusal::ActorExists);
        }
        let code_hash = keccak256(code);
        let record = Actor {
            owner: who,
            code_hash,
            code_bytes: code.len() as u32,
            storage_bytes: 0,
            root: None,
            suspended: 0,
            next_frame: 0,
            next_token: 0,
        };
        self.state.put(&ActorKey { actor }, &record);
        self.state.put(&CodeKey { actor }, &code.to_owned());
        self.emit(Event::ActorDeployed { actor, owner: who, code_hash });
        if !value.is_zero() {
            self.transfer(who, actor, value)?;
        }
        self.begin_cause();
        let running = Running { value, ..Running::of(actor, who, hash) };
        let call = Call { method: INIT, argument: Argument::Payload(payload), optional: true };
        self.run_method(running, &call, None).map(|_| ())
    }

    /// UpgradeActor. The new code's body runs once: what fails there is refused here, and not in every call
    /// from now on.
    pub(crate) fn upgrade_actor(
        &mut self,
        who: Address,
        hash: TxHash,
        actor: Address,
        code: &str,
    ) -> Result<(), Refusal> {
        self.upgrade(who, actor, code)?;
        self.begin_cause();
        let running = Running::of(actor, who, hash);
        let call = Call { method: BODY, argument: Argument::Payload(&[]), optional: false };
        self.run_method(running, &call, None).map(|_| ())
    }

    /// UpgradeActor, and the host's call of that name.
    pub(crate) fn upgrade(
        &mut self,
        who: Address,
        actor: Address,
        code: &str,
    ) -> Result<(), Refusal> {
        let mut record = self.state.get(&ActorKey { actor }).ok_or(Refusal::NoCode)?;
        if record.owner != who {
            return Err(Refusal::NotOwner);
        }
        // Frames belong to the code that they were written by.
        if record.suspended > 0 {
            return Err(Refusal::CallsWaiting);
        }
        self.check_code(code)?;
        record.code_hash = keccak256(code);
        record.code_bytes = code.len() as u32;
        self.state.put(&ActorKey { actor }, &record);
        self.state.put(&CodeKey { actor }, &code.to_owned());
        self.emit(Event::ActorUpgraded { actor, code_hash: record.code_hash });
        Ok(())
    }
}
