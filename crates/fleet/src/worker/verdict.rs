//! Content of the last message of a job.

use super::steps::Ended;
use crate::message::{CompleteStatus, Failure};

pub(super) struct Verdict {
    pub(super) status: CompleteStatus,
    pub(super) failure: Option<Failure>,
    pub(super) exit_code: Option<i32>,
    pub(super) summary: String,
}

impl Verdict {
    /// `failure` overrides the cause that follows from the end.
    pub(super) fn of(ended: Ended, failure: Option<Failure>) -> Self {
        use CompleteStatus::{Failed, Succeeded, TimedOut};
        let (status, why, exit_code, summary) = match ended {
            Ended::Succeeded => (Succeeded, None, Some(0), "Every step succeeded.".to_owned()),
            Ended::Failed { step, code } => {
                let how = code.map_or("by a signal".to_owned(), |code| format!("with code {code}"));
                (Failed, Some(Failure::StepFailed), code, format!("Step {} ended {how}.", step + 1))
            }
            Ended::TimedOut => (TimedOut, None, None, "The time was over.".to_owned()),
            Ended::OutOfMemory => {
                (Failed, Some(Failure::OutOfMemory), None, "More memory than allowed.".to_owned())
            }
            Ended::TooMany => {
                let why = "Too many processes, or files that they have open.".to_owned();
                (Failed, Some(Failure::StepFailed), None, why)
            }
            Ended::OutOfDisk => {
                let why = "More disk space, files or directory levels than allowed.";
                (Failed, Some(Failure::OutOfDisk), None, why.to_owned())
            }
            Ended::Shutdown => (
                Failed,
                Some(Failure::RunnerShutdown),
                None,
                "The worker was told to end.".to_owned(),
            ),
            Ended::Broken(why) => (Failed, Some(Failure::RunnerError), None, why),
            // Not reported by `Complete`.
            Ended::Canceled | Ended::Stale => {
                (Failed, Some(Failure::RunnerError), None, String::new())
            }
        };
        Self { status, failure: failure.or(why), exit_code, summary }
    }
}
