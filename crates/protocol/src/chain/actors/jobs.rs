//! Jobs that actors order.

use super::host::Host;
use super::wait::CALL_CYCLES_DEFAULT;
use crate::base::codec::Encode;
use crate::base::error::Refusal;
use crate::base::primitives::JobId;
use crate::rules::cost::job_cost;
use crate::rules::dispatcher::file::{JobFileError, job_from_json};
use crate::rules::dispatcher::spec::Callback;
use crate::rules::dispatcher::submit::job_id;
use crate::rules::verifier::json::Json;

impl Host<'_, '_> {
    /// Orders work; paid by the actor. The specification is what a job file has; `handler` is the
    /// actor's own method that gets the result, and takes the place of the file's callback.
    pub fn submit_job(
        &mut self,
        file: &Json,
        handler: Option<&str>,
    ) -> Result<Result<JobId, JobFileError>, Refusal> {
        let mut spec = match job_from_json(file) {
            Ok(spec) => spec,
            Err(error) => return Ok(Err(error)),
        };
        let actor = self.running.actor;
        if let Some(handler) = handler {
            let default = CALL_CYCLES_DEFAULT + self.exec.load_cycles(actor);
            let cycles_limit = spec.callback.as_ref().map_or(default, |named| named.cycles_limit);
            spec.callback = Some(Callback { actor, handler: handler.to_owned(), cycles_limit });
        }
        let cost = job_cost(&spec);
        self.charge(cost.cycles, cost.cells + spec.to_bytes().len() as u64)?;
        let id = job_id(self.exec.params.chain_id, self.running.cause, self.exec.jobs_of_cause);
        // Numbers are not given again, also if this part of the call is taken back.
        self.exec.jobs_of_cause += 1;
        let max_fee = self.exec.basefees.cycle.saturating_mul(2);
        self.atomically(|host| host.exec.submit_job(actor, id, spec, max_fee))?;
        Ok(Ok(id))
    }
}
