//! `Leave` → `Left`: a runner ends, and says so (not in the seed, which leaves it to silence).

use super::{Body, Problem};
use crate::id::RunnerId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A runner asks for no more work. It decides nothing: a lease that it may have ends as every lease does. It is
/// only not shown any more as one that could be given work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub struct Leave {
    /// Who goes.
    pub runner_id: RunnerId,
}

impl Body for Leave {
    const TYPE: &'static str = "Leave";

    fn check(&self) -> Result<(), Problem> {
        Ok(())
    }
}

/// It was heard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub struct Left {
    /// Who went.
    pub runner_id: RunnerId,
}

impl Body for Left {
    const TYPE: &'static str = "Left";

    fn check(&self) -> Result<(), Problem> {
        Ok(())
    }
}
