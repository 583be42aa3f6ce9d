//! `Enrol` → `Enrolled`: a machine registers its key (not in the seed).

use super::{Body, Problem};
use crate::id::{KeyId, WorkerKey};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Registers the key that a machine signs with. Sent with an enrolment token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub struct Enrol {
    /// The public key.
    pub key: WorkerKey,
}

impl Body for Enrol {
    const TYPE: &'static str = "Enrol";

    fn check(&self) -> Result<(), Problem> {
        Ok(())
    }
}

/// The key is registered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub struct Enrolled {
    /// Id of the key. Ids of the machine's runners begin with it.
    pub key_id: KeyId,
}

impl Body for Enrolled {
    const TYPE: &'static str = "Enrolled";

    fn check(&self) -> Result<(), Problem> {
        Ok(())
    }
}
