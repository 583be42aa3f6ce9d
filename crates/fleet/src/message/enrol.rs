//! `Enrol` → `Enrolled`: a machine brings its key (not in the seed, which leaves it to others).

use super::{Body, Problem};
use crate::id::{KeyId, WorkerKey};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A machine will sign with this key. Shown together with an enrolment token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub struct Enrol {
    /// The public half.
    pub key: WorkerKey,
}

impl Body for Enrol {
    const TYPE: &'static str = "Enrol";

    fn check(&self) -> Result<(), Problem> {
        Ok(())
    }
}

/// What it signs is believed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub struct Enrolled {
    /// The key's name, which its runners' ids begin with.
    pub key_id: KeyId,
}

impl Body for Enrolled {
    const TYPE: &'static str = "Enrolled";

    fn check(&self) -> Result<(), Problem> {
        Ok(())
    }
}
