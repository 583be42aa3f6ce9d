//! The executors of a worker: what takes an order and gives a finding.

use super::order::{KIND, Order, encode_finding};
use crate::daemon::dispatch::{ExecutorError, Executors};
use crate::executor::{ExecuteError, ExecutorSettings, Progress, Work};
use futures::future::BoxFuture;
use remuda_fleet::message::{Call, Data, Failure};
use remuda_fleet::worker::{CallError, Calls, Executor, Report};
use std::sync::Arc;
use std::time::Duration;

/// Executors keep to their time; this is for one that does not.
const SPARE: Duration = Duration::from_secs(1);

/// What a worker does calls with, as its settings say. Reads keys and certificates.
pub fn calls(settings: &ExecutorSettings) -> Result<Calls, ExecutorError> {
    Ok(Calls(Arc::new(Hands(Arc::new(Executors::new(settings)?)))))
}

/// See the module.
pub(super) struct Hands(pub(super) Arc<Executors>);

/// Tells the worker, whose heartbeats tell the orchestrator.
struct Telling<'a>(Report<'a>);

impl Progress for Telling<'_> {
    fn report(&self, percent: u8, detail: &str) {
        (self.0)(percent, detail);
    }
}

impl Executor for Hands {
    fn execute<'a>(
        &'a self,
        call: &'a Call,
        report: Report<'a>,
    ) -> BoxFuture<'a, Result<Data, CallError>> {
        Box::pin(async move {
            let invalid = |why: String| CallError { failure: Failure::SpecInvalid, why };
            if call.kind != KIND {
                return Err(invalid(format!("nobody here does {:?}", call.kind)));
            }
            let order = Order::decode(call.input.bytes());
            let order = order.map_err(|error| invalid(error.to_string()))?;
            let Order { job_id, within, pinned, spec } = &order;
            let progress = Telling(report);
            let work = Work { job_id: *job_id, spec, within: *within, progress: &progress };
            let executed = self.0.execute(&work, *pinned);
            let finding = match tokio::time::timeout(*within + SPARE, executed).await {
                Ok(finding) => finding,
                Err(_) => Err(ExecuteError::TimedOut(*within)),
            };
            Ok(encode_finding(&finding))
        })
    }
}
