//! `Leave` → `Left`: a runner shuts down (not in the seed, where it falls silent).

use super::{Body, Problem};
use crate::id::RunnerId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A runner shuts down. It is no longer listed; a lease that it may hold ends as every lease does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub struct Leave {
    /// The runner that shuts down.
    pub runner_id: RunnerId,
}

impl Body for Leave {
    const TYPE: &'static str = "Leave";

    fn check(&self) -> Result<(), Problem> {
        Ok(())
    }
}

/// Answer to `Leave`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub struct Left {
    /// The runner.
    pub runner_id: RunnerId,
}

impl Body for Left {
    const TYPE: &'static str = "Left";

    fn check(&self) -> Result<(), Problem> {
        Ok(())
    }
}
