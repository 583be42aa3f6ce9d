//! Crash attestations: an honest way out between commit and reveal, at a price (SPEC §5).

use crate::dispatcher::job::{Progress, Status};
use crate::error::Refusal;
use crate::event::{CrashSignal, Event};
use crate::execute::Exec;
use crate::key::JobKey;
use crate::primitives::{Address, JobId};
use crate::registry::standing::SCORE_FAILED;

/// Whether a runner has opened something, be it not what it committed to.
fn opened(progress: &Progress) -> bool {
    matches!(
        progress,
        Progress::Revealed { .. } | Progress::Excused { .. } | Progress::Slashed
    )
}

impl Exec<'_> {
    pub(crate) fn attest_crash(
        &mut self,
        who: Address,
        id: &JobId,
        signal: CrashSignal,
    ) -> Result<(), Refusal> {
        let mut job = self.state.get(&JobKey { job: *id }).ok_or(Refusal::UnknownJob)?;
        let revealed =
            job.seats.iter().any(|seat| opened(&seat.progress));
        let over =
            !matches!(job.status, Status::Pending { .. } | Status::Assigned | Status::Committed);
        let seat = job.seat_of(who).ok_or(Refusal::NotSeated)?;
        if over {
            return Err(Refusal::WrongPhase);
        }
        let Progress::Committed { at, .. } = seat.progress else {
            return Err(Refusal::NothingCommitted);
        };
        if revealed || self.env.height > at.plus(self.params.crash_exemption_blocks) {
            return Err(Refusal::TooLateToAttest);
        }
        self.sign_of_life(who)?;
        let exempt = self.note_crash(who);
        self.emit(Event::CrashAttested { job: *id, runner: who, signal, exempt });
        if !exempt {
            // Noted, and no more: the commit still has to be opened.
            return Ok(());
        }
        seat.progress = Progress::Crashed;
        let value = self.price_of(id);
        self.unseat_runner(who, value);
        self.score(who, SCORE_FAILED, value);
        self.resolve_if_complete(id, job);
        Ok(())
    }
}
