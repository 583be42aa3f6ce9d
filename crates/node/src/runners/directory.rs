//! Which runners may have a session, by the final state.

use crate::backend::Backend;
use remuda_link::frame::CloseReason;
use remuda_link::quic::server::Registry;
use remuda_link::session::validator::Place;
use remuda_protocol::crypto::PublicKey;
use remuda_protocol::key::RunnerKey;
use remuda_protocol::registry::runner::Status;
use remuda_protocol::state::{Indexed as _, read};
use std::sync::Arc;

pub struct RunnerDirectory {
    pub backend: Arc<dyn Backend>,
    /// The validator that serves them.
    pub validator: u32,
}

impl Registry for RunnerDirectory {
    fn place(&self, key: &PublicKey) -> Result<Place, CloseReason> {
        let address = key.address().ok_or(CloseReason::Malformed)?;
        let tip = self.backend.tip();
        let runner = read(&tip.state, &RunnerKey { runner: address })
            .filter(|runner| runner.status != Status::Deregistered)
            .ok_or(CloseReason::NotRegistered)?;
        if runner.jailed_until.is_some_and(|until| until > tip.finalised.height()) {
            return Err(CloseReason::Jailed);
        }
        if !tip.state.subsets().attests(self.validator, runner.slot) {
            return Err(CloseReason::WrongSubset);
        }
        Ok(Place { address, slot: runner.slot })
    }
}
