//! The runner's own transactions: who owns the nonce, and what is sent when.
//!
//! ```text
//! wanted ── nonce, fees ──▶ signed ── every 2 blocks again, by other ways ──▶ the nonce is used
//! ```
//! A transaction is signed once and sent until its nonce is used, because a copy of it may be in
//! anybody's mempool. It is signed again, with the same nonce, when the basefee has outgrown its
//! bid, or when it waits for long because others bid more; with another one when a program with the same key was faster, or when what should have come
//! before it never did. What a transaction says about a job never changes: salt and signature are on
//! disk. Nothing is signed that the account does not cover together with what is on its way: it would
//! hold up all that comes after it. Nothing here acts; heights and answers come in, signed bytes go out.

use remuda_client::sign::{Quote, Signed};
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::execute::deposit;
use remuda_protocol::fees::Basefees;
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
/// How often a deed is tried that ends up on chain without effect.
const TRIES_MAX: u32 = 3;
/// Aggregates that open a job's results, of which each may have some only.
const AGGREGATES_MAX: u32 = 12;

/// Sendings without success after which a bid is doubled, and how often that is done.
const RAISE_TRIES: u32 = 3;
const RAISES_MAX: u32 = 5;

/// What a transaction is for. One of each is on its way at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// Something about a job.
    Job(JobId, u32, Deed),
    /// To be seen.
    Heartbeat,
    /// To get no more jobs.
    Pause,
    /// To get jobs again.
    Resume,
}

/// What is done about a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Deed {
    /// The result of a single runner.
    Submit,
    /// The commit.
    Commit,
    /// The own result, opened.
    Reveal,
    /// Results of several, opened by their aggregator.
    RevealAll,
    /// The result is lost.
    Attest,
}

impl Purpose {
    /// Whether stake is lost if it never comes.
    fn at_stake(&self) -> bool {
        matches!(self, Self::Job(_, _, Deed::Reveal | Deed::RevealAll | Deed::Attest))
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
    /// Which chain.
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

/// Something to send now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parcel {
    /// What for.
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
    /// What it was signed for.
    basefees: Basefees,
    since: u64,
    /// When it was sent last; never, if none.
    sent: Option<u64>,
    tries: u32,
}

/// See the module.
#[derive(Debug)]
pub struct Outbox {
    key: SecretKey,
    facts: Option<Facts>,
    pending: BTreeMap<u64, Pending>,
    queue: VecDeque<Wanted>,
    /// Deeds whose nonce was used: since when, and how often.
    done: BTreeMap<Purpose, (u64, u32)>,
}

impl Outbox {
    /// Nothing to send.
    pub fn new(key: SecretKey) -> Self {
        Self {
            key,
            facts: None,
            pending: BTreeMap::new(),
            queue: VecDeque::new(),
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

    /// How many are on their way.
    pub fn len(&self) -> usize {
        self.pending.len() + self.queue.len()
    }

    /// Whether the account covers this beside what is on its way.
    pub fn covers(&self, instruction: &Instruction, spare: Option<u64>) -> bool {
        let Some(facts) = &self.facts else { return false };
        let cost = cost(&body(facts, facts.nonce, instruction.clone(), spare));
        self.bound().saturating_add(cost) <= facts.balance
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
    pub fn learn(&mut self, facts: Facts) -> Vec<(Purpose, TxHash)> {
        if self.facts.is_some_and(|known| facts.height < known.height) {
            return Vec::new();
        }
        self.facts = Some(facts);
        let open = self.pending.split_off(&facts.nonce);
        let over = std::mem::replace(&mut self.pending, open);
        for pending in over.values() {
            let done = self.done.entry(pending.purpose).or_default();
            *done = (facts.height, done.1.saturating_add(1));
        }
        let gap = self.pending.first_key_value().is_some_and(|(nonce, first)| {
            *nonce > facts.nonce && facts.height >= first.since.saturating_add(GAP_BLOCKS)
        });
        if gap {
            self.unsign(facts.nonce);
        }
        if let Some(nonce) = self.uncovered(facts.balance) {
            self.unsign(nonce);
            self.queue.make_contiguous().sort_by_key(|wanted| !wanted.purpose.at_stake());
        }
        over.into_values().map(|pending| (pending.purpose, pending.signed.hash)).collect()
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
        for pending in rest.into_values().rev() {
            let Pending { purpose, instruction, spare, .. } = pending;
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

    fn sign_queue(&mut self, facts: &Facts) {
        let mut bound = self.bound();
        let queue = std::mem::take(&mut self.queue);
        let mut waits_for_money = false;
        for wanted in queue {
            if self.pending.len() >= IN_FLIGHT_MAX || waits_for_money {
                self.queue.push_back(wanted);
                continue;
            }
            let nonce = match self.pending.last_key_value() {
                Some((last, _)) => last + 1,
                // Transactions of an earlier life may still wait somewhere.
                None => facts.next_nonce.max(facts.nonce),
            };
            let body = body(facts, nonce, wanted.instruction.clone(), wanted.spare);
            let deposit = cost(&body);
            if bound.saturating_add(deposit) > facts.balance {
                // What stake depends on gets the next money there is.
                waits_for_money = wanted.purpose.at_stake();
                self.queue.push_back(wanted);
                continue;
            }
            let Wanted { purpose, instruction, spare } = wanted;
            bound = bound.saturating_add(deposit);
            let pending = Pending {
                purpose,
                signed: Signed::new(&body.sign(&self.key)),
                deposit,
                instruction,
                spare,
                raised: 0,
                basefees: facts.basefees,
                since: facts.height,
                sent: None,
                tries: 0,
            };
            self.pending.insert(nonce, pending);
        }
    }

    /// A bid is twice the basefee that it was made at. If the basefee is above that, no block takes
    /// the transaction, and any mempool takes one in its place that bids twice as much.
    fn bid_again(&mut self, facts: &Facts) {
        let outgrown = |old: &Basefees| {
            facts.basefees.cycle > old.cycle.saturating_mul(2)
                || facts.basefees.cell > old.cell.saturating_mul(2)
        };
        // Others may outbid what is due by a deadline, so it bids more the longer it waits.
        let pressed = |pending: &Pending| {
            let due = RAISE_TRIES.saturating_mul(pending.raised + 1);
            matches!(pending.purpose, Purpose::Job(..))
                && pending.raised < RAISES_MAX
                && pending.tries >= due
        };
        let nonces: Vec<u64> = (self.pending.iter())
            .filter(|(_, pending)| outgrown(&pending.basefees) || pressed(pending))
            .map(|(nonce, _)| *nonce)
            .collect();
        for nonce in nonces {
            let bound = self.bound();
            let Some(mut pending) = self.pending.remove(&nonce) else { continue };
            // Both bids must rise, or the new one takes nobody's place.
            let basefees = Basefees {
                cycle: facts.basefees.cycle.max(pending.basefees.cycle.saturating_mul(2)),
                cell: facts.basefees.cell.max(pending.basefees.cell.saturating_mul(2)),
            };
            let facts = Facts { basefees, ..*facts };
            let (instruction, spare) = (pending.instruction.clone(), pending.spare);
            let body = body(&facts, nonce, instruction, spare);
            let deposit = cost(&body);
            let others = bound.saturating_sub(pending.deposit);
            // A bid that cannot be paid takes no place; the old one may still find a block.
            if others.saturating_add(deposit) <= facts.balance {
                pending.raised += u32::from(pressed(&pending));
                pending.signed = Signed::new(&body.sign(&self.key));
                pending.deposit = deposit;
                (pending.basefees, pending.sent) = (basefees, None);
            }
            self.pending.insert(nonce, pending);
        }
    }
}

fn body(facts: &Facts, nonce: u64, instruction: Instruction, spare: Option<u64>) -> Transaction {
    let quote = Quote { chain_id: facts.chain_id, nonce, basefees: facts.basefees };
    quote.transaction_with(instruction, spare)
}

/// What an account must have for a transaction.
fn cost(body: &Transaction) -> u128 {
    deposit(body).map_or(u128::MAX, Amount::get)
}

#[cfg(test)]
mod tests;
