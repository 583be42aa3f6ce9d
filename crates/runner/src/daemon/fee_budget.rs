//! Upper bounds of a job's fees. No work begins that cannot be paid for to its end.
//!
//! A block includes a transaction if the account covers its limits at its bid, so the bounds are limits at bids,
//! not the smaller fee in the end. A runner that commits and then cannot pay for the reveal loses stake.
//!
//! The submitter decides how results are compared, and a server how large they are. Together they could make a
//! committee spend many times what it earns. So a member reveals results of a size that the job pays for, and
//! submits an excuse for larger ones, which costs next to nothing. The result of a single runner is compared with
//! nothing, so its fees are small.

use crate::case::alone;
use remuda_client::sign::{JUDGING_CYCLES_PER_BYTE, Quote, SPARE_CYCLES};
use remuda_protocol::codec::Encode as _;
use remuda_protocol::crypto::Signature;
use remuda_protocol::dispatcher::judging::judging_cycles;
use remuda_protocol::dispatcher::spec::JobSpec;
use remuda_protocol::event::CrashSignal;
use remuda_protocol::execute::deposit;
use remuda_protocol::fees::Basefees;
use remuda_protocol::primitives::{Address, Amount, B256};
use remuda_protocol::transaction::{Instruction, Reveal};
use remuda_protocol::verifier::payout::PayoutBps;

/// The basefee may double between the begin of the work and the reveal.
const RISE: u128 = 2;
/// Bytes of the result of a job that is not assigned yet.
const USUAL_BYTES: u32 = 4_096;
/// Bytes of a small result. Money for it also covers an excuse, so every job can be answered.
pub(crate) const SMALL_BYTES: usize = 512;
/// The chain's limit.
const RESULT_BYTES_MAX: usize = 65_536;
const BPS: u128 = 10_000;
/// The tip, as a part of the basefee.
const TIP_DIVISOR: u128 = 10;

/// The largest result that the runner reveals, and why no larger one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ResultLimit {
    pub(crate) bytes: usize,
    pub(crate) why: &'static str,
}

/// The transactions of a job that are still to be paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PendingFees {
    /// Commit and reveal; for a single runner, its result.
    All,
    /// Reveal, or crash attestation.
    Opening,
    Nothing,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct FeeBudget {
    /// With room for a rise.
    basefees: Basefees,
    /// Of the next block.
    now: Basefees,
}

impl FeeBudget {
    /// `basefees` of the next block.
    pub(crate) fn new(basefees: Basefees) -> Self {
        let Basefees { cycle, cell } = basefees;
        let risen = Basefees { cycle: cycle.saturating_mul(RISE), cell: cell.saturating_mul(RISE) };
        Self { basefees: risen, now: basefees }
    }

    /// What a job may still cost with a result of so many bytes.
    pub(crate) fn job(&self, spec: &JobSpec, bytes: usize, ahead: PendingFees) -> u128 {
        match ahead {
            PendingFees::Nothing => 0,
            _ if alone(spec.verification.mode) => self.result(bytes),
            PendingFees::All => self.commit().saturating_add(self.opening(spec, bytes)),
            PendingFees::Opening => self.opening(spec, bytes),
        }
    }

    /// What a job that is not assigned yet may cost: an ordinary one of a committee, or any of a single runner.
    pub(crate) fn usual(&self) -> u128 {
        let judged = self.cycles(JUDGING_CYCLES_PER_BYTE.saturating_mul(USUAL_BYTES.into()));
        let member = (self.commit())
            .saturating_add(self.result(USUAL_BYTES as usize).saturating_add(judged))
            .saturating_add(self.attest());
        member.max(self.result(RESULT_BYTES_MAX))
    }

    /// The largest result that `money` covers, but not less than [`least`].
    pub(crate) fn covered(&self, spec: &JobSpec, money: u128) -> usize {
        largest(spec, |bytes| self.job(spec, bytes, PendingFees::All) <= money)
    }

    /// The largest result whose fees a member's share of the price covers. Ordinary results are revealed at any
    /// price: an operator that offers cheap work means it.
    pub(crate) fn paid(&self, spec: &JobSpec, members: u32) -> usize {
        let parts = PayoutBps::default();
        let share = part(spec, parts.runners - parts.aggregator_bonus) / u128::from(members.max(1));
        let judged = JUDGING_CYCLES_PER_BYTE.saturating_mul(USUAL_BYTES.into());
        let usual = self.fee(judged, USUAL_BYTES as usize);
        let fee = |bytes| self.fee(judging_cycles(spec, bytes), bytes);
        largest(spec, |bytes| fee(bytes) <= share.max(usual))
    }

    /// Whether an aggregator's bonus covers the reveal of `others`, of so many bytes each. Small results are
    /// revealed anyway, because the job ends sooner.
    pub(crate) fn bonus_covers(&self, spec: &JobSpec, others: &[usize]) -> bool {
        let one = |bytes: usize| {
            let cells = empty().to_bytes().len().saturating_add(bytes) as u64;
            self.at_once(judging_cycles(spec, bytes), cells)
        };
        let all = others.iter().fold(0, |sum: u128, bytes| sum.saturating_add(one(*bytes)));
        let small = one(SMALL_BYTES).saturating_mul(others.len() as u128);
        all <= small.max(part(spec, PayoutBps::default().aggregator_bonus))
    }

    pub(crate) fn pause(&self) -> u128 {
        self.price(Instruction::PauseRunner, None, 0)
    }

    fn commit(&self) -> u128 {
        let (job, commitment) = (B256::ZERO, B256::ZERO);
        self.price(Instruction::CommitResult { job, commitment }, None, 0)
    }

    fn attest(&self) -> u128 {
        let (job, signal) = (B256::ZERO, CrashSignal::Other);
        self.price(Instruction::CrashAttestation { job, signal }, None, 0)
    }

    /// The price depends on the size only.
    fn result(&self, bytes: usize) -> u128 {
        let Reveal { result, result_sig, .. } = empty();
        let instruction = Instruction::SubmitResult { job: B256::ZERO, result, result_sig };
        self.price(instruction, Some(single_spare(bytes)), bytes)
    }

    /// The fee of a reveal in the next block.
    fn fee(&self, judged: u64, bytes: usize) -> u128 {
        let instruction = Instruction::RevealResult { job: B256::ZERO, reveal: empty() };
        let body = self.quote().transaction_with(instruction, Some(judged));
        self.at_once(body.cycles_limit, body.cells_limit.saturating_add(bytes as u64))
    }

    fn at_once(&self, cycles: u64, cells: u64) -> u128 {
        let whole = |basefee: u128| basefee.saturating_add(basefee / TIP_DIVISOR);
        let cycles = whole(self.now.cycle).saturating_mul(cycles.into());
        cycles.saturating_add(whole(self.now.cell).saturating_mul(cells.into()))
    }

    fn opening(&self, spec: &JobSpec, bytes: usize) -> u128 {
        let spare = judging_cycles(spec, bytes).saturating_add(SPARE_CYCLES);
        let instruction = Instruction::RevealResult { job: B256::ZERO, reveal: empty() };
        self.price(instruction, Some(spare), bytes).saturating_add(self.attest())
    }

    fn cycles(&self, cycles: u64) -> u128 {
        let bid = self.quote().transaction(Instruction::Heartbeat).cycle_bid;
        bid.max_fee.saturating_mul(cycles.into())
    }

    fn quote(&self) -> Quote {
        Quote { chain_id: 0, nonce: 0, basefees: self.basefees, state_deposit_per_kib: 0 }
    }

    /// With `bytes` added to the instruction.
    fn price(&self, instruction: Instruction, spare: Option<u64>, bytes: usize) -> u128 {
        let mut body = self.quote().transaction_with(instruction, spare);
        body.cells_limit = body.cells_limit.saturating_add(bytes as u64);
        deposit(&body).map_or(u128::MAX, Amount::get)
    }
}

/// Cycles beyond the price list for a single runner's result, which is read once.
pub(crate) fn single_spare(bytes: usize) -> u64 {
    SPARE_CYCLES.saturating_add(bytes as u64)
}

/// Bytes that must be paid for before a job is accepted: a small result, where an excuse for lack of money is
/// possible; otherwise the largest one.
pub(crate) fn least(spec: &JobSpec) -> usize {
    let most = spec.result_schema.max_return_bytes as usize;
    if alone(spec.verification.mode) { most } else { most.min(SMALL_BYTES) }
}

/// The largest size between [`least`] and the job's limit that `fits`.
fn largest(spec: &JobSpec, fits: impl Fn(usize) -> bool) -> usize {
    let (mut least, mut most) = (least(spec), spec.result_schema.max_return_bytes as usize);
    while least < most {
        let middle = least + (most - least).div_ceil(2);
        if fits(middle) { least = middle } else { most = middle - 1 }
    }
    least
}

fn part(spec: &JobSpec, bps: u32) -> u128 {
    let gross = spec.max_price.get().saturating_add(spec.tip.get());
    gross.saturating_mul(bps.into()) / BPS
}

fn empty() -> Reveal {
    Reveal {
        runner: Address::ZERO,
        result: Vec::new().into(),
        salt: B256::ZERO,
        result_sig: Signature { bytes: [0; 65] },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::http_spec;
    use remuda_protocol::dispatcher::committee::VerificationMode;
    use remuda_protocol::verifier::check::VerifierCheck;
    use remuda_protocol::verifier::excuse::Delivery;

    const BASEFEES: Basefees = Basefees { cycle: 1_000, cell: 3_000 };

    fn real(instruction: Instruction, spare: Option<u64>) -> u128 {
        let basefees = Basefees { cycle: 2_000, cell: 6_000 };
        let quote = Quote { chain_id: 7, nonce: 9, basefees, state_deposit_per_kib: 0 };
        deposit(&quote.transaction_with(instruction, spare)).unwrap().get()
    }

    #[test]
    fn budget_equals_the_deposits_of_the_transactions() {
        let spec = http_spec("GET", "http://example.com/");
        let fees = FeeBudget::new(BASEFEES);
        let (job, result) = (B256::repeat_byte(1), Delivery::from(vec![7; 500]));
        let spare = Some(judging_cycles(&spec, 500) + SPARE_CYCLES);
        let reveal = Reveal { result: result.clone(), ..empty() };
        let commitment = B256::repeat_byte(2);
        let opening = real(Instruction::RevealResult { job, reveal }, spare)
            + real(Instruction::CrashAttestation { job, signal: CrashSignal::Other }, None);
        assert_eq!(fees.job(&spec, 500, PendingFees::Opening), opening);
        let commit = real(Instruction::CommitResult { job, commitment }, None);
        assert_eq!(fees.job(&spec, 500, PendingFees::All), commit + opening);
        assert_eq!(fees.job(&spec, 500, PendingFees::Nothing), 0);
        let mut single = spec;
        let result_sig = empty().result_sig;
        let spare = Some(500 + SPARE_CYCLES);
        let submit = real(Instruction::SubmitResult { job, result, result_sig }, spare);
        for mode in [VerificationMode::None, VerificationMode::EconomicBond] {
            single.verification.mode = mode;
            assert_eq!(fees.job(&single, 500, PendingFees::All), submit, "{mode:?}");
        }
    }

    /// What compares 37 fields of up to 64 KiB: opening it takes 2.5 million cycles.
    fn dear(price: Amount) -> JobSpec {
        let mut spec = http_spec("GET", "http://example.com/");
        let fields = (0..37).map(|n| format!("f{n}")).collect();
        spec.verification.checks = vec![VerifierCheck::StructuredMatch { fields }];
        spec.result_schema.max_return_bytes = 65_536;
        spec.max_price = price;
        spec
    }

    #[test]
    fn result_size_follows_the_share_of_the_price() {
        let fees = FeeBudget::new(BASEFEES);
        let poor = dear(Amount(1));
        let bytes = fees.paid(&poor, 3);
        assert!((SMALL_BYTES..4_096).contains(&bytes), "{bytes}");
        let fee = fees.fee(judging_cycles(&poor, 65_536), 65_536);
        let rich = dear(Amount(fee * 3 * 10_000 / 8_750 + 3));
        assert_eq!(fees.paid(&rich, 3), 65_536, "it is the price that counts");
        assert!(fees.paid(&rich, 4) < 65_536, "and how many it is for");
        let ordinary = http_spec("GET", "http://example.com/");
        assert_eq!(fees.paid(&ordinary, 3), 1_024, "which ordinary work does not ask for");
    }

    #[test]
    fn bonus_limits_revealed_results() {
        let fees = FeeBudget::new(BASEFEES);
        let cheap = dear(Amount(1));
        assert!(fees.bonus_covers(&cheap, &[2, 100]), "small ones at any price");
        assert!(!fees.bonus_covers(&cheap, &[65_536]));
        assert!(fees.bonus_covers(&dear(Amount::cby(1_000)), &[65_536, 65_536]));
    }

    #[test]
    fn usual_budget_covers_any_single_result() {
        let fees = FeeBudget::new(BASEFEES);
        let mut single = dear(Amount(1));
        single.verification.mode = VerificationMode::None;
        assert!(fees.job(&single, least(&single), PendingFees::All) <= fees.usual());
        let member = dear(Amount(1));
        assert!(
            fees.job(&member, 65_536, PendingFees::All) > fees.usual(),
            "or else it is no test"
        );
        assert!(fees.job(&member, least(&member), PendingFees::All) <= fees.usual());
        assert!(fees.covered(&member, fees.usual()) >= SMALL_BYTES);
    }
}
