//! Decides which failures are the job's own fault, and the excuse code that says so on chain.
//!
//! A runner cannot decline a seat: if it is drawn and stays silent, its score drops, and three silences
//! in a row mean jail. A job that nobody can do (its server is gone or refuses the request, its answer is
//! too large, its program traps) would punish every runner that is drawn for it, at next to no cost. For
//! such a job the runner delivers an [`Excuse`]: a code that it commits to and opens like a result. The
//! reason in words stays here, for the operator: it may name parts of the operator's network.
//!
//! The runner stays silent if only its operator can fix the cause: its model server is down or rejects
//! its key, its machine is out of memory, its disk is full. Then another runner is drawn. When a server of
//! the operator fails, a test request of the runner's own shows whether the job is at fault
//! (`endpoint`).

use super::ExecuteError;
use super::dns::DNS_VERIFIER_EXECUTOR_HASH;
use remuda_protocol::dispatcher::spec::{JobSpec, JobType};
use remuda_protocol::verifier::excuse::Excuse;

/// The excuse for a failure; none if this runner, and not the job, is why there is no result.
pub fn of(spec: &JobSpec, error: &ExecuteError) -> Option<Excuse> {
    match error {
        ExecuteError::Backend(_) => None,
        ExecuteError::BadJob(_) => Some(Excuse::BadJob),
        // An invalid response counts like a refusal: the request was made and had no result.
        ExecuteError::Refused(_) | ExecuteError::BadAnswer(_) => Some(Excuse::Refused),
        ExecuteError::TooLarge { .. } => Some(Excuse::TooLarge),
        ExecuteError::TooCostly { .. } => Some(Excuse::TooCostly),
        ExecuteError::TimedOut(_) => Some(Excuse::TimedOut),
        ExecuteError::Program(_) => Some(Excuse::ProgramFailed),
        // Named by the job alone; everything else is part of the offer on chain.
        ExecuteError::NotAllowed(_) => match spec.job_type {
            JobType::Http { .. } => Some(Excuse::Unreachable),
            JobType::Mcp { .. } => Some(Excuse::NotFound),
            _ => None,
        },
        // Servers of the operator are not the job's; names that no resolver finds are.
        ExecuteError::Unreachable(_) => match &spec.job_type {
            JobType::Http { .. } => Some(Excuse::Unreachable),
            JobType::Custom { executor_hash, .. }
                if *executor_hash == DNS_VERIFIER_EXECUTOR_HASH =>
            {
                Some(Excuse::Unreachable)
            }
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::http_spec;
    use remuda_protocol::dispatcher::committee::VerificationMode;
    use remuda_protocol::verifier::check::VerifierCheck;
    use std::time::Duration;

    #[test]
    fn what_the_job_asks_for_is_excused_by_its_code() {
        let mut spec = http_spec("GET", "http://example.com/");
        for mode in
            [VerificationMode::None, VerificationMode::EconomicBond, VerificationMode::MajorityVote]
        {
            spec.verification.mode = mode;
            for (error, excuse) in [
                (ExecuteError::NotAllowed("10.0.0.1 is private".into()), Excuse::Unreachable),
                (ExecuteError::Unreachable("connection refused".into()), Excuse::Unreachable),
                (ExecuteError::BadJob("no such method".into()), Excuse::BadJob),
                (ExecuteError::Refused("status 429".into()), Excuse::Refused),
                (ExecuteError::BadAnswer("no JSON".into()), Excuse::Refused),
                (ExecuteError::TooLarge { limit: 10 }, Excuse::TooLarge),
                (ExecuteError::TooCostly { limit: 10, why: "no money" }, Excuse::TooCostly),
                (ExecuteError::TimedOut(Duration::from_secs(1)), Excuse::TimedOut),
                (ExecuteError::Program("trap".into()), Excuse::ProgramFailed),
            ] {
                assert_eq!(of(&spec, &error), Some(excuse), "{error:?}");
            }
        }
    }

    #[test]
    fn what_only_the_operator_can_mend_is_no_excuse() {
        let mut spec = http_spec("GET", "http://example.com/");
        let down = ExecuteError::Unreachable("it does not answer".into());
        let absent = ExecuteError::NotAllowed("no model".into());
        let locked = ExecuteError::Backend("status 401".into());
        // A check of names does not make an operator's server the job's.
        spec.verification.checks = vec![VerifierCheck::DnsTxtRecordMatch {
            fqdn: "example.com".to_owned(),
            expected_value: "x".to_owned(),
            min_resolvers: 3,
        }];
        let (model, messages) = ("tiny".to_owned(), vec![]);
        spec.job_type = JobType::Llm { model, messages, temperature_milli: 0, seed: 0 };
        for own in [&down, &absent, &locked] {
            assert_eq!(of(&spec, own), None);
        }
        let refused = ExecuteError::Refused("status 403".into());
        assert_eq!(of(&spec, &refused), Some(Excuse::Refused));
        let (server, tool) = ("files".to_owned(), "read".to_owned());
        spec.job_type = JobType::Mcp { server, tool, arguments: "{}".to_owned() };
        assert_eq!((of(&spec, &down), of(&spec, &locked)), (None, None));
        assert_eq!(of(&spec, &absent), Some(Excuse::NotFound), "the chain knows no names of tools");
        let params = b"".as_slice().into();
        spec.job_type = JobType::Custom { executor_hash: DNS_VERIFIER_EXECUTOR_HASH, params };
        assert_eq!(of(&spec, &down), Some(Excuse::Unreachable), "a name that nobody answers for");
    }
}
