//! Commits: runners bind themselves to results before any is known (SPEC §5).

use crate::base::error::Refusal;
use crate::base::primitives::{Address, B256, JobId};
use crate::chain::execute::Exec;
use crate::chain::registry::standing::SCORE_FAILED;
use crate::rules::agenda::Task;
use crate::rules::dispatcher::job::{Job, Seat, SeatState, Status};
use crate::rules::event::Event;
use crate::rules::key::JobKey;

impl Exec<'_> {
    pub(crate) fn commit(
        &mut self,
        who: Address,
        id: &JobId,
        commitment: B256,
    ) -> Result<(), Refusal> {
        let mut job = self.state.get(&JobKey { job: *id }).ok_or(Refusal::UnknownJob)?;
        let (at, deadline) = (self.env.height, job.commit_by);
        let status = job.status.clone();
        let single = job.committee <= 1;
        let seat = job.seat_of(who).ok_or(Refusal::NotSeated)?;
        if status != Status::Assigned {
            return Err(Refusal::WrongPhase);
        }
        if at > deadline {
            return Err(Refusal::DeadlinePassed);
        }
        if seat.progress != SeatState::Waiting {
            return Err(Refusal::AlreadyCommitted);
        }
        if single {
            return Err(Refusal::ResultDirectly);
        }
        seat.progress = SeatState::Committed { commitment, at };
        self.sign_of_life(who)?;
        self.emit(Event::Committed { job: *id, runner: who, commitment });
        let all = job.taking_part().all(|seat| seat.progress != SeatState::Waiting);
        if all && enough_commits(&job) {
            self.close_commits(id, job);
        } else {
            self.state.put(&JobKey { job: *id }, &job);
        }
        Ok(())
    }

    fn close_commits(&mut self, id: &JobId, mut job: Job) {
        job.status = Status::Committed;
        // Deadlines are absolute, but a full agenda must not cost a runner its time to reveal.
        let now = self.env.height;
        job.aggregator_until = job.aggregator_until.max(now.plus(self.params.aggregator_blocks));
        job.reveal_by = job.reveal_by.max(now.plus(self.params.reveal_blocks));
        job.closed_at = Some(now);
        self.emit(Event::CommitsClosed { job: *id });
        self.schedule(job.reveal_by, &Task::RevealDeadline { job: *id, attempt: job.attempt });
        self.state.put(&JobKey { job: *id }, &job);
        self.resolve_if_complete(id, job);
    }

    /// Unseats the runners that have not committed. With enough commits the job goes on without them;
    /// otherwise their seats are drawn again.
    pub(crate) fn commit_deadline(&mut self, id: &JobId, attempt: u32) -> u64 {
        let Some(mut job) = self.state.get(&JobKey { job: *id }) else { return 0 };
        if job.status != Status::Assigned || job.attempt != attempt {
            return 0;
        }
        self.time_out_waiting(id, &mut job);
        if enough_commits(&job) {
            self.close_commits(id, job);
            return 0;
        }
        self.state.put(&JobKey { job: *id }, &job);
        self.retry_later(*id, attempt);
        0
    }

    fn time_out_waiting(&mut self, id: &JobId, job: &mut Job) {
        for seat in &mut job.seats {
            if seat.progress != SeatState::Waiting {
                continue;
            }
            seat.progress = SeatState::TimedOut;
            job.excluded.push(seat.runner);
            let (runner, excused) = (seat.runner, seat.overbooked);
            self.emit(Event::RunnerTimedOut { job: *id, runner, excused });
            self.unseat_runner(seat);
            if !excused {
                self.score_seat(seat, SCORE_FAILED);
            }
        }
    }
}

/// Whether a verdict is still possible with those that have committed.
fn enough_commits(job: &Job) -> bool {
    let committed = |seat: &&Seat| matches!(seat.progress, SeatState::Committed { .. });
    let commits = job.taking_part().filter(committed).count() as u32;
    job.committee > 1 && commits >= job.n_threshold
}
