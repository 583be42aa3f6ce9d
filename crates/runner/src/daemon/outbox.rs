//! The runner's own transactions, free of I/O: nonces, bids, and when to send what.
//!
//! ```text
//! wanted ── nonce, fees ──▶ signed ── every 2 blocks again, by other ways ──▶ the nonce is used
//! ```
//! A transaction is signed once and sent until its nonce is used: a copy may be in any mempool. It is signed
//! again
//! - with the same nonce when the basefee has outgrown its bid, or when it has waited for long because others
//!   bid more
//! - with another nonce when a program with the same key was faster, or when an earlier transaction never made
//!   it into a block
//!
//! What a transaction says about a job never changes: salt and signature are on disk. Nothing is signed that the
//! account does not cover together with what is in flight, since it would block all later nonces. When money is
//! short, transactions that stake depends on come first, and bid as little as a block takes.

use remuda_client::sign::{Quote, Signed};
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::execute::deposit;
use remuda_protocol::fees::{Basefees, Bid};
use remuda_protocol::primitives::{Amount, JobId, TxHash};
use remuda_protocol::transaction::{Instruction, Transaction};
use std::collections::{BTreeMap, VecDeque};

/// Blocks until a transaction is sent again (SPEC §5).
const RESEND_BLOCKS: u64 = 2;
/// Blocks to wait for foreign transactions at lower nonces before they count as made up.
const GAP_BLOCKS: u64 = 6;
/// Transactions in flight. Mempools keep 64 of one sender; the rest is left to the owner.
const IN_FLIGHT_MAX: usize = 48;
/// A node may report this many pending nonces: no mempool keeps more of one sender.
const AHEAD_MAX: u64 = 64;
/// Attempts of a transaction that is included without effect.
const TRIES_MAX: u32 = 3;
/// Aggregates of one job. Each may reveal a part of the results.
const AGGREGATES_MAX: u32 = 12;

/// Attempts until a bid is doubled, and how often that is done.
const RAISE_TRIES: u32 = 3;
const RAISES_MAX: u32 = 5;
/// Bids in eighths of the basefee when stake is at risk and the account does not cover the usual bid. A block
/// raises the basefee by at most an eighth, so the last one is still valid in the next block.
const FRUGAL_EIGHTHS: [u128; 2] = [12, 9];
/// A mempool replaces a transaction if all bids are a tenth higher.
const OUTBID_DIVISOR: u128 = 10;

/// One transaction of each purpose is in flight at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    Job(JobId, u32, TxKind),
    Heartbeat,
    Pause,
    Resume,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TxKind {
    /// The result of a single runner.
    Submit,
    Commit,
    Reveal,
    /// Results of several runners, by their aggregator.
    RevealAll,
    Attest,
}

impl Purpose {
    /// Stake is lost without it.
    fn at_stake(&self) -> bool {
        matches!(self, Self::Job(_, _, TxKind::Reveal | TxKind::RevealAll | TxKind::Attest))
    }

    /// A smaller transaction can replace it: an aggregator can reveal its own result only.
    fn has_substitute(&self) -> bool {
        matches!(self, Self::Job(_, _, TxKind::RevealAll))
    }

    /// Attempts that may be included.
    fn limit(&self) -> u32 {
        match self {
            Self::Job(_, _, TxKind::RevealAll) => AGGREGATES_MAX,
            Self::Job(_, _, TxKind::Attest) => 1,
            Self::Job(..) => TRIES_MAX,
            Self::Heartbeat | Self::Pause | Self::Resume => u32::MAX,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccountSnapshot {
    /// Of this snapshot.
    pub height: u64,
    pub chain_id: u64,
    /// Next on chain.
    pub nonce: u64,
    /// Next after the transactions that wait at the node.
    pub next_nonce: u64,
    /// Of the next block.
    pub basefees: Basefees,
    pub balance: u128,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutgoingTx {
    pub purpose: Purpose,
    pub signed: Signed,
    /// Earlier attempts.
    pub tries: u32,
}

#[derive(Clone, Debug)]
struct Wanted {
    purpose: Purpose,
    instruction: Instruction,
    /// Cycles beyond the price list.
    spare: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Bids {
    cycle: Bid,
    cell: Bid,
}

impl Bids {
    fn of(body: &Transaction) -> Self {
        Self { cycle: body.cycle_bid, cell: body.cell_bid }
    }

    /// The same tip, and at most this many eighths of the basefee.
    fn frugal(self, basefees: &Basefees, eighths: u128) -> Self {
        let low = |bid: Bid, basefee: u128| Bid {
            max_fee: basefee.saturating_mul(eighths).div_ceil(8),
            ..bid
        };
        Self { cycle: low(self.cycle, basefees.cycle), cell: low(self.cell, basefees.cell) }
    }

    /// At least `raise` of each old bid: a replacement must raise all of them.
    fn over(self, old: Self, raise: impl Fn(u128) -> u128) -> Self {
        let over = |new: Bid, old: Bid| Bid {
            max_fee: new.max_fee.max(raise(old.max_fee)),
            max_priority: new.max_priority.max(raise(old.max_priority)),
        };
        Self { cycle: over(self.cycle, old.cycle), cell: over(self.cell, old.cell) }
    }

    /// No block includes it any more.
    fn outgrown(&self, basefees: &Basefees) -> bool {
        basefees.cycle > self.cycle.max_fee || basefees.cell > self.cell.max_fee
    }

    fn put_into(self, mut body: Transaction) -> Transaction {
        (body.cycle_bid, body.cell_bid) = (self.cycle, self.cell);
        body
    }
}

/// The least bid that replaces this one.
fn outbid(old: u128) -> u128 {
    old.saturating_add((old / OUTBID_DIVISOR).max(1))
}

fn double(old: u128) -> u128 {
    old.saturating_mul(2)
}

#[derive(Clone, Debug)]
struct Pending {
    purpose: Purpose,
    instruction: Instruction,
    spare: Option<u64>,
    /// Raises because no block included it.
    raised: u32,
    signed: Signed,
    deposit: u128,
    bids: Bids,
    since: u64,
    /// Height of the last attempt.
    sent: Option<u64>,
    tries: u32,
}

impl Pending {
    /// Transactions with a deadline bid more the longer they wait.
    fn pressed(&self, due: bool) -> bool {
        let tries = RAISE_TRIES.saturating_mul(self.raised + 1);
        due && self.raised < RAISES_MAX && self.tries >= tries
    }
}

#[derive(Debug)]
pub struct Outbox {
    key: SecretKey,
    account: Option<AccountSnapshot>,
    pending: BTreeMap<u64, Pending>,
    queue: VecDeque<Wanted>,
    /// Bids of withdrawn transactions by nonce: copies may wait in mempools.
    floors: BTreeMap<u64, Bids>,
    /// Transactions whose nonce was used: height of the last one, and how many.
    done: BTreeMap<Purpose, (u64, u32)>,
}

impl Outbox {
    pub fn new(key: SecretKey) -> Self {
        Self {
            key,
            account: None,
            pending: BTreeMap::new(),
            queue: VecDeque::new(),
            floors: BTreeMap::new(),
            done: BTreeMap::new(),
        }
    }

    /// In flight, or queued.
    pub fn has(&self, purpose: &Purpose) -> bool {
        self.pending.values().any(|pending| pending.purpose == *purpose)
            || self.queue.iter().any(|wanted| wanted.purpose == *purpose)
    }

    pub fn is_empty(&self) -> bool {
        self.pending.is_empty() && self.queue.is_empty()
    }

    #[cfg(test)]
    pub(crate) fn remembered(&self) -> usize {
        self.done.len()
    }

    pub fn len(&self) -> usize {
        self.pending.len() + self.queue.len()
    }

    /// The deposit of a transaction in flight; none if it is not signed yet.
    pub fn binds(&self, purpose: &Purpose) -> Option<u128> {
        let mut pending = self.pending.values();
        pending.find(|pending| pending.purpose == *purpose).map(|pending| pending.deposit)
    }

    /// Whether the balance covers a transaction beside those in flight, and beside `kept`.
    pub fn covers(&self, instruction: &Instruction, spare: Option<u64>, kept: u128) -> bool {
        let Some(account) = &self.account else { return false };
        let cost = cost(&body(account, account.nonce, instruction.clone(), spare));
        self.bound().saturating_add(cost).saturating_add(kept) <= account.balance
    }

    /// Queues a transaction that the chain calls for at height `seen`. Ignored while one of that purpose is in
    /// flight, or was included after that height, or too often.
    pub fn want(&mut self, purpose: Purpose, instruction: Instruction, seen: u64) {
        self.want_with(purpose, instruction, None, seen);
    }

    /// With `spare` cycles beyond the price list.
    pub fn want_with(
        &mut self,
        purpose: Purpose,
        instruction: Instruction,
        spare: Option<u64>,
        seen: u64,
    ) {
        let done = self.done.get(&purpose);
        if self.has(&purpose) || done.is_some_and(|(at, n)| seen < *at || *n >= purpose.limit()) {
            return;
        }
        let wanted = Wanted { purpose, instruction, spare };
        if purpose.at_stake() {
            self.queue.push_front(wanted)
        } else {
            self.queue.push_back(wanted)
        }
    }

    /// Drops what is not signed yet for a job that is over.
    pub fn forget(&mut self, job: JobId) {
        let about = |purpose: &Purpose| matches!(purpose, Purpose::Job(id, ..) if *id == job);
        self.queue.retain(|wanted| !about(&wanted.purpose));
        self.done.retain(|purpose, _| !about(purpose));
    }

    /// Returns the transactions whose nonce was used, by themselves or by others.
    pub fn update(&mut self, mut account: AccountSnapshot) -> Vec<(Purpose, TxHash)> {
        if self.account.is_some_and(|known| account.height < known.height) {
            return Vec::new();
        }
        let most = account.nonce.saturating_add(AHEAD_MAX);
        if account.next_nonce > most {
            account.next_nonce = account.nonce;
        }
        self.account = Some(account);
        let open = self.pending.split_off(&account.nonce);
        let over = std::mem::replace(&mut self.pending, open);
        for pending in over.values() {
            let done = self.done.entry(pending.purpose).or_default();
            *done = (account.height, done.1.saturating_add(1));
        }
        let near = account.nonce..=most.saturating_add(AHEAD_MAX);
        self.floors.retain(|nonce, _| near.contains(nonce));
        let gap = self.pending.first_key_value().is_some_and(|(nonce, first)| {
            *nonce > account.nonce && account.height >= first.since.saturating_add(GAP_BLOCKS)
        });
        if gap {
            self.unsign(account.nonce);
        }
        if let Some(nonce) = self.uncovered(account.balance) {
            self.unsign(nonce);
            // Mempools drop transactions that cannot be paid, so there is nothing to outbid.
            self.floors.split_off(&nonce);
        }
        over.into_values().map(|pending| (pending.purpose, pending.signed.hash)).collect()
    }

    /// Another transaction used the nonce.
    pub fn not_done(&mut self, purpose: &Purpose) {
        if let Some((_, times)) = self.done.get_mut(purpose) {
            *times = times.saturating_sub(1);
        }
    }

    /// No node will ever accept this transaction. Later ones need new nonces.
    pub fn refused_for_good(&mut self, hash: TxHash) {
        let found = self.pending.iter().find(|(_, pending)| pending.signed.hash == hash);
        let Some((&nonce, _)) = found else { return };
        // One node may be wrong. When stake is at risk the core queues it again.
        if let Some(pending) = self.pending.remove(&nonce)
            && !pending.purpose.at_stake()
        {
            let done = self.done.entry(pending.purpose).or_default();
            done.1 += 1;
        }
        self.unsign(nonce);
    }

    /// The first nonce that the balance does not cover any more.
    fn uncovered(&self, balance: u128) -> Option<u64> {
        let mut bound = 0_u128;
        let beyond = |(_, pending): &(&u64, &Pending)| {
            bound = bound.saturating_add(pending.deposit);
            bound > balance
        };
        self.pending.iter().find(beyond).map(|(nonce, _)| *nonce)
    }

    /// Queues everything from a nonce on again.
    fn unsign(&mut self, nonce: u64) {
        let rest = self.pending.split_off(&nonce);
        for (nonce, pending) in rest.into_iter().rev() {
            let Pending { purpose, instruction, spare, .. } = pending;
            if pending.tries > 0 {
                self.floors.insert(nonce, pending.bids);
            }
            self.queue.push_front(Wanted { purpose, instruction, spare });
        }
        if let Some(account) = &mut self.account {
            // The reported pending transactions did not exist.
            account.next_nonce = account.nonce;
        }
    }

    /// The transactions to send now, by nonce.
    pub fn due(&mut self) -> Vec<OutgoingTx> {
        let Some(account) = self.account else { return Vec::new() };
        self.bid_again(&account);
        self.sign_queue(&account);
        let mut txs = Vec::new();
        for pending in self.pending.values_mut() {
            if pending.sent.is_some_and(|sent| account.height < sent.saturating_add(RESEND_BLOCKS))
            {
                continue;
            }
            pending.sent = Some(account.height);
            let (purpose, signed) = (pending.purpose, pending.signed.clone());
            txs.push(OutgoingTx { purpose, signed, tries: pending.tries });
            pending.tries += 1;
        }
        txs
    }

    /// The deposits of all transactions in flight.
    fn bound(&self) -> u128 {
        self.pending.values().fold(0, |sum, pending| sum.saturating_add(pending.deposit))
    }

    fn next_nonce(&self, account: &AccountSnapshot) -> Option<u64> {
        match self.pending.last_key_value() {
            Some((last, _)) => last.checked_add(1),
            // Transactions from before a restart may be pending.
            None => Some(account.next_nonce.max(account.nonce)),
        }
    }

    fn sign_queue(&mut self, account: &AccountSnapshot) {
        let mut queue = std::mem::take(&mut self.queue);
        queue.make_contiguous().sort_by_key(|wanted| !wanted.purpose.at_stake());
        let mut waits_for_money = false;
        for wanted in queue {
            let at_stake = wanted.purpose.at_stake();
            let room = self.pending.len() < IN_FLIGHT_MAX && (at_stake || !waits_for_money);
            let Some(nonce) = self.next_nonce(account).filter(|_| room) else {
                self.queue.push_back(wanted);
                continue;
            };
            if let Some((body, deposit)) = self.affordable(account, nonce, &wanted) {
                self.sign(account, body, deposit, wanted);
                continue;
            }
            // The next money goes to what stake depends on.
            waits_for_money |= at_stake;
            // Makes room for its substitute, and is queued again once there is money.
            if !wanted.purpose.has_substitute() {
                self.queue.push_back(wanted);
            }
        }
    }

    /// The transaction with the highest bid that the balance covers, and its deposit.
    fn affordable(
        &self,
        account: &AccountSnapshot,
        nonce: u64,
        wanted: &Wanted,
    ) -> Option<(Transaction, u128)> {
        let body = body(account, nonce, wanted.instruction.clone(), wanted.spare);
        let usual = Bids::of(&body);
        let saves = wanted.purpose.at_stake() && !wanted.purpose.has_substitute();
        let frugal = FRUGAL_EIGHTHS.iter().filter(|_| saves);
        let frugal = frugal.map(|eighths| usual.frugal(&account.basefees, *eighths));
        let floor = self.floors.get(&nonce);
        let bound = self.bound();
        std::iter::once(usual).chain(frugal).find_map(|bids| {
            let bids = floor.map_or(bids, |floor| bids.over(*floor, outbid));
            let body = bids.put_into(body.clone());
            let deposit = cost(&body);
            (bound.saturating_add(deposit) <= account.balance).then_some((body, deposit))
        })
    }

    fn sign(
        &mut self,
        account: &AccountSnapshot,
        body: Transaction,
        deposit: u128,
        wanted: Wanted,
    ) {
        let Wanted { purpose, instruction, spare } = wanted;
        let (nonce, bids) = (body.nonce, Bids::of(&body));
        let pending = Pending {
            purpose,
            signed: Signed::new(&body.sign(&self.key)),
            deposit,
            instruction,
            spare,
            raised: 0,
            bids,
            since: account.height,
            sent: None,
            tries: 0,
        };
        self.pending.insert(nonce, pending);
    }

    /// Raises bids that are outgrown, or have waited for long.
    fn bid_again(&mut self, account: &AccountSnapshot) {
        let nonces: Vec<u64> = self.pending.keys().copied().collect();
        for nonce in nonces {
            // Withdrawing an earlier one withdraws this one, too.
            let Some(pending) = self.pending.get(&nonce) else { break };
            let (purpose, outgrown) = (pending.purpose, pending.bids.outgrown(&account.basefees));
            let holds_up = self.stake_behind(nonce);
            let pressed = pending.pressed(holds_up || matches!(purpose, Purpose::Job(..)));
            if !outgrown && !pressed {
                continue;
            }
            let urgent = holds_up || purpose.at_stake();
            if self.raise(nonce, account, urgent, pressed) {
                continue;
            }
            // The higher bid cannot be paid. The old one may still be included unless it is outgrown.
            if outgrown && purpose.has_substitute() {
                self.unsign(nonce);
                self.queue.retain(|wanted| wanted.purpose != purpose);
            } else if holds_up && (outgrown || !purpose.at_stake()) {
                self.unsign(nonce);
            }
        }
    }

    /// Whether stake depends on a transaction that waits for this nonce.
    fn stake_behind(&self, nonce: u64) -> bool {
        self.pending.iter().any(|(at, pending)| *at > nonce && pending.purpose.at_stake())
    }

    /// Doubles the bid; if that cannot be paid and is urgent, bids the least that replaces the old one. Returns
    /// whether either can be paid.
    fn raise(
        &mut self,
        nonce: u64,
        account: &AccountSnapshot,
        urgent: bool,
        pressed: bool,
    ) -> bool {
        let bound = self.bound();
        let Some(pending) = self.pending.get_mut(&nonce) else { return false };
        let others = bound.saturating_sub(pending.deposit);
        let body = body(account, nonce, pending.instruction.clone(), pending.spare);
        let usual = Bids::of(&body);
        let least = FRUGAL_EIGHTHS.last().filter(|_| urgent);
        let least = least.map(|eighths| usual.frugal(&account.basefees, *eighths));
        let raised = std::iter::once(usual.over(pending.bids, double))
            .chain(least.map(|least| least.over(pending.bids, outbid)));
        for bids in raised {
            let body = bids.put_into(body.clone());
            let deposit = cost(&body);
            if others.saturating_add(deposit) <= account.balance {
                pending.raised += u32::from(pressed);
                pending.signed = Signed::new(&body.sign(&self.key));
                (pending.bids, pending.deposit, pending.sent) = (bids, deposit, None);
                return true;
            }
        }
        false
    }
}

fn body(
    account: &AccountSnapshot,
    nonce: u64,
    instruction: Instruction,
    spare: Option<u64>,
) -> Transaction {
    let (chain_id, basefees) = (account.chain_id, account.basefees);
    // Runner transactions store nothing in the state.
    let quote = Quote { chain_id, nonce, basefees, state_deposit_per_kib: 0 };
    quote.transaction_with(instruction, spare)
}

/// The balance that a transaction requires.
fn cost(body: &Transaction) -> u128 {
    deposit(body).map_or(u128::MAX, Amount::get)
}

#[cfg(test)]
mod tests;
