//! Which jobs the settings allow.

use super::settings::Settings;
use super::unsupported::UnsupportedJob;
use crate::executor::{Capabilities, resolvers_asked};
use remuda_protocol::dispatcher::spec::{JobSpec, JobType};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Abilities {
    capabilities: Capabilities,
    /// A fleet executes the jobs.
    fleet: bool,
}

impl Abilities {
    pub fn of(settings: &Settings) -> Self {
        Self { capabilities: settings.capabilities(), fleet: settings.fleet.is_some() }
    }

    /// `pinned`: whether governance vouches for the job's program. While that is unknown, a program whose module is
    /// installed may be pinned.
    pub fn check(&self, spec: &JobSpec, pinned: Option<bool>) -> Result<(), UnsupportedJob> {
        let capabilities = &self.capabilities;
        match &spec.job_type {
            JobType::Http { .. } if !capabilities.http => return Err(UnsupportedJob::Http),
            JobType::Llm { model, .. } if !capabilities.models.contains(model) => {
                return Err(UnsupportedJob::Model(model.clone()));
            }
            JobType::EthSend { chain_id, .. } if !capabilities.eth_chains.contains(chain_id) => {
                return Err(UnsupportedJob::EthChain(*chain_id));
            }
            JobType::Custom { executor_hash, .. } => {
                let vouched =
                    pinned.unwrap_or(true) && capabilities.modules.contains(executor_hash);
                if !vouched && !capabilities.programs.contains(executor_hash) {
                    return Err(UnsupportedJob::Program(*executor_hash));
                }
            }
            // Tools are not part of the offer on chain. A job for an unknown tool gets an error as its result.
            JobType::Mcp { .. } if capabilities.servers.is_empty() => {
                return Err(UnsupportedJob::Tools);
            }
            _ => {}
        }
        let (needed, here) = (resolvers_asked(spec), capabilities.resolvers.len());
        if needed > here {
            return Err(UnsupportedJob::Resolvers { needed, here });
        }
        if spec.tee_required {
            return Err(UnsupportedJob::Tee);
        }
        Ok(())
    }

    /// Some work needs no server of the operator.
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
    fn only_configured_work_is_accepted() {
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
    fn dns_checks_need_resolvers() {
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
    fn trusted_hardware_is_not_supported() {
        let able = Abilities::of(&settings("[http]"));
        let mut spec = http_spec("GET", "http://example.com/");
        spec.tee_required = true;
        assert_eq!(able.check(&spec, None), Err(UnsupportedJob::Tee));
    }

    #[test]
    fn unknown_tool_is_accepted_and_answered() {
        let server = "[mcp.servers.files]\ncommand = 'files'\ntools = ['read']";
        let able = Abilities::of(&settings(server));
        let mut spec = http_spec("GET", "http://example.com/");
        let (server, tool) = ("other".to_owned(), "write".to_owned());
        spec.job_type = JobType::Mcp { server, tool, arguments: "{}".to_owned() };
        assert_eq!(able.check(&spec, None), Ok(()));
        assert_eq!(
            Abilities::of(&settings("[http]")).check(&spec, None),
            Err(UnsupportedJob::Tools)
        );
    }
}
