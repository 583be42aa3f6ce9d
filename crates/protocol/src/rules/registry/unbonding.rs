//! Unbonding stake, and which slashes still reach it.
//!
//! A runner's *duty* is a seat, from the moment its candidates were fixed, or a bonded result until
//! its dispute window has closed. A slash for a duty takes from what was at stake when the duty
//! began: what is still there, and what began to unbond since. Stake that left before pays nothing, and
//! no stake is paid out while a duty is open for which it is liable.
//!
//! Unbonding stake lies in batches by the height at which it began to unbond, oldest first. A batch
//! counts the open duties that reach it and not the batch before it:
//!
//! ```text
//! batches     [ began 10 ]   [ began 17 ]   [ began 31 ]
//! duties   d = 4     d = 12, 15      d = 20          d = 40
//! counts      1              2              1          1 (since)
//! ```
//! A count of 0 makes a batch equivalent to the one before it, so the two merge. The number of batches is
//! bounded by the number of open duties, however often stake is withdrawn.

use crate::base::codec::codec_struct;
use crate::base::primitives::{Amount, Height};
use crate::rules::registry::pool::Pool;

/// Batches of one runner at most.
pub const BATCHES_MAX: usize = 64;

/// Stake that began to unbond at about the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The last height at which some of it began to unbond.
    pub began: Height,
    /// The money, by shares of its owners.
    pub pool: Pool,
    /// Open duties that reach it and not the batch before it.
    pub duties: u32,
}
codec_struct!(Batch { began, pool, duties });

/// All unbonding stake of a runner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unbonding {
    /// Oldest first.
    pub batches: Vec<Batch>,
    /// Open duties that began after all of it had left.
    pub since: u32,
}
codec_struct!(Unbonding { batches, since });

impl Unbonding {
    pub fn amount(&self) -> Amount {
        self.batches.iter().map(|batch| batch.pool.amount).sum()
    }

    /// A duty begins; its candidates were fixed at `from`.
    pub fn begin_duty(&mut self, from: Height) {
        let count = self.duties_from(from);
        *count = count.saturating_add(1);
    }

    /// A duty ends that began at `from`. Candidates before `settled` are all drawn.
    pub fn end_duty(&mut self, from: Height, settled: Height) {
        let count = self.duties_from(from);
        *count = count.saturating_sub(1);
        self.merge(settled);
    }

    fn duties_from(&mut self, from: Height) -> &mut u32 {
        match self.batches.iter_mut().find(|batch| batch.began >= from) {
            Some(batch) => &mut batch.duties,
            None => &mut self.since,
        }
    }

    pub fn is_full(&self) -> bool {
        self.batches.len() >= BATCHES_MAX
    }

    /// Takes in stake that begins to unbond; says which batch it joins, and for how many shares.
    pub fn deposit(
        &mut self,
        amount: Amount,
        now: Height,
        settled: Height,
    ) -> Option<(Height, u128)> {
        self.merge(settled);
        let joins = self.batches.last().is_some_and(|last| last.began == now) || self.is_full();
        if !joins {
            let duties = core::mem::take(&mut self.since);
            self.batches.push(Batch { began: now, pool: Pool::default(), duties });
        }
        let batch = self.batches.last_mut()?;
        let shares = batch.pool.deposit(amount)?;
        Some((batch.began, shares))
    }

    /// The batch that holds what began to unbond at a height.
    fn position(&self, began: Height) -> Option<usize> {
        self.batches.iter().position(|batch| batch.began >= began)
    }

    /// Whether a duty is open that what left at a height still answers for.
    pub fn answers(&self, began: Height) -> bool {
        let Some(at) = self.position(began) else { return false };
        self.batches[..=at].iter().any(|batch| batch.duties > 0)
    }

    /// Pays out shares of what left at a height. The last ones get what rounding left behind.
    pub fn withdraw(&mut self, began: Height, shares: u128, settled: Height) -> Amount {
        let Some(at) = self.position(began) else { return Amount::ZERO };
        let pool = &mut self.batches[at].pool;
        let mut amount = pool.withdraw(shares);
        if pool.shares == 0 {
            let rest = core::mem::take(&mut pool.amount);
            amount = Amount(amount.get() + rest.get());
            let gone = self.batches.remove(at);
            let next = self.batches.get_mut(at).map_or(&mut self.since, |batch| &mut batch.duties);
            *next = next.saturating_add(gone.duties);
        }
        self.merge(settled);
        amount
    }

    /// What answers for a duty that began at `from`.
    pub fn exposed(&self, from: Height) -> Amount {
        let later = self.batches.iter().filter(|batch| batch.began >= from);
        later.map(|batch| batch.pool.amount).sum()
    }

    /// Takes up to an amount from what answers for a duty, pro rata; says how much.
    pub fn take(&mut self, from: Height, amount: Amount) -> Amount {
        let exposed = self.exposed(from);
        let amount = amount.at_most(exposed);
        let mut left = amount;
        let mut before = exposed;
        for batch in self.batches.iter_mut().filter(|batch| batch.began >= from) {
            let held = batch.pool.amount;
            let part = left.scale(held.get(), before.get()).unwrap_or_default();
            let taken = batch.pool.take(part);
            left = left.minus(taken).unwrap_or_default();
            before = before.minus(held).unwrap_or_default();
        }
        Amount(amount.get() - left.get())
    }

    /// Joins batches that no duty tells apart, be it open or of candidates that wait for their draw.
    /// A slashed batch has shares of another worth, and stays by itself.
    fn merge(&mut self, settled: Height) {
        let mut at = 1;
        while at < self.batches.len() {
            let (one, next) = (self.batches[at - 1], self.batches[at]);
            let same = next.duties == 0 && next.began < settled;
            if same && one.pool.is_whole() && next.pool.is_whole() {
                self.batches[at].pool = one.pool.joined(&next.pool);
                self.batches[at].duties = one.duties;
                self.batches.remove(at - 1);
            } else {
                at += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests;
