//! Crash attestations: an honest way out between commit and reveal, at a price (SPEC §5).

use crate::base::error::Refusal;
use crate::base::primitives::{Address, JobId};
use crate::chain::execute::Exec;
use crate::chain::registry::standing::SCORE_FAILED;
use crate::rules::dispatcher::job::{SeatState, Status};
use crate::rules::event::{CrashSignal, Event};
use crate::rules::key::JobKey;

/// Whether a runner has opened something, be it not what it committed to.
fn opened(progress: &SeatState) -> bool {
    matches!(progress, SeatState::Revealed { .. } | SeatState::Excused { .. } | SeatState::Slashed)
}

impl Exec<'_> {
    pub(crate) fn attest_crash(
        &mut self,
        who: Address,
        id: &JobId,
        signal: CrashSignal,
    ) -> Result<(), Refusal> {
        let mut job = self.state.get(&JobKey { job: *id }).ok_or(Refusal::UnknownJob)?;
        let revealed = job.seats.iter().any(|seat| opened(&seat.progress));
        let over =
            !matches!(job.status, Status::Pending { .. } | Status::Assigned | Status::Committed);
        let closed_at = job.closed_at;
        let seat = job.seat_of(who).ok_or(Refusal::NotSeated)?;
        if over {
            return Err(Refusal::WrongPhase);
        }
        if !matches!(seat.progress, SeatState::Committed { .. }) {
            return Err(Refusal::NothingCommitted);
        }
        let exemption = self.params.crash_exemption_blocks;
        let late = closed_at.is_some_and(|at| self.env.height > at.plus(exemption));
        if revealed || late {
            return Err(Refusal::TooLateToAttest);
        }
        let seat = seat.clone();
        self.sign_of_life(who)?;
        let exempt = self.note_crash(who);
        self.emit(Event::CrashAttested { job: *id, runner: who, signal, exempt });
        if !exempt {
            // Noted, and no more: the commit still has to be opened.
            return Ok(());
        }
        if let Some(seat) = job.seat_of(who) {
            seat.progress = SeatState::Crashed;
        }
        self.unseat_runner(&seat);
        // It stands in place of a slash, so it counts at every price.
        self.score(who, SCORE_FAILED);
        self.resolve_if_complete(id, job);
        Ok(())
    }
}
