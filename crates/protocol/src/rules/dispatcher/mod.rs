//! The Job Dispatcher (0x02): what a job may ask for, who may be drawn for it, and how its results are
//! judged. `chain/dispatcher` binds, draws and seats.
//!
//! Consensus: a change here forks the chain.
//!
//! ```text
//! submit(job) at height H
//!   fill defaults; refuse what `validate` refuses
//!   escrow = max_price + tip, and callback.cycles_limit at the submission's max fee per cycle
//!   EconomicBond: refuse unless a trial of its result would be fair
//!   candidates = runners as the block's opening left them that pass filters 1 to 8, ascending by address
//!                shadow: one list; prefer: the present, then the absent; require, sunset: the present
//!   |candidates| < minimum(mode) → Failed{InsufficientRunners}
//!   M = 1                                                             None, EconomicBond
//!       5                                                             the trial of a bonded result
//!       min(M_adaptive, max(verification.runners, 3), |candidates|)   otherwise
//!   N = M in Deterministic, otherwise max(ceil(2M/3), ceil(verification.threshold · M / verification.runners))
//!   store root and sum of each list; seats = M
//!   mode None → assign(seed(0x00, beacon of the newest seed on chain))
//!   otherwise → Pending at view = view(H) + selection_seed_delay_views
//!
//! opening of a block: pending jobs in order, within a budget
//!   the seed of the job's view is on chain → assign(seed(0x01, beacon(view)))
//!   retry c: assign(keccak256(seed(0x01, beacon(view)) ‖ "retry:" ‖ c_le4))
//!
//! seed(mode, beacon) = keccak256("cowboy-runner-select-v3:" ‖ mode ‖ beacon ‖ job ‖ submitted_at_le8)
//!
//! assign(seed)
//!   cur = seed
//!   for i in 0..seats                    over the first list until it is empty, then the next, i running on
//!     cur = keccak256(cur ‖ i_le8)
//!     r   = U256_le(cur) mod Σ w[i..]    w = effective_stake · max(isqrt(reputation_nano · 10^7), w_min_floor)
//!     j   = least with w[i] + … + w[i+j] > r
//!     swap i and i+j
//!   i = 0: the runner that served the submitter last counts mru_multiplier times, if that was within
//!          mru_ttl_blocks; never in a retry or a trial
//!   a drawn runner has too little free stake for its bond → exclude it, retry
//!   commit_by = now + ceil(timeout_blocks · commit_share_bps / 10,000); M = 1: now + timeout_blocks
//!   aggregator = one of the members at or above the committee's median reputation, by the seed; none if M = 1
//!
//! retry(job)      from a queue with a budget of its own
//!   more than 64 blocks in the queue, or attempt = max_retries → Failed{NoRunners}
//!   a trial that would not be fair any more                    → Failed{InsufficientRunners}
//!   candidates as above at this block, without the excluded and everybody who had a seat
//!   seats = min(empty seats, |candidates|)
//!   no seats, or seated + seats < max(N, minimum(mode))        → Failed{InsufficientRunners}
//!   attempt + 1; Pending as above
//!
//! cancel(job)     by its submitter; not a trial
//!   Pending, no retry, view not reached                                    → full refund
//!   Pending, no retry, view reached, M > 1                                 → payout_burn_bps of the escrow burned
//!   Assigned, no seat has committed or timed out, M > 1                    → the same
//!   otherwise                                                              → refused
//! ```
//! Every end returns what is left of the escrow in the same block. [`naive`] is snapshot and draw without any
//! index; the indexes are tested against it.

pub mod committee;
pub mod draw;
pub mod file;
pub mod filter;
pub mod job;
pub mod judging;
pub mod naive;
mod prices;
pub(crate) mod roster;
pub(crate) mod select;
pub mod spec;
pub mod submit;
pub(crate) mod trial;
pub mod trie;
pub mod validate;
pub(crate) mod verdict;
pub mod weight;
