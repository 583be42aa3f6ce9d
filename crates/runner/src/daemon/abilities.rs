//! What a runner can do, and why it refuses other jobs.

use super::settings::Settings;
use super::unable::Unable;
use crate::executor::{Capabilities, resolvers_asked};
use remuda_protocol::dispatcher::spec::{JobSpec, JobType};

/// What a runner can do: cheap to ask, before anything is taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Abilities {
    capabilities: Capabilities,
    /// Whether a fleet does the work.
    fleet: bool,
}

impl Abilities {
    pub fn of(settings: &Settings) -> Self {
        Self { capabilities: settings.capabilities(), fleet: settings.fleet.is_some() }
    }

    /// Whether a job can be done here, or why not. `pinned`: whether governance vouches for its
    /// program, if the chain has been asked; until then, a program whose module is here may be.
    pub fn check(&self, spec: &JobSpec, pinned: Option<bool>) -> Result<(), Unable> {
        let capabilities = &self.capabilities;
        match &spec.job_type {
            JobType::Http { .. } if !capabilities.http => return Err(Unable::Http),
            JobType::Llm { model, .. } if !capabilities.models.contains(model) => {
                return Err(Unable::Model(model.clone()));
            }
            JobType::EthSend { chain_id, .. } if !capabilities.eth_chains.contains(chain_id) => {
                return Err(Unable::EthChain(*chain_id));
            }
            JobType::Custom { executor_hash, .. } => {
                let vouched =
                    pinned.unwrap_or(true) && capabilities.modules.contains(executor_hash);
                if !vouched && !capabilities.programs.contains(executor_hash) {
                    return Err(Unable::Program(*executor_hash));
                }
            }
            // Which tools a runner has the chain does not know: who names another one is told so in
            // an answer.
            JobType::Mcp { .. } if capabilities.servers.is_empty() => return Err(Unable::Tools),
            _ => {}
        }
        let (needed, here) = (resolvers_asked(spec), capabilities.resolvers.len());
        if needed > here {
            return Err(Unable::Resolvers { needed, here });
        }
        if spec.tee_required {
            return Err(Unable::Tee);
        }
        Ok(())
    }

    /// Whether there is work that no server of the operator is needed for.
    pub(crate) fn alone(&self) -> bool {
        let Capabilities { http, resolvers, programs, modules, .. } = &self.capabilities;
        let any = *http || !resolvers.is_empty() || !programs.is_empty() || !modules.is_empty();
        any && !self.fleet
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{http_spec, settings};
    use remuda_protocol::verifier::check::VerifierCheck;

    #[test]
    fn only_what_is_configured_is_taken() {
        let mut spec = http_spec("GET", "http://example.com/");
        assert_eq!(Abilities::of(&settings("[http]")).check(&spec, None), Ok(()));
        assert!(Abilities::of(&settings("[dns]")).check(&spec, None).is_err());
        let model = |model: &str| JobType::Llm {
            model: model.to_owned(),
            messages: vec![],
            temperature_milli: 0,
            seed: 0,
        };
        let llm = Abilities::of(&settings("[llm.models.tiny]\nbase_url = 'http://127.0.0.1:2'"));
        spec.job_type = model("tiny");
        assert_eq!(llm.check(&spec, None), Ok(()));
        spec.job_type = model("huge");
        assert!(llm.check(&spec, None).is_err());
    }

    #[test]
    fn checks_by_dns_need_resolvers() {
        let mut spec = http_spec("GET", "http://example.com/");
        spec.verification.checks = vec![VerifierCheck::DnsTxtRecordMatch {
            fqdn: "example.com".to_owned(),
            expected_value: "x".to_owned(),
            min_resolvers: 3,
        }];
        assert!(Abilities::of(&settings("[http]")).check(&spec, None).is_err());
        let two = "[http]\n[dns]\nresolvers = ['1.1.1.1', '9.9.9.9']";
        assert!(Abilities::of(&settings(two)).check(&spec, None).is_err());
        assert_eq!(Abilities::of(&settings("[http]\n[dns]")).check(&spec, None), Ok(()));
    }

    #[test]
    fn what_needs_hardware_is_not_taken() {
        let able = Abilities::of(&settings("[http]"));
        let mut spec = http_spec("GET", "http://example.com/");
        spec.tee_required = true;
        assert_eq!(able.check(&spec, None), Err(Unable::Tee));
    }

    #[test]
    fn what_the_chain_cannot_know_is_taken_and_answered() {
        let server = "[mcp.servers.files]\ncommand = 'files'\ntools = ['read']";
        let able = Abilities::of(&settings(server));
        let mut spec = http_spec("GET", "http://example.com/");
        let (server, tool) = ("other".to_owned(), "write".to_owned());
        spec.job_type = JobType::Mcp { server, tool, arguments: "{}".to_owned() };
        assert_eq!(able.check(&spec, None), Ok(()));
        assert_eq!(Abilities::of(&settings("[http]")).check(&spec, None), Err(Unable::Tools));
    }
}
