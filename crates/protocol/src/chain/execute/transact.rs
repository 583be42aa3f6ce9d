//! One transaction: admission, fee, instruction, receipt.

use super::Exec;
use crate::base::codec::Decode;
use crate::base::crypto::PublicKey;
use crate::base::error::{Inadmissible, Refusal};
use crate::base::primitives::{Address, Amount, Cells, Cycles, TxHash};
use crate::chain::execute::deposit::{Dues, Purse};
use crate::rules::admission::{check_bids, check_limits, deposit};
use crate::rules::cost;
use crate::rules::dispatcher::spec::JobSpec;
use crate::rules::dispatcher::submit::job_id;
use crate::rules::event::{Cause, Receipt};
use crate::rules::fees::{Lane, Usage, cost as price};
use crate::rules::key::AccountKey;
use crate::rules::timers::index::TimerIndex;
use crate::rules::tip::{ChainState, Supply};
use crate::rules::transaction::{Instruction, SignedTransaction, Transaction, tx_hash};

/// What is left of a transaction's limits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Meter {
    pub(crate) cycles: u64,
    pub(crate) cells: u64,
    /// Cycles that a cell costs, for calls that prepay in cycles alone; 0 for all others.
    pub(crate) cell_cycles: u64,
}

/// A point of an operation that [`Exec::rollback_to`] goes back to.
#[derive(Clone, Debug)]
pub(crate) struct Savepoint {
    chain: ChainState,
    supply: Supply,
    timers: TimerIndex,
    dues: Dues,
    writes: usize,
    /// Lengths of the lists that only grow.
    lengths: (usize, usize, usize),
}

/// The signer of a transaction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sender {
    pub(crate) address: Address,
    pub(crate) public_key: PublicKey,
}

/// A transaction that may run.
struct Admitted {
    hash: TxHash,
    sender: Sender,
    body: Transaction,
    deposit: Amount,
    cycle_tip: u128,
    cell_tip: u128,
}

impl Exec<'_> {
    /// Runs a transaction, or says why it cannot be in this block; then nothing has changed.
    pub(super) fn transact(&mut self, bytes: &[u8]) -> Result<(), Inadmissible> {
        let admitted = self.admit(bytes)?;
        self.prepay_fee(&admitted);
        let Transaction { cycles_limit: cycles, cells_limit: cells, .. } = admitted.body;
        self.meter = Meter { cycles, cells, cell_cycles: 0 };
        let (payer, limit) = (admitted.sender.address, admitted.body.max_deposit);
        let result = self.atomically(|exec| {
            exec.run(&admitted, bytes.len())?;
            exec.settle_dues(Purse { payer, limit, own_counts: true })
        });
        if result.is_err() {
            self.emit_fault();
        }
        self.settle_fee(admitted, result.err());
        Ok(())
    }

    /// A job without the transaction around it.
    pub(super) fn submit_alone(&mut self, submitter: Address, hash: TxHash, spec: &JobSpec) {
        self.meter = Meter { cycles: u64::MAX, cells: u64::MAX, cell_cycles: 0 };
        let id = job_id(self.params.chain_id, hash, 0);
        // A job that is turned down is of no interest here; nothing is left of it.
        let _ = self.atomically(|exec| exec.submit_job(submitter, id, spec.clone(), 0));
    }

    /// Runs an operation; if it is turned down, takes back everything it wrote.
    fn atomically(
        &mut self,
        operation: impl FnOnce(&mut Self) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        self.state.checkpoint();
        self.keep_changes();
        let (chain, supply) = (self.chain.clone(), self.supply);
        let (timers, events) = (self.timers.clone(), self.events.len());
        self.dues = Dues::new();
        let result = operation(self);
        if result.is_ok() {
            self.state.keep();
        } else {
            self.state.rollback();
            (self.chain, self.supply, self.timers) = (chain, supply, timers);
            self.events.truncate(events);
            self.new_lists.clear();
            self.changing.clear();
        }
        self.keep_new_lists();
        result
    }

    /// Runs a part of an operation; if that is turned down, takes back what it wrote and nothing else.
    pub(crate) fn nested<T>(
        &mut self,
        part: impl FnOnce(&mut Self) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let savepoint = self.savepoint();
        let result = part(self);
        if result.is_err() {
            self.rollback_to(savepoint);
        }
        result
    }

    pub(crate) fn savepoint(&self) -> Savepoint {
        Savepoint {
            chain: self.chain.clone(),
            supply: self.supply,
            timers: self.timers.clone(),
            dues: self.dues.clone(),
            writes: self.state.savepoint(),
            lengths: (self.events.len(), self.new_lists.len(), self.changing.len()),
        }
    }

    /// Takes back what was written since. What was consumed stays consumed.
    pub(crate) fn rollback_to(&mut self, savepoint: Savepoint) {
        let Savepoint { chain, supply, timers, dues, writes, lengths } = savepoint;
        self.state.rollback_to(writes);
        (self.chain, self.supply, self.timers, self.dues) = (chain, supply, timers, dues);
        self.events.truncate(lengths.0);
        self.new_lists.truncate(lengths.1);
        self.changing.truncate(lengths.2);
    }

    /// Runs a call within limits; how it ended, and what it left of the cycles and cells.
    pub(crate) fn metered(
        &mut self,
        meter: Meter,
        call: impl FnOnce(&mut Self) -> Result<(), Refusal>,
    ) -> (Result<(), Refusal>, (u64, u64)) {
        self.meter = meter;
        let result = self.atomically(call);
        (result, (self.meter.cycles, self.meter.cells))
    }

    /// Counts what a call of the block's own consumed in a lane.
    pub(crate) fn count_usage(&mut self, lane: Lane, cycles: u64, cells: u64) {
        self.used.cycles = Cycles(self.used.cycles.get() + cycles);
        self.used.cells = Cells(self.used.cells.get() + cells);
        *self.lanes.entry(lane).or_default() += cycles;
    }

    fn run(&mut self, admitted: &Admitted, bytes: usize) -> Result<(), Refusal> {
        let intrinsic = cost::intrinsic(&admitted.body.instruction, bytes);
        self.charge(intrinsic.cycles, intrinsic.cells)?;
        self.perform_instruction(admitted)
    }

    pub(crate) fn charge(&mut self, cycles: u64, cells: u64) -> Result<(), Refusal> {
        let cycles = cycles.saturating_add(cells.saturating_mul(self.meter.cell_cycles));
        match self.meter.cycles.checked_sub(cycles) {
            Some(left) => self.meter.cycles = left,
            None => {
                self.meter.cycles = 0;
                return Err(Refusal::OutOfCycles);
            }
        }
        match self.meter.cells.checked_sub(cells) {
            Some(left) => self.meter.cells = left,
            None => {
                self.meter.cells = 0;
                return Err(Refusal::OutOfCells);
            }
        }
        Ok(())
    }

    /// The checks that make a transaction payable, in the order of their codes; only room for sound limits
    /// is looked at before the signature, because a proposer offers more than there is room for, and
    /// looking costs nothing.
    fn admit(&self, bytes: &[u8]) -> Result<Admitted, Inadmissible> {
        if bytes.len() as u64 > self.params.max_tx_bytes {
            return Err(Inadmissible::TooLarge);
        }
        let SignedTransaction { body, signature } =
            SignedTransaction::from_bytes(bytes).map_err(|_| Inadmissible::Malformed)?;
        if body.chain_id != self.params.chain_id {
            return Err(Inadmissible::WrongChain);
        }
        if check_limits(&body, bytes.len(), self.params).is_ok() {
            self.check_room(&body)?;
        }
        let public_key =
            signature.recover(&body.digest()).map_err(|_| Inadmissible::BadSignature)?;
        let address = public_key.address().ok_or(Inadmissible::BadSignature)?;
        let account = self.account(address);
        match body.nonce.cmp(&account.nonce) {
            core::cmp::Ordering::Less => return Err(Inadmissible::NonceTooLow),
            core::cmp::Ordering::Greater => return Err(Inadmissible::NonceTooHigh),
            core::cmp::Ordering::Equal => {}
        }
        check_bids(&body)?;
        let (cycle_tip, cell_tip) = self.tips(&body)?;
        check_limits(&body, bytes.len(), self.params)?;
        let deposit = deposit(&body).ok_or(Inadmissible::CostOverflow)?;
        if account.balance < deposit {
            return Err(Inadmissible::CannotPay);
        }
        let sender = Sender { address, public_key };
        Ok(Admitted { hash: tx_hash(bytes), sender, body, deposit, cycle_tip, cell_tip })
    }

    fn tips(&self, body: &Transaction) -> Result<(u128, u128), Inadmissible> {
        let cycle = body.cycle_bid.tip(self.basefees.cycle);
        let cell = body.cell_bid.tip(self.basefees.cell);
        cycle.zip(cell).ok_or(Inadmissible::FeeBelowBasefee)
    }

    /// What others left in the block. Limits count, not what is used in the end: a block's work is
    /// bounded before it is done.
    fn check_room(&self, body: &Transaction) -> Result<(), Inadmissible> {
        let lane = body.instruction.lane();
        let in_lane = self.lanes.get(&lane).copied().unwrap_or(0);
        let cycles = in_lane.saturating_add(body.cycles_limit);
        let total = self.used.cycles.get().saturating_add(body.cycles_limit);
        let cells = self.used.cells.get().saturating_add(body.cells_limit);
        let fits = cycles <= lane.limit(self.params)
            && total <= self.params.cycles_target.saturating_mul(2)
            && cells <= self.params.cells_target.saturating_mul(2);
        if fits { Ok(()) } else { Err(Inadmissible::BlockFull) }
    }

    fn prepay_fee(&mut self, admitted: &Admitted) {
        let address = admitted.sender.address;
        let mut account = self.account(address);
        account.nonce += 1;
        account.balance = Amount(account.balance.get() - admitted.deposit.get());
        self.state.put(&AccountKey { address }, &account);
    }

    /// Burns the basefee, pays the tip, gives the rest of the deposit back, writes the receipt.
    fn settle_fee(&mut self, admitted: Admitted, refusal: Option<Refusal>) {
        let Admitted { hash, sender, body, deposit, cycle_tip, cell_tip } = admitted;
        let cycles = body.cycles_limit - self.meter.cycles;
        let cells = body.cells_limit - self.meter.cells;
        // No more than the deposit, which was checked: used ≤ limit, basefee + tip ≤ max_fee.
        let part = |cycle_price, cell_price| -> Amount {
            [price(cycles, cycle_price), price(cells, cell_price)].into_iter().flatten().sum()
        };
        let base = part(self.basefees.cycle, self.basefees.cell);
        let tip = part(cycle_tip, cell_tip);
        let fee = Amount(base.get() + tip.get());
        self.burn(base);
        self.credit(self.env.fee_recipient, tip);
        self.credit(sender.address, Amount(deposit.get() - fee.get()));

        let used = Usage { cycles: Cycles(cycles), cells: Cells(cells) };
        self.count_usage(body.instruction.lane(), cycles, cells);
        let code = refusal.map_or(0, Refusal::code);
        let events = core::mem::take(&mut self.events);
        self.receipts.push(Receipt { cause: Cause::Transaction { hash }, code, used, fee, events });
    }

    fn perform_instruction(&mut self, admitted: &Admitted) -> Result<(), Refusal> {
        let sender = admitted.sender;
        let who = sender.address;
        match &admitted.body.instruction {
            Instruction::Transfer { to, amount } => self.transfer(who, *to, *amount),
            Instruction::RegisterRunner { stake, offer } => self.register(sender, *stake, offer),
            Instruction::UpdateRunner { offer } => self.update_offer(who, offer),
            Instruction::Stake { amount } => self.stake(who, *amount),
            Instruction::Unstake { amount } => self.unstake(who, *amount),
            Instruction::PauseRunner => self.pause(who),
            Instruction::ResumeRunner => self.resume(who),
            Instruction::Heartbeat => self.heartbeat(who),
            Instruction::DeregisterRunner => self.deregister(who),
            Instruction::Delegate { runner, amount, min_shares } => {
                self.delegate(who, *runner, *amount, *min_shares)
            }
            Instruction::Undelegate { runner, shares } => self.undelegate(who, *runner, *shares),
            Instruction::SubmitJob { spec } => {
                let max_fee = admitted.body.cycle_bid.max_fee;
                let id = job_id(self.params.chain_id, admitted.hash, 0);
                self.submit_job(who, id, spec.clone(), max_fee)
            }
            Instruction::CancelJob { job } => self.cancel_job(who, job),
            Instruction::CommitResult { job, commitment } => self.commit(who, job, *commitment),
            Instruction::RevealResult { job, reveal } => self.reveal_own(who, job, reveal),
            Instruction::RevealAggregate { job, reveals } => self.reveal_all(who, job, reveals),
            Instruction::SubmitResult { job, result, result_sig } => {
                self.submit_result(who, job, result, result_sig)
            }
            Instruction::CrashAttestation { job, signal } => self.attest_crash(who, job, *signal),
            Instruction::ChallengeResult { job } => self.challenge(who, admitted.hash, job),
            Instruction::ScheduleTimer { timer } => {
                self.schedule_timer(who, who, timer).map(|_| ())
            }
            Instruction::CancelTimer { timer } => self.cancel_timer(who, *timer),
            Instruction::ExtendTimer { timer, expires_at } => {
                self.extend_timer(who, *timer, *expires_at)
            }
            Instruction::SystemCancelTimer { timer } => self.system_cancel_timer(who, *timer),
            Instruction::SystemExtendTimer { timer, expires_at } => {
                self.system_extend_timer(who, *timer, *expires_at)
            }
            Instruction::UpdateTimerConfig { config } => self.update_timer_config(who, config),
            Instruction::EntitlementGrant { grantee, scope, action, constraints } => {
                self.grant_entitlement(who, *grantee, scope, action, constraints).map(|_| ())
            }
            Instruction::EntitlementAccept { entitlement } => {
                self.accept_entitlement(who, *entitlement)
            }
            Instruction::EntitlementRevoke { entitlement } => {
                self.revoke_entitlement(who, *entitlement)
            }
            Instruction::EntitlementDelegate { entitlement, delegatee, constraints } => {
                self.delegate_entitlement(who, *entitlement, *delegatee, constraints).map(|_| ())
            }
            Instruction::EntitlementCreateRole { name, scopes, actions, constraints } => {
                self.create_role(who, name, scopes, actions, constraints).map(|_| ())
            }
            Instruction::EntitlementAssignRole { role, assignee } => {
                self.assign_role(who, *role, *assignee)
            }
            Instruction::EntitlementRevokeRole { role, assignee } => {
                self.revoke_role(who, *role, *assignee)
            }
            Instruction::EntitlementCreateScope { scope } => self.create_scope(who, scope),
            Instruction::DeployActor { salt, code, payload, value } => {
                self.deploy(who, admitted.hash, *salt, code, payload, *value)
            }
            Instruction::CallActor { actor, method, payload, value } => {
                self.call_actor(who, admitted.hash, *actor, method, payload, *value)
            }
            Instruction::UpgradeActor { actor, code } => {
                self.upgrade_actor(who, admitted.hash, *actor, code)
            }
        }
    }
}
