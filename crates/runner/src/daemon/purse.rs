//! What work may cost in fees: nothing is begun that cannot be paid for to its end.
//!
//! A block takes a transaction if the account covers its limits at its bid, so that is what is
//! counted here, and not the smaller sum that it costs in the end. Who commits and then cannot pay for the reveal
//! loses stake.
//!
//! Whoever orders says how much of a result is compared how often, and whoever serves it says how large
//! it is: together they can make a committee spend many times what it earns. So a member opens what
//! the job pays for; instead of more it gives an excuse, which costs next to nothing. A single
//! runner's result is compared with nothing, and its fees are small.

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

/// Reveals come many blocks after the work begins: the basefee may have doubled by then.
const RISE: u128 = 2;
/// Bytes of the result of a job that nobody has named yet.
const USUAL_BYTES: u32 = 4_096;
/// Bytes of a small result: with money for so many a job can be answered, if only with an excuse, which
/// has none.
pub(crate) const SMALL_BYTES: usize = 512;
/// Bytes that the chain lets any result have.
const RESULT_BYTES_MAX: usize = 65_536;
/// All of a price, in the unit of its parts.
const BPS: u128 = 10_000;
/// What a proposer gets besides, as a part of the basefee.
const TIP_DIVISOR: u128 = 10;

/// Bytes of a result that are opened, and why no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Most {
    pub(crate) bytes: usize,
    pub(crate) why: &'static str,
}

/// How much of a job is still to be paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ahead {
    /// The commit as well; for a single runner, its result.
    All,
    /// It has committed: opening the result, or saying that it is lost.
    Opening,
    Nothing,
}

/// What a unit costs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Purse {
    /// What they may have risen to.
    basefees: Basefees,
    /// What the next block asks.
    now: Basefees,
}

impl Purse {
    /// At what the next block asks.
    pub(crate) fn new(basefees: Basefees) -> Self {
        let Basefees { cycle, cell } = basefees;
        let risen = Basefees { cycle: cycle.saturating_mul(RISE), cell: cell.saturating_mul(RISE) };
        Self { basefees: risen, now: basefees }
    }

    /// What a job of this kind may still cost, with a result of so many bytes.
    pub(crate) fn job(&self, spec: &JobSpec, bytes: usize, ahead: Ahead) -> u128 {
        match ahead {
            Ahead::Nothing => 0,
            _ if alone(spec.verification.mode) => self.result(bytes),
            Ahead::All => self.commit().saturating_add(self.opening(spec, bytes)),
            Ahead::Opening => self.opening(spec, bytes),
        }
    }

    /// What a job that nobody has named yet may cost: an ordinary one of a committee, or any of a
    /// single runner.
    pub(crate) fn usual(&self) -> u128 {
        let judged = self.cycles(JUDGING_CYCLES_PER_BYTE.saturating_mul(USUAL_BYTES.into()));
        let member = (self.commit())
            .saturating_add(self.result(USUAL_BYTES as usize).saturating_add(judged))
            .saturating_add(self.attest());
        member.max(self.result(RESULT_BYTES_MAX))
    }

    /// Bytes of a result that can be opened with so much money; at least what must be.
    pub(crate) fn covered(&self, spec: &JobSpec, money: u128) -> usize {
        most(spec, |bytes| self.job(spec, bytes, Ahead::All) <= money)
    }

    /// Bytes of a result that a job pays one of so many members for. Ordinary ones are opened at
    /// any price: who offers work for little means that.
    pub(crate) fn paid(&self, spec: &JobSpec, members: u32) -> usize {
        let parts = PayoutBps::default();
        let share = part(spec, parts.runners - parts.aggregator_bonus) / u128::from(members.max(1));
        let judged = JUDGING_CYCLES_PER_BYTE.saturating_mul(USUAL_BYTES.into());
        let usual = self.fee(judged, USUAL_BYTES as usize);
        let fee = |bytes| self.fee(judging_cycles(spec, bytes), bytes);
        most(spec, |bytes| fee(bytes) <= share.max(usual))
    }

    /// Whether an aggregator's bonus pays for opening results of others, of so many bytes each.
    /// Small ones are opened anyway: the job ends sooner.
    pub(crate) fn bonus_covers(&self, spec: &JobSpec, others: &[usize]) -> bool {
        let one = |bytes: usize| {
            let cells = empty().to_bytes().len().saturating_add(bytes) as u64;
            self.at_once(judging_cycles(spec, bytes), cells)
        };
        let all = others.iter().fold(0, |sum: u128, bytes| sum.saturating_add(one(*bytes)));
        let small = one(SMALL_BYTES).saturating_mul(others.len() as u128);
        all <= small.max(part(spec, PayoutBps::default().aggregator_bonus))
    }

    /// What it costs to take no more jobs.
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

    /// The result itself is not needed for its price.
    fn result(&self, bytes: usize) -> u128 {
        let Reveal { result, result_sig, .. } = empty();
        let instruction = Instruction::SubmitResult { job: B256::ZERO, result, result_sig };
        self.price(instruction, Some(single_spare(bytes)), bytes)
    }

    /// What opening a result takes from the account in the next block.
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

    /// With so many bytes more than it has.
    fn price(&self, instruction: Instruction, spare: Option<u64>, bytes: usize) -> u128 {
        let mut body = self.quote().transaction_with(instruction, spare);
        body.cells_limit = body.cells_limit.saturating_add(bytes as u64);
        deposit(&body).map_or(u128::MAX, Amount::get)
    }
}

/// Cycles that a single runner's result costs beyond the price list: it is read once.
pub(crate) fn single_spare(bytes: usize) -> u64 {
    SPARE_CYCLES.saturating_add(bytes as u64)
}

/// Bytes that must be paid for before a job is taken: a small result's, where an excuse can be given for
/// want of money; or else the whole result's.
pub(crate) fn least(spec: &JobSpec) -> usize {
    let most = spec.result_schema.max_return_bytes as usize;
    if alone(spec.verification.mode) { most } else { most.min(SMALL_BYTES) }
}

/// The most bytes between the least and what the job allows that are right.
fn most(spec: &JobSpec, right: impl Fn(usize) -> bool) -> usize {
    let (mut least, mut most) = (least(spec), spec.result_schema.max_return_bytes as usize);
    while least < most {
        let middle = least + (most - least).div_ceil(2);
        if right(middle) { least = middle } else { most = middle - 1 }
    }
    least
}

/// A part of what a job pays.
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
    fn a_price_is_that_of_the_transactions_that_will_be_sent() {
        let spec = http_spec("GET", "http://example.com/");
        let purse = Purse::new(BASEFEES);
        let (job, result) = (B256::repeat_byte(1), Delivery::from(vec![7; 500]));
        let spare = Some(judging_cycles(&spec, 500) + SPARE_CYCLES);
        let reveal = Reveal { result: result.clone(), ..empty() };
        let commitment = B256::repeat_byte(2);
        let opening = real(Instruction::RevealResult { job, reveal }, spare)
            + real(Instruction::CrashAttestation { job, signal: CrashSignal::Other }, None);
        assert_eq!(purse.job(&spec, 500, Ahead::Opening), opening);
        let commit = real(Instruction::CommitResult { job, commitment }, None);
        assert_eq!(purse.job(&spec, 500, Ahead::All), commit + opening);
        assert_eq!(purse.job(&spec, 500, Ahead::Nothing), 0);
        let mut single = spec;
        let result_sig = empty().result_sig;
        let spare = Some(500 + SPARE_CYCLES);
        let submit = real(Instruction::SubmitResult { job, result, result_sig }, spare);
        for mode in [VerificationMode::None, VerificationMode::EconomicBond] {
            single.verification.mode = mode;
            assert_eq!(purse.job(&single, 500, Ahead::All), submit, "{mode:?}");
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
    fn a_member_opens_what_the_job_pays_it_for() {
        let purse = Purse::new(BASEFEES);
        let poor = dear(Amount(1));
        let bytes = purse.paid(&poor, 3);
        assert!((SMALL_BYTES..4_096).contains(&bytes), "{bytes}");
        let fee = purse.fee(judging_cycles(&poor, 65_536), 65_536);
        let rich = dear(Amount(fee * 3 * 10_000 / 8_750 + 3));
        assert_eq!(purse.paid(&rich, 3), 65_536, "it is the price that counts");
        assert!(purse.paid(&rich, 4) < 65_536, "and how many it is for");
        let ordinary = http_spec("GET", "http://example.com/");
        assert_eq!(purse.paid(&ordinary, 3), 1_024, "which ordinary work does not ask for");
    }

    #[test]
    fn a_bonus_pays_for_as_much_as_it_is() {
        let purse = Purse::new(BASEFEES);
        let cheap = dear(Amount(1));
        assert!(purse.bonus_covers(&cheap, &[2, 100]), "small ones at any price");
        assert!(!purse.bonus_covers(&cheap, &[65_536]));
        assert!(purse.bonus_covers(&dear(Amount::cby(1_000)), &[65_536, 65_536]));
    }

    #[test]
    fn the_usual_money_is_enough_for_any_single_result() {
        let purse = Purse::new(BASEFEES);
        let mut single = dear(Amount(1));
        single.verification.mode = VerificationMode::None;
        assert!(purse.job(&single, least(&single), Ahead::All) <= purse.usual());
        let member = dear(Amount(1));
        assert!(purse.job(&member, 65_536, Ahead::All) > purse.usual(), "or else it is no test");
        assert!(purse.job(&member, least(&member), Ahead::All) <= purse.usual());
        assert!(purse.covered(&member, purse.usual()) >= SMALL_BYTES);
    }
}
