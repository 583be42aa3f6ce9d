//! What goes into a block.

use super::pooled::Pooled;
use super::queue::Queue;
use super::{Mempool, account, basefees};
use remuda_protocol::codec::Bytes;
use remuda_protocol::fees::{Basefees, Lane};
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::{Address, Amount};
use remuda_protocol::state::View;
use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap};

/// Transactions that a block takes at most. The cycles of [`Budget::of_block`] end sooner at any
/// parameters near the defaults.
const BLOCK_TRANSACTIONS: usize = 10_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    pub transactions: usize,
    pub bytes: usize,
    /// Cycles of all lanes together.
    pub cycles: u64,
    /// Cycles for what people order.
    pub user_cycles: u64,
    /// Cycles for what runners report.
    pub runner_cycles: u64,
    /// Cycles for what keeps the chain going.
    pub system_cycles: u64,
    pub cells: u64,
}

impl Budget {
    /// What surely fits: the chain's limits of a block, against which the transactions' limits are
    /// counted, whatever they use in the end.
    pub fn of_block(params: &ChainParams) -> Self {
        let cells = params.cells_target.saturating_mul(2);
        Self {
            transactions: BLOCK_TRANSACTIONS,
            // Every byte is a cell.
            bytes: usize::try_from(cells).unwrap_or(usize::MAX),
            cycles: params.cycles_target.saturating_mul(2),
            user_cycles: Lane::User.limit(params),
            runner_cycles: Lane::Runner.limit(params),
            system_cycles: Lane::System.limit(params),
            cells,
        }
    }

    /// So many times the cycles and cells, for a proposer that fills its block with what
    /// transactions leave unused of their limits. Execution leaves out what does not fit then.
    pub fn overbooked(self, times: u64) -> Self {
        Self {
            cycles: self.cycles.saturating_mul(times),
            user_cycles: self.user_cycles.saturating_mul(times),
            runner_cycles: self.runner_cycles.saturating_mul(times),
            system_cycles: self.system_cycles.saturating_mul(times),
            cells: self.cells.saturating_mul(times),
            ..self
        }
    }

    fn lane(&mut self, lane: Lane) -> &mut u64 {
        match lane {
            Lane::User => &mut self.user_cycles,
            Lane::Runner => &mut self.runner_cycles,
            Lane::System => &mut self.system_cycles,
        }
    }

    /// What is left after a transaction, all of whose limits must fit.
    fn without(mut self, pooled: &Pooled) -> Option<Self> {
        self.transactions = self.transactions.checked_sub(1)?;
        self.bytes = self.bytes.checked_sub(pooled.bytes.len())?;
        self.cycles = self.cycles.checked_sub(pooled.cycles_limit)?;
        self.cells = self.cells.checked_sub(pooled.cells_limit)?;
        let lane = self.lane(pooled.lane);
        *lane = lane.checked_sub(pooled.cycles_limit)?;
        Some(self)
    }
}

impl Mempool {
    /// The transactions for a block on `state`: what runners report first, in half of the block's
    /// bytes and cells at most, then everything. Among reports, those come first that a job waits
    /// for. All are best first: by tip at its basefees, then by arrival, and each sender's in the
    /// order of their nonces. All of them can be in the block: `propose_block` leaves none out,
    /// unless the budget is larger than a block.
    ///
    /// Reports go first because a runner that misses a deadline is slashed: otherwise an attacker
    /// could outbid reports and have their runners slashed. Any sender can imitate a report; only a
    /// runner of the committee can send a valid one.
    ///
    /// `state` may be ahead of the one that the pool was last told of.
    pub fn pick(&self, state: &dyn View, params: &ChainParams, budget: Budget) -> Vec<Bytes> {
        let basefees = basefees(state, params);
        let prices = Prices { basefees: &basefees, params };
        let (bytes, cells) = (budget.bytes / 2, budget.cells / 2);
        let room = Budget { bytes: budget.bytes - bytes, cells: budget.cells - cells, ..budget };
        let mut filling =
            Filling { state, prices, room, picked: Vec::new(), next: BTreeMap::new() };
        filling.fill(self.store.queues(), Turn::OnDuty);
        filling.fill(self.store.queues(), Turn::Reports);
        filling.room.bytes += bytes;
        filling.room.cells += cells;
        filling.fill(self.store.queues(), Turn::Everything);
        filling.picked
    }
}

#[derive(Clone, Copy, Debug)]
enum Turn {
    /// Reports that jobs wait for, with what their runners said before.
    OnDuty,
    Reports,
    Everything,
}

/// Which of a sender's transactions are meant.
#[derive(Clone, Copy)]
struct Meant {
    users: bool,
    last: u64,
}

impl Turn {
    /// `None` if it is not this sender's turn.
    fn of(self, queue: &Queue, state: &dyn View) -> Option<Meant> {
        match self {
            Self::OnDuty => queue.last_on_duty(state).map(|last| Meant { users: false, last }),
            Self::Reports => Some(Meant { users: false, last: u64::MAX }),
            Self::Everything => Some(Meant { users: true, last: u64::MAX }),
        }
    }
}

impl Meant {
    fn has(self, pooled: &Pooled) -> bool {
        (self.users || pooled.of_runner) && pooled.nonce <= self.last
    }
}

/// A block that is being filled.
struct Filling<'a> {
    state: &'a dyn View,
    prices: Prices<'a>,
    room: Budget,
    picked: Vec<Bytes>,
    /// Where senders go on that have something in the block: with which nonce and balance, if at all.
    next: BTreeMap<Address, Option<(u64, Amount)>>,
}

impl Filling<'_> {
    /// Takes what fits, as long as it is its turn.
    fn fill<'q>(&mut self, queues: impl Iterator<Item = &'q Queue>, turn: Turn) {
        let (prices, state) = (self.prices, self.state);
        let unread = |queue| Candidate::unread(queue, turn.of(queue, state)?, prices);
        let mut heap: BinaryHeap<Candidate<'_>> = queues.filter_map(unread).collect();
        while self.room.transactions > 0
            && let Some(Candidate { queue, pooled, purse, meant, .. }) = heap.pop()
        {
            let Some(purse) = purse else {
                // Room only shrinks: whose transactions all do not fit need not be read.
                if queue.iter().any(|pooled| self.room.without(pooled).is_some())
                    && let Some((nonce, purse)) = self.standing(pooled.sender)
                {
                    heap.extend(Candidate::ready(queue, nonce, purse, meant, prices));
                }
                continue;
            };
            // A transaction that does not fit holds back later nonces of its own sender only.
            let Some(rest) = self.room.without(pooled) else { continue };
            self.room = rest;
            self.picked.push(pooled.bytes.clone());
            // What it takes beyond its known cost only shows after it has run.
            let purse = purse.minus(pooled.cost).filter(|_| !pooled.open_ended);
            let next = purse.and_then(|purse| Some((pooled.nonce.checked_add(1)?, purse)));
            self.next.insert(pooled.sender, next);
            heap.extend(
                next.and_then(|(nonce, purse)| {
                    Candidate::ready(queue, nonce, purse, meant, prices)
                }),
            );
        }
    }

    /// The nonce and balance that a sender's next transaction meets.
    fn standing(&self, sender: Address) -> Option<(u64, Amount)> {
        self.next.get(&sender).copied().unwrap_or_else(|| {
            let account = account(self.state, sender);
            Some((account.nonce, account.balance))
        })
    }
}

/// What tips are reckoned with.
#[derive(Clone, Copy)]
struct Prices<'a> {
    basefees: &'a Basefees,
    params: &'a ChainParams,
}

/// A sender that may be next.
struct Candidate<'a> {
    /// Of the next transaction, or of the best one while it is not known which is next.
    tip: u128,
    pooled: &'a Pooled,
    queue: &'a Queue,
    meant: Meant,
    /// What is left of the balance; `None` as long as nobody has read the account. Most accounts of
    /// a full pool never are.
    purse: Option<Amount>,
}

impl<'a> Candidate<'a> {
    /// A sender whose account is not read yet, with its best tip: it comes up no later than the
    /// transaction that turns out to be next. `None` if no transaction can pay the basefees.
    fn unread(queue: &'a Queue, meant: Meant, prices: Prices<'_>) -> Option<Self> {
        let mine = queue.iter().filter(|pooled| meant.has(pooled));
        let tips = mine.filter_map(|p| Some((p.tip(prices.basefees, prices.params)?, p)));
        let (tip, pooled) = tips.max_by_key(|(tip, _)| *tip)?;
        Some(Self { tip, pooled, queue, meant, purse: None })
    }

    /// The transaction with this nonce, if it is here, is meant and can be paid.
    fn ready(
        queue: &'a Queue,
        nonce: u64,
        purse: Amount,
        meant: Meant,
        prices: Prices<'_>,
    ) -> Option<Self> {
        let pooled = queue.get(nonce).filter(|p| meant.has(p) && p.cost <= purse)?;
        let tip = pooled.tip(prices.basefees, prices.params)?;
        Some(Self { tip, pooled, queue, meant, purse: Some(purse) })
    }

    /// Unread ones go first among equals, so that what they hide can still take part. No two
    /// transactions have the same arrival.
    fn key(&self) -> (u128, bool, Reverse<u64>) {
        (self.tip, self.purse.is_none(), Reverse(self.pooled.arrival))
    }
}

impl Ord for Candidate<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}
impl PartialOrd for Candidate<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for Candidate<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for Candidate<'_> {}
