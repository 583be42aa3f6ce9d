//! Deferred calls: how a verified result reaches an actor.
//!
//! A call never runs in the block of its cause. It is prepaid, runs from the runner lane, and
//! nothing else depends on how it ends. Actors come with the VM; until then no address has code,
//! so every call ends as failed, costs nothing and is refunded.

use crate::codec::codec_struct;
use crate::event::Event;
use crate::execute::Exec;
use crate::key::{AccountKey, CallKey};
use crate::primitives::{Address, Amount, JobId};

/// Deferred calls that one block runs at most. With actors the runner lane limits it by cycles.
const CALLS_PER_BLOCK: u64 = 10_000;

/// A call that waits for the next block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeferredCall {
    /// The job whose result it carries.
    pub job: JobId,
    /// Whom to call.
    pub actor: Address,
    /// Which handler.
    pub handler: String,
    /// Who prepaid.
    pub payer: Address,
    /// How much.
    pub deposit: Amount,
    /// Cycles that were prepaid.
    pub cycles_limit: u64,
}
codec_struct!(DeferredCall { job, actor, handler, payer, deposit, cycles_limit });

impl Exec<'_> {
    /// Puts a call at the end of the queue.
    pub(crate) fn defer(&mut self, call: &DeferredCall) {
        self.state.put(&CallKey { index: self.chain.calls_tail }, call);
        self.chain.calls_tail += 1;
    }

    /// Runs the calls that earlier blocks queued.
    pub(crate) fn run_calls(&mut self) {
        let end = self.chain.calls_tail.min(self.chain.calls_head.saturating_add(CALLS_PER_BLOCK));
        for index in self.chain.calls_head..end {
            if let Some(call) = self.state.get(&CallKey { index }) {
                self.state.remove(&CallKey { index });
                self.run_call(&call);
            }
        }
        self.chain.calls_head = end;
    }

    fn run_call(&mut self, call: &DeferredCall) {
        let mut payer = self.account(call.payer);
        payer.failed_callbacks += 1;
        self.state.put(&AccountKey { address: call.payer }, &payer);
        self.credit(call.payer, call.deposit);
        self.emit(Event::CallbackFailed { job: call.job, actor: call.actor });
    }
}
