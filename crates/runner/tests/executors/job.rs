//! Jobs to execute.

use remuda_protocol::dispatcher::committee::VerificationMode;
use remuda_protocol::dispatcher::spec::{
    DataFormat, JobSpec, JobType, ResourceBounds, ResultSchema, Verification,
};
use remuda_protocol::primitives::{Amount, B256};
use remuda_runner::executor::{ExecuteError, NoProgress, Progress, Work};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// A job of some work, with generous limits.
pub(crate) fn job(job_type: JobType, data_format: DataFormat) -> JobSpec {
    JobSpec {
        job_type,
        bounds: ResourceBounds {
            max_input_tokens: 4_096,
            max_output_tokens: 64,
            max_wall_time_seconds: 30,
            max_memory_mb: 512,
            max_retries: 0,
        },
        verification: Verification {
            mode: VerificationMode::None,
            runners: 1,
            threshold: 1,
            checks: vec![],
        },
        result_schema: ResultSchema {
            max_return_bytes: 65_536,
            expected_execution_ms: 100,
            data_format,
        },
        max_price: Amount(0),
        tip: Amount(0),
        timeout_blocks: 100,
        callback: None,
        tee_required: false,
        secrets: vec![],
        required_runner_pool: None,
    }
}

/// A GET of some address.
pub(crate) fn get(url: &str) -> JobSpec {
    request("GET", url, &[], b"", "")
}

/// Any request, for a JSON result.
pub(crate) fn request(
    method: &str,
    url: &str,
    headers: &[(&str, &str)],
    body: &[u8],
    extract: &str,
) -> JobSpec {
    let headers = headers.iter().map(|(name, value)| (name.to_string(), value.to_string()));
    let job_type = JobType::Http {
        method: method.into(),
        url: url.into(),
        headers: headers.collect(),
        body: body.into(),
        extract: extract.into(),
    };
    job(job_type, DataFormat::Json)
}

/// The work of a job.
pub(crate) fn work(spec: &JobSpec) -> Work<'_> {
    work_for(spec, &NoProgress)
}

/// The work of a job that somebody follows.
pub(crate) fn work_for<'a>(spec: &'a JobSpec, progress: &'a dyn Progress) -> Work<'a> {
    Work { job_id: B256::ZERO, spec, time_limit: Duration::from_secs(20), progress }
}

/// Remembers what it is told.
#[derive(Default)]
pub(crate) struct Heard(Mutex<Vec<(u8, String)>>);

impl Heard {
    /// All reports so far.
    pub(crate) fn reports(&self) -> Vec<(u8, String)> {
        self.0.lock().unwrap().clone()
    }
}

impl Progress for Heard {
    fn report(&self, percent: u8, detail: &str) {
        self.0.lock().unwrap().push((percent, detail.to_owned()));
    }
}

/// A result as text.
#[track_caller]
pub(crate) fn text(result: Result<Vec<u8>, ExecuteError>) -> String {
    String::from_utf8(result.unwrap()).unwrap()
}

/// Asserts that the work ends as late as its time does, and not much later.
#[track_caller]
pub(crate) fn assert_timed_out(
    result: Result<Vec<u8>, ExecuteError>,
    within: Duration,
    began: Instant,
) {
    assert_eq!(result, Err(ExecuteError::TimedOut(within)));
    assert!(began.elapsed() >= within && began.elapsed() < within + Duration::from_secs(5));
}
