//! Runs that ended are kept for a while.

use super::event::Reply;
use super::handle::Transition;
use super::rows::Rows;
use crate::time::Millis;

/// Runs are kept this long after their end even if memory is short: a submitter that lost the answer to a
/// submission may repeat it, and must find the run that it already made.
const KEPT_MILLIS_MIN: u64 = 60_000;
/// Most jobs forgotten per transaction: heartbeats wait for it.
pub(crate) const JOBS_MAX: usize = 1_000;
/// Bytes of logs, likewise.
const LOG_BYTES_MAX: u64 = 256 * 1024 * 1024;

impl<R: Rows> Transition<'_, R> {
    /// Forgets runs that were kept long enough, and those that there is no room for, the earliest first.
    pub(super) fn forget(&mut self, keep_seconds: u32) -> Reply {
        let most = self.policy.sweep_lapses_max;
        let before = |millis| Millis(self.now.wall.0.saturating_sub(millis));
        let kept = self.rows.ended_before(before(u64::from(keep_seconds) * 1_000), most);
        let room = self.policy.rows_bytes_max / 4 * 3;
        let beyond = self.rows.beyond(room, before(KEPT_MILLIS_MIN), most);
        // Both begin with those that ended first: the longer list has the other in it.
        let mut runs = if beyond.len() > kept.len() { beyond } else { kept };
        let (full, mut jobs, mut logs, mut done) = (runs.len() == most, 0, 0, 0);
        let mut with_objects = Vec::new();
        for run in &runs {
            jobs += self.rows.jobs_of(run).len();
            logs += self.rows.log_bytes_of(run);
            if done > 0 && (jobs > JOBS_MAX || logs > LOG_BYTES_MAX) {
                break;
            }
            with_objects.extend(self.rows.uploaded(run).then(|| run.clone()));
            self.rows.remove_run(run);
            done += 1;
        }
        let more = full || done < runs.len();
        runs.truncate(done);
        Reply::Forgot { runs, with_objects, more }
    }
}
