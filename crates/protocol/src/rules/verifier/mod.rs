//! The Result Verifier (0x03): how results are signed, read, compared and paid for. `chain/verifier`
//! takes them in and settles.
//!
//! Consensus: a change here forks the chain.
//!
//! ```text
//! one runner (None, EconomicBond), until commit_by
//!   result fits its schema   → settle
//!   result does not fit      → score 0, draw again
//!   excuse                   → Failed{Excused}; gross = the escrow if the work was done and the job is not bonded,
//!                              otherwise excuse_bps of it
//!   nothing                  → score 0 unless overbooked, draw again
//!
//! committee of M, of which N must agree
//!   commit        while Assigned, until commit_by
//!                 c = keccak256(domain ‖ chain ‖ job ‖ attempt ‖ runner ‖ keccak256(result) ‖ salt ‖ result_sig)
//!   all committed, and at least N → close
//!   after commit_by               → the others time out (score 0 unless overbooked) and are excluded;
//!                                   at least N commits → close, otherwise draw their seats again
//!   close         aggregator_until and reveal_by are at least aggregator_blocks and reveal_blocks from now
//!   reveal        while Committed, until reveal_by
//!     by the runner itself: it matches the commit → taken; otherwise slash
//!     by the aggregator:    all match → taken; one does not → refused whole
//!   attest_crash  by a committed runner, before anybody has opened, until crash_exemption_blocks after the close:
//!                 the first of an epoch frees the seat with score 0, a later one is only noted
//!   nobody left to open           → judge
//!   after reveal_by               → slash who has not opened, then judge
//!
//! judge           results of the declared size and format
//!   MajorityVote      DNS checks, then the largest group by the field
//!   StructuredMatch   each check in order; those that group keep the largest group
//!   Deterministic     all M are there and byte-identical
//!   a largest group that is not unique or lacks the field leaves nobody; at least N left → they win
//!
//! winners         gross = the escrow: payout_burn_bps burned, payout_treasury_bps to the treasury; of
//!                 payout_runners_bps the bonus aggregator_bonus_bps to an aggregator that won, the rest equally
//!                 to all winners; dust is burned
//!                 scores: winner 100, aggregator that won 110, other results 0, excuses none
//!                 the first winner in draw order becomes the submitter's favourite
//! no winner       gross = no_agreement_bps · escrow / M for each result that fits its schema, split likewise
//!                 without a bonus; nothing in a trial. No scores
//!                 an excuse, and fewer than N results → Failed{Excused}; otherwise Failed{NoAgreement}
//! slash           min(non_reveal_slash_bps of the stake at draw or snapshot, max_non_reveal_slash);
//!                 reputation 0, jail
//! ```
//! Every end queues the callback and refunds what is left. A seat is scored only if its draw counts: a price of at
//! least `min_scored_price`, no pool, enough candidates. A slash and an exempting crash count always.
//! `chain/verifier/challenge` opens with the rule of bonded results.

pub mod aggregator;
pub mod challenge;
pub mod check;
pub mod commitment;
pub mod decide;
pub mod dns;
pub mod excuse;
pub mod json;
pub mod path;
pub mod payout;
pub mod schema;
pub mod settle;
