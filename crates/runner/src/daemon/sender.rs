//! The runner's own transactions: who owns the nonce, and what is sent when.
//!
//! ```text
//! wanted ── nonce, fees ──▶ signed ── every 2 blocks again, by other ways ──▶ the nonce is used
//! ```
//! A transaction is signed once and sent until its nonce is used, because a copy of it may be in
//! anybody's mempool. It is signed again, with the same nonce, when the basefee has outgrown its
//! bid, or when it waits for long because others bid more; with another one when a program with the
//! same key was faster, or when what should have come before it never did. What a transaction says
//! about a job never changes: salt and signature are on disk. Nothing is signed that the account does
//! not cover together with what is on its way: it would hold up all that comes after it. Where money is
//! short, what stake depends on comes first and bids as little as a block takes. Nothing here acts;
//! heights and answers come in, signed bytes go out.

use remuda_client::sign::{Quote, Signed};
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::execute::deposit;
use remuda_protocol::fees::{Basefees, Bid};
use remuda_protocol::primitives::{Amount, JobId, TxHash};
use remuda_protocol::transaction::{Instruction, Transaction};
use std::collections::{BTreeMap, VecDeque};

/// Blocks after which a transaction that is in none is sent again (SPEC §5).
const RESEND_BLOCKS: u64 = 2;
/// Blocks for which one waits for nonces below the own ones, before they are taken for made up.
const GAP_BLOCKS: u64 = 6;
/// Transactions on their way at a time. Mempools keep 64 of one sender, of which some are left to
/// its owner.
const IN_FLIGHT_MAX: usize = 48;
/// Nonces beyond the chain's that a node may say are taken: no mempool keeps more of one sender.
const AHEAD_MAX: u64 = 64;
/// How often a deed is tried that ends up on chain without effect.
const TRIES_MAX: u32 = 3;
/// Aggregates that open a job's results, of which each may have some only.
const AGGREGATES_MAX: u32 = 12;

/// Sendings without success after which a bid is doubled, and how often that is done.
const RAISE_TRIES: u32 = 3;
const RAISES_MAX: u32 = 5;
/// What stake depends on may bid, in eighths of the basefee, if the usual bid does not fit. A block
/// raises the basefee by an eighth at most, so the last one is still good for the next block.
const FRUGAL_EIGHTHS: [u128; 2] = [12, 9];
/// A mempool takes a transaction in another's place if all its bids are a tenth higher.
const OUTBID_DIVISOR: u128 = 10;

/// What a transaction is for. One of each is on its way at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    Job(JobId, u32, Deed),
    Heartbeat,
    /// To get no more jobs.
    Pause,
    Resume,
}

/// What is done about a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Deed {
    /// The result of a single runner.
    Submit,
    Commit,
    Reveal,
    /// Results of several, opened by their aggregator.
    RevealAll,
    Attest,
}

impl Purpose {
    /// Whether stake is lost if it never comes.
    fn at_stake(&self) -> bool {
        matches!(self, Self::Job(_, _, Deed::Reveal | Deed::RevealAll | Deed::Attest))
    }

    /// Whether something smaller can be done in its place: who cannot open all results opens its
    /// own.
    fn has_substitute(&self) -> bool {
        matches!(self, Self::Job(_, _, Deed::RevealAll))
    }

    /// How often it may be done.
    fn limit(&self) -> u32 {
        match self {
            Self::Job(_, _, Deed::RevealAll) => AGGREGATES_MAX,
            // Attested is attested, also if it exempts from nothing.
            Self::Job(_, _, Deed::Attest) => 1,
            Self::Job(..) => TRIES_MAX,
            Self::Heartbeat | Self::Pause | Self::Resume => u32::MAX,
        }
    }
}

/// What the chain says of the runner's account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The block that this is of.
    pub height: u64,
    pub chain_id: u64,
    /// Nonce of the next transaction on chain.
    pub nonce: u64,
    /// The same, with what waits at the node that was asked.
    pub next_nonce: u64,
    /// What the next block asks.
    pub basefees: Basefees,
    /// Money that can be spent.
    pub balance: u128,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parcel {
    pub purpose: Purpose,
    /// The bytes and their name.
    pub signed: Signed,
    /// How often it was sent before.
    pub tries: u32,
}

/// Something to be signed.
#[derive(Clone, Debug)]
struct Wanted {
    purpose: Purpose,
    instruction: Instruction,
    /// Cycles beyond the price list, if that is known.
    spare: Option<u64>,
}

/// What a transaction bids for each unit.
#[derive(Clone, Copy, Debug)]
struct Bids {
    cycle: Bid,
    cell: Bid,
}

impl Bids {
    fn of(body: &Transaction) -> Self {
        Self { cycle: body.cycle_bid, cell: body.cell_bid }
    }

    /// The same tip, with this many eighths of the basefee at most.
    fn frugal(self, basefees: &Basefees, eighths: u128) -> Self {
        let low = |bid: Bid, basefee: u128| Bid {
            max_fee: basefee.saturating_mul(eighths).div_ceil(8),
            ..bid
        };
        Self { cycle: low(self.cycle, basefees.cycle), cell: low(self.cell, basefees.cell) }
    }

    /// At least this much, and each at least what `raise` makes of the old one: all must rise, or the
    /// new one takes nobody's place.
    fn over(self, old: Self, raise: impl Fn(u128) -> u128) -> Self {
        let over = |new: Bid, old: Bid| Bid {
            max_fee: new.max_fee.max(raise(old.max_fee)),
            max_priority: new.max_priority.max(raise(old.max_priority)),
        };
        Self { cycle: over(self.cycle, old.cycle), cell: over(self.cell, old.cell) }
    }

    /// Whether no block takes it any more.
    fn outgrown(&self, basefees: &Basefees) -> bool {
        basefees.cycle > self.cycle.max_fee || basefees.cell > self.cell.max_fee
    }

    fn put_into(self, mut body: Transaction) -> Transaction {
        (body.cycle_bid, body.cell_bid) = (self.cycle, self.cell);
        body
    }
}

/// The least that takes the place of a bid.
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
    /// How often the bid was raised because no block took it.
    raised: u32,
    signed: Signed,
    /// What an account must have for it.
    deposit: u128,
    bids: Bids,
    since: u64,
    /// When it was sent last; never, if none.
    sent: Option<u64>,
    tries: u32,
}

impl Pending {
    /// Others may outbid what is due by a deadline, so it bids more the longer it waits.
    fn pressed(&self, due: bool) -> bool {
        let tries = RAISE_TRIES.saturating_mul(self.raised + 1);
        due && self.raised < RAISES_MAX && self.tries >= tries
    }
}

#[derive(Debug)]
pub struct Outbox {
    key: SecretKey,
    facts: Option<Facts>,
    pending: BTreeMap<u64, Pending>,
    queue: VecDeque<Wanted>,
    /// What was bid for nonces by what was taken back: copies of it may wait somewhere.
    floors: BTreeMap<u64, Bids>,
    /// Deeds whose nonce was used: since when, and how often.
    done: BTreeMap<Purpose, (u64, u32)>,
}

impl Outbox {
    pub fn new(key: SecretKey) -> Self {
        Self {
            key,
            facts: None,
            pending: BTreeMap::new(),
            queue: VecDeque::new(),
            floors: BTreeMap::new(),
            done: BTreeMap::new(),
        }
    }

    /// Whether something for this purpose is on its way.
    pub fn has(&self, purpose: &Purpose) -> bool {
        self.pending.values().any(|pending| pending.purpose == *purpose)
            || self.queue.iter().any(|wanted| wanted.purpose == *purpose)
    }

    /// Whether nothing is on its way.
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty() && self.queue.is_empty()
    }

    /// How many deeds it remembers.
    #[cfg(test)]
    pub(crate) fn remembered(&self) -> usize {
        self.done.len()
    }

    /// How many are on their way.
    pub fn len(&self) -> usize {
        self.pending.len() + self.queue.len()
    }

    /// Money that is bound by something that is on its way; none if it is not signed yet.
    pub fn binds(&self, purpose: &Purpose) -> Option<u128> {
        let mut pending = self.pending.values();
        pending.find(|pending| pending.purpose == *purpose).map(|pending| pending.deposit)
    }

    /// Whether the account covers this beside what is on its way, and beside what is kept for
    /// something else.
    pub fn covers(&self, instruction: &Instruction, spare: Option<u64>, kept: u128) -> bool {
        let Some(facts) = &self.facts else { return false };
        let cost = cost(&body(facts, facts.nonce, instruction.clone(), spare));
        self.bound().saturating_add(cost).saturating_add(kept) <= facts.balance
    }

    /// Something should be done, says a view of the chain as of `seen`. Ignored while the same is
    /// on its way, or done in a block that the view does not know yet, or was in vain too often.
    pub fn want(&mut self, purpose: Purpose, instruction: Instruction, seen: u64) {
        self.want_with(purpose, instruction, None, seen);
    }

    /// The same, with cycles beyond the price list.
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
        // What stake depends on does not wait behind what may as well come later.
        if purpose.at_stake() {
            self.queue.push_front(wanted)
        } else {
            self.queue.push_back(wanted)
        }
    }

    /// A job is over: what is not signed yet need not be.
    pub fn forget(&mut self, job: JobId) {
        let about = |purpose: &Purpose| matches!(purpose, Purpose::Job(id, ..) if *id == job);
        self.queue.retain(|wanted| !about(&wanted.purpose));
        self.done.retain(|purpose, _| !about(purpose));
    }

    /// The account as it is now. Returns what is over: its nonce was used, by itself or by another.
    pub fn learn(&mut self, mut facts: Facts) -> Vec<(Purpose, TxHash)> {
        if self.facts.is_some_and(|known| facts.height < known.height) {
            return Vec::new();
        }
        let most = facts.nonce.saturating_add(AHEAD_MAX);
        if facts.next_nonce > most {
            facts.next_nonce = facts.nonce;
        }
        self.facts = Some(facts);
        let open = self.pending.split_off(&facts.nonce);
        let over = std::mem::replace(&mut self.pending, open);
        for pending in over.values() {
            let done = self.done.entry(pending.purpose).or_default();
            *done = (facts.height, done.1.saturating_add(1));
        }
        let near = facts.nonce..=most.saturating_add(AHEAD_MAX);
        self.floors.retain(|nonce, _| near.contains(nonce));
        let gap = self.pending.first_key_value().is_some_and(|(nonce, first)| {
            *nonce > facts.nonce && facts.height >= first.since.saturating_add(GAP_BLOCKS)
        });
        if gap {
            self.unsign(facts.nonce);
        }
        if let Some(nonce) = self.uncovered(facts.balance) {
            self.unsign(nonce);
            // Mempools do not keep what cannot be paid, so nothing has to be outbid.
            self.floors.split_off(&nonce);
        }
        over.into_values().map(|pending| (pending.purpose, pending.signed.hash)).collect()
    }

    /// It was another transaction that used the nonce of this deed: it is not done.
    pub fn not_done(&mut self, purpose: &Purpose) {
        if let Some((_, times)) = self.done.get_mut(purpose) {
            *times = times.saturating_sub(1);
        }
    }

    /// A node will never take this one, and nor will any other. What comes after it needs other
    /// nonces.
    pub fn refused_for_good(&mut self, hash: TxHash) {
        let found = self.pending.iter().find(|(_, pending)| pending.signed.hash == hash);
        let Some((&nonce, _)) = found else { return };
        // One node's word is no reason to lose a stake: what it is about is wanted again.
        if let Some(pending) = self.pending.remove(&nonce)
            && !pending.purpose.at_stake()
        {
            let done = self.done.entry(pending.purpose).or_default();
            done.1 += 1;
        }
        self.unsign(nonce);
    }

    /// The first nonce that the account does not cover any more, because the money went elsewhere.
    fn uncovered(&self, balance: u128) -> Option<u64> {
        let mut bound = 0_u128;
        let beyond = |(_, pending): &(&u64, &Pending)| {
            bound = bound.saturating_add(pending.deposit);
            bound > balance
        };
        self.pending.iter().find(beyond).map(|(nonce, _)| *nonce)
    }

    /// Everything from a nonce on gets a new one.
    fn unsign(&mut self, nonce: u64) {
        let rest = self.pending.split_off(&nonce);
        for (nonce, pending) in rest.into_iter().rev() {
            let Pending { purpose, instruction, spare, .. } = pending;
            if pending.tries > 0 {
                self.floors.insert(nonce, pending.bids);
            }
            self.queue.push_front(Wanted { purpose, instruction, spare });
        }
        if let Some(facts) = &mut self.facts {
            // What others said about waiting transactions was not so.
            facts.next_nonce = facts.nonce;
        }
    }

    /// What to send now, in the order of nonces.
    pub fn due(&mut self) -> Vec<Parcel> {
        let Some(facts) = self.facts else { return Vec::new() };
        self.bid_again(&facts);
        self.sign_queue(&facts);
        let mut parcels = Vec::new();
        for pending in self.pending.values_mut() {
            if pending.sent.is_some_and(|sent| facts.height < sent.saturating_add(RESEND_BLOCKS)) {
                continue;
            }
            pending.sent = Some(facts.height);
            let (purpose, signed) = (pending.purpose, pending.signed.clone());
            parcels.push(Parcel { purpose, signed, tries: pending.tries });
            pending.tries += 1;
        }
        parcels
    }

    /// Money that is bound by what is on its way.
    fn bound(&self) -> u128 {
        self.pending.values().fold(0, |sum, pending| sum.saturating_add(pending.deposit))
    }

    fn next_nonce(&self, facts: &Facts) -> Option<u64> {
        match self.pending.last_key_value() {
            Some((last, _)) => last.checked_add(1),
            // Transactions of an earlier life may still wait somewhere.
            None => Some(facts.next_nonce.max(facts.nonce)),
        }
    }

    fn sign_queue(&mut self, facts: &Facts) {
        let mut queue = std::mem::take(&mut self.queue);
        queue.make_contiguous().sort_by_key(|wanted| !wanted.purpose.at_stake());
        let mut waits_for_money = false;
        for wanted in queue {
            let at_stake = wanted.purpose.at_stake();
            let room = self.pending.len() < IN_FLIGHT_MAX && (at_stake || !waits_for_money);
            let Some(nonce) = self.next_nonce(facts).filter(|_| room) else {
                self.queue.push_back(wanted);
                continue;
            };
            if let Some((body, deposit)) = self.affordable(facts, nonce, &wanted) {
                self.sign(facts, body, deposit, wanted);
                continue;
            }
            // What stake depends on gets the next money there is.
            waits_for_money |= at_stake;
            // What has a substitute makes room for it, and is wanted again if there is money.
            if !wanted.purpose.has_substitute() {
                self.queue.push_back(wanted);
            }
        }
    }

    /// The transaction with the highest of its bids that the account covers, and what it binds.
    fn affordable(
        &self,
        facts: &Facts,
        nonce: u64,
        wanted: &Wanted,
    ) -> Option<(Transaction, u128)> {
        let body = body(facts, nonce, wanted.instruction.clone(), wanted.spare);
        let usual = Bids::of(&body);
        let saves = wanted.purpose.at_stake() && !wanted.purpose.has_substitute();
        let frugal = FRUGAL_EIGHTHS.iter().filter(|_| saves);
        let frugal = frugal.map(|eighths| usual.frugal(&facts.basefees, *eighths));
        let floor = self.floors.get(&nonce);
        let bound = self.bound();
        std::iter::once(usual).chain(frugal).find_map(|bids| {
            let bids = floor.map_or(bids, |floor| bids.over(*floor, outbid));
            let body = bids.put_into(body.clone());
            let deposit = cost(&body);
            (bound.saturating_add(deposit) <= facts.balance).then_some((body, deposit))
        })
    }

    fn sign(&mut self, facts: &Facts, body: Transaction, deposit: u128, wanted: Wanted) {
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
            since: facts.height,
            sent: None,
            tries: 0,
        };
        self.pending.insert(nonce, pending);
    }

    /// Bids that no block takes, or that none took for long, are raised.
    fn bid_again(&mut self, facts: &Facts) {
        let nonces: Vec<u64> = self.pending.keys().copied().collect();
        for nonce in nonces {
            // What came before it may have been taken back, and it with that.
            let Some(pending) = self.pending.get(&nonce) else { break };
            let (purpose, outgrown) = (pending.purpose, pending.bids.outgrown(&facts.basefees));
            let holds_up = self.stake_behind(nonce);
            let pressed = pending.pressed(holds_up || matches!(purpose, Purpose::Job(..)));
            if !outgrown && !pressed {
                continue;
            }
            let urgent = holds_up || purpose.at_stake();
            if self.raise(nonce, facts, urgent, pressed) {
                continue;
            }
            // A bid that cannot be paid takes no place; the old one may still find a block, unless
            // the basefee is above it.
            if outgrown && purpose.has_substitute() {
                self.unsign(nonce);
                self.queue.retain(|wanted| wanted.purpose != purpose);
            } else if holds_up && (outgrown || !purpose.at_stake()) {
                self.unsign(nonce);
            }
        }
    }

    /// Whether a stake depends on something that has to wait for this nonce.
    fn stake_behind(&self, nonce: u64) -> bool {
        self.pending.iter().any(|(at, pending)| *at > nonce && pending.purpose.at_stake())
    }

    /// Twice the bid; if that cannot be paid and is urgent, as much as takes the old one's place.
    /// Whether one of these can be paid.
    fn raise(&mut self, nonce: u64, facts: &Facts, urgent: bool, pressed: bool) -> bool {
        let bound = self.bound();
        let Some(pending) = self.pending.get_mut(&nonce) else { return false };
        let others = bound.saturating_sub(pending.deposit);
        let body = body(facts, nonce, pending.instruction.clone(), pending.spare);
        let usual = Bids::of(&body);
        let least = FRUGAL_EIGHTHS.last().filter(|_| urgent);
        let least = least.map(|eighths| usual.frugal(&facts.basefees, *eighths));
        let raised = std::iter::once(usual.over(pending.bids, double))
            .chain(least.map(|least| least.over(pending.bids, outbid)));
        for bids in raised {
            let body = bids.put_into(body.clone());
            let deposit = cost(&body);
            if others.saturating_add(deposit) <= facts.balance {
                pending.raised += u32::from(pressed);
                pending.signed = Signed::new(&body.sign(&self.key));
                (pending.bids, pending.deposit, pending.sent) = (bids, deposit, None);
                return true;
            }
        }
        false
    }
}

fn body(facts: &Facts, nonce: u64, instruction: Instruction, spare: Option<u64>) -> Transaction {
    let (chain_id, basefees) = (facts.chain_id, facts.basefees);
    // No report of a runner stays in the state.
    let quote = Quote { chain_id, nonce, basefees, state_deposit_per_kib: 0 };
    quote.transaction_with(instruction, spare)
}

/// What an account must have for a transaction.
fn cost(body: &Transaction) -> u128 {
    deposit(body).map_or(u128::MAX, Amount::get)
}

#[cfg(test)]
mod tests;
