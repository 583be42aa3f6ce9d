//! The Runner Registry (0x01): what a runner offers, what it owns, and how well it works.
//!
//! Consensus: a change here forks the chain.
//!
//! ```text
//! register      own stake ≥ floor = max(min_stake, 1.5 · declared_max_job_value)
//!               a new slot, never used again; a deposit for the offer; a known runner keeps its reputation
//! healthy       Active, not in jail, and present or last_seen + heartbeat_timeout_blocks ≥ height
//! sign of life  a transaction of the runner about its work: last_seen = height, the sums decay
//!
//! score(s)      both sums halve every HALF_LIFE_BLOCKS; score_sum += s; weight_sum += 1
//!               reputation = min(200, (score_sum + 20 · 60) / (weight_sum + 20))
//!               failures = failures + 1 if s = 0, otherwise 0
//!               not in jail, and failures ≥ jail_failures or reputation < min_reputation → jail
//! jail          terms = terms + 1 if the last began within jail_memory_blocks, otherwise 1
//!               until = max(until, height + min(jail_blocks · 2^(terms − 1), jail_blocks_max)); failures = 0
//! release       at until: sums (0, 4), which is a reputation of 50; failures = 0
//!
//! unstake       own stake stays ≥ floor, effective stake ≥ 1.5 · open value + locked
//! deregister    no open job, nothing locked
//! delegate      at least 1 CBY, for shares of the runner's pool; undelegate at any time
//! release stake unbonding_blocks after it left, and not while a duty is open that it answers for
//! slash(from)   pro rata from own stake, delegated stake and what began to unbond since `from`
//! pay(seat)     delegators get (1 − commission) · delegated / effective of it, as these were at the draw
//! ```
//! `chain/registry` applies it. Selection reads profiles and standings as they were when the candidates were fixed
//! ([`versioned`]).

pub mod kind;
pub mod pool;
pub mod register;
pub mod reputation;
pub mod runner;
pub mod unbonding;
pub mod versioned;
