//! Deployment and upgrade of code.

use super::call::{METHOD_BYTES_MAX, PAYLOAD_BYTES_MAX};
use super::host::Running;
use super::{Argument, Call};
use crate::base::codec::Encode as _;
use crate::base::error::Refusal;
use crate::base::primitives::{Address, Amount, B256, TxHash, keccak256};
use crate::chain::execute::Exec;
use crate::rules::actors::deploy::{BODY, actor_address};
use crate::rules::actors::price;
use crate::rules::actors::record::Actor;
use crate::rules::deposit::{Held, RECORD_BYTES};
use crate::rules::event::Event;
use crate::rules::key::{ActorKey, CodeKey, OpenHandlersKey};

/// What is called once, if it is there.
const INIT: &str = "init";
/// Handlers that an actor may open to others' jobs: each submission reads their names.
const OPEN_HANDLERS_MAX: usize = 32;

impl Exec<'_> {
    /// Whether code may be put on the chain; the handlers that it opens.
    fn check_code(&mut self, code: &str) -> Result<Vec<String>, Refusal> {
        if code.is_empty() || code.len() as u64 > self.params.actor_code_bytes_max {
            return Err(Refusal::CodeTooLarge);
        }
        let open = self.actors.check(code)?;
        if open.len() > OPEN_HANDLERS_MAX || open.iter().any(|name| name.len() > METHOD_BYTES_MAX) {
            return Err(Refusal::TooManyOpenHandlers);
        }
        self.compiled.insert(keccak256(code));
        Ok(open)
    }

    /// Writes an actor's code, which handlers it opens, and the record itself.
    fn put_code(
        &mut self,
        actor: Address,
        mut record: Actor,
        code: &str,
        open: &Vec<String>,
    ) -> Result<(), Refusal> {
        record.code_hash = keccak256(code);
        record.code_bytes = code.len() as u32;
        self.state.put(&CodeKey { actor }, &code.to_owned());
        let key = OpenHandlersKey { actor };
        let mut bytes = RECORD_BYTES + code.len() as u64 + record.storage_bytes;
        if open.is_empty() {
            self.state.remove(&key);
        } else {
            let names = open.to_bytes().len();
            self.charge(price::write(names), names as u64)?;
            self.state.put(&key, open);
            bytes += names as u64;
        }
        self.resize(actor, &mut record.held, bytes);
        self.state.put(&ActorKey { actor }, &record);
        Ok(())
    }

    /// Whether an actor's code opens a handler to others' jobs.
    pub(crate) fn is_open_handler(&self, actor: Address, handler: &str) -> bool {
        let open = self.state.get(&OpenHandlersKey { actor });
        open.is_some_and(|open| open.iter().any(|name| name == handler))
    }

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
        let open = self.check_code(code)?;
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
            held: Held::default(),
            root: None,
            suspended: 0,
            next_frame: 0,
            next_token: 0,
        };
        self.put_code(actor, record, code, &open)?;
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
        let record = self.state.get(&ActorKey { actor }).ok_or(Refusal::NoCode)?;
        if record.owner != who {
            return Err(Refusal::NotOwner);
        }
        // Frames belong to the code that they were written by.
        if record.suspended > 0 {
            return Err(Refusal::CallsWaiting);
        }
        let open = self.check_code(code)?;
        self.put_code(actor, record, code, &open)?;
        self.emit(Event::ActorUpgraded { actor, code_hash: keccak256(code) });
        Ok(())
    }
}
