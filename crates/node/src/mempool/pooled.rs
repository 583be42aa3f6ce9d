//! One transaction that waits.

use super::outlay::Outlay;
use super::rank::{Offer, Rank};
use super::refusal::Refusal;
use remuda_protocol::codec::{Bytes, Decode};
use remuda_protocol::dispatcher::job::{Seat, SeatState, Status};
use remuda_protocol::error::Inadmissible;
use remuda_protocol::execute::{Cost, check_bids, check_limits, deposit, intrinsic};
use remuda_protocol::fees::{Basefees, Lane};
use remuda_protocol::key::JobKey;
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::{Address, Amount, JobId, TxHash};
use remuda_protocol::state::{View, read};
use remuda_protocol::transaction::{Instruction, SignedTransaction, tx_hash};

/// A transaction that waits for a block.
#[derive(Clone, Debug)]
pub struct Pooled {
    pub hash: TxHash,
    pub bytes: Bytes,
    pub sender: Address,
    /// Its place among the sender's.
    pub nonce: u64,
    /// Whose cycles it draws on.
    pub lane: Lane,
    /// Runners say such things about themselves and their work.
    pub(super) of_runner: bool,
    /// The report that it is, if a job waited for it when it came in and in every block since.
    pub(super) duty: Option<Duty>,
    pub cycles_limit: u64,
    pub cells_limit: u64,
    /// Money that it takes at most, as far as the transaction itself tells.
    pub cost: Amount,
    /// The state may add to the cost.
    pub(super) open_ended: bool,
    pub(super) offer: Offer,
    pub(super) arrival: u64,
    /// How many blocks the pool had seen then.
    pub(super) since: u64,
    /// On its own, at the basefees of the newest final block.
    pub(super) rank: Rank,
    /// The least rank up to here in its queue: it cannot run before the others have.
    pub(super) floor: Rank,
}

/// A report that a job waits for: which job, and what kind of report.
pub(super) type Duty = (JobId, Report);

/// What a runner reports on a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Report {
    Commit,
    Reveal,
    Aggregate,
    Result,
    Crash,
}

/// What the bytes alone say, before anybody knows who signed them.
pub(super) struct Unsigned<'a> {
    bytes: &'a [u8],
    pub(super) hash: TxHash,
    signed: SignedTransaction,
    pub(super) offer: Offer,
    cost: Amount,
    open_ended: bool,
}

impl<'a> Unsigned<'a> {
    /// All checks that need neither the state nor the signer, by the protocol's own functions.
    pub(super) fn check(bytes: &'a [u8], params: &ChainParams) -> Result<Self, Refusal> {
        if bytes.len() as u64 > params.max_tx_bytes {
            return Err(Inadmissible::TooLarge.into());
        }
        let signed = SignedTransaction::from_bytes(bytes).map_err(|_| Inadmissible::Malformed)?;
        let body = &signed.body;
        if body.chain_id != params.chain_id {
            return Err(Inadmissible::WrongChain.into());
        }
        check_bids(body)?;
        check_limits(body, bytes.len(), params)?;
        let floor = params.min_basefee;
        if body.cycle_bid.max_fee < floor || body.cell_bid.max_fee < floor {
            return Err(Refusal::FeeBelowFloor { floor });
        }
        let deposit = deposit(body).ok_or(Inadmissible::CostOverflow)?;
        let outlay = Outlay::of(body, params).ok_or(Inadmissible::CostOverflow)?;
        let cost = deposit.plus(outlay.known).ok_or(Inadmissible::CostOverflow)?;
        let least = intrinsic(&body.instruction, bytes.len());
        let limits = Cost { cycles: body.cycles_limit, cells: body.cells_limit };
        let (cycle, cell) = (body.cycle_bid, body.cell_bid);
        let offer = Offer { cycle, cell, least, limits, on_duty: false };
        let (hash, open_ended) = (tx_hash(bytes), outlay.open_ended);
        Ok(Self { bytes, hash, signed, offer, cost, open_ended })
    }

    /// Whether it reports on a job.
    pub(super) fn is_report(&self) -> bool {
        reported(&self.signed.body.instruction).is_some()
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Finds out who signed it: by far the dearest check.
    pub(super) fn recover(self) -> Result<Entrant<'a>, Inadmissible> {
        let SignedTransaction { body, signature } = &self.signed;
        let sender =
            signature.recover_address(&body.digest()).map_err(|_| Inadmissible::BadSignature)?;
        Ok(Entrant { unsigned: self, sender })
    }
}

/// A transaction that nothing is wrong with as far as it goes, at the door. Only these get as far
/// as the pool, so nobody looks at signatures while others wait for it.
pub(super) struct Entrant<'a> {
    unsigned: Unsigned<'a>,
    pub(super) sender: Address,
}

impl Entrant<'_> {
    pub(super) fn hash(&self) -> TxHash {
        self.unsigned.hash
    }

    pub(super) fn nonce(&self) -> u64 {
        self.unsigned.signed.body.nonce
    }

    /// The report that it is, if a job waits for it.
    pub(super) fn duty(&self, state: &dyn View) -> Option<Duty> {
        let duty = reported(&self.unsigned.signed.body.instruction)?;
        is_awaited(state, duty, &self.sender).then_some(duty)
    }

    /// As it waits from now on, at these basefees.
    pub(super) fn pooled(
        &self,
        duty: Option<Duty>,
        (basefees, params): (&Basefees, &ChainParams),
        (arrival, since): (u64, u64),
    ) -> Pooled {
        let Self { unsigned, sender } = self;
        let body = &unsigned.signed.body;
        let offer = Offer { on_duty: duty.is_some(), ..unsigned.offer };
        let rank = Rank::of(&offer, basefees, params);
        let lane = body.instruction.lane();
        let about_itself =
            matches!(body.instruction, Instruction::PauseRunner | Instruction::ResumeRunner);
        Pooled {
            hash: unsigned.hash,
            bytes: Bytes::from(unsigned.bytes),
            sender: *sender,
            nonce: body.nonce,
            lane,
            of_runner: lane != Lane::User || about_itself,
            duty,
            cycles_limit: body.cycles_limit,
            cells_limit: body.cells_limit,
            cost: unsigned.cost,
            open_ended: unsigned.open_ended,
            offer,
            arrival,
            since,
            rank,
            floor: rank,
        }
    }
}

/// The job that an instruction reports on, and what it reports.
fn reported(instruction: &Instruction) -> Option<Duty> {
    Some(match instruction {
        Instruction::CommitResult { job, .. } => (*job, Report::Commit),
        Instruction::RevealResult { job, .. } => (*job, Report::Reveal),
        Instruction::RevealAggregate { job, .. } => (*job, Report::Aggregate),
        Instruction::SubmitResult { job, .. } => (*job, Report::Result),
        Instruction::CrashAttestation { job, .. } => (*job, Report::Crash),
        _ => return None,
    })
}

/// Whether a job waits for such a report of this runner. Jobs stay in the state when they are over, so
/// a seat alone would be a privilege for ever.
fn is_awaited(state: &dyn View, (job, report): Duty, sender: &Address) -> bool {
    let Some(job) = read(state, &JobKey { job }) else { return false };
    let taking_part = |seat: &&Seat| seat.runner == *sender && seat.progress.takes_part();
    let Some(seat) = job.seats.iter().find(taking_part) else { return false };
    let committed = matches!(seat.progress, SeatState::Committed { .. });
    let status = &job.status;
    match report {
        Report::Commit | Report::Result => {
            *status == Status::Assigned && seat.progress == SeatState::Waiting
        }
        Report::Reveal => *status == Status::Committed && committed,
        Report::Aggregate => *status == Status::Committed && job.aggregator == Some(*sender),
        Report::Crash => committed,
    }
}

impl Pooled {
    /// Whether it is a report that a job waits for in this state. It may have been one when it came in.
    pub(super) fn is_on_duty(&self, state: &dyn View) -> bool {
        self.duty.is_some_and(|duty| is_awaited(state, duty, &self.sender))
    }

    /// The tip at these basefees; see [`Offer::tip`].
    pub(super) fn tip(&self, basefees: &Basefees, params: &ChainParams) -> Option<u128> {
        self.offer.tip(basefees, params)
    }
}
