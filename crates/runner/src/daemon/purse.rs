//! What work may cost in fees: nothing is begun that cannot be paid for to its end.
//!
//! A block takes a transaction if the account covers its limits at its bid, so that is what is
//! counted here, and not the smaller sum that it costs in the end. Who commits and then cannot pay for the reveal
//! loses stake.

use crate::case::alone;
use remuda_client::sign::{JUDGING_CYCLES_PER_BYTE, Quote, SPARE_CYCLES};
use remuda_protocol::codec::Bytes;
use remuda_protocol::crypto::Signature;
use remuda_protocol::dispatcher::spec::JobSpec;
use remuda_protocol::event::CrashSignal;
use remuda_protocol::execute::deposit;
use remuda_protocol::fees::Basefees;
use remuda_protocol::primitives::{Address, Amount, B256};
use remuda_protocol::transaction::{Instruction, Reveal};
use remuda_protocol::verifier::reveal::judging_cycles;

/// Reveals come many blocks after the work begins: the basefee may have doubled by then.
const RISE: u128 = 2;
/// Bytes of the result of a job that nobody has named yet.
const USUAL_BYTES: u32 = 4_096;

/// How much of a job is still to be paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ahead {
    /// The commit as well; for a single runner, its result.
    All,
    /// It has committed: opening the result, or saying that it is lost.
    Opening,
    /// Nothing.
    Nothing,
}

/// What a unit costs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Purse {
    basefees: Basefees,
}

impl Purse {
    /// At what the next block asks.
    pub(crate) fn new(basefees: Basefees) -> Self {
        let Basefees { cycle, cell } = basefees;
        let basefees =
            Basefees { cycle: cycle.saturating_mul(RISE), cell: cell.saturating_mul(RISE) };
        Self { basefees }
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

    /// What a job that nobody has named yet may cost.
    pub(crate) fn usual(&self) -> u128 {
        self.commit()
            .saturating_add(self.result(USUAL_BYTES as usize))
            .saturating_add(self.attest())
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
        let judged = JUDGING_CYCLES_PER_BYTE.saturating_mul(bytes as u64);
        self.price(instruction, None, bytes).saturating_add(self.cycles(judged))
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
        Quote { chain_id: 0, nonce: 0, basefees: self.basefees }
    }

    /// With so many bytes more than it has.
    fn price(&self, instruction: Instruction, spare: Option<u64>, bytes: usize) -> u128 {
        let mut body = self.quote().transaction_with(instruction, spare);
        body.cells_limit = body.cells_limit.saturating_add(bytes as u64);
        deposit(&body).map_or(u128::MAX, Amount::get)
    }
}

fn empty() -> Reveal {
    Reveal {
        runner: Address::ZERO,
        result: Bytes(Vec::new()),
        salt: B256::ZERO,
        result_sig: Signature { bytes: [0; 65] },
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::http_spec;
    use super::*;
    use remuda_protocol::dispatcher::committee::VerificationMode;

    const BASEFEES: Basefees = Basefees { cycle: 1_000, cell: 3_000 };

    fn real(instruction: Instruction, spare: Option<u64>) -> u128 {
        let basefees = Basefees { cycle: 2_000, cell: 6_000 };
        let quote = Quote { chain_id: 7, nonce: 9, basefees };
        deposit(&quote.transaction_with(instruction, spare)).unwrap().get()
    }

    #[test]
    fn a_price_is_that_of_the_transactions_that_will_be_sent() {
        let spec = http_spec("GET", "http://example.com/");
        let purse = Purse::new(BASEFEES);
        let (job, result) = (B256::repeat_byte(1), Bytes(vec![7; 500]));
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
        let submit = real(Instruction::SubmitResult { job, result, result_sig }, None);
        for mode in [VerificationMode::None, VerificationMode::EconomicBond] {
            single.verification.mode = mode;
            assert_eq!(purse.job(&single, 500, Ahead::All), submit, "{mode:?}");
        }
    }
}
