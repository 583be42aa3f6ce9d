//! A plain question, which any model's server answers that lets the operator in.

use super::{Llm, Model};
use crate::executor::endpoint::PLAIN;
use crate::executor::{ExecuteError, NoProgress, Work};
use remuda_protocol::dispatcher::committee::VerificationMode;
use remuda_protocol::dispatcher::spec::{
    DataFormat, JobSpec, JobType, Message, ResourceBounds, ResultSchema, Verification,
};
use remuda_protocol::primitives::{Amount, B256};

const QUESTION: &str = "Say yes.";
/// A token would do; some servers count what is around it, or refuse less.
const TOKENS: u32 = 16;
const ANSWER_BYTES: u32 = 4_096;

fn question() -> JobSpec {
    let message = Message { role: "user".to_owned(), content: QUESTION.to_owned() };
    let bounds = ResourceBounds { max_output_tokens: TOKENS, ..ResourceBounds::default() };
    JobSpec {
        job_type: JobType::Llm {
            model: String::new(),
            messages: vec![message],
            temperature_milli: 0,
            seed: 0,
        },
        bounds,
        verification: Verification {
            mode: VerificationMode::None,
            runners: 1,
            threshold: 1,
            checks: Vec::new(),
        },
        result_schema: ResultSchema {
            max_return_bytes: ANSWER_BYTES,
            expected_execution_ms: 0,
            data_format: DataFormat::Text,
        },
        max_price: Amount(0),
        tip: Amount(0),
        timeout_blocks: 0,
        callback: None,
        tee_required: false,
        secrets: Vec::new(),
        required_runner_pool: None,
    }
}

impl Llm {
    /// Whether a model's server answers a plain question. None: there is no such model.
    pub(crate) async fn probe(&self, model: &str) -> Option<Result<(), ExecuteError>> {
        Some(self.models.get(model)?.plain().await)
    }
}

impl Model {
    pub(super) async fn plain(&self) -> Result<(), ExecuteError> {
        let spec = question();
        let JobType::Llm { messages, .. } = &spec.job_type else {
            unreachable!("the question is one to a model")
        };
        let (job_id, progress) = (B256::ZERO, &NoProgress);
        let work = Work { job_id, spec: &spec, time_limit: PLAIN, progress };
        // Some models take one temperature only: a question without any is taken by all.
        let request = self.request(&work, messages, None);
        self.ask(&work, &request).await.map(drop).map_err(|setback| setback.error)
    }
}
