//! What can go wrong with a fleet, in words that say what to do.

use remuda_fleet::auth::KeyError;
use remuda_fleet::client::ClientError;
use remuda_fleet::http::EndpointError;
use remuda_fleet::id::{Fence, JobId, RunId};
use remuda_fleet::lease::RunStatus;
use remuda_fleet::orchestrator::ServeError;
use remuda_fleet::worker::{LinkError, NetworkError, WorkerError};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What an orchestrator says to a key that was expelled.
const EXPELLED: &str = "EXPELLED";

/// Why a command about a fleet failed.
#[derive(Debug, thiserror::Error)]
pub enum FleetFailure {
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    #[error(
        "cannot reach the orchestrator at {url}: {why}. Check --orchestrator URL; to start one on this machine: `remuda orchestrator init fleet && remuda orchestrator run fleet`"
    )]
    Unreachable {
        /// Where it was looked for.
        url: String,
        why: String,
    },
    /// A file that was fetched before is another one.
    #[error("{} is there, and is not what would be fetched; move it away, or fetch into another folder", .0.display())]
    Differs(PathBuf),
    /// Another process is at it.
    #[error("{what} runs in {} already; end that one, or use another directory", .path.display())]
    Taken { path: PathBuf, what: &'static str },
    #[error(
        "the orchestrator at {url} asks for a token. Name a file with one: --token-file FILE; its own directory has some (submitter.token, viewer.token, worker.token)"
    )]
    NoToken { url: String },
    #[error("the orchestrator at {url} does not know the token in {file}. Its operator creates tokens with `remuda orchestrator token new`", file = .file.display())]
    WrongToken { url: String, file: PathBuf },
    #[error("the token in {file} does not allow this: {why}", file = .file.display())]
    Forbidden { file: PathBuf, why: String },
    /// No token in a file.
    #[error("{} has no token in it: one word on one line, as `remuda orchestrator init` writes it", .0.display())]
    NoTokenInside(PathBuf),
    /// It was understood, and not done.
    #[error("{message} ({code})")]
    Refused { code: String, message: String },
    /// A file that was read and not understood.
    #[error("{path} is invalid: {why}", path = .path.display())]
    Content {
        path: PathBuf,
        /// What is wrong, with its place.
        why: String,
    },
    /// Something is there that would be overwritten.
    #[error("{path} is there already, and is never overwritten; {advice}", path = .path.display())]
    Exists { path: PathBuf, advice: &'static str },
    /// Not an orchestrator's or a worker's directory.
    #[error("{path} has no {file} in it; make it first: remuda {command} init {path}", path = .path.display())]
    NotMade {
        /// Where it was looked for.
        path: PathBuf,
        file: &'static str,
        command: &'static str,
    },
    /// A fence that there is not.
    #[error(
        "nothing was granted under fence {fence} yet; `remuda run show` has the last fence of each job"
    )]
    NoGrant { fence: Fence },
    #[error("there is no token called {0:?}; `remuda orchestrator token list` shows all")]
    UnknownToken(String),
    #[error(
        "the sandbox needs bubblewrap, which is not installed (Debian: bubblewrap) or may not create namespaces and mounts here. Choose --sandbox plain to do without: jobs can then do whatever the worker can"
    )]
    NoSandbox,
    /// The configured job network is not supported here.
    #[error(transparent)]
    NoJobNetwork(#[from] NetworkError),
    /// An executor of a worker.
    #[error("[executors] in worker.toml: {0}")]
    Executor(remuda_runner::executor::ExecutorError),
    #[error(
        "this worker would have {found} tags, of which executors bring some; {limit} at most are possible. Make two of it"
    )]
    Tags {
        found: usize,
        /// How many there may be.
        limit: usize,
    },
    #[error(
        "runc is not there or makes no container here ({0}). Install it, name it with --runc PATH, or choose --images refuse"
    )]
    NoRunc(String),
    #[error(
        "the bucket's keys are missing: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a file with both as keys_file under [bucket]"
    )]
    NoBucketKeys,
    /// A bucket's keys that everybody can read.
    #[error("{path} can be read by others, and has keys in it: chmod 600 {path}", path = .0.display())]
    OpenKeys(PathBuf),
    /// A run that did not succeed.
    #[error("run {run} ended {status}{why}")]
    Ended {
        run: RunId,
        status: RunStatus,
        /// Which jobs, and what to do, as a further part of the sentence.
        why: String,
    },
    /// A word that is neither a run nor a job.
    #[error("{0:?} is neither a run (run_…) nor a job (job_…); `remuda run list` shows runs")]
    BadId(String),
    /// A job where a run is wanted.
    #[error("{job} is a job, and this is about runs: take {run}")]
    NotARun { job: JobId, run: RunId },
    /// A word that names no machine.
    #[error(
        "{0:?} is no machine's key (24 hex digits) and no worker (runner_…); `remuda fleet workers` shows machines"
    )]
    BadMachine(String),
    #[error("run {run} has no job {name:?}; it has {there}")]
    NoJob { run: RunId, name: String, there: String },
    /// The worker's key is not known.
    #[error(
        "the orchestrator does not know this worker's key: {why}. Make a worker in a new directory: remuda worker init NEWDIR --token-file FILE"
    )]
    NotEnrolled { why: String },
    /// The worker's key was expelled.
    #[error(
        "an operator has expelled this worker's key, which cannot be taken back: nothing that it signs is believed, \
         and its jobs go to others. If the machine is to work again, ask the operator for an enrolment token, and \
         make a worker with a new key in a new directory: remuda worker init NEWDIR --token-file FILE"
    )]
    Expelled,
    #[error("the orchestrator does not run: {0}")]
    Serve(#[from] ServeError),
    #[error("the worker does not run: {0}")]
    Worker(WorkerError),
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The demonstration, or a benchmark.
    #[error("{0}")]
    Demo(String),
}

impl From<WorkerError> for FleetFailure {
    fn from(error: WorkerError) -> Self {
        match error {
            WorkerError::Refused(LinkError::Refused { code, .. }) if code == EXPELLED => {
                Self::Expelled
            }
            WorkerError::Refused(LinkError::Refused { code, message })
                if ["UNKNOWN_KEY", "UNAUTHORIZED"].contains(&code.as_str()) =>
            {
                Self::NotEnrolled { why: message }
            }
            WorkerError::Network(error) => Self::NoJobNetwork(error),
            WorkerError::Endpoint(error) => Self::Endpoint(error),
            other => Self::Worker(other),
        }
    }
}

impl FleetFailure {
    /// What a failed call of a person's command means.
    pub(crate) fn of_call(error: ClientError, url: &str, token: Option<&Path>) -> Self {
        let url = url.to_owned();
        match error {
            ClientError::Unreachable { url, why } => Self::Unreachable { url, why },
            ClientError::Nonsense { .. } => {
                Self::Refused { code: "BAD_ANSWER".to_owned(), message: error.to_string() }
            }
            ClientError::Refused { code, message } => Self::of_refusal(code, message, url, token),
        }
    }

    /// Explains a refusal in terms of the token file that the command used.
    pub(crate) fn of_refusal(
        code: String,
        message: String,
        url: String,
        token: Option<&Path>,
    ) -> Self {
        match (code.as_str(), token) {
            ("UNAUTHORIZED", None) => Self::NoToken { url },
            ("UNAUTHORIZED", Some(file)) => Self::WrongToken { url, file: file.to_owned() },
            (EXPELLED, _) => Self::Expelled,
            ("FORBIDDEN", Some(file)) => Self::Forbidden { file: file.to_owned(), why: message },
            _ => Self::Refused { code, message },
        }
    }

    /// The exit status: 2 for wrong use, 3 for a run that was canceled, 1 for all else.
    pub(crate) fn status(&self) -> ExitCode {
        match self {
            Self::Endpoint(_) | Self::BadId(_) | Self::NotARun { .. } | Self::BadMachine(_) => {
                ExitCode::from(2)
            }
            Self::Ended { status: RunStatus::Canceled, .. } => ExitCode::from(3),
            _ => ExitCode::FAILURE,
        }
    }

    /// Stable; programs compare it. An orchestrator's refusal keeps its own.
    pub(crate) fn code(&self) -> &str {
        match self {
            Self::Endpoint(_) | Self::BadId(_) | Self::NotARun { .. } | Self::BadMachine(_) => {
                "wrong_use"
            }
            Self::Unreachable { .. } => "unreachable",
            Self::NoToken { .. } | Self::NoTokenInside(_) => "no_token",
            Self::WrongToken { .. } => "wrong_token",
            Self::Forbidden { .. } => "forbidden",
            Self::Differs(_) => "file_differs",
            Self::Refused { code, .. } => code,
            Self::Content { .. } => "invalid_input",
            Self::Exists { .. } => "exists",
            Self::Taken { .. } => "taken",
            Self::NotMade { .. } => "no_file",
            Self::NoGrant { .. } => "no_grant",
            Self::UnknownToken(_) => "unknown_token",
            Self::NoSandbox => "no_sandbox",
            Self::NoJobNetwork(_) => "no_job_network",
            Self::Executor(_) => "no_executor",
            Self::Tags { .. } => "too_many_tags",
            Self::NoRunc(_) => "no_runtime",
            Self::NoBucketKeys | Self::OpenKeys(_) => "no_keys",
            Self::Ended { .. } => "run_ended",
            Self::NoJob { .. } => "unknown_job",
            Self::NotEnrolled { .. } => "not_enrolled",
            Self::Expelled => "expelled",
            Self::Serve(_) => "no_orchestrator",
            Self::Worker(_) => "no_worker",
            Self::Key(_) => "no_key",
            Self::Demo(_) => "broken",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(code: &str, token: Option<&Path>) -> FleetFailure {
        FleetFailure::of_refusal(code.into(), "no".into(), "http://a".into(), token)
    }

    #[test]
    fn a_missing_token_and_a_wrong_one_are_told_apart() {
        assert_eq!(refused("UNAUTHORIZED", None).code(), "no_token");
        let wrong = refused("UNAUTHORIZED", Some(Path::new("x.token")));
        assert!(wrong.to_string().contains("x.token"), "{wrong}");
        assert_eq!(refused("CONFLICT", None).code(), "CONFLICT");
    }

    #[test]
    fn an_expelled_worker_is_told_how_to_come_back() {
        let said = || LinkError::Refused { code: EXPELLED.into(), message: "no".into() };
        let failures = [
            FleetFailure::from(WorkerError::Refused(said())),
            refused(EXPELLED, Some(Path::new("worker.token"))),
        ];
        for failure in failures {
            assert_eq!(failure.code(), "expelled");
            let text = failure.to_string();
            assert!(text.contains("remuda worker init NEWDIR --token-file"), "{text}");
        }
    }

    #[test]
    fn how_a_run_ended_is_in_the_exit_status() {
        let ended = |status| {
            let run = RunId::new("run_1").expect("an id");
            FleetFailure::Ended { run, status, why: String::new() }.status()
        };
        assert_eq!(ended(RunStatus::Failed), ExitCode::FAILURE);
        assert_eq!(ended(RunStatus::Canceled), ExitCode::from(3));
    }
}
